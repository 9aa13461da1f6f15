//! Continuous and categorical units, each kind kept at its own capacity.

use super::{ForwardPass, Needs, Term};
use crate::config::Schedule;
use burn::tensor::Tensor;

/// `continuous_kl_from_capacity`: |KL(q(z|x) || p(z)) - C_z(t)|, the divergence summed over the continuous units and
/// averaged over the batch (Dupont 2018, eq. 7). Zero without such units: the capacity would be a constant in the loss.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousKlFromCapacity {
    /// C_z in nats.
    pub capacity: Schedule,
}

impl Term for ContinuousKlFromCapacity {
    fn name(&self) -> &'static str {
        "continuous_kl_from_capacity"
    }

    fn needs(&self) -> Needs {
        Needs { divergence: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        if forward.posterior.dims()[1] == 0 {
            return Tensor::zeros([1], &forward.sample.device());
        }
        (forward.divergence_of_images().mean() - self.capacity.at(forward.step)).abs()
    }
}

/// `categorical_kl_from_capacity`: |KL(q(c|x) || p(c)) - C_c(t)|, the divergence from uniform categories summed over the
/// categorical units and averaged over the batch (Dupont 2018, eq. 7).
///
/// As in the author's code, the capacity is cut to sum_k ln d_k, the upper bound of the divergence for units of d_k
/// classes. That lowers the logged distance and changes no gradient: the divergence of finite logits is always below the
/// bound, so that the slope is -1 with any capacity from there on. The divergence is that of categorical distributions,
/// not of their relaxation, also as in that code.
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
