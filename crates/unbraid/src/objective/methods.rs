//! The methods of the papers as lists of terms.

use super::adversarial_prior::AdversarialPrior;
use super::covariance::{Covariance, CovarianceOf, Entries};
use super::factor_vae::DiscriminatedTotalCorrelation;
use super::joint_vae::{CategoricalKlFromCapacity, ContinuousKlFromCapacity};
use super::weight::Weight;
use super::{
    DimensionWiseKl, InclusiveKl, IwaeKl, Kl, KlFromCapacity, Latent, Mmd, Moments, MutualInformation,
    Objective, Term, ThirdMoment, TotalCorrelation, Weighted,
};
use crate::config::{DipConfig, DivergenceConfig, Encoder, Initializer, KlForm, ObjectiveConfig, Schedule};
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
    /// * `autoencoder`: reconstruction
    /// * `vae`: reconstruction + KL (Kingma & Welling 2014, eq. 10)
    /// * `beta-vae`: reconstruction + beta KL (Higgins et al. 2017, eq. 4; Kumar et al. 2018, eq. 8)
    /// * `annealed-vae`: reconstruction + gamma |KL - C| (Burgess et al. 2018, eq. 8; Dupont 2018, eq. 3)
    /// * `beta-tcvae`: reconstruction + alpha MI + beta TC + gamma KL_dim (Chen et al. 2018, eq. 4)
    /// * `dip-vae-i`, `dip-vae-ii`: reconstruction + KL + lambda_od sum_{i != j} C_ij^2 + lambda_d sum_i (C_ii - 1)^2 +
    ///   lambda_3 |T|^2 (Kumar et al. 2018, eq. 6 and 7)
    /// * `decomposition`: reconstruction + beta KL + alpha D(q(z), p(z)) (Mathieu et al. 2019, eq. 7)
    /// * `info-vae`: reconstruction + (1 - alpha) KL + (alpha + lambda - 1) MMD (Zhao et al. 2017, section 3)
    /// * `wae-mmd`: reconstruction + lambda MMD (Tolstikhin et al. 2018, algorithm 2)
    /// * `factor-vae`: reconstruction + KL + gamma TC, the total correlation by a discriminator (Kim & Mnih 2018, eq. 2)
    /// * `joint-vae`: reconstruction + gamma_z |KL_z - C_z| + gamma_c |KL_c - C_c| (Dupont 2018, eq. 7)
    /// * `wae-gan`: reconstruction + lambda D(q(z), p(z)), the distance by a discriminator (Tolstikhin et al. 2018,
    ///   algorithm 1)
    /// * `aae`: the same with a Gaussian encoder (Makhzani et al. 2015; Mushom 2020, section 4.3)
    /// * `iwae`: the importance-weighted bound (Burda et al. 2016, eq. 8)
    /// * `pca`: as `vae`, whose optimum for a linear network it is; the trainer goes there in one step
    pub fn new(config: &ObjectiveConfig, setting: &Setting) -> Self {
        let mut schedules = config.schedules();
        schedules.retain(|(_, schedule)| !schedule.is_constant());
        Self { latent: latent(config), terms: terms(config, setting), schedules }
    }
}

/// What is decoded of each posterior.
fn latent(config: &ObjectiveConfig) -> Latent {
    match *config {
        ObjectiveConfig::Autoencoder {} => Latent::Mean,
        ObjectiveConfig::WaeMmd { encoder, .. }
        | ObjectiveConfig::WaeGan { encoder, .. }
        | ObjectiveConfig::Aae { encoder, .. } => match encoder {
            Encoder::Deterministic => Latent::Mean,
            Encoder::Gaussian => Latent::Samples(1),
        },
        ObjectiveConfig::Iwae { samples } => Latent::Samples(samples),
        ObjectiveConfig::Vae {}
        | ObjectiveConfig::BetaVae { .. }
        | ObjectiveConfig::AnnealedVae { .. }
        | ObjectiveConfig::BetaTcvae { .. }
        | ObjectiveConfig::DipVaeI(_)
        | ObjectiveConfig::DipVaeIi(_)
        | ObjectiveConfig::Decomposition { .. }
        | ObjectiveConfig::InfoVae { .. }
        | ObjectiveConfig::FactorVae { .. }
        | ObjectiveConfig::JointVae { .. }
        | ObjectiveConfig::Pca { .. } => Latent::Samples(1),
    }
}

