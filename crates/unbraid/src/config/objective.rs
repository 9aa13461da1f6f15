//! The `[objective]` table: one variant for each method, with its hyper-parameters and their ranges.

use super::check::Result;
use super::{DiscriminatorConfig, Schedule};
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
    /// The VAE and the total correlation of q(z), estimated by a discriminator (Kim & Mnih 2018, eq. 2).
    FactorVae {
        /// The weight of the total correlation.
        gamma: Schedule,
        /// Which batch the discriminator sees permuted.
        #[serde(default)]
        discriminator_batch: DiscriminatorBatch,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// Continuous and categorical units at capacities of their own (Dupont 2018, eq. 7).
    JointVae {
        /// The weight of the distance of the continuous units from their capacity.
        gamma_continuous: Schedule,
        /// The capacity C_z of the continuous units in nats.
        capacity_continuous: Schedule,
        /// The weight of the distance of the categorical units from their capacity.
        gamma_categorical: Schedule,
        /// The capacity C_c of the categorical units in nats; never more than the sum of ln(classes) counts.
        capacity_categorical: Schedule,
    },
    /// Reconstruction and q(z) against the prior by a discriminator (Tolstikhin et al. 2018, Algorithm 1).
    WaeGan {
        /// The weight of the adversarial term.
        lambda: Schedule,
        /// Whether the encoder is a function or a distribution.
        #[serde(default = "deterministic")]
        encoder: EncoderKind,
        /// How the encoder plays against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// The adversarial autoencoder (Makhzani et al. 2015): as `wae-gan` with a Gaussian encoder and, unless told
    /// otherwise, a weight of one.
    Aae {
        /// The weight of the adversarial term.
        #[serde(default = "one")]
        lambda: Schedule,
        /// Whether the encoder is a function or a distribution.
        #[serde(default)]
        encoder: EncoderKind,
        /// How the encoder plays against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
}

const fn deterministic() -> EncoderKind {
    EncoderKind::Deterministic
}

const fn one() -> Schedule {
    Schedule::Constant(1.0)
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

/// What is decoded of q(z|x).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderKind {
    /// A sample.
    #[default]
    Gaussian,
    /// Its mean.
    Deterministic,
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

impl ObjectiveConfig {
    /// The word that selects it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Vae {} => "vae",
            Self::BetaVae { .. } => "beta-vae",
            Self::AnnealedVae { .. } => "annealed-vae",
            Self::FactorVae { .. } => "factor-vae",
            Self::JointVae { .. } => "joint-vae",
            Self::WaeGan { .. } => "wae-gan",
            Self::Aae { .. } => "aae",
        }
    }

    /// Whether it is defined for categorical units: wherever only q(z, c|x) and its divergence from the prior count, which
    /// add up over units. What looks at q(z) as a whole is defined for continuous units.
    pub fn takes_categorical_units(&self) -> bool {
        matches!(self, Self::Vae {} | Self::BetaVae { .. } | Self::AnnealedVae { .. } | Self::JointVae { .. })
    }

    /// Every weight and capacity by its key.
    pub fn schedules(&self) -> Vec<(&'static str, Schedule)> {
        match *self {
            Self::Vae {} => Vec::new(),
            Self::BetaVae { beta } => vec![("beta", beta)],
            Self::AnnealedVae { gamma, capacity } => vec![("gamma", gamma), ("capacity", capacity)],
            Self::FactorVae { gamma, .. } => vec![("gamma", gamma)],
            Self::JointVae {
                gamma_continuous,
                capacity_continuous,
                gamma_categorical,
                capacity_categorical,
            } => vec![
                ("gamma_continuous", gamma_continuous),
                ("capacity_continuous", capacity_continuous),
                ("gamma_categorical", gamma_categorical),
                ("capacity_categorical", capacity_categorical),
            ],
            Self::WaeGan { lambda, .. } | Self::Aae { lambda, .. } => vec![("lambda", lambda)],
        }
    }

    /// Refuses what cannot be right.
    pub(super) fn check(&self) -> Result {
        for (key, schedule) in self.schedules() {
            schedule.check(&format!("objective.{key}"))?;
        }
        match self {
            Self::FactorVae { discriminator, .. }
            | Self::WaeGan { discriminator, .. }
            | Self::Aae { discriminator, .. } => discriminator.check(),
            _ => Ok(()),
        }
    }
}
