//! What is minimised: reconstruction plus weighted terms. Depends on the model and the configuration.
//!
//! Every method of the papers is `L = reconstruction + sum_i weight_i * term_i`. A [`Term`] is a small struct that turns
//! what a pass through the network left behind ([`Evidence`]) into one number with a name; an [`Objective`] is a list of
//! them with weights. Reductions are always the same: sum over pixels, channels and units, mean over the batch, in nats.

mod divergence;

pub use divergence::Divergence;

use crate::config::ObjectiveConfig;
use crate::model::{Categorical, DiagonalGaussian};
use burn::tensor::Tensor;
use std::fmt::Debug;

/// What a pass through the network leaves for the terms to judge.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// q(z|x) of each image of the batch: the continuous units.
    pub posterior: DiagonalGaussian,
    /// One sample of it, `[batch, units]`, the one that was decoded.
    pub sample: Tensor<2>,
    /// KL(q(z|x) || p(z)) of each continuous unit, mean over the batch, `[units]`.
    pub divergence: Tensor<1>,
    /// KL(q(c|x) || uniform) of each categorical unit, mean over the batch; `None` without such units.
    pub categorical_divergence: Option<Tensor<1>>,
}

impl Evidence {
    /// From a posterior and the sample that was drawn from it.
    pub fn new(posterior: DiagonalGaussian, sample: Tensor<2>) -> Self {
        let divergence = posterior.divergence_from_standard_normal().mean_dim(0).squeeze_dim(0);
        Self { posterior, sample, divergence, categorical_divergence: None }
    }

    /// The same with categorical units.
    pub fn with_categorical(mut self, units: &[Categorical]) -> Self {
        let divergences = units.iter().map(|unit| unit.divergence_from_uniform().mean()).collect::<Vec<_>>();
        self.categorical_divergence = (!divergences.is_empty()).then(|| Tensor::cat(divergences, 0));
        self
    }
}

/// One summand of an objective.
pub trait Term: Debug + Send + Sync {
    /// Its name: `train/<name>` in the metrics.
    fn name(&self) -> &'static str;

    /// Its value before weighting, a tensor of one number.
    fn value(&self, evidence: &Evidence) -> Tensor<1>;
}

/// Reconstruction plus weighted terms.
#[derive(Debug)]
pub struct Objective {
    terms: Vec<(f64, Box<dyn Term>)>,
}

/// The value of an objective on one batch, and of what it consists of.
#[derive(Clone, Debug)]
pub struct Losses {
    /// What is minimised.
    pub total: Tensor<1>,
    /// Mean over the batch of -ln p(x|z).
    pub reconstruction: Tensor<1>,
    /// Each term before weighting.
    pub terms: Vec<Tensor<1>>,
    /// KL of each continuous unit.
    pub divergence: Tensor<1>,
    /// KL of each categorical unit.
    pub categorical_divergence: Option<Tensor<1>>,
}

impl Objective {
    /// The objective of a configuration:
    ///
    /// * `vae`: reconstruction + KL (Kingma & Welling 2014, eq. 10)
    /// * `beta-vae`: reconstruction + beta KL (Higgins et al. 2017, eq. 4; Kumar et al. 2018, eq. 8)
    pub fn new(config: &ObjectiveConfig) -> Self {
        let terms: Vec<(f64, Box<dyn Term>)> = match config {
            ObjectiveConfig::Vae {} => vec![(1.0, Box::new(Divergence))],
            ObjectiveConfig::BetaVae { beta } => vec![(*beta, Box::new(Divergence))],
        };
        Self { terms }
    }

    /// The names of its terms.
    pub fn term_names(&self) -> impl Iterator<Item = &'static str> {
        self.terms.iter().map(|(_, term)| term.name())
    }

    /// Its value; `reconstruction` is -ln p(x|z) of each image.
    pub fn evaluate(&self, reconstruction: Tensor<1>, evidence: &Evidence) -> Losses {
        let reconstruction = reconstruction.mean();
        let mut total = reconstruction.clone();
        let mut terms = Vec::with_capacity(self.terms.len());
        for (weight, term) in &self.terms {
            let value = term.value(evidence);
            // Exact for a weight of one, and a weight of zero still leaves the term in the metrics.
            total = total + value.clone() * *weight;
            terms.push(value);
        }
        let (divergence, categorical_divergence) =
            (evidence.divergence.clone(), evidence.categorical_divergence.clone());
        Losses { total, reconstruction, terms, divergence, categorical_divergence }
    }
}
