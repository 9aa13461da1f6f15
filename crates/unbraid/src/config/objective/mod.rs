//! The `[objective]` table: one variant for each method, with its hyper-parameters and their ranges.

mod catalogue;
mod check;
mod composition;
mod parts;
mod term;
#[cfg(test)]
mod tests;

pub use catalogue::{CatalogueEntry, METHODS, TERMS};
pub use composition::WeightedTerm;
pub use parts::{
    DipConfig, DivergenceConfig, Encoder, Estimator, FDivergence, Kernel, KlForm, MmdConfig, Samples,
};
pub use term::{ComposedTerm, CovarianceConfig, CovarianceOf, PosteriorNeed, TermConfig, Terms};

use super::{ContrastConfig, DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss, Schedule};
use serde::{Deserialize, Serialize};
use term::{Batch, Units};

/// What is minimised. Every weight and every capacity is a [`Schedule`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectiveConfig {
    /// Reconstruction from the posterior mean, without any regularisation.
    Autoencoder {},
    /// Reconstruction and KL divergence (Kingma & Welling 2014).
    Vae {
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// The KL divergence weighted by `beta` (Higgins et al. 2017; Kumar et al. 2018, eq. 8).
    BetaVae {
        /// The weight; 1 is the VAE.
        beta: Schedule,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// The KL divergence held at a capacity (Burgess et al. 2018, eq. 8; Dupont 2018, eq. 3).
    AnnealedVae {
        /// The weight of the distance from the capacity.
        gamma: Schedule,
        /// The capacity C in nats.
        capacity: Schedule,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
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
        /// How the parts are summed: each estimated and weighted; or the exact KL divergence and each estimated part times its
        /// weight minus one, whatever the weights.
        #[serde(default)]
        kl: KlForm,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
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
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
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
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
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
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
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
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// Continuous and categorical units at capacities of their own (Dupont 2018, eq. 7).
    JointVae {
        /// The weight of the distance of the continuous units from their capacity. Required if there are such units; of no
        /// effect if there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gamma_continuous: Option<Schedule>,
        /// The capacity C_z of the continuous units in nats. Required if there are such units; of no effect if there are
        /// none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        capacity_continuous: Option<Schedule>,
        /// The weight of the distance of the categorical units from their capacity.
        gamma_categorical: Schedule,
        /// The capacity C_c of the categorical units in nats; limited to the sum of ln(classes).
        capacity_categorical: Schedule,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// Aggregate posterior against prior by a discriminator (Tolstikhin et al. 2018, algorithm 1).
    WaeGan {
        /// The weight of the adversarial term.
        lambda: Schedule,
        /// What is decoded.
        #[serde(default)]
        encoder: Encoder,
        /// The encoder's loss against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// The adversarial autoencoder (Makhzani et al. 2015): `wae-gan` with a Gaussian encoder and a weight of one as
    /// defaults.
    Aae {
        /// The weight of the adversarial term.
        #[serde(default = "one")]
        lambda: Schedule,
        /// The weight of the KL divergence: 1 in the formula of Mushom 2020, section 4.3; 0 in Makhzani et al. 2015 and in
        /// the thesis' own table.
        #[serde(default = "zero", skip_serializing_if = "is_zero")]
        kl: Schedule,
        /// What is decoded.
        #[serde(default = "gaussian")]
        encoder: Encoder,
        /// The encoder's loss against the discriminator.
        #[serde(default)]
        generator_loss: GeneratorLoss,
        /// The discriminator.
        #[serde(default)]
        discriminator: DiscriminatorConfig,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// The importance-weighted bound (Burda et al. 2016, eq. 8).
    Iwae {
        /// K, the number of samples of each posterior.
        samples: usize,
    },
    /// Probabilistic PCA (Tipping & Bishop 1999), fitted in one step: a linear baseline.
    Pca {
        /// How many images to fit to, drawn at random; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        images: Option<usize>,
    },
    /// Independent components, found by FastICA among the principal ones: a linear baseline.
    Ica {
        /// How many images to fit to, drawn at random; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        images: Option<usize>,
    },
    /// The VAE with a bonus for the entropy of its posteriors (Mathieu et al. 2019, eq. 5): the beta-VAE up to the scale of
    /// the latent units.
    MaxEntropy {
        /// The entropy has the weight beta - 1.
        beta: Schedule,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// Adversarial variational Bayes (Mescheder et al. 2017; Mushom 2020, section 3.4).
    Avb {
        /// The weight of the KL divergence.
        #[serde(default = "one")]
        beta: Schedule,
        /// Whether the discriminator compares with a Gaussian of the posterior's moments instead of with the prior.
        #[serde(default)]
        adaptive_contrast: bool,
        /// The discriminator T(x, z).
        #[serde(default)]
        discriminator: ContrastConfig,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
    /// Reconstruction and any weighted terms.
    Composed {
        /// The terms.
        terms: Terms,
        /// What is decoded.
        #[serde(default = "gaussian")]
        encoder: Encoder,
        /// L, the number of samples of each posterior.
        #[serde(default, skip_serializing_if = "Samples::is_one")]
        samples: Samples,
    },
}

fn gaussian() -> Encoder {
    Encoder::Gaussian
}

fn one() -> Schedule {
    Schedule::Constant(1.0)
}

fn zero() -> Schedule {
    Schedule::Constant(0.0)
}

fn is_zero(schedule: &Schedule) -> bool {
    *schedule == zero()
}

/// What of each posterior is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latent {
    /// The mean.
    Mean,
    /// This many samples.
    Samples(usize),
}

impl ObjectiveConfig {
    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Autoencoder {} => "autoencoder",
            Self::Vae { .. } => "vae",
            Self::BetaVae { .. } => "beta-vae",
            Self::AnnealedVae { .. } => "annealed-vae",
            Self::BetaTcvae { .. } => "beta-tcvae",
            Self::DipVaeI(_) => "dip-vae-i",
            Self::DipVaeIi(_) => "dip-vae-ii",
            Self::Decomposition { .. } => "decomposition",
            Self::InfoVae { .. } => "info-vae",
            Self::WaeMmd { .. } => "wae-mmd",
            Self::FactorVae { .. } => "factor-vae",
            Self::JointVae { .. } => "joint-vae",
            Self::WaeGan { .. } => "wae-gan",
            Self::Aae { .. } => "aae",
            Self::Iwae { .. } => "iwae",
            Self::Pca { .. } => "pca",
            Self::Ica { .. } => "ica",
            Self::MaxEntropy { .. } => "max-entropy",
            Self::Avb { .. } => "avb",
            Self::Composed { .. } => "composed",
        }
    }

    /// What is decoded of each posterior.
    pub fn latent(&self) -> Latent {
        match self {
            Self::Autoencoder {} => Latent::Mean,
            Self::WaeMmd { encoder, samples, .. }
            | Self::WaeGan { encoder, samples, .. }
            | Self::Aae { encoder, samples, .. }
            | Self::Composed { encoder, samples, .. } => match encoder {
                Encoder::Deterministic => Latent::Mean,
                Encoder::Gaussian => Latent::Samples(samples.0),
            },
            Self::Iwae { samples } => Latent::Samples(*samples),
            Self::Vae { samples }
            | Self::BetaVae { samples, .. }
            | Self::AnnealedVae { samples, .. }
            | Self::BetaTcvae { samples, .. }
            | Self::DipVaeI(DipConfig { samples, .. })
            | Self::DipVaeIi(DipConfig { samples, .. })
            | Self::Decomposition { samples, .. }
            | Self::InfoVae { samples, .. }
            | Self::FactorVae { samples, .. }
            | Self::JointVae { samples, .. }
            | Self::MaxEntropy { samples, .. }
            | Self::Avb { samples, .. } => Latent::Samples(samples.0),
            Self::Pca { .. } | Self::Ica { .. } => Latent::Samples(1),
        }
    }

    /// Whether it is fitted in one step by linear algebra instead of by gradient descent; then on how many images.
    pub fn closed_form(&self) -> Option<Option<usize>> {
        let (Self::Pca { images } | Self::Ica { images }) = self else { return None };
        Some(*images)
    }

    /// Whether it is defined for categorical units.
    pub fn takes_categorical_units(&self) -> bool {
        let any = |term: &WeightedTerm| term.term.requirements().units == Units::Any;
        self.closed_form().is_none() && self.terms().iter().all(any)
    }

    /// What it must be able to do with the posterior of the continuous units, and which of its terms asks for it: the name
    /// of one, or `None` for the decoded mean and closed forms.
    pub fn posterior_need(&self) -> (PosteriorNeed, Option<&'static str>) {
        if self.closed_form().is_some() {
            return (PosteriorNeed::DiagonalGaussian, None);
        }
        let decoded = match self.latent() {
            Latent::Mean => PosteriorNeed::Gaussian,
            Latent::Samples(_) => PosteriorNeed::Samples,
        };
        let terms = self.terms();
        let needs = terms.iter().map(|term| (term.term.requirements().posterior, Some(term.term.name())));
        // The first of the greatest needs.
        [(decoded, None)]
            .into_iter()
            .chain(needs)
            .fold((PosteriorNeed::Samples, None), |most, need| if need.0 > most.0 { need } else { most })
    }

    /// Whether one of its terms compares the images of a batch with each other.
    pub(super) fn compares_images(&self) -> bool {
        self.terms().iter().any(|term| term.term.requirements().batch == Batch::ComparesImages)
    }
}
