//! The exclusive KL divergence KL(q(z) || p(z)) between aggregate posterior and prior (Mathieu et al. 2019, appendix C).

use super::{ForwardPass, Term};
use crate::config::Estimator;
use burn::tensor::Tensor;

/// `exclusive_kl`: mean of ln q(z) - ln p(z) at the samples, with ln q(z) estimated from the batch; by default with the
/// weights of Mathieu et al. 2019, eq. 10b. It is the sum of total correlation and dimension-wise KL divergence, so that
/// beta KL + alpha KL(q(z) || p(z)) is `beta-tcvae` with the weights (beta, beta + alpha, beta + alpha).
///
/// With batches that are small beside the data it is biased: posteriors hardly overlap, ln q(z_i) is about ln q(z_i|x_i) -
/// ln N, and the term about KL(q(z|x) || p(z)) - ln N.
#[derive(Clone, Copy, Debug)]
pub struct ExclusiveKl(pub Estimator);

impl Term for ExclusiveKl {
    fn name(&self) -> &'static str {
        "exclusive_kl"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let prior = forward.prior.log_density(forward.first_sample());
        (forward.aggregate(self.0).joint.clone() - prior).mean()
    }
}
