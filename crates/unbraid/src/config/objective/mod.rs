//! The `[objective]` table: one variant for each method, with its hyper-parameters and their ranges.

mod parts;
#[cfg(test)]
mod tests;

pub use parts::{DipConfig, DivergenceConfig, Encoder, Estimator, Kernel, KlForm, MmdConfig};

use super::check::at_least_one;
use super::{DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss, PriorConfig, Schedule};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What is minimised. Every weight and every capacity is a [`Schedule`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectiveConfig {
    /// Reconstruction from the posterior mean and nothing else.
    Autoencoder {},
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
    /// The KL divergence in three parts with weights of their own (Chen et al. 2018, eq. 4).
    BetaTcvae {
        /// The weight of the mutual information.
        #[serde(default = "one")]
        alpha: Schedule,
        /// The weight of the total correlation.
        beta: Schedule,
        /// The weight of the dimension-wise KL divergence.
        #[serde(default = "one")]
        gamma: Schedule,
        /// How the density of the aggregate posterior is estimated.
        #[serde(default)]
        estimator: Estimator,
        /// Whether the parts that have the weight one are taken together as the exact KL divergence.
        #[serde(default)]
        kl: KlForm,
    },
    /// The covariance of the posterior means drawn towards the identity (Kumar et al. 2018, eq. 6).
    DipVaeI(DipConfig),
    /// The covariance of the aggregate posterior drawn towards the identity (Kumar et al. 2018, eq. 7).
    DipVaeIi(DipConfig),
    /// KL divergence and a divergence between aggregate posterior and prior (Mathieu et al. 2019, eq. 7).
    Decomposition {
        /// The weight of the divergence between aggregate posterior and prior.
        alpha: Schedule,
        /// The weight of the KL divergence.
        beta: Schedule,
        /// The divergence between aggregate posterior and prior.
        #[serde(default)]
        divergence: DivergenceConfig,
    },
    /// KL divergence and MMD, weighted so that mutual information is kept (Zhao et al. 2017, section 3).
    InfoVae {
        /// The KL divergence has the weight 1 - alpha.
        alpha: Schedule,
        /// The MMD has the weight alpha + lambda - 1.
        lambda: Schedule,
        /// The MMD.
        #[serde(default)]
        mmd: MmdConfig,
    },
    /// MMD alone (Tolstikhin et al. 2018, algorithm 2).
    WaeMmd {
        /// The weight of the MMD.
        lambda: Schedule,
        /// What is decoded.
        #[serde(default)]
        encoder: Encoder,
        /// The MMD.
        #[serde(default)]
        mmd: MmdConfig,
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
        /// The capacity C_c of the categorical units in nats; of more than the sum of ln(classes), only that counts.
        capacity_categorical: Schedule,
    },
    /// Aggregate posterior against prior by a discriminator (Tolstikhin et al. 2018, algorithm 1).
    WaeGan {
        /// The weight of the adversarial term.
        lambda: Schedule,
        /// What is decoded.
        #[serde(default)]
        encoder: Encoder,
        /// How the encoder plays against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// The adversarial autoencoder (Makhzani et al. 2015): as `wae-gan`, by default with a Gaussian encoder and a weight
    /// of one.
    Aae {
        /// The weight of the adversarial term.
        #[serde(default = "one")]
        lambda: Schedule,
        /// What is decoded.
        #[serde(default = "gaussian")]
        encoder: Encoder,
        /// How the encoder plays against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
    },
    /// The importance-weighted bound (Burda et al. 2016, eq. 8).
    Iwae {
        /// K, the number of samples of each posterior.
        samples: usize,
    },
    /// Probabilistic principal components (Tipping & Bishop 1999), fitted at once: a linear baseline.
    Pca {
        /// How many images to fit to, drawn at random; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        images: Option<usize>,
    },
}

fn gaussian() -> Encoder {
    Encoder::Gaussian
}

fn one() -> Schedule {
    Schedule::Constant(1.0)
}

/// The facts about a method that other parts of the program need: all of them in one place, none with a default.
struct Method {
    /// The word that selects it.
    name: &'static str,
    /// Every weight and capacity by its key.
    schedules: Vec<(&'static str, Schedule)>,
    /// Whether it is defined for categorical units: wherever only q(z, c|x) and its divergence from the prior count, which
    /// add up over units. A method that looks at q(z) as a whole is defined for continuous units only.
    units: Units,
    /// Whether it compares the images of a batch with each other.
    batch: Batch,
}

#[derive(PartialEq)]
enum Units {
    Any,
    Continuous,
}

#[derive(PartialEq)]
enum Batch {
    OneImageWillDo,
    ComparesImages,
}

impl ObjectiveConfig {
    fn method(&self) -> Method {
        use Batch::{ComparesImages, OneImageWillDo};
        use Units::{Any, Continuous};
        let method = |name, schedules: &[(&'static str, Schedule)], units, batch| Method {
            name,
            schedules: schedules.to_vec(),
            units,
            batch,
        };
        match *self {
            Self::Autoencoder {} => method("autoencoder", &[], Any, OneImageWillDo),
            Self::Vae {} => method("vae", &[], Any, OneImageWillDo),
            Self::BetaVae { beta } => method("beta-vae", &[("beta", beta)], Any, OneImageWillDo),
            Self::AnnealedVae { gamma, capacity } => {
                method("annealed-vae", &[("gamma", gamma), ("capacity", capacity)], Any, OneImageWillDo)
            }
            Self::BetaTcvae { alpha, beta, gamma, .. } => {
                let weights = [("alpha", alpha), ("beta", beta), ("gamma", gamma)];
                method("beta-tcvae", &weights, Continuous, ComparesImages)
            }
            Self::DipVaeI(ref dip) => method("dip-vae-i", &dip.schedules(), Continuous, ComparesImages),
            Self::DipVaeIi(ref dip) => method("dip-vae-ii", &dip.schedules(), Continuous, ComparesImages),
            Self::Decomposition { alpha, beta, .. } => {
                method("decomposition", &[("alpha", alpha), ("beta", beta)], Continuous, ComparesImages)
            }
            Self::InfoVae { alpha, lambda, .. } => {
                method("info-vae", &[("alpha", alpha), ("lambda", lambda)], Continuous, ComparesImages)
            }
            Self::WaeMmd { lambda, .. } => {
                method("wae-mmd", &[("lambda", lambda)], Continuous, ComparesImages)
            }
            Self::FactorVae { gamma, .. } => {
                method("factor-vae", &[("gamma", gamma)], Continuous, ComparesImages)
            }
            Self::JointVae {
                gamma_continuous,
                capacity_continuous,
                gamma_categorical,
                capacity_categorical,
            } => {
                let schedules = [
                    ("gamma_continuous", gamma_continuous),
                    ("capacity_continuous", capacity_continuous),
                    ("gamma_categorical", gamma_categorical),
                    ("capacity_categorical", capacity_categorical),
                ];
                method("joint-vae", &schedules, Any, OneImageWillDo)
            }
            Self::WaeGan { lambda, .. } => {
                method("wae-gan", &[("lambda", lambda)], Continuous, OneImageWillDo)
            }
            Self::Aae { lambda, .. } => method("aae", &[("lambda", lambda)], Continuous, OneImageWillDo),
            Self::Iwae { .. } => method("iwae", &[], Continuous, OneImageWillDo),
            Self::Pca { .. } => method("pca", &[], Continuous, OneImageWillDo),
        }
    }

    /// The word that selects it.
    pub fn name(&self) -> &'static str {
        self.method().name
    }

    /// Whether it is defined for categorical units.
    pub fn takes_categorical_units(&self) -> bool {
        self.method().units == Units::Any
    }

    /// Every weight and capacity by its key.
    pub fn schedules(&self) -> Vec<(&'static str, Schedule)> {
        self.method().schedules
    }

    /// Refuses what cannot be right.
    pub(super) fn check(&self, prior: &PriorConfig, batch_size: usize) -> Result {
        let Method { name, schedules, batch, .. } = self.method();
        for (key, schedule) in schedules {
            schedule.check(&format!("objective.{key}"))?;
        }
        if batch == Batch::ComparesImages && batch_size < 2 {
            let expected = format!("at least 2, since objective `{name}` compares images");
            return Err(Error::value("training.batch_size", batch_size, expected));
        }
        match self {
            Self::DipVaeI(dip) | Self::DipVaeIi(dip) => dip.check(),
            Self::Decomposition { divergence, .. } => divergence.check(prior),
            Self::InfoVae { alpha, lambda, mmd } => {
                check_information(*alpha, *lambda)?;
                mmd.check("objective.mmd")
            }
            Self::WaeMmd { mmd, .. } => mmd.check("objective.mmd"),
            Self::FactorVae { discriminator, .. }
            | Self::WaeGan { discriminator, .. }
            | Self::Aae { discriminator, .. } => discriminator.check(),
            Self::Iwae { samples } => at_least_one("objective.samples", *samples as u64),
            // Their schedules are all they have; what `pca` asks of the rest is checked with the rest.
            Self::Autoencoder {}
            | Self::Vae {}
            | Self::BetaVae { .. }
            | Self::AnnealedVae { .. }
            | Self::BetaTcvae { .. }
            | Self::JointVae { .. }
            | Self::Pca { .. } => Ok(()),
        }
    }
}

/// The weights 1 - alpha and alpha + lambda - 1 must never be negative. Between the ends of their lines both are straight.
fn check_information(alpha: Schedule, lambda: Schedule) -> Result {
    let steps = [alpha, lambda].into_iter().flat_map(|schedule| schedule.turns());
    for step in steps {
        let (alpha, lambda) = (alpha.at(step), lambda.at(step));
        if alpha > 1.0 {
            return Err(Error::value("objective.alpha", alpha, "at most 1: the KL has the weight 1 - alpha"));
        }
        if alpha + lambda < 1.0 {
            let expected =
                format!("at least {} at step {step}: the MMD has the weight alpha + lambda - 1", 1.0 - alpha);
            return Err(Error::value("objective.lambda", lambda, expected));
        }
    }
    Ok(())
}
