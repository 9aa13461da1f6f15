//! From configurations to objectives.

use super::adversarial_kl::AdversarialKl;
use super::adversarial_prior::AdversarialPrior;
use super::covariance::{Covariance, Entries};
use super::f_divergence::VariationalFDivergence;
use super::factor_vae::DiscriminatedTotalCorrelation;
use super::joint_vae::{CategoricalKlFromCapacity, ContinuousKlFromCapacity};
use super::{
    DimensionWiseKl, ExclusiveKl, InclusiveKl, IwaeKl, Kl, KlFromCapacity, Mmd, Moments, MutualInformation,
    NegativeEntropy, Objective, RandomMixture, SlicedWasserstein, Term, ThirdMoment, TotalCorrelation,
    Weighted,
};
use crate::config::{CovarianceConfig, Initializer, ObjectiveConfig, TermConfig, WeightedTerm};
use burn::tensor::Device;

/// What terms with parameters or random numbers are built from.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The seed of the run.
    pub seed: u64,
    /// Number of continuous latent units.
    pub units: usize,
    /// Number of values of an image.
    pub pixels: usize,
    /// The initialisation of an adversary's weights.
    pub initializer: Initializer,
    /// The device of their tensors, with automatic differentiation.
    pub device: Device,
}

impl Objective {
    /// Builds the objective of a configuration: the terms that [`ObjectiveConfig::terms`] lists.
    pub fn new(config: &ObjectiveConfig, setting: &Setting) -> Self {
        let mut schedules = config.schedules();
        schedules.retain(|(_, schedule)| !schedule.is_constant());
        let built = |WeightedTerm { weight, term }| Weighted { weight, term: build(&term, setting) };
        Self { latent: config.latent(), terms: config.terms().into_iter().map(built).collect(), schedules }
    }
}

/// A term of a checked configuration.
fn build(term: &TermConfig, setting: &Setting) -> Box<dyn Term> {
    let covariance = |config: &CovarianceConfig, entries| {
        Covariance::new(config.of, entries, config.running_decay, setting.units)
    };
    match term {
        TermConfig::Kl {} => Box::new(Kl),
        TermConfig::KlFromCapacity { capacity } => Box::new(KlFromCapacity { capacity: *capacity }),
        TermConfig::ContinuousKlFromCapacity { capacity } => {
            Box::new(ContinuousKlFromCapacity { capacity: *capacity })
        }
        TermConfig::CategoricalKlFromCapacity { capacity } => {
            Box::new(CategoricalKlFromCapacity { capacity: *capacity })
        }
        TermConfig::NegativeEntropy {} => Box::new(NegativeEntropy),
        TermConfig::IwaeKl {} => Box::new(IwaeKl),
        TermConfig::AdversarialKl(config) => Box::new(AdversarialKl::new(config, setting)),
        TermConfig::MutualInformation { estimator } => Box::new(MutualInformation(*estimator)),
        TermConfig::TotalCorrelation { estimator } => Box::new(TotalCorrelation(*estimator)),
        TermConfig::DimensionWiseKl { estimator } => Box::new(DimensionWiseKl(*estimator)),
        TermConfig::DiscriminatedTotalCorrelation { discriminator_batch, discriminator } => {
            Box::new(DiscriminatedTotalCorrelation::new(discriminator, *discriminator_batch, setting))
        }
        TermConfig::CovarianceOffDiagonal(config) => Box::new(covariance(config, Entries::OffDiagonal)),
        TermConfig::CovarianceDiagonal(config) => Box::new(covariance(config, Entries::Diagonal)),
        TermConfig::ThirdMoment {} => Box::new(ThirdMoment),
        TermConfig::Mmd(config) => Box::new(Mmd::new(config)),
        TermConfig::InclusiveKl {} => Box::new(InclusiveKl),
        TermConfig::ExclusiveKl { estimator } => Box::new(ExclusiveKl(*estimator)),
        TermConfig::Moments {} => Box::new(Moments),
        TermConfig::Adversarial { generator_loss, discriminator } => {
            Box::new(AdversarialPrior::new(discriminator, *generator_loss, setting))
        }
        TermConfig::FDivergence { divergence, discriminator } => {
            Box::new(VariationalFDivergence::new(*divergence, discriminator, setting))
        }
        TermConfig::RandomMixture { divergence } => Box::new(RandomMixture(*divergence)),
        TermConfig::SlicedWasserstein { projections } => {
            Box::new(SlicedWasserstein::new(*projections, setting.seed))
        }
    }
}
