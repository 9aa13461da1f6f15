//! Encoder, decoder and likelihood with their weights.

use super::architecture::{Blueprint, Heads, Linear};
use super::batch_norm::{BatchNorm, BatchStatistics};
use super::initializer::Draws;
use super::layers::{Builder, ConvLayer, Direction, LinearLayer, Pass};
use super::parameter::NamedParameter;
use super::posterior::{InverseAutoregressiveFlow, NoisyLayers};
use super::weights::StateTensor;
use super::{
    Categorical, ContinuousPosterior, DiagonalGaussian, FullCovarianceGaussian, Likelihood, Posterior,
};
use crate::config::{ModelConfig, PosteriorConfig};
use crate::error::Result;
use burn::tensor::{Device, Tensor};
use std::sync::Arc;
use unbraid_data::ImageShape;
use unbraid_kernels::{flatten_images, unflatten_images};

/// A variational autoencoder.
#[derive(Clone, Debug)]
pub struct Network {
    blueprint: Blueprint,
    encoder: Encoder,
    decoder: Decoder,
    likelihood: Likelihood,
    device: Device,
}

#[derive(Clone, Debug)]
struct Encoder {
    convolutions: Vec<ConvLayer>,
    linear: Vec<LinearLayer>,
    /// Mean and log-variance; `None` without continuous units, or if they have neither.
    heads: Option<PosteriorHeads>,
    /// What a posterior other than the diagonal Gaussian needs beside these.
    extension: Extension,
    /// One layer of logits for each categorical unit.
    categorical: Vec<LinearLayer>,
}

#[derive(Clone, Debug)]
enum PosteriorHeads {
    Separate { mean: LinearLayer, log_variance: Box<LinearLayer> },
    Interleaved(LinearLayer),
}

/// Layers of a posterior other than the diagonal Gaussian.
#[derive(Clone, Debug)]
enum Extension {
    None,
    /// The matrix whose part below the diagonal is that of the Cholesky factor.
    FullCovariance(LinearLayer),
    Iaf(InverseAutoregressiveFlow),
    Implicit(NoisyLayers),
}

#[derive(Clone, Debug)]
struct Decoder {
    linear: Vec<LinearLayer>,
    grid: ImageShape,
    convolutions: Vec<ConvLayer>,
}

impl Network {
    /// A network for images of this size. The initial weights depend only on the seed and their names. On a device with
    /// automatic differentiation it can be trained.
    ///
    /// # Errors
    /// If the architecture cannot take images of this size.
    pub fn new(config: &ModelConfig, images: ImageShape, seed: u64, device: &Device) -> Result<Self> {
        let blueprint = Blueprint::new(config, images)?;
        let builder = Builder { draws: Draws { initializer: config.initializer, seed }, device };
        Ok(Self {
            encoder: Encoder::new(&blueprint, builder),
            decoder: Decoder::new(&blueprint, builder),
            likelihood: Likelihood::new(&config.likelihood, device),
            device: device.clone(),
            blueprint,
        })
    }

    /// The tables of layers it was built from.
    pub fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    /// The device of its weights.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The distribution of the pixels.
    pub fn likelihood(&self) -> &Likelihood {
        &self.likelihood
    }

    /// q(z, c|x) of images `[batch, height, width, channels]`.
    pub fn encode(&self, images: Tensor<4>, pass: &mut Pass<'_>) -> Posterior {
        let mut values = flatten_images(ConvLayer::forward_all(&self.encoder.convolutions, images, pass));
        for layer in &self.encoder.linear {
            values = layer.forward(values);
        }
        let logits = self.encoder.categorical.iter().map(|head| head.forward(values.clone()));
        Posterior { categorical: logits.map(Categorical::new).collect(), continuous: self.continuous(values) }
    }

    /// q(z|x) from the encoder's features.
    fn continuous(&self, features: Tensor<2>) -> Arc<dyn ContinuousPosterior> {
        let Encoder { heads, extension, .. } = &self.encoder;
        let diagonal = || match heads {
            Some(heads) => heads.forward(features.clone(), self.blueprint.layout.continuous()),
            None => {
                let empty = Tensor::zeros([features.dims()[0], 0], &self.device);
                DiagonalGaussian { mean: empty.clone(), log_variance: empty }
            }
        };
        match extension {
            Extension::None => Arc::new(diagonal()),
            Extension::FullCovariance(layer) => {
                Arc::new(FullCovarianceGaussian::new(diagonal(), layer.forward(features.clone())))
            }
            Extension::Iaf(flow) => Arc::new(flow.posterior(diagonal(), features.clone())),
            Extension::Implicit(layers) => Arc::new(layers.posterior(features.clone())),
        }
    }

