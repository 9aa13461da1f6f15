//! The methods of the papers as lists of weighted terms.

use super::term::{Sign, TermRequirements};
use super::{
    ComposedTerm, CovarianceConfig, CovarianceOf, DipConfig, KlForm, ObjectiveConfig, TermConfig, is_zero,
};
use crate::config::{AdversarialKlConfig, Schedule, Weight};

/// A term of an objective and its weight.
#[derive(Clone, Debug)]
pub struct WeightedTerm {
    /// The weight.
    pub weight: Weight,
    /// The term.
    pub term: TermConfig,
}

impl ObjectiveConfig {
    /// What is added to the reconstruction, in order:
    ///
    /// * `autoencoder`: nothing
    /// * `vae`: KL (Kingma & Welling 2014, eq. 10)
    /// * `beta-vae`: beta KL (Higgins et al. 2017, eq. 4; Kumar et al. 2018, eq. 8)
    /// * `annealed-vae`: gamma |KL - C| (Burgess et al. 2018, eq. 8; Dupont 2018, eq. 3)
    /// * `beta-tcvae`: alpha MI + beta TC + gamma KL_dim (Chen et al. 2018, eq. 4)
    /// * `dip-vae-i`, `dip-vae-ii`: KL + lambda_od sum_{i != j} C_ij^2 + lambda_d sum_i (C_ii - 1)^2 + lambda_3 |T|^2 (Kumar
    ///   et al. 2018, eq. 6 and 7)
    /// * `decomposition`: beta KL + alpha D(q(z), p(z)) (Mathieu et al. 2019, eq. 7)
    /// * `info-vae`: (1 - alpha) KL + (alpha + lambda - 1) MMD (Zhao et al. 2017, section 3)
    /// * `wae-mmd`: lambda MMD (Tolstikhin et al. 2018, algorithm 2)
    /// * `factor-vae`: KL + gamma TC, the total correlation by a discriminator (Kim & Mnih 2018, eq. 2)
    /// * `joint-vae`: gamma_z |KL_z - C_z| + gamma_c |KL_c - C_c| (Dupont 2018, eq. 7)
    /// * `wae-gan`: lambda D(q(z), p(z)), the distance by a discriminator (Tolstikhin et al. 2018, algorithm 1)
    /// * `aae`: the same with a Gaussian encoder (Makhzani et al. 2015), and a KL if asked for (Mushom 2020, section 4.3)
    /// * `iwae`: the importance-weighted bound without the reconstruction (Burda et al. 2016, eq. 8)
    /// * `max-entropy`: KL - (beta - 1) H\[q(z|x)\] (Mathieu et al. 2019, eq. 5)
    /// * `avb`: beta KL, the divergence by a discriminator (Mescheder et al. 2017, eq. 3.4 and algorithm 1)
    /// * `pca`, `ica`: KL; for a linear network `pca` is the optimum of the VAE, and the trainer reaches it in one step
    /// * `composed`: the terms of the configuration
    pub fn terms(&self) -> Vec<WeightedTerm> {
        let one = || Weight::constant(1.0);
        let kl = || TermConfig::Kl {};
        match self {
            Self::Autoencoder {} => Vec::new(),
            Self::Vae { .. } | Self::Pca { .. } | Self::Ica { .. } => vec![weighted(one(), kl())],
            Self::BetaVae { beta, .. } => vec![weighted(*beta, kl())],
            Self::AnnealedVae { gamma, capacity, .. } => {
                vec![weighted(*gamma, TermConfig::KlFromCapacity { capacity: *capacity })]
            }
            Self::BetaTcvae { alpha, beta, gamma, estimator, kl: form, .. } => {
                let (whole, shift) = match form {
                    KlForm::Estimated => (None, 0.0),
                    KlForm::Analytic => (Some(weighted(one(), kl())), -1.0),
                };
                let estimator = *estimator;
                let part = |weight: &Schedule, term| weighted(Weight::from(*weight).plus(shift), term);
                let parts = [
                    part(alpha, TermConfig::MutualInformation { estimator }),
                    part(beta, TermConfig::TotalCorrelation { estimator }),
                    part(gamma, TermConfig::DimensionWiseKl { estimator }),
                ];
                whole.into_iter().chain(parts).collect()
            }
            Self::DipVaeI(dip) => dip_terms(dip, CovarianceOf::Means),
            Self::DipVaeIi(dip) => dip_terms(dip, CovarianceOf::Samples),
            Self::Decomposition { alpha, beta, divergence, .. } => {
                vec![weighted(*beta, kl()), weighted(*alpha, divergence.term())]
            }
            Self::InfoVae { alpha, lambda, mmd, .. } => vec![
                weighted(one().plus_times(-1.0, *alpha), kl()),
                weighted(
                    Weight::from(*alpha).plus_times(1.0, *lambda).plus(-1.0),
                    TermConfig::Mmd(mmd.clone()),
                ),
            ],
            Self::WaeMmd { lambda, mmd, .. } => vec![weighted(*lambda, TermConfig::Mmd(mmd.clone()))],
            Self::FactorVae { gamma, discriminator_batch, discriminator, .. } => {
                let correlation = TermConfig::DiscriminatedTotalCorrelation {
                    discriminator_batch: *discriminator_batch,
                    discriminator: discriminator.clone(),
                };
                vec![weighted(one(), kl()), weighted(*gamma, correlation)]
            }
            Self::JointVae {
                gamma_continuous,
                capacity_continuous,
                gamma_categorical,
                capacity_categorical,
                ..
            } => {
                let continuous = gamma_continuous.zip(*capacity_continuous).map(|(gamma, capacity)| {
                    weighted(gamma, TermConfig::ContinuousKlFromCapacity { capacity })
                });
                let categorical = TermConfig::CategoricalKlFromCapacity { capacity: *capacity_categorical };
                continuous.into_iter().chain([weighted(*gamma_categorical, categorical)]).collect()
            }
            Self::WaeGan { lambda, generator_loss, discriminator, .. } => {
                let discriminator = discriminator.clone();
                let generator_loss = *generator_loss;
                vec![weighted(*lambda, TermConfig::Adversarial { generator_loss, discriminator })]
            }
            Self::Aae { lambda, kl: weight, generator_loss, discriminator, .. } => {
                let discriminator = discriminator.clone();
                let generator_loss = *generator_loss;
                let whole = (!is_zero(weight)).then(|| weighted(*weight, kl()));
                let adversarial =
                    weighted(*lambda, TermConfig::Adversarial { generator_loss, discriminator });
                whole.into_iter().chain([adversarial]).collect()
            }
            Self::Iwae { .. } => vec![weighted(one(), TermConfig::IwaeKl {})],
            Self::MaxEntropy { beta, .. } => vec![
                weighted(one(), kl()),
                weighted(Weight::from(*beta).plus(-1.0), TermConfig::NegativeEntropy {}),
            ],
            Self::Avb { beta, adaptive_contrast, discriminator, .. } => {
                let config = AdversarialKlConfig {
                    adaptive_contrast: *adaptive_contrast,
                    discriminator: discriminator.clone(),
                };
                vec![weighted(*beta, TermConfig::AdversarialKl(config))]
            }
            Self::Composed { terms, .. } => {
                terms.0.iter().map(|part| weighted(part.weight, part.term.clone())).collect()
            }
        }
    }

