//! Settings of objectives other than weights.

use super::term::{CovarianceConfig, CovarianceOf, TermConfig, projections, stratified};
use crate::config::check::{positive, size};
use crate::config::{DiscriminatorConfig, Schedule};
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
    /// The decay of a running estimate of the covariance; 0 uses each batch by itself (footnote 4).
    #[serde(default)]
    pub running_decay: f64,
    /// L, the number of samples of each posterior.
    #[serde(default, skip_serializing_if = "Samples::is_one")]
    pub samples: Samples,
}

/// How ln q(z) is estimated from a batch of B out of N images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Minibatch stratified sampling (Chen et al. 2018, appendix C.2).
    #[default]
    Mss,
    /// Minibatch weighted sampling (Chen et al. 2018, eq. 3): biased unless the batch is large.
    Mws,
    /// Stratified sampling with the weights in the columns in which public code puts them, to reproduce its results.
    MssColumns,
    /// The image's own posterior exactly, and the others of the batch with equal weights (Esmaeili et al. 2018; Mathieu et
    /// al. 2019, eq. 10b).
    Stratified,
}

/// The function f of an f-divergence D_f(q || p) = E_p\[f(q / p)\] (Mushom 2020, eq. 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FDivergence {
    /// KL(q || p): f(u) = u ln u.
    Kl,
    /// KL(p || q): f(u) = -ln u.
    ReverseKl,
    /// Twice the Jensen-Shannon divergence: f(u) = u ln u - (u + 1) ln((u + 1) / 2), as the thesis has it.
    JensenShannon,
    /// Pearson's chi^2: f(u) = (u - 1)^2.
    Pearson,
    /// The squared Hellinger distance: f(u) = (sqrt(u) - 1)^2.
    SquaredHellinger,
}

/// L, the number of samples of each posterior that are decoded (Kingma & Welling 2014, eq. 7; Mushom 2020, section 3.3).
/// One is left out of a written configuration, so that those of earlier versions keep their fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Samples(pub usize);

impl Default for Samples {
    fn default() -> Self {
        Self(1)
    }
}

impl Samples {
    pub(super) fn is_one(&self) -> bool {
        self.0 == 1
    }

    pub(super) fn check(self) -> Result {
        size("objective.samples", self.0)
    }
}

/// How `beta-tcvae` sums its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KlForm {
    /// alpha MI + beta TC + gamma KL_dim, each estimated, as in the paper.
    #[default]
    Estimated,
    /// KL + (alpha - 1) MI + (beta - 1) TC + (gamma - 1) KL_dim with the KL divergence in closed form, as in
    /// disentanglement_lib: the same in expectation, with less noise.
    Analytic,
}

/// What of the posterior is decoded.
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
    /// Squared differences of mean and covariance.
    Moments {},
    /// KL(q(z) || p(z)) (Mathieu et al. 2019, appendix C, eq. 10).
    ExclusiveKl {
        /// How the density of the aggregate posterior is estimated.
        #[serde(default = "stratified")]
        estimator: Estimator,
    },
    /// D_f(q(z) || p(z)) by its variational bound (Nowozin et al. 2016; Mushom 2020, eq. 2.2).
    FDivergence {
        /// f.
        divergence: FDivergence,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// D_f(q(z) || p(z)) with q(z) as the mixture of the batch's posteriors (Rubenstein et al. 2019).
    RandomMixture {
        /// f.
        divergence: FDivergence,
    },
    /// The sliced Wasserstein distance (Kolouri et al. 2018).
    SlicedWasserstein {
        /// Number of random directions.
        #[serde(default = "projections")]
        projections: usize,
    },
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
    /// Whether each unit is compared with its own marginal prior.
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

    /// The options of its two covariance terms.
    pub(super) fn covariance(&self, of: CovarianceOf) -> CovarianceConfig {
        CovarianceConfig { of, running_decay: self.running_decay }
    }
}

impl DivergenceConfig {
    /// The term that computes it.
    pub(super) fn term(&self) -> TermConfig {
        match self.clone() {
            Self::Mmd(mmd) => TermConfig::Mmd(mmd),
            Self::InclusiveKl {} => TermConfig::InclusiveKl {},
            Self::Moments {} => TermConfig::Moments {},
            Self::ExclusiveKl { estimator } => TermConfig::ExclusiveKl { estimator },
            Self::FDivergence { divergence, discriminator } => {
                TermConfig::FDivergence { divergence, discriminator }
            }
            Self::RandomMixture { divergence } => TermConfig::RandomMixture { divergence },
            Self::SlicedWasserstein { projections } => TermConfig::SlicedWasserstein { projections },
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
