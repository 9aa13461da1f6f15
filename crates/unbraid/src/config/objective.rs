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
    /// Probabilistic principal components (Tipping & Bishop 1999), fitted at once: a linear baseline.
    Pca {
        /// How many images to fit to, drawn at random; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        images: Option<usize>,
    },
}

impl ObjectiveConfig {
    /// The word that selects it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Vae {} => "vae",
            Self::BetaVae { .. } => "beta-vae",
            Self::AnnealedVae { .. } => "annealed-vae",
            Self::Pca { .. } => "pca",
        }
    }

    /// Whether it is defined for categorical units: wherever only q(z, c|x) and its divergence from the prior count, which
    /// add up over units. What looks at q(z) as a whole is defined for continuous units.
    pub fn takes_categorical_units(&self) -> bool {
        matches!(self, Self::Vae {} | Self::BetaVae { .. } | Self::AnnealedVae { .. })
    }

    /// Every weight and capacity by its key.
    pub fn schedules(&self) -> Vec<(&'static str, Schedule)> {
        match *self {
            Self::Vae {} | Self::Pca { .. } => Vec::new(),
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
