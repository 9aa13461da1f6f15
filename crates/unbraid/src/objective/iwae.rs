//! The importance-weighted bound (Burda et al. 2016; thesis section 3.4).

use super::{ForwardPass, Term};
use burn::tensor::Tensor;

/// `iwae_kl`: the bound without the reconstruction.
///
/// With K samples of each posterior and weights w_k = p(x|z_k) p(z_k) / q(z_k|x), the bound is L_K = mean over the batch
/// of ln(1/K sum_k w_k) (Burda et al. 2016, eq. 8). The term is -L_K minus the mean reconstruction, so that reconstruction
/// plus term is -L_K; for K = 1 it is the single-sample estimate of the KL divergence.
#[derive(Clone, Copy, Debug)]
pub struct IwaeKl;

impl Term for IwaeKl {
    fn name(&self) -> &'static str {
        "iwae_kl"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let batch = forward.batch();
        let [rows, _] = forward.sample.dims();
        let samples = rows / batch;
        let posterior = forward.log_density().expect("a term that needs a density says so");
        let weights =
            forward.prior.log_density(forward.sample.clone()) - posterior - forward.reconstruction.clone();
        let weights = weights.reshape([samples, batch]);
        let largest = weights.clone().max_dim(0).detach();
        let mean = (weights - largest.clone()).exp().mean_dim(0).log() + largest;
        -mean.mean() - forward.reconstruction.clone().mean()
    }
}
