//! f-divergences of the aggregate posterior from the prior, from densities (Rubenstein et al. 2019).

use super::mixture::MixtureDensity;
use super::{ForwardPass, Term};
use crate::config::FDivergence;
use burn::tensor::Tensor;
use burn::tensor::activation::softplus;
use std::f64::consts::LN_2;

/// `random_mixture`: D_f(q(z) || p(z)) with q(z) replaced by the mixture of the batch, q_B(z) = 1/B sum_j q(z|x_j), and the
/// integral by one sample of each of its components (Rubenstein et al. 2019, eq. 3 and section 2.2, with the mixture itself
/// as proposal):
///
/// D_f ~ 1/B sum_i f(r_i) / r_i with r_i = q_B(z_i) / p(z_i).
///
/// By Jensen's inequality D_f(q_B || p) is no less than D_f(q || p) on average. All is computed from ln r.
#[derive(Clone, Copy, Debug)]
pub struct RandomMixture(pub FDivergence);

impl Term for RandomMixture {
    fn name(&self) -> &'static str {
        "random_mixture"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let (points, batch) = (forward.first_sample(), forward.batch());
        let weights = Tensor::full([batch, batch], -(batch as f64).ln(), &points.device());
        let density = MixtureDensity::at(points.clone(), forward.diagonal(), weights).joint;
        let log_ratio = density - forward.prior.log_density(points);
        let inverse = || log_ratio.clone().neg().exp();
        let values = match self.0 {
            FDivergence::Kl => log_ratio.clone(),
            FDivergence::ReverseKl => -log_ratio.clone() * inverse(),
            // ln(1 + r) by softplus, which does not overflow.
            FDivergence::JensenShannon => {
                log_ratio.clone() - (inverse() + 1.0) * (softplus(log_ratio.clone(), 1.0) - LN_2)
            }
            FDivergence::Pearson => log_ratio.clone().exp() - 2.0 + inverse(),
            FDivergence::SquaredHellinger => {
                let root = (log_ratio.clone() * -0.5).exp();
                (root.clone() - 1.0) * (root - 1.0)
            }
        };
        values.mean()
    }
}
