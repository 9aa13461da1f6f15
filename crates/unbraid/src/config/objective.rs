//! The `[objective]` table: one variant for each method, with its hyper-parameters and their ranges.

use super::check::{Result, at_least_one, positive};
use super::{ConfigError, DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss, PriorConfig, Schedule};
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
    /// KL divergence and MMD, weighted so that mutual information is kept (Zhao et al. 2017, eq. 6).
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

/// The weights of DIP-VAE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DipConfig {
    /// The weight of the squares off the diagonal.
    pub lambda_od: Schedule,
    /// The weight of the squared distances of the diagonal from one.
    pub lambda_d: Schedule,
    /// The weight of the squares of the third central moments of the aggregate posterior (Kumar et al. 2018, section 4).
    #[serde(default = "zero")]
    pub lambda_3: Schedule,
    /// The share of the past in a running estimate of the covariance; 0 takes each batch by itself (footnote 4).
    #[serde(default)]
    pub running_decay: f64,
}

/// How ln q(z) is estimated from a batch of B of N images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Minibatch stratified sampling (Chen et al. 2018, appendix C.2).
    #[default]
    Mss,
    /// Minibatch weighted sampling (Chen et al. 2018, eq. 5): biased unless the batch is large.
    Mws,
    /// Stratified sampling with the weights in the columns where public code puts them; to reproduce its results.
    MssColumns,
}

/// How `beta-tcvae` sums its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KlForm {
    /// alpha MI + beta TC + gamma KL_dim, each estimated: as the paper has it.
    #[default]
    Estimated,
    /// KL + (alpha - 1) MI + (beta - 1) TC + (gamma - 1) KL_dim with the KL divergence in closed form: the same in
    /// expectation, with less noise; as disentanglement_lib has it.
    Analytic,
}

/// What an encoder's output means to the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoder {
    /// The mean is decoded.
    #[default]
    Deterministic,
    /// A sample of the posterior is decoded.
    Gaussian,
}

/// A divergence between the aggregate posterior and the prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DivergenceConfig {
    /// Maximum mean discrepancy.
    Mmd(MmdConfig),
    /// KL(p(z) || q(z)) with q(z) as the mixture of the batch's posteriors.
    InclusiveKl {},
    /// Squared distances of mean and covariance.
    Moments {},
}

impl Default for DivergenceConfig {
    fn default() -> Self {
        Self::Mmd(MmdConfig::default())
    }
}

/// Maximum mean discrepancy with a sum of kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MmdConfig {
    /// The kernel.
    pub kernel: Kernel,
    /// The kernel is a sum over these scales.
    pub scales: Vec<f64>,
    /// Whether each unit is compared with its prior alone.
    pub per_unit: bool,
}

impl Default for MmdConfig {
    fn default() -> Self {
        Self { kernel: Kernel::Imq, scales: vec![0.1, 0.2, 0.5, 1.0, 2.0, 5.0], per_unit: false }
    }
}

/// The kernel of an MMD, with C = 2 s for scale s and one unit, 2 D s for D units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Inverse multiquadratic: C / (C + |a - b|^2).
    #[default]
    Imq,
    /// Gaussian: exp(-|a - b|^2 / C).
    Rbf,
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

