//! Densities of a mixture of diagonal Gaussians as a differentiable operation on tensors.

use burn::tensor::Tensor;

/// ln of weighted sums of diagonal Gaussian densities at given points: for each point z_i, over the components j with mean
/// mu_j and log-variance v_j,
///
/// * column 0: `ln sum_j exp(w_ij + sum_d ln N(z_id; mu_jd, exp v_jd))`, and
/// * column 1 + d: `ln sum_j exp(w_ij + ln N(z_id; mu_jd, exp v_jd))`, the same for unit d alone.
///
/// `points` is `[points, units]`, `mean` and `log_variance` are `[components, units]` and `log_weights`, which are
/// constants, `[points, components]`; the result is `[points, 1 + units]`. No intermediate value overflows, and a density
/// that underflows has a finite logarithm.
///
/// # Panics
/// If the shapes disagree.
pub fn mixture_log_density(
    points: Tensor<2>,
    mean: Tensor<2>,
    log_variance: Tensor<2>,
    log_weights: Tensor<2>,
) -> Tensor<2> {
    mixture_log_density_reference(points, mean, log_variance, log_weights)
}

/// [`mixture_log_density`] by burn's own operations, on any device.
pub fn mixture_log_density_reference(
    points: Tensor<2>,
    mean: Tensor<2>,
    log_variance: Tensor<2>,
    log_weights: Tensor<2>,
) -> Tensor<2> {
    let ([rows, units], [components, _]) = (points.dims(), mean.dims());
    let spread = |tensor: Tensor<2>| tensor.reshape([1, components, units]);
    // Differences first: expanded squares would cancel where the variance is small.
    let deviation = points.reshape([rows, 1, units]) - spread(mean);
    let precision = spread(log_variance.clone()).neg().exp();
    let constant = (2.0 * std::f64::consts::PI).ln();
    let densities = (deviation.clone() * deviation * precision + spread(log_variance) + constant) * -0.5;
    let weights = log_weights.detach().reshape([rows, components, 1]);
    let joint = log_sum(densities.clone().sum_dim(2) + weights.clone());
    let marginals = log_sum(densities + weights);
    Tensor::cat(vec![joint.reshape([rows, 1]), marginals.reshape([rows, units])], 1)
}

/// ln sum exp over the second axis.
fn log_sum(values: Tensor<3>) -> Tensor<3> {
    let largest = values.clone().max_dim(1).detach();
    (values - largest.clone()).exp().sum_dim(1).log() + largest
}
