//! `implicit`: z = f(x, noise) by a network, with no density that could be computed (Mescheder et al. 2017, section 3).

use super::super::architecture::Linear;
use super::super::layers::{Builder, LinearLayer};
use super::{ContinuousPosterior, Draw, Marginals};
use burn::tensor::{Device, Tensor};
use std::sync::Arc;

/// Fully connected layers from the encoder's features and noise to z.
#[derive(Clone, Debug)]
pub(in crate::model) struct NoisyLayers {
    layers: Arc<Vec<LinearLayer>>,
    noise: usize,
    units: usize,
}

impl NoisyLayers {
    /// `features` is the number of the encoder's features.
    pub(in crate::model) fn new(
        (noise, hidden): (usize, &[usize]),
        features: usize,
        units: usize,
        builder: Builder<'_>,
    ) -> Self {
        let named = hidden.iter().enumerate();
        let tables =
            named.map(|(place, &width)| Linear::relu(format!("encoder.noisy.fc{}", place + 1), width));
        let mut incoming = features + noise;
        let layers = tables.chain([Linear::plain("encoder.noisy.z", units)]).map(|table| {
            let layer = LinearLayer::new(&table, incoming, builder);
            incoming = table.width;
            layer
        });
        Self { layers: Arc::new(layers.collect()), noise, units }
    }

    /// The posterior of images with these features.
    pub(in crate::model) fn posterior(&self, features: Tensor<2>) -> ImplicitPosterior {
        ImplicitPosterior { features, network: self.clone() }
    }

    pub(in crate::model) fn layers(&self) -> Vec<&LinearLayer> {
        self.layers.iter().collect()
    }

    pub(in crate::model) fn layers_mut(&mut self) -> Vec<&mut LinearLayer> {
        Arc::make_mut(&mut self.layers).iter_mut().collect()
    }
}

/// The distribution of a network's output under standard normal noise, for each image of a batch.
#[derive(Clone, Debug)]
pub struct ImplicitPosterior {
    features: Tensor<2>,
    network: NoisyLayers,
}

impl ContinuousPosterior for ImplicitPosterior {
    fn dims(&self) -> [usize; 2] {
        [self.features.dims()[0], self.network.units]
    }

    fn device(&self) -> Device {
        self.features.device()
    }

    fn noise_width(&self) -> usize {
        self.network.noise
    }

    fn draw(&self, noise: Tensor<2>) -> Draw {
        let inputs = Tensor::cat(vec![self.features.clone(), noise], 1);
        let value = self.network.layers.iter().fold(inputs, |values, layer| layer.forward(values));
        Draw { value, log_density: None }
    }

    fn log_density(&self, _draw: &Draw) -> Option<Tensor<2>> {
        None
    }

    fn marginals(&self) -> Option<Marginals> {
        None
    }

    fn repeated(&self, times: usize) -> Arc<dyn ContinuousPosterior> {
        let features = self.features.clone().repeat_dim(0, times);
        Arc::new(Self { features, network: self.network.clone() })
    }

    fn detached(&self) -> Arc<dyn ContinuousPosterior> {
        let layers = self.network.layers.iter().map(LinearLayer::frozen).collect();
        let network = NoisyLayers { layers: Arc::new(layers), ..self.network };
        Arc::new(Self { features: self.features.clone().detach(), network })
    }
}
