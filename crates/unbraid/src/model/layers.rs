//! Layers with weights, built from the tables of an architecture.

use super::architecture::{Activation, Convolution, Linear};
use super::batch_norm::{BatchNorm, BatchStatistics};
use super::initializer::{Draws, Fans};
use super::parameter::{NamedParameter, Parameter};
use burn::tensor::activation::{leaky_relu, relu};
use burn::tensor::{Device, Tensor};
use unbraid_kernels::{
    Conv2dLayer, Conv2dOptions, DenseLayer, LinearActivation, conv_transpose2d, conv_transpose2d_stack,
    conv2d, conv2d_stack, linear,
};

/// Whether a pass through the network is for training, which determines how batch normalisation works.
#[derive(Debug)]
pub enum Pass<'a> {
    /// With the statistics of the batch, which are collected here in the order of the layers.
    Training(&'a mut Vec<BatchStatistics>),
    /// With the running statistics.
    Inference,
}

/// The source of the parameters of layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Builder<'a> {
    pub(super) draws: Draws,
    pub(super) device: &'a Device,
}

impl Builder<'_> {
    fn weight<const D: usize>(&self, layer: &str, fans: Fans, shape: [usize; D]) -> Parameter<D> {
        let name = format!("{layer}.weight");
        let values = self.draws.weight(&name, fans, shape.iter().product());
        Parameter::new(name, values, shape, self.device)
    }

    fn bias(&self, layer: &str, fans: Fans, length: usize) -> Parameter<1> {
        let name = format!("{layer}.bias");
        Parameter::new(name.clone(), self.draws.bias(&name, fans, length), [length], self.device)
    }
}

fn activated<const D: usize>(values: Tensor<D>, activation: Activation) -> Tensor<D> {
    match activation {
        Activation::None => values,
        Activation::Relu => relu(values),
        Activation::LeakyRelu(slope) => leaky_relu(values, slope),
        Activation::Tanh => values.tanh(),
    }
}

/// The activation of a fully connected layer, computed together with its sums.
fn fused(activation: Activation) -> LinearActivation {
    match activation {
        Activation::None => LinearActivation::Identity,
        Activation::Relu => LinearActivation::Relu,
        Activation::LeakyRelu(slope) => LinearActivation::LeakyRelu { slope: slope as f32 },
        Activation::Tanh => LinearActivation::Tanh,
    }
}

/// y = x W^T + b with W `[out, in]`.
#[derive(Clone, Debug)]
pub(super) struct LinearLayer {
    weight: Parameter<2>,
    bias: Parameter<1>,
    activation: Activation,
    /// Which inputs an output sees, as ones and zeros of the weight's shape; all of them if absent.
    mask: Option<Tensor<2>>,
}

impl LinearLayer {
    pub(super) fn new(table: &Linear, incoming: usize, builder: Builder<'_>) -> Self {
        let shape = [table.width, incoming];
        let fans = Fans::of(&shape);
        Self {
            weight: builder.weight(&table.name, fans, shape),
            bias: builder.bias(&table.name, fans, table.width),
            activation: table.activation,
            mask: None,
        }
    }

    /// A layer whose outputs see only some of the inputs.
    pub(super) fn masked(table: &Linear, mask: Tensor<2>, builder: Builder<'_>) -> Self {
        let incoming = mask.dims()[1];
        Self { mask: Some(mask), ..Self::new(table, incoming, builder) }
    }

    pub(super) fn forward(&self, values: Tensor<2>) -> Tensor<2> {
        let weight = match &self.mask {
            None => self.weight.tensor(),
            Some(mask) => self.weight.tensor() * mask.clone(),
        };
        linear(values, weight, self.bias.tensor(), fused(self.activation))
    }

    /// The same, with gradients for the values only; for layers without a mask.
    pub(super) fn forward_frozen(&self, values: Tensor<2>) -> Tensor<2> {
        linear(values, self.weight.untracked(), self.bias.untracked(), fused(self.activation))
    }

    /// The same layer as a constant.
    pub(super) fn frozen(&self) -> Self {
        Self { weight: self.weight.frozen(), bias: self.bias.frozen(), ..self.clone() }
    }

    /// Its weights without gradients, for kernels that have their own; for layers without a mask.
    pub(super) fn dense(&self) -> DenseLayer {
        DenseLayer {
            weight: self.weight.untracked(),
            bias: self.bias.untracked(),
            activation: fused(self.activation),
        }
    }

    pub(super) fn parameters(&self) -> [&dyn NamedParameter; 2] {
        [&self.weight, &self.bias]
    }

    pub(super) fn parameters_mut(&mut self) -> [&mut dyn NamedParameter; 2] {
        [&mut self.weight, &mut self.bias]
    }
}

