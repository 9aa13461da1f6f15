//! The total correlation of the units under a Gaussian assumption.

use crate::codes::Codes;
use crate::error::Result;
use crate::linear_algebra::{covariance, symmetric_eigenvalues};
use crate::metric::{Description, Direction, Metric, Needs, Options};
use crate::report::ScoreValues;
use crate::views::Unlabelled;
use ndarray::{Array2, ArrayView2};

/// The total correlation of a Gaussian with the covariance of the codes, in nats.
///
/// ```text
/// TC = 1/2 (sum_i ln S_ii - ln det S),   S = covariance of the codes (n - 1 in the denominator)
/// ```
/// computed from the eigenvalues of the correlation matrix, which are bounded below by 2.2e-16: a duplicated unit gives about
/// 18 nats instead of infinity.
///
/// * Range: 0 and above, lower is better. Constant units are left out.
/// * Reference: Watanabe 1960, Information theoretical analysis of multivariate correlation; as an unsupervised score,
///   Locatello et al. 2019.
/// * See also: [`gaussian_wasserstein_correlation`](super::gaussian_wasserstein_correlation), which stays finite;
///   [`mutual_info_score`](super::mutual_info_score), which also detects nonlinear dependence.
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

/// The metric `gaussian_total_correlation`; see [`gaussian_total_correlation`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaussianTotalCorrelation;

impl Metric for GaussianTotalCorrelation {
    fn description(&self) -> Description {
        let key = "gaussian_total_correlation";
        Description::new(key, "total correlation of the units, as if codes were Gaussian")
            .number(key, "Gaussian total correlation")
            .direction(Direction::Lower)
            .range(0.0, f64::INFINITY)
            .needs(Needs::CODES)
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let value = gaussian_total_correlation(&codes.train());
        Ok(ScoreValues::new("gaussian_total_correlation", value))
    }
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
