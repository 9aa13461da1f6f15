//! A network as a list of plain layers, in the order and layout in which the engine of a page computes them.
//!
//! Images are rows of pixels with their channels side by side, where PyTorch's weights have channels first: the columns
//! of the layer after the convolutions and the rows of the layer before them are reordered. Batch normalisation, whose
//! running statistics are constant, is multiplied into the convolution before it. Outputs that a picture does not show
//! are left out: the log-variances of the posterior, and the scales that a decoder may output beside the means.

use serde_json::{Value, json};
use std::collections::HashMap;
use unbraid::config::{LikelihoodConfig, Output, PosteriorConfig};
use unbraid::data::ImageShape;
use unbraid::model::architecture::{Activation, Convolution, Heads, Linear};
use unbraid::model::{BATCH_NORM_EPSILON, Blueprint, Network};

/// Encoder and decoder.
#[derive(Debug)]
pub(super) struct PlainNetwork {
    /// From an image to the posterior means and the logits of the categorical units. A posterior whose mean
    /// has no closed form has none here: its codes are means of many passes through further layers.
    pub(super) encoder: Option<Vec<PlainLayer>>,
    /// From the values of all units to the expected image.
    pub(super) decoder: Vec<PlainLayer>,
}

/// A convolution, a transposed convolution, or a fully connected layer, which is a convolution of a single pixel.
#[derive(Debug)]
pub(super) struct PlainLayer {
    transposed: bool,
    input: ImageShape,
    output: ImageShape,
    kernel: [usize; 2],
    stride: usize,
    padding: usize,
    activation: PlainActivation,
    /// For each output channel, the weights of each tap of the kernel and each input channel.
    pub(super) rows: Vec<Vec<f32>>,
    /// One for each output channel.
    pub(super) bias: Vec<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PlainActivation {
    Of(Activation),
    /// 1 / (1 + exp(-x)), which makes an image of logits.
    Sigmoid,
}

impl PlainNetwork {
    /// The layers of a network; `None` if it has tensors other than its table says.
    pub(super) fn new(network: &Network, likelihood: &LikelihoodConfig) -> Option<Self> {
        let tensors = Tensors::of(network);
        let blueprint = network.blueprint();
        let (images, layout) = (blueprint.image_shape, &blueprint.layout);

        let encoder = match &blueprint.posterior {
            PosteriorConfig::Diagonal {} | PosteriorConfig::FullCovariance {} => {
                Some(tensors.encoder(blueprint)?)
            }
            PosteriorConfig::Iaf { .. } | PosteriorConfig::Implicit { .. } => None,
        };

        let mut decoder = Vec::new();
        let mut width = layout.width();
        for table in &blueprint.decoder.linear {
            decoder.push(tensors.linear(table, width)?);
            width = table.width;
        }
        let grid = blueprint.decoder.grid;
        let convolutions = &blueprint.decoder.convolutions;
        if let Some(last) = decoder.last_mut() {
            let kept = if convolutions.is_empty() { images.channels } else { grid.channels };
            last.reorder_rows(grid, kept);
        }
        let mut shape = grid;
        for (place, table) in convolutions.iter().enumerate() {
            let is_last = place + 1 == convolutions.len();
            let kept = if is_last { images.channels } else { table.channels };
            let layer = tensors.convolution(table, shape, kept, true)?;
            shape = layer.output;
            decoder.push(layer);
        }
        let last = decoder.last_mut().filter(|last| last.output.values() == images.values())?;
        let (LikelihoodConfig::Bernoulli {}
        | LikelihoodConfig::Gaussian { output: Output::Sigmoid, .. }
        | LikelihoodConfig::Laplace { output: Output::Sigmoid, .. }) = likelihood
        else {
            return Some(Self { encoder, decoder });
        };
        last.activation = PlainActivation::Sigmoid;
        Some(Self { encoder, decoder })
    }

    /// All layers, encoder first.
    pub(super) fn layers(&self) -> impl Iterator<Item = &PlainLayer> {
        self.encoder.iter().flatten().chain(&self.decoder)
    }

