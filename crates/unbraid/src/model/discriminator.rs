//! A binary classifier of latent vectors: the adversary of some objectives.

use super::architecture::{Activation, Linear};
use super::initializer::Draws;
use super::layers::{Builder, LinearLayer};
use super::parameter::NamedParameter;
use crate::config::{ContrastConfig, DiscriminatorConfig, Initializer};
use burn::tensor::{Device, Tensor};
use std::fmt::Debug;
use unbraid_kernels::{DenseLayer, RowFunction};

/// Fully connected layers with leaky ReLU, then two logits (Kim & Mnih 2018, appendix A; Mushom 2020, Table
/// 5.5).
#[derive(Clone, Debug)]
pub struct Discriminator {
    layers: Vec<LinearLayer>,
}

impl Discriminator {
    /// A discriminator of vectors with `inputs` components. The initial weights depend only on the seed and their
    /// names.
    pub fn new(
        config: &DiscriminatorConfig,
        inputs: usize,
        (initializer, seed): (Initializer, u64),
        device: &Device,
    ) -> Self {
        let builder = Builder { draws: Draws { initializer, seed }, device };
        let hidden = (1..=config.layers).map(|place| Linear {
            name: format!("discriminator.fc{place}"),
            width: config.width,
            activation: Activation::LeakyRelu(config.leak),
        });
        let mut incoming = inputs;
        let layers = hidden.chain([Linear::plain("discriminator.logits", 2)]).map(|table| {
            let layer = LinearLayer::new(&table, incoming, builder);
            incoming = table.width;
            layer
        });
        Self { layers: layers.collect() }
    }

    /// Logits of the two classes, `[rows, 2]`, with gradients for the weights.
    pub fn logits(&self, rows: Tensor<2>) -> Tensor<2> {
        self.layers.iter().fold(rows, |values, layer| layer.forward(values))
    }

    /// The same with gradients for the rows only, which saves a third of the arithmetic if the weights are not updated.
    pub fn frozen_logits(&self, rows: Tensor<2>) -> Tensor<2> {
        self.layers.iter().fold(rows, |values, layer| layer.forward_frozen(values))
    }

    /// The first logit minus the second of each row, `[rows]`, with gradients for the weights.
    pub fn difference(&self, rows: Tensor<2>) -> Tensor<1> {
        difference(self.logits(rows))
    }

    /// The same with gradients for the rows only.
    pub fn frozen_difference(&self, rows: Tensor<2>) -> Tensor<1> {
        difference(self.frozen_logits(rows))
    }

    /// The first logit minus the second of each row, computed once for everything that follows from it; on
    /// the CPU only.
    pub(crate) fn row_function(&self, rows: Tensor<2>) -> Option<RowFunction> {
        let layers: Vec<DenseLayer> = self.layers.iter().map(LinearLayer::dense).collect();
        RowFunction::new(rows, &layers, &[1.0, -1.0])
    }

    /// All trained tensors, always in the same order.
    pub fn parameters(&self) -> Vec<&dyn NamedParameter> {
        self.layers.iter().flat_map(LinearLayer::parameters).collect()
    }

    /// The same, mutable.
    pub fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        self.layers.iter_mut().flat_map(LinearLayer::parameters_mut).collect()
    }
}

fn difference(logits: Tensor<2>) -> Tensor<1> {
    let rows = logits.dims()[0];
    (logits.clone().narrow(1, 0, 1) - logits.narrow(1, 1, 1)).reshape([rows])
}

/// A network that an adversary trains.
pub trait Trained: Debug + Send + Sync {
    /// All trained tensors, always in the same order.
    fn parameters(&self) -> Vec<&dyn NamedParameter>;

    /// The same, mutable.
    fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter>;
}

impl Trained for Discriminator {
    fn parameters(&self) -> Vec<&dyn NamedParameter> {
        Self::parameters(self)
    }

    fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        Self::parameters_mut(self)
    }
}

/// T(x, z): features of an image by two fully connected layers with leaky ReLU, and a [`Discriminator`] of
/// these features together with the latent vector (Mescheder et al. 2017, section 3).
#[derive(Clone, Debug)]
pub struct ContrastNetwork {
    features: Vec<LinearLayer>,
    discriminator: Discriminator,
}

impl ContrastNetwork {
    /// For images of `pixels` values and vectors with `units` components.
    pub fn new(
        config: &ContrastConfig,
        (pixels, units): (usize, usize),
        (initializer, seed): (Initializer, u64),
        device: &Device,
    ) -> Self {
        let builder = Builder { draws: Draws { initializer, seed }, device };
        let layer = |place: usize, incoming| {
            let activation = Activation::LeakyRelu(config.leak);
            let name = format!("discriminator.image{place}");
            LinearLayer::new(&Linear { name, width: config.features, activation }, incoming, builder)
        };
        let inputs = config.features + units;
        Self {
            features: vec![layer(1, pixels), layer(2, config.features)],
            discriminator: Discriminator::new(&config.over_features(), inputs, (initializer, seed), device),
        }
    }

    /// T of each pair of rows, with gradients for the weights.
    pub fn contrast(&self, images: Tensor<2>, z: Tensor<2>) -> Tensor<1> {
        let features = self.features.iter().fold(images, |values, layer| layer.forward(values));
        self.discriminator.difference(Tensor::cat(vec![features, z], 1))
    }

    /// The same with gradients for z only.
    pub fn frozen_contrast(&self, images: Tensor<2>, z: Tensor<2>) -> Tensor<1> {
        let features = self.features.iter().fold(images, |values, layer| layer.forward_frozen(values));
        self.discriminator.frozen_difference(Tensor::cat(vec![features, z], 1))
    }
}

impl Trained for ContrastNetwork {
    fn parameters(&self) -> Vec<&dyn NamedParameter> {
        let features = self.features.iter().flat_map(LinearLayer::parameters);
        features.chain(self.discriminator.parameters()).collect()
    }

    fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        let features = self.features.iter_mut().flat_map(LinearLayer::parameters_mut);
        features.chain(self.discriminator.parameters_mut()).collect()
    }
}
