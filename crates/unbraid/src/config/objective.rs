//! The `[objective]` table: one variant for each method, with its hyper-parameters and their ranges.

use super::Schedule;
use super::check::Result;
use serde::{Deserialize, Serialize};

/// What is minimised. Every weight and every capacity is a [`Schedule`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectiveConfig {
    /// Reconstruction and KL divergence (Kingma & Welling 2014).
    Vae {},
    /// The KL divergence weighted by `beta` (Higgins et al. 2017; Kumar et al. 2018, eq. 8).
    BetaVae {
        /// The weight; 1 is the VAE.
        beta: Schedule,
    },
    /// The KL divergence held at a capacity (Burgess et al. 2018, eq. 8; Dupont 2018, eq. 3).
    AnnealedVae {
        /// The weight of the distance from the capacity.
        gamma: Schedule,
        /// The capacity C in nats.
        capacity: Schedule,
    },
}

impl ObjectiveConfig {
    /// The word that selects it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Vae {} => "vae",
            Self::BetaVae { .. } => "beta-vae",
            Self::AnnealedVae { .. } => "annealed-vae",
        }
    }

    /// Every weight and capacity by its key.
    pub fn schedules(&self) -> Vec<(&'static str, Schedule)> {
        match *self {
            Self::Vae {} => Vec::new(),
            Self::BetaVae { beta } => vec![("beta", beta)],
            Self::AnnealedVae { gamma, capacity } => vec![("gamma", gamma), ("capacity", capacity)],
        }
    }

    /// Refuses what cannot be right.
    pub(super) fn check(&self) -> Result {
        for (key, schedule) in self.schedules() {
            schedule.check(&format!("objective.{key}"))?;
        }
        Ok(())
    }
}