    /// The number of weights and biases.
    pub(super) fn parameters(&self) -> usize {
        self.layers().map(|layer| layer.bias.len() + layer.rows.iter().map(Vec::len).sum::<usize>()).sum()
    }
}

impl PlainLayer {
    /// A fully connected layer without outputs.
    fn linear(inputs: usize, activation: Activation) -> Self {
        Self {
            transposed: false,
            input: ImageShape::new(1, 1, inputs),
            output: ImageShape::new(1, 1, 0),
            kernel: [1, 1],
            stride: 1,
            padding: 0,
            activation: PlainActivation::Of(activation),
            rows: Vec::new(),
            bias: Vec::new(),
        }
    }

    /// Makes a layer that takes an image with channels first take it with channels last.
    fn reorder_columns(&mut self, image: Option<ImageShape>) {
        let Some(image) = image else { return };
        let order: Vec<usize> = channels_last(image).collect();
        for row in &mut self.rows {
            *row = order.iter().map(|&place| row[place]).collect();
        }
    }

    /// Makes a layer that outputs an image with channels first output it with channels last, and only the first `kept`.
    fn reorder_rows(&mut self, image: ImageShape, kept: usize) {
        let order: Vec<usize> = channels_last(image)
            .enumerate()
            .filter(|(place, _)| place % image.channels < kept)
            .map(|(_, from)| from)
            .collect();
        self.rows = order.iter().map(|&place| std::mem::take(&mut self.rows[place])).collect();
        self.bias = order.iter().map(|&place| self.bias[place]).collect();
        self.output = ImageShape::new(1, 1, self.rows.len());
    }

    /// What the engine needs to know besides the weights.
    pub(super) fn table(&self) -> Value {
        let shape = |shape: ImageShape| [shape.height, shape.width, shape.channels];
        let (activation, slope) = match self.activation {
            PlainActivation::Of(Activation::None) => ("none", None),
            PlainActivation::Of(Activation::Relu) => ("relu", None),
            PlainActivation::Of(Activation::LeakyRelu(slope)) => ("leaky-relu", Some(slope)),
            PlainActivation::Of(Activation::Tanh) => ("tanh", None),
            PlainActivation::Sigmoid => ("sigmoid", None),
        };
        json!({
            "transposed": self.transposed,
            "input": shape(self.input),
            "output": shape(self.output),
            "kernel": self.kernel,
            "stride": self.stride,
            "padding": self.padding,
            "activation": activation,
            "slope": slope,
        })
    }
}

/// For each value of an image with channels last, its place in the same image with channels first.
fn channels_last(image: ImageShape) -> impl Iterator<Item = usize> {
    let ImageShape { height, width, channels } = image;
    let pixels = height * width;
    (0..pixels).flat_map(move |pixel| (0..channels).map(move |channel| channel * pixels + pixel))
}

/// The tensors of a network by name.
struct Tensors(HashMap<String, (Vec<usize>, Vec<f32>)>);

impl Tensors {
    fn of(network: &Network) -> Self {
        let named = |tensor: unbraid::model::StateTensor| {
            let values = tensor.values.as_floats().to_vec();
            (tensor.name, (tensor.shape, values))
        };
        Self(network.state().into_iter().map(named).collect())
    }

    fn get(&self, layer: &str, part: &str, shape: &[usize]) -> Option<&[f32]> {
        let (found, values) = self.0.get(&format!("{layer}.{part}"))?;
        (found == shape).then_some(values)
    }

    fn encoder(&self, blueprint: &Blueprint) -> Option<Vec<PlainLayer>> {
        let mut encoder = Vec::new();
        let layout = &blueprint.layout;
        let mut shape = blueprint.image_shape;
        for table in &blueprint.encoder.convolutions {
            let layer = self.convolution(table, shape, table.channels, false)?;
            shape = layer.output;
            encoder.push(layer);
        }
        let mut columns = Some(shape);
        let mut width = shape.values();
        for table in &blueprint.encoder.linear {
            let mut layer = self.linear(table, width)?;
            layer.reorder_columns(columns.take());
            width = table.width;
            encoder.push(layer);
        }
        let mut heads = PlainLayer::linear(width, Activation::None);
        if layout.continuous() > 0 {
            let (name, stride) = match &blueprint.encoder.heads {
                Heads::Separate => ("encoder.mean", 1),
                Heads::Interleaved(name) => (name.as_str(), 2),
            };
            let means = self.linear(&Linear::plain(name, stride * layout.continuous()), width)?;
            heads.rows.extend(means.rows.into_iter().step_by(stride));
            heads.bias.extend(means.bias.into_iter().step_by(stride));
        }
        for (unit, &classes) in layout.categorical().iter().enumerate() {
            let logits =
                self.linear(&Linear::plain(format!("encoder.categorical.{unit}"), classes), width)?;
            heads.rows.extend(logits.rows);
            heads.bias.extend(logits.bias);
        }
        heads.output = ImageShape::new(1, 1, heads.rows.len());
        heads.reorder_columns(columns.take());
        encoder.push(heads);
        Some(encoder)
    }

