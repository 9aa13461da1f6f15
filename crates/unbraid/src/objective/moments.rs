//! Mean and covariance of the aggregate posterior, matched to those of the prior: Kumar et al. 2018, section 2.2, for
//! any prior, as a divergence for Mathieu et al. 2019, eq. 7.

use super::covariance::batch_covariance;
use super::sum::sum;
use super::{ForwardPass, Term};
use burn::tensor::Tensor;

/// `moments`: |E_q\[z\] - E_p\[z\]|^2 + |Cov_q\[z\] - Cov_p\[z\]|^2, with the Frobenius norm, where q(z) is the mixture
/// of the batch's posteriors.
#[derive(Clone, Copy, Debug)]
pub struct Moments;

impl Term for Moments {
    fn name(&self) -> &'static str {
        "moments"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let mean = forward.diagonal().mean.clone().mean_dim(0) - forward.prior.mean();
        let covariance = batch_covariance(forward.diagonal()) - forward.prior.covariance();
        sum(mean.clone() * mean) + sum(covariance.clone() * covariance)
    }
}
