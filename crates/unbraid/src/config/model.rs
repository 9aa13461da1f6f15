//! The `[model]` table.

use super::{PosteriorNeed, PriorConfig};
use serde::{Deserialize, Serialize};
use unbraid_data::ImageShape;

/// The networks and distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// The networks.
    pub architecture: ArchitectureConfig,
    /// The initial weights.
    pub initializer: Initializer,
    /// The latent units.
    pub latents: LatentsConfig,
    /// The distribution of the pixels given the latent units.
    pub likelihood: LikelihoodConfig,
    /// The distribution of the latent units.
    pub prior: PriorConfig,
    /// The approximate distribution of the continuous units given an image. Left out of a written configuration if it is
    /// the usual one, so that those of earlier versions keep their fingerprints.
    #[serde(skip_serializing_if = "PosteriorConfig::is_diagonal")]
    pub posterior: PosteriorConfig,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            architecture: ArchitectureConfig::Conv {},
            initializer: Initializer::Pytorch,
            latents: LatentsConfig::default(),
            likelihood: LikelihoodConfig::Bernoulli {},
            prior: PriorConfig::StandardNormal {},
            posterior: PosteriorConfig::Diagonal {},
        }
    }
}

/// The approximate posterior q(z|x) of the continuous units; `model::posterior` has one file for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorConfig {
    /// Independent Gaussians (Kingma & Welling 2014).
    Diagonal {},
    /// A Gaussian with any covariance, by its Cholesky factor (Mushom 2020, section 3.2).
    FullCovariance {},
    /// An inverse autoregressive flow (Kingma et al. 2016).
    Iaf {
        /// T, the number of autoregressive steps.
        #[serde(default = "flow_steps")]
        steps: usize,
        /// Widths of the hidden layers of each step.
        #[serde(default = "flow_hidden")]
        hidden: Vec<usize>,
        /// Number of values that the encoder hands to every step.
        #[serde(default = "flow_context")]
        context: usize,
    },
    /// A network of features and noise, without a density (Mescheder et al. 2017).
    Implicit {
        /// Number of standard normal numbers that it takes for each image.
        #[serde(default = "implicit_noise")]
        noise: usize,
        /// Widths of its hidden layers.
        #[serde(default = "implicit_hidden")]
        hidden: Vec<usize>,
    },
}

const fn flow_steps() -> usize {
    2
}

fn flow_hidden() -> Vec<usize> {
    vec![128]
}

const fn flow_context() -> usize {
    64
}

const fn implicit_noise() -> usize {
    16
}

fn implicit_hidden() -> Vec<usize> {
    vec![256]
}

impl PosteriorConfig {
    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Diagonal {} => "diagonal",
            Self::FullCovariance {} => "full-covariance",
            Self::Iaf { .. } => "iaf",
            Self::Implicit { .. } => "implicit",
        }
    }

    /// Whether it is the usual one.
    pub fn is_diagonal(&self) -> bool {
        matches!(self, Self::Diagonal {})
    }

    /// The most that a term can ask of it.
    pub fn provides(&self) -> PosteriorNeed {
        match self {
            Self::Diagonal {} => PosteriorNeed::DiagonalGaussian,
            Self::FullCovariance {} => PosteriorNeed::Gaussian,
            Self::Iaf { .. } => PosteriorNeed::Density,
            Self::Implicit { .. } => PosteriorNeed::Samples,
        }
    }
}

/// The networks by name; `model::architecture` has one file for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArchitectureConfig {
    /// 4x4 convolutions with 32, 32, 64, 64 channels, FC 256.
    Conv {},
    /// As `conv`, with 2x2 kernels in layers 3 and 4: disentanglement_lib.
    Dlib {},
    /// Four layers of 32 channels, two FC 256 (Burgess et al. 2018), with disentangling-vae's names.
    Burgess {
        /// Channels of every convolution.
        #[serde(default = "burgess_channels")]
        channels: usize,
        /// Width of the fully connected layers.
        #[serde(default = "burgess_hidden")]
        hidden: usize,
    },
    /// JointVAE's network for 64x64 images (Dupont 2018, appendix B).
    #[serde(rename = "dupont-64")]
    Dupont64 {},
    /// JointVAE's network for 32x32 images.
    #[serde(rename = "dupont-32")]
    Dupont32 {},
    /// Mathieu et al. 2019, Table 1a.
    Mathieu {},
    /// Batch normalisation and leaky ReLU: Mathieu et al. 2019, Table 1c.
    Dcgan {},
    /// Fully connected layers of the given widths.
    Mlp {
        /// Widths of the encoder's hidden layers, each followed by a ReLU.
        encoder: Vec<usize>,
        /// Widths of the decoder's hidden layers.
        decoder: Vec<usize>,
        /// The activation after each of the decoder's hidden layers.
        #[serde(default)]
        decoder_activation: Activation,
    },
    /// One linear map each way, as PCA needs.
    Linear {},
}

const fn burgess_channels() -> usize {
    32
}

const fn burgess_hidden() -> usize {
    256
}