    /// The decoder's output, for instance logits, in the shape of an image, from the values of all latent units,
    /// `[batch, width]` in the order of [`Sample::joined`](super::Sample::joined).
    pub fn decode(&self, units: Tensor<2>, pass: &mut Pass<'_>) -> Tensor<4> {
        let mut values = units;
        for layer in &self.decoder.linear {
            values = layer.forward(values);
        }
        let ImageShape { height, width, channels } = self.decoder.grid;
        let images = unflatten_images(values, [height, width, channels]);
        ConvLayer::forward_all(&self.decoder.convolutions, images, pass)
    }

    /// All trained tensors, encoder first, always in the same order.
    pub fn parameters(&self) -> Vec<&dyn NamedParameter> {
        let Self { encoder, decoder, likelihood, .. } = self;
        let heads = encoder.heads.iter().flat_map(PosteriorHeads::layers).chain(&encoder.categorical);
        let mut all: Vec<&dyn NamedParameter> =
            encoder.convolutions.iter().flat_map(ConvLayer::parameters).collect();
        let encoding = encoder.linear.iter().chain(heads).chain(encoder.extension.layers());
        all.extend(encoding.chain(&decoder.linear).flat_map(LinearLayer::parameters));
        all.extend(decoder.convolutions.iter().flat_map(ConvLayer::parameters));
        all.extend(likelihood.parameter());
        all
    }

    /// The same, mutable.
    pub fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        let Self { encoder, decoder, likelihood, .. } = self;
        let heads =
            encoder.heads.iter_mut().flat_map(PosteriorHeads::layers_mut).chain(&mut encoder.categorical);
        let mut all: Vec<&mut dyn NamedParameter> =
            encoder.convolutions.iter_mut().flat_map(ConvLayer::parameters_mut).collect();
        let encoding = encoder.linear.iter_mut().chain(heads).chain(encoder.extension.layers_mut());
        all.extend(encoding.chain(&mut decoder.linear).flat_map(LinearLayer::parameters_mut));
        all.extend(decoder.convolutions.iter_mut().flat_map(ConvLayer::parameters_mut));
        all.extend(likelihood.parameter_mut());
        all
    }

    /// Updates the running statistics of batch normalisation with those collected in a training pass.
    pub fn absorb(&mut self, statistics: &[BatchStatistics]) {
        for (norm, statistics) in self.norms_mut().zip(statistics) {
            norm.absorb(statistics);
        }
    }

    /// The state dict: every parameter and buffer by its PyTorch name.
    pub fn state(&self) -> Vec<StateTensor> {
        let parameters = self.parameters();
        let floats = parameters
            .iter()
            .map(|parameter| StateTensor::floats(parameter.name(), parameter.shape(), parameter.values()));
        floats.chain(self.norms().flat_map(BatchNorm::buffers)).collect()
    }

    /// Replaces all weights and buffers with those of a state dict.
    ///
    /// # Errors
    /// If a tensor is missing, superfluous, or of another shape or type; the network is then unchanged.
    pub fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        let ordered = super::weights::matched(&self.state(), state)?;
        let mut values = ordered.into_iter();
        for (parameter, new) in self.parameters_mut().into_iter().zip(&mut values) {
            parameter.update(&mut |old| old.copy_from_slice(new.as_floats()));
        }
        for norm in self.norms_mut() {
            if let (Some(mean), Some(variance), Some(batches)) = (values.next(), values.next(), values.next())
            {
                norm.set_buffers([mean, variance, batches]);
            }
        }
        Ok(())
    }

    fn norms(&self) -> impl Iterator<Item = &BatchNorm> {
        let layers = self.encoder.convolutions.iter().chain(&self.decoder.convolutions);
        layers.filter_map(ConvLayer::norm)
    }

    fn norms_mut(&mut self) -> impl Iterator<Item = &mut BatchNorm> {
        let layers = self.encoder.convolutions.iter_mut().chain(&mut self.decoder.convolutions);
        layers.filter_map(ConvLayer::norm_mut)
    }
}

