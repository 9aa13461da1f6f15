//! The `discriminator` table of adversarial objectives.

use super::check::at_least_one;
use super::{Config, OptimizerConfig};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// A classifier of latent vectors and its Adam. The defaults are disentanglement_lib's and those of Kim & Mnih 2018;
/// Mushom 2020, Table 5.5, and disentangling-vae have five layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiscriminatorConfig {
    /// Number of hidden layers.
    pub layers: usize,
    /// Width of each.
    pub width: usize,
    /// Size of a step.
    pub learning_rate: f64,
    /// Decay of the mean of the gradients.
    pub beta1: f64,
    /// Decay of the mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
}

impl Default for DiscriminatorConfig {
    fn default() -> Self {
        Self { layers: 6, width: 1000, learning_rate: 1e-4, beta1: 0.5, beta2: 0.9, epsilon: 1e-8 }
    }
}

impl DiscriminatorConfig {
    /// Its Adam.
    pub fn optimizer(&self) -> OptimizerConfig {
        let Self { learning_rate, beta1, beta2, epsilon, .. } = *self;
        OptimizerConfig { learning_rate, beta1, beta2, epsilon, ..OptimizerConfig::default() }
    }

    /// Refuses what cannot be right.
    pub(super) fn check(&self) -> Result {
        at_least_one("objective.discriminator.layers", self.layers as u64)?;
        at_least_one("objective.discriminator.width", self.width as u64)?;
        Config::check_adam("objective.discriminator", &self.optimizer())
    }
}

/// Which batch FactorVAE's discriminator sees permuted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscriminatorBatch {
    /// A second one, independent of the first (Kim & Mnih 2018, Algorithm 2).
    #[default]
    Second,
    /// The one that the network trains on: disentanglement_lib.
    Same,
}

/// How an encoder plays against a discriminator D of prior samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorLoss {
    /// It minimises -ln D(z).
    #[default]
    NonSaturating,
    /// It minimises ln(1 - D(z)).
    Minimax,
}