fn terms(config: &ObjectiveConfig, setting: &Setting) -> Vec<Weighted> {
    let one = || Weight::constant(1.0);
    match config {
        ObjectiveConfig::Autoencoder {} => Vec::new(),
        ObjectiveConfig::Vae {} | ObjectiveConfig::Pca { .. } => vec![weighted(one(), Kl)],
        ObjectiveConfig::BetaVae { beta } => vec![weighted(*beta, Kl)],
        ObjectiveConfig::AnnealedVae { gamma, capacity } => {
            vec![weighted(*gamma, KlFromCapacity { capacity: *capacity })]
        }
        ObjectiveConfig::BetaTcvae { alpha, beta, gamma, estimator, kl } => {
            let (whole, shift) = match kl {
                KlForm::Estimated => (None, 0.0),
                KlForm::Analytic => (Some(weighted(one(), Kl)), -1.0),
            };
            let parts = [
                weighted(Weight::from(*alpha).plus(shift), MutualInformation(*estimator)),
                weighted(Weight::from(*beta).plus(shift), TotalCorrelation(*estimator)),
                weighted(Weight::from(*gamma).plus(shift), DimensionWiseKl(*estimator)),
            ];
            whole.into_iter().chain(parts).collect()
        }
        ObjectiveConfig::DipVaeI(dip) => dip_terms(dip, CovarianceOf::Means, setting),
        ObjectiveConfig::DipVaeIi(dip) => dip_terms(dip, CovarianceOf::Samples, setting),
        ObjectiveConfig::Decomposition { alpha, beta, divergence } => {
            let divergence = match divergence {
                DivergenceConfig::Mmd(mmd) => weighted(*alpha, Mmd::new(mmd)),
                DivergenceConfig::InclusiveKl {} => weighted(*alpha, InclusiveKl),
                DivergenceConfig::Moments {} => weighted(*alpha, Moments),
            };
            vec![weighted(*beta, Kl), divergence]
        }
        ObjectiveConfig::InfoVae { alpha, lambda, mmd } => vec![
            weighted(one().plus_times(-1.0, *alpha), Kl),
            weighted(Weight::from(*alpha).plus_times(1.0, *lambda).plus(-1.0), Mmd::new(mmd)),
        ],
        ObjectiveConfig::WaeMmd { lambda, mmd, .. } => vec![weighted(*lambda, Mmd::new(mmd))],
        ObjectiveConfig::FactorVae { gamma, discriminator_batch, discriminator } => {
            let correlation =
                DiscriminatedTotalCorrelation::new(discriminator, *discriminator_batch, setting);
            vec![weighted(one(), Kl), weighted(*gamma, correlation)]
        }
        ObjectiveConfig::JointVae {
            gamma_continuous,
            capacity_continuous,
            gamma_categorical,
            capacity_categorical,
        } => vec![
            weighted(*gamma_continuous, ContinuousKlFromCapacity { capacity: *capacity_continuous }),
            weighted(*gamma_categorical, CategoricalKlFromCapacity { capacity: *capacity_categorical }),
        ],
        ObjectiveConfig::WaeGan { lambda, generator_loss, discriminator, .. }
        | ObjectiveConfig::Aae { lambda, generator_loss, discriminator, .. } => {
            vec![weighted(*lambda, AdversarialPrior::new(discriminator, *generator_loss, setting))]
        }
        ObjectiveConfig::Iwae { .. } => vec![weighted(one(), IwaeKl)],
    }
}

fn dip_terms(dip: &DipConfig, of: CovarianceOf, setting: &Setting) -> Vec<Weighted> {
    let covariance = |entries| Covariance::new(of, entries, dip.running_decay, setting.units);
    let mut terms = vec![
        weighted(Weight::constant(1.0), Kl),
        weighted(dip.lambda_od, covariance(Entries::OffDiagonal)),
        weighted(dip.lambda_d, covariance(Entries::Diagonal)),
    ];
    if dip.lambda_3 != Schedule::Constant(0.0) {
        terms.push(weighted(dip.lambda_3, ThirdMoment));
    }
    terms
}

fn weighted(weight: impl Into<Weight>, term: impl Term + 'static) -> Weighted {
    Weighted { weight: weight.into(), term: Box::new(term) }
}
