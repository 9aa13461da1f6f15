//! The terms of objectives by name: their options, what they require of the rest of a configuration, and lists of them.

use super::parts::{Estimator, FDivergence, MmdConfig};
use crate::config::check::size;
use crate::config::suggestion::with_suggestion;
use crate::config::{
    AdversarialKlConfig, DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss, PriorConfig, Schedule,
};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use toml::Value;

/// One summand of an objective and its options; `objective` has one file for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TermConfig {
    /// KL(q(z, c|x) || p(z) p(c)).
    Kl {},
    /// |KL - C|.
    KlFromCapacity {
        /// C in nats.
        capacity: Schedule,
    },
    /// |KL_z - C_z| of the continuous units.
    ContinuousKlFromCapacity {
        /// C_z in nats.
        capacity: Schedule,
    },
    /// |KL_c - C_c| of the categorical units.
    CategoricalKlFromCapacity {
        /// C_c in nats; limited to the sum of ln(classes).
        capacity: Schedule,
    },
    /// -H\[q(z|x)\].
    NegativeEntropy {},
    /// The importance-weighted bound without the reconstruction.
    IwaeKl {},
    /// KL(q(z|x) || p(z)) by a discriminator that sees the image.
    AdversarialKl(AdversarialKlConfig),
    /// I(x; z).
    MutualInformation {
        /// How the density of the aggregate posterior is estimated.
        #[serde(default)]
        estimator: Estimator,
    },
    /// KL(q(z) || prod_j q(z_j)).
    TotalCorrelation {
        /// How the density of the aggregate posterior is estimated.
        #[serde(default)]
        estimator: Estimator,
    },
    /// sum_j KL(q(z_j) || p(z_j)).
    DimensionWiseKl {
        /// How the density of the aggregate posterior is estimated.
        #[serde(default)]
        estimator: Estimator,
    },
    /// KL(q(z) || prod_j q(z_j)) by a discriminator.
    DiscriminatedTotalCorrelation {
        /// Which batch the discriminator sees permuted.
        #[serde(default)]
        discriminator_batch: DiscriminatorBatch,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// Squares of the covariances of different units.
    CovarianceOffDiagonal(CovarianceConfig),
    /// Squared distances of the variances from one.
    CovarianceDiagonal(CovarianceConfig),
    /// Squares of the third central moments of q(z).
    ThirdMoment {},
    /// MMD(q(z), p(z))^2.
    Mmd(MmdConfig),
    /// KL(p(z) || q(z)).
    InclusiveKl {},
    /// KL(q(z) || p(z)).
    ExclusiveKl {
        /// How the density of the aggregate posterior is estimated.
        #[serde(default = "stratified")]
        estimator: Estimator,
    },
    /// Squared differences of mean and covariance between q(z) and p(z).
    Moments {},
    /// The encoder's loss against a discriminator of samples of q(z) and p(z).
    Adversarial {
        /// The encoder's loss against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// D_f(q(z) || p(z)) by a discriminator.
    FDivergence {
        /// f.
        divergence: FDivergence,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// D_f(q(z) || p(z)) by the mixture of the batch's posteriors.
    RandomMixture {
        /// f.
        divergence: FDivergence,
    },
    /// The sliced Wasserstein distance of q(z) from p(z).
    SlicedWasserstein {
        /// Number of random directions.
        #[serde(default = "projections")]
        projections: usize,
    },
}

/// Which covariance of the codes is drawn towards the identity, and how it is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CovarianceConfig {
    /// The distribution whose covariance it is.
    pub of: CovarianceOf,
    /// The decay of a running estimate; 0 uses each batch by itself.
    pub running_decay: f64,
}

/// The distribution whose covariance is penalised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CovarianceOf {
    /// The posterior means, Cov\[mu\] (DIP-VAE-I: Kumar et al. 2018, eq. 6).
    Means,
    /// The samples: Cov_q(z)\[z\] = Cov\[mu\] + diag(E\[sigma^2\]) (DIP-VAE-II: eq. 5 and 7).
    #[default]
    Samples,
}

pub(super) const fn stratified() -> Estimator {
    Estimator::Stratified
}

pub(super) const fn projections() -> usize {
    50
}

/// What a term must be able to do with q(z|x).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PosteriorNeed {
    /// Draw samples.
    Samples,
    /// Compute the density of a sample.
    Density,
    /// Its exact mean and covariance, as of a Gaussian.
    Gaussian,
    /// Its density at any point, unit by unit.
    DiagonalGaussian,
}

/// What a term requires of the rest of a configuration: all in one place, none with a default.
pub(super) struct TermRequirements {
    pub(super) name: &'static str,
    /// Its schedules besides the weight.
    pub(super) capacity: Option<Schedule>,
    pub(super) posterior: PosteriorNeed,
    pub(super) units: Units,
    pub(super) batch: Batch,
    pub(super) at_sample: AtSample,
    pub(super) prior: PriorRole,
    pub(super) sign: Sign,
}

/// Whether a term is defined for categorical units. That is so if only q(z, c|x) and its divergence from the prior
/// matter, which is a sum over units. A term that depends on q(z) as a whole is defined for continuous units only.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Units {
    Any,
    Continuous,
}

