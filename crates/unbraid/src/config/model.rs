//! The `[model]` table.

use super::PriorConfig;
use serde::{Deserialize, Serialize};

/// The networks and distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// The networks.
    pub architecture: ArchitectureConfig,
    /// What the weights are before the first step.
    pub initializer: Initializer,
    /// The latent units.
    pub latents: LatentsConfig,
    /// The distribution of the pixels given the latent units.
    pub likelihood: LikelihoodConfig,
    /// The distribution of the latent units.
    pub prior: PriorConfig,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            architecture: ArchitectureConfig::Conv {},
            initializer: Initializer::Pytorch,
            latents: LatentsConfig::default(),
            likelihood: LikelihoodConfig::Bernoulli {},
            prior: PriorConfig::StandardNormal {},
        }
    }
}

/// The networks, by name; `model::architecture` has one file for each.
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
        /// What follows each of the decoder's hidden layers.
        #[serde(default)]
        decoder_activation: Activation,
    },
    /// One linear map each way: what principal components need.
    Linear {},
}

const fn burgess_channels() -> usize {
    32
}

const fn burgess_hidden() -> usize {
    256
}

impl ArchitectureConfig {
    /// The word that selects it.
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
}

/// What follows a hidden layer of the `mlp` decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(0, x)`
    #[default]
    Relu,
    /// As in the fully connected decoders of Higgins, Chen and disentanglement_lib.
    Tanh,
}

/// The distribution that weights are drawn from; `n` is the fan-in, `m` the fan-out of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initializer {
    /// PyTorch's layers as they come: weights and biases uniform within `1 / sqrt(n)`.
    #[default]
    Pytorch,
    /// Weights uniform within `sqrt(6 / (n + m))`, biases zero (Glorot & Bengio 2010): TensorFlow's default.
    GlorotUniform,
    /// Weights uniform within `sqrt(6 / n)` (He et al. 2015, for ReLU), biases as PyTorch's default: disentangling-vae.
    KaimingUniform,
}

/// The latent units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatentsConfig {
    /// Number of continuous units.
    pub continuous: usize,
    /// Number of classes of each categorical unit.
    pub categorical: Vec<usize>,
    /// Temperature of the samples of categorical units during training: near 0 they are one-hot, and gradients noisy.
    /// 0.67, that of JointVAE's code, if absent; a resolved configuration has it exactly if it has categorical units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

impl LatentsConfig {
    /// Values that the decoder takes: one for each continuous unit and each class of the categorical units.
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
    /// Independent Bernoulli variables; the decoder gives their logits. Grey targets are allowed.
    Bernoulli {},
    /// Independent normal variables around the decoder's output.
    Gaussian {
        /// Their standard deviation.
        #[serde(default)]
        scale: Scale,
        /// How the decoder's output becomes the mean.
        #[serde(default)]
        output: Output,
    },
    /// Independent Laplace variables around the decoder's output.
    Laplace {
        /// Their scale `b`.
        #[serde(default)]
        scale: Scale,
        /// How the decoder's output becomes the mean.
        #[serde(default)]
        output: Output,
    },
}

/// The spread of a likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or the word `learned`")]
pub enum Scale {
    /// Always this.
    Fixed(f64),
    /// One number for all pixels, trained with the weights.
    Learned(Learned),
}

/// The word `learned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// Trained with the weights.
    Learned,
}

impl Default for Scale {
    fn default() -> Self {
        Self::Fixed(1.0)
    }
}

/// How the decoder's output becomes the mean of a Gaussian or Laplace likelihood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Through a sigmoid, since pixels lie in \[0, 1\].
    #[default]
    Sigmoid,
    /// As it is, for data that is not confined.
    Linear,
}