impl ArchitectureConfig {
    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Conv {} => "conv",
            Self::Dlib {} => "dlib",
            Self::Burgess { .. } => "burgess",
            Self::Dupont64 {} => "dupont-64",
            Self::Dupont32 {} => "dupont-32",
            Self::Mathieu {} => "mathieu",
            Self::Dcgan {} => "dcgan",
            Self::Mlp { .. } => "mlp",
            Self::Linear {} => "linear",
        }
    }

    /// Whether batch normalisation sees a single value of each channel of each of these images, at least in one layer: then
    /// a batch of one image has no variance.
    pub(crate) fn normalises_one_pixel(&self, images: ImageShape) -> bool {
        match self {
            // The last of four layers that halve the image, and the first of the decoder, which starts at that size.
            Self::Dcgan {} => images.height.max(images.width) <= 16,
            Self::Conv {}
            | Self::Dlib {}
            | Self::Burgess { .. }
            | Self::Dupont64 {}
            | Self::Dupont32 {}
            | Self::Mathieu {}
            | Self::Mlp { .. }
            | Self::Linear {} => false,
        }
    }
}

/// The activation after a hidden layer of the `mlp` decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(0, x)`
    #[default]
    Relu,
    /// As in the fully connected decoders of Higgins, Chen and disentanglement_lib.
    Tanh,
}

/// The distribution of the initial weights; `n` is the fan-in and `m` the fan-out of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initializer {
    /// PyTorch's default: weights and biases uniform within `1 / sqrt(n)`.
    #[default]
    Pytorch,
    /// PyTorch's default before version 1.0, where `n` of a transposed convolution counts its input channels, not its
    /// output channels.
    #[serde(rename = "pytorch-0.4")]
    Pytorch04,
    /// TensorFlow's default (Glorot & Bengio 2010): weights uniform within `sqrt(6 / (n + m))`, biases zero.
    GlorotUniform,
    /// As in disentangling-vae: weights uniform within `sqrt(6 / n)` (He et al. 2015, for ReLU), biases as PyTorch's
    /// default.
    KaimingUniform,
    /// Weights and biases normal with the standard deviation `sqrt(2 / n)`: He et al. 2015 as Mushom 2020, section 5.1,
    /// prints it.
    KaimingNormal,
}

/// The latent units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatentsConfig {
    /// Number of continuous units.
    pub continuous: usize,
    /// Number of classes of each categorical unit.
    pub categorical: Vec<usize>,
    /// Temperature of the samples of categorical units during training. Near 0, samples are one-hot and gradients
    /// noisy. If absent, 0.67 as in JointVAE's code. A resolved configuration has it if and only if it has categorical
    /// units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

impl LatentsConfig {
    /// Number of inputs of the decoder: one for each continuous unit and each class of the categorical units.
    pub fn width(&self) -> usize {
        self.continuous + self.categorical.iter().sum::<usize>()
    }

    /// The temperature, or the default.
    pub fn temperature_or_default(&self) -> f64 {
        self.temperature.unwrap_or(0.67)
    }
}

impl Default for LatentsConfig {
    fn default() -> Self {
        Self { continuous: 10, categorical: Vec::new(), temperature: None }
    }
}

/// The distribution of the pixels given the latent units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LikelihoodConfig {
    /// Independent Bernoulli variables; the decoder outputs their logits. Grey targets are allowed.
    Bernoulli {},
    /// Independent normal variables centred on the decoder's output.
    Gaussian {
        /// Their standard deviation.
        #[serde(default)]
        scale: Scale,
        /// How the decoder's output becomes the mean.
        #[serde(default)]
        output: Output,
    },
    /// Independent Laplace variables centred on the decoder's output.
    Laplace {
        /// Their scale `b`.
        #[serde(default)]
        scale: Scale,
        /// How the decoder's output becomes the mean.
        #[serde(default)]
        output: Output,
    },
}

/// The scale of a likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or one of the words `learned` and `decoded`")]
pub enum Scale {
    /// A constant.
    Fixed(f64),
    /// Trained with the weights.
    Learned(Learned),
}

/// How a scale that is trained depends on the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// One number for all pixels of all images.
    Learned,
    /// One for each pixel and channel, output by the decoder beside the mean: its last layer has twice as many
    /// channels, first the means, then the logarithms of the scales.
    Decoded,
}

impl Default for Scale {
    fn default() -> Self {
        Self::Fixed(1.0)
    }
}

impl LikelihoodConfig {
    /// Whether the decoder outputs a scale for each pixel and channel.
    pub fn has_decoded_scale(&self) -> bool {
        match self {
            Self::Bernoulli {} => false,
            Self::Gaussian { scale, .. } | Self::Laplace { scale, .. } => {
                matches!(scale, Scale::Learned(Learned::Decoded))
            }
        }
    }
}

/// How the decoder's output becomes the mean of a Gaussian or Laplace likelihood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Through a sigmoid, since pixels lie in \[0, 1\].
    #[default]
    Sigmoid,
    /// Unchanged, for data that is not confined to an interval.
    Linear,
}
