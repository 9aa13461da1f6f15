//! A classifier of latent vectors into two classes: the adversary of some objectives.

use super::architecture::{Activation, Linear};
use super::initializer::Draws;
use super::layers::{Builder, LinearLayer};
use super::parameter::NamedParameter;
use crate::config::{DiscriminatorConfig, Initializer};
use burn::tensor::{Device, Tensor};

/// Fully connected layers with leaky ReLU (slope 0.2), then two logits (Kim & Mnih 2018, appendix A; Mushom 2020, Table
/// 5.5).
#[derive(Clone, Debug)]
pub struct Discriminator {
    layers: Vec<LinearLayer>,
}

impl Discriminator {
    /// A discriminator of vectors of `inputs` values, with fresh weights that depend on the seed and their names alone.
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
            activation: Activation::LeakyRelu,
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

    /// The same with gradients for the rows only, which spares a third of the arithmetic where the weights stand still.
    pub fn frozen_logits(&self, rows: Tensor<2>) -> Tensor<2> {
        self.layers.iter().fold(rows, |values, layer| layer.forward_frozen(values))
    }

    /// All trained tensors, always in the same order.
    pub fn parameters(&self) -> Vec<&dyn NamedParameter> {
        self.layers.iter().flat_map(LinearLayer::parameters).collect()
    }

    /// The same, to be changed.
    pub fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        self.layers.iter_mut().flat_map(LinearLayer::parameters_mut).collect()
    }
}
