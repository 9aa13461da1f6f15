//! One summand of an objective.

use super::ForwardPass;
use crate::error::Result;
use crate::model::{StateTensor, matched};
use burn::tensor::Tensor;
use std::fmt::Debug;

/// Inputs of a term besides posterior and sample, which are always present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Samples of the prior, as many as there are images in the batch.
    pub prior_sample: bool,
    /// Samples of the posteriors of a second, independent batch.
    pub second_batch: bool,
    /// The images themselves.
    pub images: bool,
    /// The divergence of the posterior from the prior, from all samples if it is estimated.
    pub divergence: bool,
}

impl Needs {
    /// The union of two sets of needs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            prior_sample: self.prior_sample || other.prior_sample,
            second_batch: self.second_batch || other.second_batch,
            images: self.images || other.images,
            divergence: self.divergence || other.divergence,
        }
    }
}

/// One summand of an objective: a named number.
///
/// Most terms are a function of the [`ForwardPass`] alone. Those with state or an adversary also
/// [`update`](Term::update) once per step.
pub trait Term: Debug + Send + Sync {
    /// Its name, logged as `train/<name>`.
    fn name(&self) -> &'static str;

    /// The additional inputs that its value needs.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Its value before weighting, a tensor with one number.
    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1>;

    /// Whether its value is an estimate of KL(q(z|x) || p(z)), for posteriors that have no density.
    fn estimates_kl(&self) -> bool {
        false
    }

    /// Names of the numbers that [`update`](Term::update) returns, logged as `train/<name>`.
    fn auxiliary_losses(&self) -> &'static [&'static str] {
        &[]
    }

    /// Updates the state of the term. Called once per step, after the gradient of the whole objective has been computed
    /// and before the network is updated. Returns the numbers named by [`auxiliary_losses`](Term::auxiliary_losses),
    /// each as a tensor with one number.
    fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        let _ = forward;
        Vec::new()
    }

    /// Its state, for a checkpoint.
    fn state(&self) -> Vec<StateTensor> {
        Vec::new()
    }

    /// Restores its state from a checkpoint.
    ///
    /// # Errors
    /// If it was saved by another term.
    fn set_state(&mut self, state: Vec<StateTensor>) -> Result {
        matched(&[], state).map(drop)
    }
}
