//! The `discriminator` table of adversarial objectives.

use super::check::{layer_count, size};
use super::{Config, OptimizerConfig};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A classifier of latent vectors and the settings of its Adam. The defaults are those of disentanglement_lib and Kim &
/// Mnih 2018; Mushom 2020, Table 5.5, and disentangling-vae have five layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiscriminatorConfig {
    /// Number of hidden layers.
    pub layers: usize,
    /// Width of each.
    pub width: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// Decay of the running mean of the gradients.
    pub beta1: f64,
    /// Decay of the running mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Slope of the leaky ReLU below zero. Left out of a written configuration if it is the usual one, so that those of
    /// earlier versions keep their fingerprints.
    #[serde(skip_serializing_if = "is_usual_leak")]
    pub leak: f64,
}

const USUAL_LEAK: f64 = 0.2;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_usual_leak(leak: &f64) -> bool {
    *leak == USUAL_LEAK
}

impl Default for DiscriminatorConfig {
    fn default() -> Self {
        Self {
            layers: 6,
            width: 1000,
            learning_rate: 1e-4,
            beta1: 0.5,
            beta2: 0.9,
            epsilon: 1e-8,
            leak: USUAL_LEAK,
        }
    }
}

impl DiscriminatorConfig {
    /// The settings of its Adam.
    pub fn optimizer(&self) -> OptimizerConfig {
        let Self { learning_rate, beta1, beta2, epsilon, .. } = *self;
        OptimizerConfig { learning_rate, beta1, beta2, epsilon, ..OptimizerConfig::default() }
    }

    /// Refuses impossible values; `key` is that of the table.
    pub(super) fn check(&self, key: &str) -> Result {
        layer_count(&format!("{key}.layers"), self.layers)?;
        size(&format!("{key}.width"), self.width)?;
        if !(0.0..1.0).contains(&self.leak) {
            return Err(Error::value(format!("{key}.leak"), self.leak, "a number from 0 to below 1"));
        }
        Config::check_adam(key, &self.optimizer())
    }
}

/// The adversarial estimate of KL(q(z|x) || p(z)) (Mescheder et al. 2017).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdversarialKlConfig {
    /// Whether the discriminator compares q(z|x) with a Gaussian of the same mean and variances instead of with the prior
    /// (adaptive contrast: Mescheder et al. 2017, section 3.3).
    pub adaptive_contrast: bool,
    /// The discriminator T(x, z).
    pub discriminator: ContrastConfig,
}

/// A classifier T(x, z) of pairs of an image and a latent vector, and the settings of its Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContrastConfig {
    /// Width of the two layers that turn an image into features.
    pub features: usize,
    /// Number of hidden layers over features and latent vector.
    pub layers: usize,
    /// Width of each.
    pub width: usize,
    /// Updates of the discriminator at each step.
    pub updates: usize,
    /// Samples of each posterior from which adaptive contrast computes mean and variances.
    pub samples: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// Decay of the running mean of the gradients.
    pub beta1: f64,
    /// Decay of the running mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Slope of the leaky ReLU below zero.
    pub leak: f64,
}

impl Default for ContrastConfig {
    fn default() -> Self {
        Self {
            features: 256,
            layers: 2,
            width: 512,
            updates: 1,
            samples: 16,
            learning_rate: 1e-4,
            beta1: 0.5,
            beta2: 0.999,
            epsilon: 1e-8,
            leak: USUAL_LEAK,
        }
    }
}

impl ContrastConfig {
    /// Its layers over features and latent vector, and its Adam.
    pub fn over_features(&self) -> DiscriminatorConfig {
        let Self { layers, width, learning_rate, beta1, beta2, epsilon, leak, .. } = *self;
        DiscriminatorConfig { layers, width, learning_rate, beta1, beta2, epsilon, leak }
    }
}

impl AdversarialKlConfig {
    /// Refuses impossible values; `key` is that of the table.
    pub(super) fn check(&self, key: &str) -> Result {
        let key = format!("{key}.discriminator");
        let ContrastConfig { features, updates, samples, .. } = self.discriminator;
        size(&format!("{key}.features"), features)?;
        size(&format!("{key}.updates"), updates)?;
        if samples < 2 {
            return Err(Error::value(
                format!("{key}.samples"),
                samples,
                "at least 2, since a variance is computed",
            ));
        }
        size(&format!("{key}.samples"), samples)?;
        self.discriminator.over_features().check(&key)
    }
}

/// Which batch is permuted for FactorVAE's discriminator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscriminatorBatch {
    /// A second one, independent of the first (Kim & Mnih 2018, Algorithm 2).
    #[default]
    Second,
    /// The batch that the network is trained on, as in disentanglement_lib.
    Same,
}

/// The loss of an encoder against a discriminator D of prior samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorLoss {
    /// The encoder minimises -ln D(z).
    #[default]
    NonSaturating,
    /// The encoder minimises ln(1 - D(z)).
    Minimax,
}