    fn linear(&self, table: &Linear, inputs: usize) -> Option<PlainLayer> {
        let Linear { name, width, activation } = table;
        let weight = self.get(name, "weight", &[*width, inputs])?;
        Some(PlainLayer {
            output: ImageShape::new(1, 1, *width),
            rows: weight.chunks_exact(inputs).map(<[f32]>::to_vec).collect(),
            bias: self.get(name, "bias", &[*width])?.to_vec(),
            ..PlainLayer::linear(inputs, *activation)
        })
    }

    /// With the first `kept` of its output channels.
    fn convolution(
        &self,
        table: &Convolution,
        input: ImageShape,
        kept: usize,
        transposed: bool,
    ) -> Option<PlainLayer> {
        let Convolution { name, channels, kernel, stride, padding, norm, activation } = table;
        let [height, width] = *kernel;
        let taps = height * width;
        let size = |size: usize, kernel: usize| {
            if transposed {
                (size - 1) * stride + kernel - 2 * padding
            } else {
                (size + 2 * padding - kernel) / stride + 1
            }
        };
        let shape = if transposed {
            [input.channels, *channels, height, width]
        } else {
            [*channels, input.channels, height, width]
        };
        let weight = self.get(name, "weight", &shape)?;
        let place = |output: usize, tap: usize, channel: usize| {
            let pair =
                if transposed { channel * channels + output } else { output * input.channels + channel };
            pair * taps + tap
        };
        let (mut rows, mut bias) = (Vec::new(), Vec::new());
        for output in 0..kept {
            let of_tap = |tap| (0..input.channels).map(move |channel| weight[place(output, tap, channel)]);
            let mut row: Vec<f32> = (0..taps).flat_map(of_tap).collect();
            let shift = match norm {
                None => self.get(name, "bias", &[*channels])?[output],
                // (x - mean) / sqrt(variance + epsilon) * weight + bias
                Some(norm) => {
                    let of = |part| Some(f64::from(self.get(norm, part, &[*channels])?[output]));
                    let scale = of("weight")? / (of("running_var")? + BATCH_NORM_EPSILON).sqrt();
                    row.iter_mut().for_each(|weight| *weight = (f64::from(*weight) * scale) as f32);
                    (of("bias")? - of("running_mean")? * scale) as f32
                }
            };
            rows.push(row);
            bias.push(shift);
        }
        Some(PlainLayer {
            transposed,
            input,
            output: ImageShape::new(size(input.height, height), size(input.width, width), kept),
            kernel: *kernel,
            stride: *stride,
            padding: *padding,
            activation: PlainActivation::Of(*activation),
            rows,
            bias,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of 1 x 2 pixels with three channels: channels first it is r0 r1 g0 g1 b0 b1.
    #[test]
    fn channels_move_behind_pixels() {
        let order: Vec<usize> = channels_last(ImageShape::new(1, 2, 3)).collect();
        assert_eq!(order, [0, 2, 4, 1, 3, 5]);
        let mut layer = PlainLayer::linear(6, Activation::None);
        layer.rows = vec![vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]];
        layer.reorder_columns(Some(ImageShape::new(1, 2, 3)));
        assert_eq!(layer.rows, [[0.0, 2.0, 4.0, 1.0, 3.0, 5.0]]);
        layer.rows = (0..6_u8).map(|row| vec![f32::from(row)]).collect();
        layer.bias = (10..16_u8).map(f32::from).collect();
        layer.reorder_rows(ImageShape::new(1, 2, 3), 2);
        assert_eq!(layer.rows, [[0.0], [2.0], [1.0], [3.0]], "the third channel is left out");
        assert_eq!(layer.bias, [10.0, 12.0, 11.0, 13.0]);
    }
}