/// Whether a term compares the images of a batch with each other.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Batch {
    PerImage,
    ComparesImages,
}

/// Whether a term evaluates ln q at the decoded value. That has to be a sample of the posterior: at the mean, ln q falls
/// without limit as the variances grow, and nothing holds them back.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum AtSample {
    Never,
    /// If the divergence from the prior has no closed form.
    Estimated,
    Always,
}

/// Whether the gradient of a term reaches the parameters of the prior, if it has some.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum PriorRole {
    Constant,
    Trained,
}

/// Which weights make sense.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sign {
    NotNegative,
    /// The three parts of the KL divergence may be subtracted from the whole, as `beta-tcvae` with `kl = "analytic"` does.
    Any,
}

impl TermConfig {
    pub(super) fn requirements(&self) -> TermRequirements {
        use AtSample::{Always, Estimated, Never};
        use Batch::{ComparesImages, PerImage};
        use PosteriorNeed::{Density, DiagonalGaussian, Samples};
        use PriorRole::{Constant, Trained};
        use Units::{Any, Continuous};
        let term = |name, posterior, units, batch, at_sample, prior| TermRequirements {
            name,
            capacity: None,
            posterior,
            units,
            batch,
            at_sample,
            prior,
            sign: Sign::NotNegative,
        };
        let part = |name, prior| TermRequirements {
            sign: Sign::Any,
            ..term(name, DiagonalGaussian, Continuous, ComparesImages, Always, prior)
        };
        let at_capacity = |capacity: &Schedule, term| TermRequirements { capacity: Some(*capacity), ..term };
        match self {
            Self::Kl {} => term("kl", Density, Any, PerImage, Estimated, Trained),
            Self::KlFromCapacity { capacity } => {
                at_capacity(capacity, term("kl-from-capacity", Density, Any, PerImage, Estimated, Trained))
            }
            Self::ContinuousKlFromCapacity { capacity } => at_capacity(
                capacity,
                term("continuous-kl-from-capacity", Density, Any, PerImage, Estimated, Trained),
            ),
            Self::CategoricalKlFromCapacity { capacity } => at_capacity(
                capacity,
                term("categorical-kl-from-capacity", Samples, Any, PerImage, Never, Constant),
            ),
            // It has a closed form for Gaussians, which falls without limit all the same.
            Self::NegativeEntropy {} => {
                term("negative-entropy", Density, Continuous, PerImage, Always, Constant)
            }
            Self::IwaeKl {} => term("iwae-kl", Density, Continuous, PerImage, Always, Trained),
            Self::AdversarialKl(config) => {
                // Samples of the prior train the discriminator only; with adaptive contrast, its density is in the value.
                let prior = if config.adaptive_contrast { Trained } else { Constant };
                term("adversarial-kl", Samples, Continuous, PerImage, Never, prior)
            }
            Self::MutualInformation { .. } => part("mutual-information", Constant),
            Self::TotalCorrelation { .. } => part("total-correlation", Constant),
            Self::DimensionWiseKl { .. } => part("dimension-wise-kl", Trained),
            Self::DiscriminatedTotalCorrelation { .. } => {
                term("discriminated-total-correlation", Samples, Continuous, ComparesImages, Never, Constant)
            }
            Self::CovarianceOffDiagonal(covariance) => {
                let posterior = covariance.posterior();
                term("covariance-off-diagonal", posterior, Continuous, ComparesImages, Never, Constant)
            }
            Self::CovarianceDiagonal(covariance) => {
                let posterior = covariance.posterior();
                term("covariance-diagonal", posterior, Continuous, ComparesImages, Never, Constant)
            }
            Self::ThirdMoment {} => {
                term("third-moment", DiagonalGaussian, Continuous, ComparesImages, Never, Constant)
            }
            Self::Mmd(_) => term("mmd", Samples, Continuous, ComparesImages, Never, Trained),
            // At samples of the prior.
            Self::InclusiveKl {} => {
                term("inclusive-kl", DiagonalGaussian, Continuous, ComparesImages, Never, Trained)
            }
            Self::ExclusiveKl { .. } => {
                term("exclusive-kl", DiagonalGaussian, Continuous, ComparesImages, Always, Trained)
            }
            Self::Moments {} => term("moments", DiagonalGaussian, Continuous, ComparesImages, Never, Trained),
            Self::Adversarial { .. } => term("adversarial", Samples, Continuous, PerImage, Never, Constant),
            Self::FDivergence { .. } => term("f-divergence", Samples, Continuous, PerImage, Never, Trained),
            Self::RandomMixture { .. } => {
                term("random-mixture", DiagonalGaussian, Continuous, ComparesImages, Always, Trained)
            }
            Self::SlicedWasserstein { .. } => {
                term("sliced-wasserstein", Samples, Continuous, ComparesImages, Never, Trained)
            }
        }
    }

