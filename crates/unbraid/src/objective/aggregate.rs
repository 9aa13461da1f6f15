//! ln q(z) and ln q(z_j) of the aggregate posterior q(z) = 1/N sum_n q(z|x_n), estimated from one batch.

use super::ForwardPass;
use super::mixture::MixtureDensity;
use crate::config::Estimator;
use burn::tensor::{Tensor, TensorData};

/// The estimates for each sample of a batch.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// ln q(z_i), `[batch]`.
    pub joint: Tensor<1>,
    /// sum_j ln q(z_ij) over the units j, `[batch]`.
    pub marginals: Tensor<1>,
}

impl Aggregate {
    /// ln q(z_i) = lse_j (ln W_ij + ln q(z_i|x_j)), and the same for each unit alone with the same weights.
    pub(super) fn estimate(forward: &ForwardPass<'_>, estimator: Estimator) -> Self {
        let batch = forward.batch();
        let weights = log_weights(estimator, batch, forward.dataset_len);
        let weights = Tensor::from_data(TensorData::new(weights, [batch, batch]), &forward.sample.device());
        let MixtureDensity { joint, marginals } =
            MixtureDensity::at(forward.first_sample(), forward.diagonal(), weights);
        Self { joint, marginals: marginals.sum_dim(1).reshape([batch]) }
    }
}

/// ln W_ij, row by row, for batches of B from N images, with M = B - 1.
///
/// * `mws`: 1 / (B N) everywhere (Chen et al. 2018, eq. 3). The rows sum to 1/N, hence the bias.
/// * `mss`: 1/N for the image that z_i was drawn from, (N - M) / (N M) for one other, 1/M for the rest (Chen et al. 2018,
///   appendix C.2). The rows sum to one.
/// * `stratified`: 1/N for the image that z_i was drawn from, (N - 1) / (N M) for all others (Mathieu et al. 2019, eq. 10b).
///   The rows sum to one.
/// * `mss-columns`: the same numbers as `mss` in the first two columns instead of on and next to the diagonal, and (N - M) / (N
///   M) also in the last row but one. This is what the authors' code computes, and most code derived from it.
pub(super) fn log_weights(estimator: Estimator, batch: usize, images: usize) -> Vec<f32> {
    let (b, n) = (batch as f64, images as f64);
    let m = b - 1.0;
    let (own, other, rest) = (1.0 / n, (n - m) / (n * m), 1.0 / m);
    let weight = |row: usize, column: usize| match estimator {
        Estimator::Mws => 1.0 / (b * n),
        Estimator::Mss if column == row => own,
        Estimator::Mss if column == (row + 1) % batch => other,
        Estimator::MssColumns if column == 1 || (column == 0 && row + 2 == batch) => other,
        Estimator::MssColumns if column == 0 => own,
        Estimator::Stratified if column == row => own,
        Estimator::Stratified => (n - 1.0) / (n * m),
        Estimator::Mss | Estimator::MssColumns => rest,
    };
    (0..batch * batch).map(|place| weight(place / batch, place % batch).ln() as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_sums(estimator: Estimator, batch: usize, images: usize) -> Vec<f64> {
        let weights = log_weights(estimator, batch, images);
        weights.chunks(batch).map(|row| row.iter().map(|weight| f64::from(*weight).exp()).sum()).collect()
    }

    #[test]
    fn stratified_weights_sum_to_one() {
        for (batch, images) in [(2, 2), (2, 1000), (3, 5), (16, 1000), (64, 737_280), (400, 400)] {
            for estimator in [Estimator::Mss, Estimator::Stratified] {
                for (row, sum) in row_sums(estimator, batch, images).into_iter().enumerate() {
                    assert!((sum - 1.0).abs() < 1e-5, "{estimator:?}: {batch} of {images}, row {row}: {sum}");
                }
            }
            for sum in row_sums(Estimator::Mws, batch, images) {
                assert!((sum * images as f64 - 1.0).abs() < 1e-5, "{batch} of {images}: {sum}");
            }
        }
    }

    /// B = 4, N = 10, M = 3: 1/10, 7/30 and 1/3.
    #[test]
    fn weights_stand_where_they_belong() {
        let places = |estimator| {
            let weights = log_weights(estimator, 4, 10);
            let thirtieths = |weight: &f32| (30.0 * f64::from(*weight).exp()).round() as u32;
            weights.chunks(4).map(|row| row.iter().map(thirtieths).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let stratified = [[3, 7, 10, 10], [10, 3, 7, 10], [10, 10, 3, 7], [7, 10, 10, 3]];
        assert_eq!(places(Estimator::Mss), stratified);
        let columns = [[3, 7, 10, 10], [3, 7, 10, 10], [7, 7, 10, 10], [3, 7, 10, 10]];
        assert_eq!(places(Estimator::MssColumns), columns);
    }
}
