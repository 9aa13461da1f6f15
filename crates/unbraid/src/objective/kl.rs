//! The KL divergence of the posterior from the prior, plain or kept at a capacity.

use super::{ForwardPass, Needs, Term};
use crate::config::Schedule;
use burn::tensor::Tensor;

/// `kl`: mean over the batch of KL(q(z, c|x) || p(z) p(c)), summed over the units (Kingma & Welling 2014, eq. 10).
/// Given an image, continuous and categorical units are independent, so that their divergences add up (Dupont 2018, eq.
/// 5).
#[derive(Clone, Copy, Debug)]
pub struct Kl;

impl Term for Kl {
    fn name(&self) -> &'static str {
        "kl"
    }

    fn needs(&self) -> Needs {
        Needs { divergence: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let continuous = forward.divergence_of_images().mean();
        forward.kl_of_categorical_units().into_iter().fold(continuous, |sum, unit| sum + unit)
    }
}

/// `kl_from_capacity`: |KL - C(t)| with the KL divergence of the batch as [`Kl`] (Burgess et al. 2018, eq. 8; Dupont
/// 2018, eq. 3).
#[derive(Clone, Copy, Debug)]
pub struct KlFromCapacity {
    /// C in nats.
    pub capacity: Schedule,
}

impl Term for KlFromCapacity {
    fn name(&self) -> &'static str {
        "kl_from_capacity"
    }

    fn needs(&self) -> Needs {
        Needs { divergence: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        (Kl.value(forward) - self.capacity.at(forward.step)).abs()
    }
}
