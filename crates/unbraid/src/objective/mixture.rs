//! Densities of a weighted mixture of the posteriors of a batch.

use crate::model::DiagonalGaussian;
use burn::tensor::Tensor;
use std::f64::consts::PI;

/// ln of weighted sums of the posteriors' densities at given points.
pub(super) struct MixtureDensity {
    /// `ln sum_j exp(w_ij + ln q(z_i|x_j))` for each point i, `[points]`.
    pub(super) joint: Tensor<1>,
    /// `ln sum_j exp(w_ij + ln q(z_id|x_j))` for each point i and unit d alone, `[points, units]`.
    pub(super) marginals: Tensor<2>,
}

impl MixtureDensity {
    /// At `points`, `[points, units]`, with the constant `log_weights`, `[points, batch]`.
    ///
    /// Everything is computed in logarithms, so that densities may underflow.
    pub(super) fn at(points: Tensor<2>, posterior: &DiagonalGaussian, log_weights: Tensor<2>) -> Self {
        let ([rows, units], [batch, _]) = (points.dims(), posterior.mean.dims());
        let spread = |tensor: Tensor<2>| tensor.reshape([1, batch, units]);
        // Differences first: if expanded into matrix products, squares would cancel where a variance is small.
        let deviation = points.reshape([rows, 1, units]) - spread(posterior.mean.clone());
        let precision = spread(posterior.log_variance.clone().neg().exp());
        let constant = spread(posterior.log_variance.clone() + (2.0 * PI).ln());
        let densities = (deviation.clone() * deviation * precision + constant) * -0.5;
        let weights = log_weights.reshape([rows, batch, 1]);
        let joint = log_sum(densities.clone().sum_dim(2) + weights.clone()).reshape([rows]);
        Self { joint, marginals: log_sum(densities + weights).reshape([rows, units]) }
    }
}

/// ln sum exp over the second axis.
fn log_sum(values: Tensor<3>) -> Tensor<3> {
    let largest = values.clone().detach().max_dim(1);
    (values - largest.clone()).exp().sum_dim(1).log() + largest
}
