//! Continuous and categorical units, each held at a capacity of its own.

use super::{ForwardPass, Term};
use crate::config::Schedule;
use burn::tensor::Tensor;

/// `continuous_kl_from_capacity`: |KL(q(z|x) || p(z)) - C_z(t)|, the divergence summed over the continuous units and
/// averaged over the batch (Dupont 2018, eq. 7).
#[derive(Clone, Copy, Debug)]
pub struct ContinuousKlFromCapacity {
    /// C_z in nats.
    pub capacity: Schedule,
}

impl Term for ContinuousKlFromCapacity {
    fn name(&self) -> &'static str {
        "continuous_kl_from_capacity"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        (forward.divergence.images.clone().mean() - self.capacity.at(forward.step)).abs()
    }
}

/// `categorical_kl_from_capacity`: |KL(q(c|x) || p(c)) - C_c(t)|, the divergence from uniform categories summed over the
/// categorical units and averaged over the batch (Dupont 2018, eq. 7).
///
/// The divergence cannot be more than sum_k ln d_k for units of d_k classes, and so neither is the capacity: a higher one
/// would be a constant pull towards one-hot posteriors that never ends. As in the author's code, the divergence is that of
/// categorical distributions, not of their relaxation.
#[derive(Clone, Copy, Debug)]
pub struct CategoricalKlFromCapacity {
    /// C_c in nats.
    pub capacity: Schedule,
}

impl Term for CategoricalKlFromCapacity {
    fn name(&self) -> &'static str {
        "categorical_kl_from_capacity"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let most: f64 = forward.categorical.iter().map(|unit| (unit.classes() as f64).ln()).sum();
        let capacity = self.capacity.at(forward.step).min(most);
        let nothing = Tensor::zeros([1], &forward.sample.device());
        let divergence = forward.kl_of_categorical_units().into_iter().fold(nothing, |sum, unit| sum + unit);
        (divergence - capacity).abs()
    }
}
