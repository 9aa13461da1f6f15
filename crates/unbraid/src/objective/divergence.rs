//! The KL divergence of the posterior from the prior.

use super::{Evidence, Term};
use burn::tensor::Tensor;

/// `kl`: mean over the batch of KL(q(z|x) || p(z)), summed over the units (Kingma & Welling 2014, eq. 10).
#[derive(Clone, Copy, Debug)]
pub struct Divergence;

impl Term for Divergence {
    fn name(&self) -> &'static str {
        "kl"
    }

    fn value(&self, evidence: &Evidence) -> Tensor<1> {
        evidence.divergence.clone().sum()
    }
}
