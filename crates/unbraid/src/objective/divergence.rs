//! The KL divergence of the posterior from the prior.

use super::{Evidence, Term};
use burn::tensor::Tensor;

/// `kl`: mean over the batch of KL(q(z, c|x) || p(z) p(c)), summed over the units (Kingma & Welling 2014, eq. 10). Given an
/// image, the units are independent, so that those of categorical units simply add up (Dupont 2018, eq. 5).
#[derive(Clone, Copy, Debug)]
pub struct Divergence;

impl Term for Divergence {
    fn name(&self) -> &'static str {
        "kl"
    }

    fn value(&self, evidence: &Evidence) -> Tensor<1> {
        let continuous = evidence.divergence.clone().sum();
        match &evidence.categorical_divergence {
            None => continuous,
            Some(categorical) => continuous + categorical.clone().sum(),
        }
    }
}
