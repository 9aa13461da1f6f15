//! What objectives are made of besides weights.

use crate::config::check::positive;
use crate::config::{PriorConfig, Schedule};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The weights of DIP-VAE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DipConfig {
    /// The weight of the squares off the diagonal.
    pub lambda_od: Schedule,
    /// The weight of the squared distances of the diagonal from one.
    pub lambda_d: Schedule,
    /// The weight of the squares of the third central moments of the aggregate posterior (Kumar et al. 2018, section 4).
    #[serde(default = "zero")]
    pub lambda_3: Schedule,
    /// The share of the past in a running estimate of the covariance; 0 takes each batch by itself (footnote 4).
    #[serde(default)]
    pub running_decay: f64,
}

/// How ln q(z) is estimated from a batch of B of N images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Minibatch stratified sampling (Chen et al. 2018, appendix C.2).
    #[default]
    Mss,
    /// Minibatch weighted sampling (Chen et al. 2018, eq. 3): biased unless the batch is large.
    Mws,
    /// Stratified sampling with the weights in the columns where public code puts them; to reproduce its results.
    MssColumns,
}

/// How `beta-tcvae` sums its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KlForm {
    /// alpha MI + beta TC + gamma KL_dim, each estimated: as the paper has it.
    #[default]
    Estimated,
    /// KL + (alpha - 1) MI + (beta - 1) TC + (gamma - 1) KL_dim with the KL divergence in closed form: the same in
    /// expectation, with less noise; as disentanglement_lib has it.
    Analytic,
}

/// What an encoder's output means to the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoder {
    /// The mean is decoded.
    #[default]
    Deterministic,
    /// A sample of the posterior is decoded.
    Gaussian,
}

/// A divergence between the aggregate posterior and the prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DivergenceConfig {
    /// Maximum mean discrepancy.
    Mmd(MmdConfig),
    /// KL(p(z) || q(z)) with q(z) as the mixture of the batch's posteriors.
    InclusiveKl {},
    /// Squared distances of mean and covariance.
    Moments {},
}

impl Default for DivergenceConfig {
    fn default() -> Self {
        Self::Mmd(MmdConfig::default())
    }
}

/// Maximum mean discrepancy with a sum of kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MmdConfig {
    /// The kernel.
    pub kernel: Kernel,
    /// The kernel is a sum over these scales.
    pub scales: Vec<f64>,
    /// Whether each unit is compared with its prior alone.
    pub per_unit: bool,
}

impl Default for MmdConfig {
    fn default() -> Self {
        Self { kernel: Kernel::Imq, scales: vec![0.1, 0.2, 0.5, 1.0, 2.0, 5.0], per_unit: false }
    }
}

/// The kernel of an MMD, with C = 2 s for scale s and one unit, 2 D s for D units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Inverse multiquadratic: C / (C + |a - b|^2).
    #[default]
    Imq,
    /// Gaussian: exp(-|a - b|^2 / C).
    Rbf,
}

fn zero() -> Schedule {
    Schedule::Constant(0.0)
}

impl DipConfig {
    pub(super) fn schedules(&self) -> [(&'static str, Schedule); 3] {
        [("lambda_od", self.lambda_od), ("lambda_d", self.lambda_d), ("lambda_3", self.lambda_3)]
    }

    pub(super) fn check(&self) -> Result {
        if (0.0..1.0).contains(&self.running_decay) {
            return Ok(());
        }
        Err(Error::value("objective.running_decay", self.running_decay, "a number from 0 to below 1"))
    }
}

impl DivergenceConfig {
    pub(super) fn check(&self, prior: &PriorConfig) -> Result {
        match (self, prior) {
            (Self::Mmd(mmd), _) => mmd.check("objective.divergence"),
            (Self::Moments {}, PriorConfig::StudentT { degrees_of_freedom })
                if *degrees_of_freedom <= 2.0 =>
            {
                let found =
                    format!("moments with a Student-t prior of {degrees_of_freedom} degrees of freedom");
                let expected = "mmd or inclusive-kl, since that prior has no covariance";
                Err(Error::value("objective.divergence", found, expected))
            }
            (Self::InclusiveKl {} | Self::Moments {}, _) => Ok(()),
        }
    }
}

impl MmdConfig {
    pub(super) fn check(&self, key: &str) -> Result {
        let key = format!("{key}.scales");
        if self.scales.is_empty() {
            return Err(Error::value(key, "[]", "one scale or more"));
        }
        self.scales.iter().try_for_each(|scale| positive(&key, *scale))
    }
}