    /// Whether it needs samples of the posterior in place of its mean.
    pub(super) fn needs_samples(&self, prior: &PriorConfig) -> bool {
        match self.requirements().at_sample {
            AtSample::Never => false,
            AtSample::Estimated => !prior.has_closed_form(),
            AtSample::Always => true,
        }
    }

    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        self.requirements().name
    }

    /// Refuses impossible options; `key` is that of the table that has them.
    pub(super) fn check(&self, key: &str, prior: &PriorConfig) -> Result {
        match self {
            Self::CovarianceOffDiagonal(covariance) | Self::CovarianceDiagonal(covariance) => {
                covariance.check(&format!("{key}.running_decay"))
            }
            Self::Mmd(mmd) => mmd.check(key),
            Self::Moments {} => check_covariance(key, prior),
            Self::DiscriminatedTotalCorrelation { discriminator, .. }
            | Self::Adversarial { discriminator, .. }
            | Self::FDivergence { discriminator, .. } => discriminator.check(&format!("{key}.discriminator")),
            Self::AdversarialKl(config) => config.check(key),
            Self::SlicedWasserstein { projections } => size(&format!("{key}.projections"), *projections),
            // They have nothing but schedules and words.
            Self::Kl {}
            | Self::KlFromCapacity { .. }
            | Self::ContinuousKlFromCapacity { .. }
            | Self::CategoricalKlFromCapacity { .. }
            | Self::NegativeEntropy {}
            | Self::IwaeKl {}
            | Self::MutualInformation { .. }
            | Self::TotalCorrelation { .. }
            | Self::DimensionWiseKl { .. }
            | Self::ThirdMoment {}
            | Self::InclusiveKl {}
            | Self::ExclusiveKl { .. }
            | Self::RandomMixture { .. } => Ok(()),
        }
    }
}

/// Refuses a prior without a covariance.
fn check_covariance(key: &str, prior: &PriorConfig) -> Result {
    match prior {
        PriorConfig::StudentT { degrees_of_freedom } if *degrees_of_freedom <= 2.0 => {
            let found = format!("moments with a Student-t prior of {degrees_of_freedom} degrees of freedom");
            let expected = "mmd or inclusive-kl, since that prior has no covariance";
            Err(Error::value(key, found, expected))
        }
        PriorConfig::StudentT { .. }
        | PriorConfig::StandardNormal {}
        | PriorConfig::Anisotropic { .. }
        | PriorConfig::Mixture { .. }
        | PriorConfig::Sparse { .. } => Ok(()),
    }
}

impl CovarianceConfig {
    fn posterior(self) -> PosteriorNeed {
        match self.of {
            CovarianceOf::Means => PosteriorNeed::Gaussian,
            CovarianceOf::Samples => PosteriorNeed::DiagonalGaussian,
        }
    }

    fn check(self, key: &str) -> Result {
        if (0.0..1.0).contains(&self.running_decay) {
            return Ok(());
        }
        Err(Error::value(key, self.running_decay, "a number from 0 to below 1"))
    }
}

/// A term of a composed objective and its weight: one table, `{ name = "kl", weight = 4.0 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct ComposedTerm {
    /// The weight.
    pub weight: Schedule,
    /// The term.
    pub term: TermConfig,
}

/// The terms of a composed objective, in order. No two have the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Terms(pub Vec<ComposedTerm>);

impl TryFrom<Value> for Terms {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Self, String> {
        let Value::Array(terms) = value else {
            return Err(format!(
                "found {value}, expected a list such as [{{ name = \"kl\", weight = 4.0 }}]"
            ));
        };
        terms.into_iter().map(composed_term).collect::<std::result::Result<_, _>>().map(Self)
    }
}

/// A term by its table, or by its name alone for a weight of one.
fn composed_term(value: Value) -> std::result::Result<ComposedTerm, String> {
    let mut table = match value {
        Value::Table(table) => table,
        Value::String(name) => toml::Table::from_iter([("name".to_owned(), Value::String(name))]),
        other => return Err(format!("found {other}, expected {{ name = \"kl\", weight = 4.0 }}")),
    };
    let name = match table.get("name") {
        Some(Value::String(name)) => format!("`{name}`"),
        Some(other) => return Err(format!("found name = {other}, expected the name of a term")),
        None => return Err("a term without a name, expected { name = \"kl\", weight = 4.0 }".to_owned()),
    };
    let weight = match table.remove("weight") {
        None => Schedule::Constant(1.0),
        Some(weight) => Schedule::try_from(weight)
            .map_err(|error| format!("{name}: weight: {}", with_suggestion(&error)))?,
    };
    let term = Value::Table(table).try_into().map_err(|error: toml::de::Error| {
        let message = with_suggestion(error.message());
        match message.strip_prefix("unknown value ").filter(|rest| rest.starts_with(&name)) {
            Some(rest) => format!("unknown term {rest}"),
            None => format!("{name}: {message}"),
        }
    })?;
    Ok(ComposedTerm { weight, term })
}

impl From<Terms> for Value {
    fn from(terms: Terms) -> Self {
        let table = |ComposedTerm { weight, term }| {
            let mut table = toml::Table::try_from(term).expect("a term holds nothing that TOML cannot say");
            table.insert("weight".to_owned(), weight.into());
            Self::Table(table)
        };
        Self::Array(terms.0.into_iter().map(table).collect())
    }
}
