//! The inclusive KL divergence KL(p(z) || q(z)) between prior and aggregate posterior (Mathieu et al. 2019, appendix B,
//! pinwheel).

use super::mixture::MixtureDensity;
use super::{ForwardPass, Needs, Term};
use burn::tensor::Tensor;

/// `inclusive_kl`: KL(p(z) || q(z)), the mean over samples of the prior of ln p(z) - ln q(z), where q(z) = 1/B sum_j
/// q(z|x_j) is the mixture of the batch.
#[derive(Clone, Copy, Debug)]
pub struct InclusiveKl;

impl Term for InclusiveKl {
    fn name(&self) -> &'static str {
        "inclusive_kl"
    }

    fn needs(&self) -> Needs {
        Needs { prior_sample: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let points = forward.prior_sample();
        let (rows, batch) = (points.dims()[0], forward.batch());
        let weights = Tensor::full([rows, batch], -(batch as f64).ln(), &points.device());
        let density = MixtureDensity::at(points.clone(), forward.diagonal(), weights).joint;
        (forward.prior.log_density(points) - density).mean()
    }
}