/// The direction of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From fine to coarse, weight `[out, in, kh, kw]`.
    Contract,
    /// Transposed, from coarse to fine, weight `[in, out, kh, kw]`.
    Expand,
}

/// A convolution or transposed convolution, with normalisation and activation.
#[derive(Clone, Debug)]
pub(super) struct ConvLayer {
    direction: Direction,
    options: Conv2dOptions,
    weight: Parameter<4>,
    bias: Option<Parameter<1>>,
    norm: Option<BatchNorm>,
    /// The activation after the convolution; a ReLU is fused into the convolution itself.
    activation: Activation,
}

impl ConvLayer {
    pub(super) fn new(
        table: &Convolution,
        direction: Direction,
        incoming: usize,
        builder: Builder<'_>,
    ) -> Self {
        let [height, width] = table.kernel;
        let shape = match direction {
            Direction::Contract => [table.channels, incoming, height, width],
            Direction::Expand => [incoming, table.channels, height, width],
        };
        let fans = match direction {
            Direction::Contract => Fans::of(&shape),
            Direction::Expand => Fans::of_transposed(&shape),
        };
        let options = Conv2dOptions::new(table.stride, table.padding);
        let fused = table.norm.is_none() && table.activation == Activation::Relu;
        Self {
            direction,
            options: if fused { options.with_relu() } else { options },
            weight: builder.weight(&table.name, fans, shape),
            bias: table.norm.is_none().then(|| builder.bias(&table.name, fans, table.channels)),
            norm: table.norm.as_ref().map(|norm| BatchNorm::new(norm, table.channels, builder.device)),
            activation: if fused { Activation::None } else { table.activation },
        }
    }

    /// All layers, which have the same direction, in turn.
    pub(super) fn forward_all(layers: &[Self], images: Tensor<4>, pass: &mut Pass<'_>) -> Tensor<4> {
        // Runs of layers without normalisation are one operation, which keeps the largest images in the cache.
        layers.chunk_by(|layer, next| layer.is_plain() && next.is_plain()).fold(images, |images, run| {
            match run {
                [layer] => layer.forward(images, pass),
                [first, ..] => {
                    let plain = run.iter().map(Self::plain).collect();
                    match first.direction {
                        Direction::Contract => conv2d_stack(images, plain),
                        Direction::Expand => conv_transpose2d_stack(images, plain),
                    }
                }
                [] => images,
            }
        })
    }

    /// Whether the convolution, with a ReLU or without, is all there is.
    fn is_plain(&self) -> bool {
        self.norm.is_none() && self.activation == Activation::None
    }

    /// The convolution itself.
    fn plain(&self) -> Conv2dLayer {
        let bias = self.bias.as_ref().map(Parameter::tensor);
        Conv2dLayer { weight: self.weight.tensor(), bias, options: self.options }
    }

    fn forward(&self, images: Tensor<4>, pass: &mut Pass<'_>) -> Tensor<4> {
        let Conv2dLayer { weight, bias, options } = self.plain();
        let sums = match self.direction {
            Direction::Contract => conv2d(images, weight, bias, options),
            Direction::Expand => conv_transpose2d(images, weight, bias, options),
        };
        let sums = match (&self.norm, pass) {
            (None, _) => sums,
            (Some(norm), Pass::Inference) => norm.infer(sums),
            (Some(norm), Pass::Training(all)) => {
                let (normal, statistics) = norm.train(sums);
                all.push(statistics);
                normal
            }
        };
        activated(sums, self.activation)
    }

    pub(super) fn norm(&self) -> Option<&BatchNorm> {
        self.norm.as_ref()
    }

    pub(super) fn norm_mut(&mut self) -> Option<&mut BatchNorm> {
        self.norm.as_mut()
    }

    pub(super) fn parameters(&self) -> impl Iterator<Item = &dyn NamedParameter> {
        let weight: &dyn NamedParameter = &self.weight;
        let bias = self.bias.iter().map(|bias| bias as &dyn NamedParameter);
        let norm = self.norm.iter().flat_map(|norm| [&norm.weight as &dyn NamedParameter, &norm.bias]);
        [weight].into_iter().chain(bias).chain(norm)
    }

    pub(super) fn parameters_mut(&mut self) -> impl Iterator<Item = &mut dyn NamedParameter> {
        let weight: &mut dyn NamedParameter = &mut self.weight;
        let bias = self.bias.iter_mut().map(|bias| bias as &mut dyn NamedParameter);
        let norm = self
            .norm
            .iter_mut()
            .flat_map(|norm| [&mut norm.weight as &mut dyn NamedParameter, &mut norm.bias]);
        [weight].into_iter().chain(bias).chain(norm)
    }
}
