//! The methods of the papers as lists of terms.

use super::{Kl, KlFromCapacity, Latent, Objective, Term, Weighted};
use crate::config::{ObjectiveConfig, Schedule};
use burn::tensor::Device;

/// What terms with parameters or random numbers of their own are built from.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The seed of the run.
    pub seed: u64,
    /// Number of latent units.
    pub units: usize,
    /// Where their tensors live, with automatic differentiation.
    pub device: Device,
}

impl Objective {
    /// The objective of a configuration:
    ///
    /// * `vae`: reconstruction + KL (Kingma & Welling 2014, eq. 10)
    /// * `beta-vae`: reconstruction + beta KL (Higgins et al. 2017, eq. 4; Kumar et al. 2018, eq. 8)
    /// * `annealed-vae`: reconstruction + gamma |KL - C| (Burgess et al. 2018, eq. 8; Dupont 2018, eq. 3)
    /// * `pca`: as `vae`, whose optimum for a linear network it is; the trainer goes there in one step
    pub fn new(config: &ObjectiveConfig, _setting: &Setting) -> Self {
        let latent = Latent::Samples(1);
        let one = Schedule::Constant(1.0);
        let terms = match *config {
            ObjectiveConfig::Vae {} | ObjectiveConfig::Pca { .. } => vec![weighted(one, Kl)],
            ObjectiveConfig::BetaVae { beta } => vec![weighted(beta, Kl)],
            ObjectiveConfig::AnnealedVae { gamma, capacity } => {
                vec![weighted(gamma, KlFromCapacity { capacity })]
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