impl ObjectiveConfig {
    /// The word that selects it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Autoencoder {} => "autoencoder",
            Self::Vae {} => "vae",
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
        }
    }

    /// Whether it is defined for categorical units: wherever only q(z, c|x) and its divergence from the prior count, which
    /// add up over units. What looks at q(z) as a whole is defined for continuous units.
    pub fn takes_categorical_units(&self) -> bool {
        matches!(
            self,
            Self::Autoencoder {}
                | Self::Vae {}
                | Self::BetaVae { .. }
                | Self::AnnealedVae { .. }
                | Self::JointVae { .. }
        )
    }

    /// Every weight and capacity by its key.
    pub fn schedules(&self) -> Vec<(&'static str, Schedule)> {
        match *self {
            Self::Autoencoder {} | Self::Vae {} | Self::Iwae { .. } | Self::Pca { .. } => Vec::new(),
            Self::BetaVae { beta } => vec![("beta", beta)],
            Self::AnnealedVae { gamma, capacity } => vec![("gamma", gamma), ("capacity", capacity)],
            Self::BetaTcvae { alpha, beta, gamma, .. } => {
                vec![("alpha", alpha), ("beta", beta), ("gamma", gamma)]
            }
            Self::DipVaeI(DipConfig { lambda_od, lambda_d, lambda_3, .. })
            | Self::DipVaeIi(DipConfig { lambda_od, lambda_d, lambda_3, .. }) => {
                vec![("lambda_od", lambda_od), ("lambda_d", lambda_d), ("lambda_3", lambda_3)]
            }
            Self::Decomposition { alpha, beta, .. } => vec![("alpha", alpha), ("beta", beta)],
            Self::InfoVae { alpha, lambda, .. } => vec![("alpha", alpha), ("lambda", lambda)],
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
            Self::WaeMmd { lambda, .. } | Self::WaeGan { lambda, .. } | Self::Aae { lambda, .. } => {
                vec![("lambda", lambda)]
            }
        }
    }

    /// Whether it compares the images of a batch with each other.
    fn compares_images(&self) -> bool {
        match self {
            Self::BetaTcvae { .. } | Self::DipVaeI(_) | Self::DipVaeIi(_) | Self::Decomposition { .. } => {
                true
            }
            Self::InfoVae { .. } | Self::WaeMmd { .. } | Self::FactorVae { .. } => true,
            Self::Autoencoder {} | Self::Vae {} | Self::BetaVae { .. } => false,
            Self::AnnealedVae { .. } | Self::JointVae { .. } | Self::Iwae { .. } | Self::Pca { .. } => false,
            Self::WaeGan { .. } | Self::Aae { .. } => false,
        }
    }

    /// Refuses what cannot be right.
    pub(super) fn check(&self, prior: &PriorConfig, batch_size: usize) -> Result {
        for (key, schedule) in self.schedules() {
            schedule.check(&format!("objective.{key}"))?;
        }
        if self.compares_images() && batch_size < 2 {
            let expected = format!("at least 2, since objective `{}` compares images", self.name());
            return Err(ConfigError::value("training.batch_size", batch_size, expected));
        }
        match self {
            Self::DipVaeI(dip) | Self::DipVaeIi(dip) if !(0.0..1.0).contains(&dip.running_decay) => {
                let key = "objective.running_decay";
                Err(ConfigError::value(key, dip.running_decay, "a number from 0 to below 1"))
            }
            Self::Decomposition { divergence: DivergenceConfig::Mmd(mmd), .. } => {
                mmd.check("objective.divergence")
            }
            Self::Decomposition { divergence: DivergenceConfig::Moments {}, .. } => match prior {
                PriorConfig::StudentT { degrees_of_freedom } if *degrees_of_freedom <= 2.0 => {
                    let found =
                        format!("moments with a Student-t prior of {degrees_of_freedom} degrees of freedom");
                    let expected = "mmd or inclusive-kl, since that prior has no covariance";
                    Err(ConfigError::value("objective.divergence", found, expected))
                }
                _ => Ok(()),
            },
            Self::InfoVae { alpha, lambda, mmd } => {
                check_information(*alpha, *lambda)?;
                mmd.check("objective.mmd")
            }
            Self::WaeMmd { mmd, .. } => mmd.check("objective.mmd"),
            Self::FactorVae { discriminator, .. }
            | Self::WaeGan { discriminator, .. }
            | Self::Aae { discriminator, .. } => discriminator.check(),
            Self::Iwae { samples } => at_least_one("objective.samples", *samples as u64),
            _ => Ok(()),
        }
    }
}

/// The weights 1 - alpha and alpha + lambda - 1 must never be negative. Between the ends of their lines both are straight.
fn check_information(alpha: Schedule, lambda: Schedule) -> Result {
    let steps = [alpha, lambda].into_iter().flat_map(|schedule| schedule.turns());
    for step in steps {
        let (alpha, lambda) = (alpha.at(step), lambda.at(step));
        if alpha > 1.0 {
            return Err(ConfigError::value(
                "objective.alpha",
                alpha,
                "at most 1: the KL has the weight 1 - alpha",
            ));
        }
        if alpha + lambda < 1.0 {
            let expected =
                format!("at least {} at step {step}: the MMD has the weight alpha + lambda - 1", 1.0 - alpha);
            return Err(ConfigError::value("objective.lambda", lambda, expected));
        }
    }
    Ok(())
}

