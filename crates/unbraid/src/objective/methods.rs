//! The methods of the papers as lists of terms.

use super::adversarial_prior::AdversarialPrior;
use super::factor_vae::DiscriminatedTotalCorrelation;
use super::joint_vae::{CategoricalKlFromCapacity, ContinuousKlFromCapacity};
use super::{Kl, KlFromCapacity, Latent, Objective, Term, Weighted};
use crate::config::{EncoderKind, Initializer, ObjectiveConfig, Schedule};
use burn::tensor::Device;

/// What terms with parameters or random numbers of their own are built from.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The seed of the run.
    pub seed: u64,
    /// Number of continuous latent units.
    pub units: usize,
    /// What the weights of an adversary are before its first step.
    pub initializer: Initializer,
    /// Where their tensors live, with automatic differentiation.
    pub device: Device,
}

impl Objective {
    /// The objective of a configuration:
    ///
    /// * `vae`: reconstruction + KL (Kingma & Welling 2014, eq. 10)
    /// * `beta-vae`: reconstruction + beta KL (Higgins et al. 2017, eq. 4; Kumar et al. 2018, eq. 8)
    /// * `annealed-vae`: reconstruction + gamma |KL - C| (Burgess et al. 2018, eq. 8; Dupont 2018, eq. 3)
    /// * `factor-vae`: reconstruction + KL + gamma TC, the total correlation by a discriminator (Kim & Mnih 2018, eq. 2)
    /// * `joint-vae`: reconstruction + gamma_z |KL_z - C_z| + gamma_c |KL_c - C_c| (Dupont 2018, eq. 7)
    /// * `wae-gan`: reconstruction + lambda D(q(z), p(z)), the distance by a discriminator (Tolstikhin et al. 2018)
    /// * `aae`: the same with a Gaussian encoder (Makhzani et al. 2015; Mushom 2020, section 4.3)
    pub fn new(config: &ObjectiveConfig, setting: &Setting) -> Self {
        let mut latent = Latent::Samples(1);
        let one = Schedule::Constant(1.0);
        let terms = match *config {
            ObjectiveConfig::Vae {} => vec![weighted(one, Kl)],
            ObjectiveConfig::BetaVae { beta } => vec![weighted(beta, Kl)],
            ObjectiveConfig::AnnealedVae { gamma, capacity } => {
                vec![weighted(gamma, KlFromCapacity { capacity })]
            }
            ObjectiveConfig::FactorVae { gamma, discriminator_batch, ref discriminator } => {
                let correlation =
                    DiscriminatedTotalCorrelation::new(discriminator, discriminator_batch, setting);
                vec![weighted(one, Kl), weighted(gamma, correlation)]
            }
            ObjectiveConfig::JointVae {
                gamma_continuous,
                capacity_continuous,
                gamma_categorical,
                capacity_categorical,
            } => vec![
                weighted(gamma_continuous, ContinuousKlFromCapacity { capacity: capacity_continuous }),
                weighted(gamma_categorical, CategoricalKlFromCapacity { capacity: capacity_categorical }),
            ],
            ObjectiveConfig::WaeGan { lambda, encoder, generator_loss, ref discriminator }
            | ObjectiveConfig::Aae { lambda, encoder, generator_loss, ref discriminator } => {
                if encoder == EncoderKind::Deterministic {
                    latent = Latent::Mean;
                }
                vec![weighted(lambda, AdversarialPrior::new(discriminator, generator_loss, setting))]
            }
        };
        let mut schedules = config.schedules();
        schedules.retain(|(_, schedule)| !schedule.is_constant());
        Self { latent, terms, schedules }
    }
}

fn weighted(weight: Schedule, term: impl Term + 'static) -> Weighted {
    Weighted { weight, term: Box::new(term) }
}
