//! Correlation between units, as if the codes were Gaussian.

use crate::linear_algebra::{covariance, symmetric_eigenvalues};
use crate::views::Unlabelled;
use ndarray::{Array2, ArrayView2};

/// The total correlation of a Gaussian with the covariance of the codes: the information that units share, in nats.
///
/// ```text
/// TC = 1/2 (sum_i ln S_ii - ln det S),   S = covariance of the codes (n - 1 in the denominator)
/// ```
/// computed from the eigenvalues of the correlation matrix. They are kept above 2.2e-16, so that a duplicated unit gives
/// about 18 nats where the formula says infinity.
///
/// * Range: 0 and above, lower is better. Constant units share nothing and are left out.
/// * Reference: Watanabe 1960; as an unsupervised score, Locatello et al. 2019.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Unlabelled, scores::gaussian_total_correlation};
///
/// let independent = array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
/// assert!(gaussian_total_correlation(&Unlabelled::new(independent.view())?) < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn gaussian_total_correlation(data: &Unlabelled<'_>) -> f64 {
    total_correlation_of(covariance(data.codes()).view())
}

/// [`gaussian_total_correlation`] from a covariance matrix.
pub fn total_correlation_of(covariance: ArrayView2<'_, f64>) -> f64 {
    let active: Vec<usize> = (0..covariance.nrows()).filter(|&i| covariance[[i, i]] > 0.0).collect();
    let correlation = Array2::from_shape_fn((active.len(), active.len()), |(i, j)| {
        let (a, b) = (active[i], active[j]);
        covariance[[a, b]] / covariance[[a, a]].sqrt() / covariance[[b, b]].sqrt()
    });
    let log_determinant: f64 =
        symmetric_eigenvalues(&correlation).iter().map(|&value| value.max(f64::EPSILON).ln()).sum();
    (-0.5 * log_determinant).max(0.0)
}

/// What [`gaussian_wasserstein_correlation`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WassersteinCorrelation {
    /// The squared distance.
    pub value: f64,
    /// The same, divided by the sum of the variances.
    pub normalised: f64,
}

/// The squared 2-Wasserstein distance between a Gaussian with the covariance of the codes and the one with the same
/// variances and no correlations.
///
/// ```text
/// W = 2 tr S - 2 tr (diag(S)^1/2 S diag(S)^1/2)^1/2,   normalised: W / tr S
/// ```
///
/// * Range: 0 and above, lower is better; the normalised value is below 2. Both are 0 if all units are constant.
/// * Reference: Locatello et al. 2019, Challenging common assumptions, unsupervised scores.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Unlabelled, scores::gaussian_wasserstein_correlation};
///
/// // Two equal units of variance v: eigenvalues of S are 2v and 0, so W = 4v - 2 sqrt(2) v.
/// let codes = array![[1.0, 1.0], [-1.0, -1.0]];
/// let score = gaussian_wasserstein_correlation(&Unlabelled::new(codes.view())?);
/// assert!((score.normalised - (2.0 - 2_f64.sqrt())).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn gaussian_wasserstein_correlation(data: &Unlabelled<'_>) -> WassersteinCorrelation {
    let covariance = covariance(data.codes());
    let trace: f64 = covariance.diag().sum();
    if trace <= 0.0 {
        return WassersteinCorrelation { value: 0.0, normalised: 0.0 };
    }
    // sqrtm(diag(S) S) has the eigenvalues of the symmetric diag(S)^1/2 S diag(S)^1/2.
    let product = Array2::from_shape_fn(covariance.raw_dim(), |(i, j)| {
        covariance[[i, j]] / trace * (covariance[[i, i]].sqrt() * covariance[[j, j]].sqrt() / trace)
    });
    let root: f64 = symmetric_eigenvalues(&product).iter().map(|&value| value.max(0.0).sqrt()).sum();
    let normalised = (2.0 - 2.0 * root).max(0.0);
    WassersteinCorrelation { value: normalised * trace, normalised }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn total_correlation_of_known_covariances() {
        assert_eq!(total_correlation_of(Array2::eye(4).view()), 0.0);
        let value = total_correlation_of(array![[1.0, 0.9], [0.9, 1.0]].view());
        assert!((value + 0.5 * (1.0_f64 - 0.81).ln()).abs() < 1e-14);
        // Units in other scales, and a constant one, change nothing.
        let scaled = array![[4.0, 0.0, 1.8e-3], [0.0, 0.0, 0.0], [1.8e-3, 0.0, 1e-6]];
        assert!((total_correlation_of(scaled.view()) - value).abs() < 1e-12);
    }
}