    /// Every weight and capacity by its key.
    pub fn schedules(&self) -> Vec<(String, Schedule)> {
        let named: &[(&str, Schedule)] = match self {
            Self::Composed { terms, .. } => return terms.0.iter().flat_map(schedules_of).collect(),
            Self::Autoencoder {}
            | Self::Vae { .. }
            | Self::Iwae { .. }
            | Self::Pca { .. }
            | Self::Ica { .. } => &[],
            Self::BetaVae { beta, .. } | Self::MaxEntropy { beta, .. } | Self::Avb { beta, .. } => {
                &[("beta", *beta)]
            }
            Self::AnnealedVae { gamma, capacity, .. } => &[("gamma", *gamma), ("capacity", *capacity)],
            Self::BetaTcvae { alpha, beta, gamma, .. } => {
                &[("alpha", *alpha), ("beta", *beta), ("gamma", *gamma)]
            }
            Self::DipVaeI(dip) | Self::DipVaeIi(dip) => &dip.schedules(),
            Self::Decomposition { alpha, beta, .. } => &[("alpha", *alpha), ("beta", *beta)],
            Self::InfoVae { alpha, lambda, .. } => &[("alpha", *alpha), ("lambda", *lambda)],
            Self::WaeMmd { lambda, .. } | Self::WaeGan { lambda, .. } => &[("lambda", *lambda)],
            Self::FactorVae { gamma, .. } => &[("gamma", *gamma)],
            Self::JointVae {
                gamma_continuous,
                capacity_continuous,
                gamma_categorical,
                capacity_categorical,
                ..
            } => {
                let all = [
                    ("gamma_continuous", *gamma_continuous),
                    ("capacity_continuous", *capacity_continuous),
                    ("gamma_categorical", Some(*gamma_categorical)),
                    ("capacity_categorical", Some(*capacity_categorical)),
                ];
                &all.into_iter().filter_map(|(key, schedule)| Some((key, schedule?))).collect::<Vec<_>>()
            }
            Self::Aae { lambda, kl, .. } => &[("lambda", *lambda), ("kl", *kl)],
        };
        named.iter().map(|(key, schedule)| ((*key).to_owned(), *schedule)).collect()
    }
}

/// The schedules of a term of a composed objective: `terms.kl.weight`.
fn schedules_of(part: &ComposedTerm) -> Vec<(String, Schedule)> {
    let TermRequirements { name, capacity, .. } = part.term.requirements();
    let weight = (format!("terms.{name}.weight"), part.weight);
    let capacity = capacity.map(|capacity| (format!("terms.{name}.capacity"), capacity));
    [weight].into_iter().chain(capacity).collect()
}

impl ComposedTerm {
    /// Whether its weight may be negative.
    pub(super) fn may_be_subtracted(&self) -> bool {
        self.term.requirements().sign == Sign::Any
    }
}

fn dip_terms(dip: &DipConfig, of: CovarianceOf) -> Vec<WeightedTerm> {
    let covariance: CovarianceConfig = dip.covariance(of);
    let mut terms = vec![
        weighted(Weight::constant(1.0), TermConfig::Kl {}),
        weighted(dip.lambda_od, TermConfig::CovarianceOffDiagonal(covariance)),
        weighted(dip.lambda_d, TermConfig::CovarianceDiagonal(covariance)),
    ];
    if !is_zero(&dip.lambda_3) {
        terms.push(weighted(dip.lambda_3, TermConfig::ThirdMoment {}));
    }
    terms
}

fn weighted(weight: impl Into<Weight>, term: TermConfig) -> WeightedTerm {
    WeightedTerm { weight: weight.into(), term }
}
