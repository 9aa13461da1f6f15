//! One summand of an objective.

use super::ForwardPass;
use crate::error::Result;
use crate::model::{StateTensor, matched};
use burn::tensor::Tensor;
use std::fmt::Debug;

/// What a term needs of a step besides posterior and sample, which are always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Samples of the prior, as many as there are images in the batch.
    pub prior_sample: bool,
    /// Samples of the posteriors of a second, independent batch.
    pub second_batch: bool,
}

impl Needs {
    /// What either needs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            prior_sample: self.prior_sample || other.prior_sample,
            second_batch: self.second_batch || other.second_batch,
        }
    }
}

/// One summand of an objective: a number with a name.
///
/// Most terms are a function of the [`ForwardPass`] alone. Those that remember something or have an adversary of their own
/// also [`update`](Term::update) once a step.
pub trait Term: Debug + Send + Sync {
    /// Its name: `train/<name>` in the metrics.
    fn name(&self) -> &'static str;

    /// What has to be there before it is asked for its value.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Its value before weighting, a tensor of one number.
    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1>;

    /// Names of the numbers that [`update`](Term::update) gives: `train/<name>` in the metrics.
    fn auxiliary_losses(&self) -> &'static [&'static str] {
        &[]
    }

    /// Updates what the term keeps from step to step. Called once a step, when the gradient of the whole objective is
    /// known and before the network moves; gives the numbers that [`auxiliary_losses`](Term::auxiliary_losses) names, each a tensor of one
    /// number.
    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        let _ = forward;
        Vec::new()
    }

    /// What it keeps, for a checkpoint.
    fn state(&self) -> Vec<StateTensor> {
        Vec::new()
    }

    /// From a checkpoint.
    ///
    /// # Errors
    /// If it was saved by another term.
    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        matched(&[], state).map(drop)
    }
}