impl Encoder {
    fn new(blueprint: &Blueprint, builder: Builder<'_>) -> Self {
        let table = &blueprint.encoder;
        let mut image = blueprint.image_shape;
        let mut convolutions = Vec::new();
        for layer in &table.convolutions {
            convolutions.push(ConvLayer::new(layer, Direction::Contract, image.channels, builder));
            let size = |size: usize| size / layer.stride;
            image = ImageShape::new(size(image.height), size(image.width), layer.channels);
        }
        let (linear, width) = linear_layers(&table.linear, image.values(), builder);
        let head =
            |name: &str, outputs: usize| LinearLayer::new(&Linear::plain(name, outputs), width, builder);
        let units = blueprint.layout.continuous();
        let extension = match &blueprint.posterior {
            PosteriorConfig::Diagonal {} => Extension::None,
            PosteriorConfig::FullCovariance {} => {
                Extension::FullCovariance(head("encoder.cholesky", units * units))
            }
            PosteriorConfig::Iaf { steps, hidden, context } => {
                let sizes = (*steps, hidden.as_slice(), *context);
                Extension::Iaf(InverseAutoregressiveFlow::new(sizes, width, units, builder))
            }
            PosteriorConfig::Implicit { noise, hidden } => {
                Extension::Implicit(NoisyLayers::new((*noise, hidden), width, units, builder))
            }
        };
        let has_heads = units > 0 && !matches!(extension, Extension::Implicit(_));
        let heads = has_heads.then(|| match &table.heads {
            Heads::Separate => PosteriorHeads::Separate {
                mean: head("encoder.mean", blueprint.layout.continuous()),
                log_variance: Box::new(head("encoder.log_variance", blueprint.layout.continuous())),
            },
            Heads::Interleaved(name) => {
                PosteriorHeads::Interleaved(head(name, 2 * blueprint.layout.continuous()))
            }
        });
        let categorical = blueprint.layout.categorical().iter().enumerate();
        let categorical =
            categorical.map(|(unit, classes)| head(&format!("encoder.categorical.{unit}"), *classes));
        Self { categorical: categorical.collect(), convolutions, linear, heads, extension }
    }
}

impl Extension {
    fn layers(&self) -> Vec<&LinearLayer> {
        match self {
            Self::None => Vec::new(),
            Self::FullCovariance(layer) => vec![layer],
            Self::Iaf(flow) => flow.layers(),
            Self::Implicit(layers) => layers.layers(),
        }
    }

    fn layers_mut(&mut self) -> Vec<&mut LinearLayer> {
        match self {
            Self::None => Vec::new(),
            Self::FullCovariance(layer) => vec![layer],
            Self::Iaf(flow) => flow.layers_mut(),
            Self::Implicit(layers) => layers.layers_mut(),
        }
    }
}

impl Decoder {
    fn new(blueprint: &Blueprint, builder: Builder<'_>) -> Self {
        let table = &blueprint.decoder;
        let (linear, _) = linear_layers(&table.linear, blueprint.layout.width(), builder);
        let mut channels = table.grid.channels;
        let mut convolutions = Vec::new();
        for layer in &table.convolutions {
            convolutions.push(ConvLayer::new(layer, Direction::Expand, channels, builder));
            channels = layer.channels;
        }
        Self { linear, grid: table.grid, convolutions }
    }
}

impl PosteriorHeads {
    fn forward(&self, values: Tensor<2>, units: usize) -> DiagonalGaussian {
        match self {
            Self::Separate { mean, log_variance } => {
                DiagonalGaussian::new(mean.forward(values.clone()), log_variance.forward(values))
            }
            Self::Interleaved(head) => {
                let batch = values.dims()[0];
                let pairs = head.forward(values).reshape([batch, units, 2]);
                let part = |place: usize| pairs.clone().narrow(2, place, 1).reshape([batch, units]);
                DiagonalGaussian::new(part(0), part(1))
            }
        }
    }

    fn layers(&self) -> impl Iterator<Item = &LinearLayer> {
        let (first, second) = match self {
            Self::Separate { mean, log_variance } => (mean, Some(log_variance.as_ref())),
            Self::Interleaved(head) => (head, None),
        };
        [first].into_iter().chain(second)
    }

    fn layers_mut(&mut self) -> impl Iterator<Item = &mut LinearLayer> {
        let (first, second) = match self {
            Self::Separate { mean, log_variance } => (mean, Some(log_variance.as_mut())),
            Self::Interleaved(head) => (head, None),
        };
        [first].into_iter().chain(second)
    }
}

fn linear_layers(tables: &[Linear], incoming: usize, builder: Builder<'_>) -> (Vec<LinearLayer>, usize) {
    let mut width = incoming;
    let mut layers = Vec::new();
    for table in tables {
        layers.push(LinearLayer::new(table, width, builder));
        width = table.width;
    }
    (layers, width)
}
