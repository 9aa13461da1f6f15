//! The third central moments of the aggregate posterior, pulled towards zero (Kumar et al. 2018, end of section 2.2).

use super::sum::sum;
use super::{ForwardPass, Term};
use burn::tensor::Tensor;

/// `third_moment`: the squared l2 norm of the tensor of third central moments of q(z) = 1/B sum_b N(mu_b, diag
/// sigma_b^2). For a zero-mean Gaussian prior these moments vanish.
///
/// With c = mu - E\[mu\] and s = sigma^2, by the moments of a Gaussian,
/// `T_ijk = E[c_i c_j c_k] + E[c_i s_j] 1[j=k] + E[c_j s_i] 1[i=k] + E[c_k s_i] 1[i=j]`.
#[derive(Clone, Copy, Debug)]
pub struct ThirdMoment;

impl Term for ThirdMoment {
    fn name(&self) -> &'static str {
        "third_moment"
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let posterior = forward.diagonal();
        let [batch, units] = posterior.mean.dims();
        let device = posterior.mean.device();
        let centred = posterior.mean.clone() - posterior.mean.clone().mean_dim(0);
        let variance = posterior.log_variance.clone().exp();

        let pairs = centred.clone().reshape([batch, units, 1]) * centred.clone().reshape([batch, 1, units]);
        let pairs = pairs.reshape([batch, units * units]).transpose();
        let triples = pairs.matmul(centred.clone()).reshape([units, units, units]);
        // E[c_i s_j], then expanded to the entries in which two of the three indices agree.
        let mixed = centred.transpose().matmul(variance);
        let identity = Tensor::<2>::eye(units, &device);
        let spread = |mixed: [usize; 3], identity_at: [usize; 3], values: Tensor<2>| {
            values.reshape(mixed) * identity.clone().reshape(identity_at)
        };
        let first = spread([units, units, 1], [1, units, units], mixed.clone());
        let second = spread([units, units, 1], [units, 1, units], mixed.clone().transpose());
        let third = spread([units, 1, units], [units, units, 1], mixed.transpose());
        let moments = (triples + first + second + third) / batch as f64;
        sum(moments.clone() * moments)
    }
}