impl MmdConfig {
    fn check(&self, key: &str) -> Result {
        let key = format!("{key}.scales");
        if self.scales.is_empty() {
            return Err(ConfigError::value(key, "[]", "one scale or more"));
        }
        self.scales.iter().try_for_each(|scale| positive(&key, *scale))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Source;

    #[test]
    fn what_is_out_of_range_is_named_with_what_is_expected() {
        for (objective, words) in [
            (
                "name = \"annealed-vae\", gamma = -1, capacity = 5",
                &["objective.gamma", "-1", "0 or more"][..],
            ),
            ("name = \"annealed-vae\", gamma = 1, capacity = -5", &["objective.capacity", "-5", "0 or more"]),
            ("name = \"annealed-vae\", gamma = 1", &["objective", "missing field", "capacity"]),
            ("name = \"beta-tcvae\", beta = -6", &["objective.beta", "-6"]),
            ("name = \"beta-tcvae\", beta = 6, alpha = nan", &["objective.alpha", "NaN"]),
            ("name = \"beta-tcvae\", beta = 6, gamma = -0.5", &["objective.gamma", "-0.5"]),
            ("name = \"beta-tcvae\", beta = 6, estimator = \"mws2\"", &["mws2", "did you mean `mws`"]),
            ("name = \"beta-tcvae\", beta = 6, kl = \"exact\"", &["exact", "expected one of"]),
            ("name = \"dip-vae-i\", lambda_od = -1, lambda_d = 1", &["objective.lambda_od", "-1"]),
            ("name = \"dip-vae-i\", lambda_od = 1, lambda_d = inf", &["objective.lambda_d", "inf"]),
            (
                "name = \"dip-vae-ii\", lambda_od = 1, lambda_d = 1, lambda_3 = -200",
                &["objective.lambda_3", "-200"],
            ),
            (
                "name = \"dip-vae-ii\", lambda_od = 1, lambda_d = 1, running_decay = 1",
                &["objective.running_decay", "found 1", "from 0 to below 1"],
            ),
            ("name = \"decomposition\", alpha = -1, beta = 1", &["objective.alpha", "-1"]),
            ("name = \"decomposition\", alpha = 1, beta = -1", &["objective.beta", "-1"]),
            (
                "name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"mmd\", scales = [] }",
                &["objective.divergence.scales", "[]", "one scale or more"],
            ),
            (
                "name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"mmd\", scales = [0.5, 0] }",
                &["objective.divergence.scales", "found 0", "above 0"],
            ),
            (
                "name = \"decomposition\", alpha = 1, beta = 1, divergence = \"inclusive\"",
                &["inclusive", "did you mean `inclusive-kl`"],
            ),
            ("name = \"info-vae\", alpha = 1.5, lambda = 1", &["objective.alpha", "1.5", "at most 1"]),
            ("name = \"info-vae\", alpha = 0, lambda = 0.5", &["objective.lambda", "0.5", "at least 1"]),
            (
                "name = \"info-vae\", alpha = { from = 1, to = 0, end = 10 }, lambda = 0.5",
                &["objective.lambda", "0.5", "at least 1 at step 10"],
            ),
            (
                "name = \"info-vae\", alpha = 0, lambda = 5, mmd = { scales = [-1] }",
                &["objective.mmd.scales", "-1"],
            ),
            ("name = \"wae-mmd\", lambda = -10", &["objective.lambda", "-10"]),
            ("name = \"wae-mmd\", lambda = 10, encoder = \"random\"", &["random", "expected one of"]),
            ("name = \"iwae\", samples = 0", &["objective.samples", "found 0", "at least 1"]),
            ("name = \"factor-vae\", gamma = -1", &["objective.gamma", "-1"]),
            ("name = \"factor-vae\"", &["objective", "missing field", "gamma"]),
            (
                "name = \"factor-vae\", gamma = 1, discriminator_batch = \"first\"",
                &["first", "expected `second` or `same`"],
            ),
            (
                "name = \"factor-vae\", gamma = 1, discriminator = { layers = 0 }",
                &["objective.discriminator.layers", "found 0", "at least 1"],
            ),
            (
                "name = \"wae-gan\", lambda = 1, discriminator = { width = 0 }",
                &["objective.discriminator.width", "found 0", "at least 1"],
            ),
            (
                "name = \"aae\", discriminator = { learning_rate = 0 }",
                &["objective.discriminator.learning_rate", "found 0", "above 0"],
            ),
            (
                "name = \"aae\", discriminator = { beta1 = 1 }",
                &["objective.discriminator.beta1", "found 1", "from 0 to below 1"],
            ),
            ("name = \"aae\", discriminator = { depth = 5 }", &["depth", "objective"]),
            ("name = \"wae-gan\", lambda = 1, generator_loss = \"gan\"", &["gan", "minimax"]),
            (
                "name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = -1, gamma_categorical = 1, \
                 capacity_categorical = 1",
                &["objective.capacity_continuous", "-1"],
            ),
            ("name = \"autoencoder\", beta = 1", &["unknown key `beta`"]),
        ] {
            let assignment = format!("objective={{ {objective} }}");
            let source = Source { assignments: vec![assignment], ..Source::default() };
            let error = source.resolve().expect_err(objective).to_string();
            for word in words {
                assert!(error.contains(word), "{objective}: `{word}` in: {error}");
            }
        }
    }

    #[test]
    fn images_can_be_compared_from_two_on() {
        for objective in ["beta-tcvae\", beta = 6", "wae-mmd\", lambda = 6"] {
            let assignments =
                vec![format!("objective={{ name = \"{objective} }}"), "training.batch_size=1".to_owned()];
            let error = Source { assignments, ..Source::default() }.resolve().unwrap_err().to_string();
            assert!(error.contains("training.batch_size: found 1, expected at least 2"), "{error}");
        }
    }
}
