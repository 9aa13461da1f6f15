//! The Wasserstein distance of the codes from uncorrelated ones under a Gaussian assumption.

use crate::codes::Codes;
use crate::error::Result;
use crate::linear_algebra::{covariance, symmetric_eigenvalues};
use crate::metric::{Description, Direction, Metric, Needs, Options};
use crate::report::ScoreValues;
use crate::views::Unlabelled;
use ndarray::Array2;

/// What [`gaussian_wasserstein_correlation`] computes.
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
/// with S the covariance of the codes and diag(S) its diagonal.
///
/// * Range: 0 and above, lower is better; the normalised value is below 2. Both are 0 if all units are constant.
/// * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
///   representations, where it is one of the unsupervised scores.
/// * See also: [`gaussian_total_correlation`](super::gaussian_total_correlation), the same comparison by KL divergence.
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

/// The metric `gaussian_wasserstein_correlation`; see [`gaussian_wasserstein_correlation`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaussianWassersteinCorrelation;

impl Metric for GaussianWassersteinCorrelation {
    fn description(&self) -> Description {
        let key = "gaussian_wasserstein_correlation";
        Description::new(key, "Wasserstein distance of the codes from uncorrelated ones, as if Gaussian")
            .number(key, "Gaussian Wasserstein")
            .number("gaussian_wasserstein_correlation_norm", "Gaussian Wasserstein, normed")
            .direction(Direction::Lower)
            .range(0.0, f64::INFINITY)
            .needs(Needs::CODES)
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = gaussian_wasserstein_correlation(&codes.train());
        Ok(ScoreValues::new("gaussian_wasserstein_correlation", found.value)
            .with_number("gaussian_wasserstein_correlation_norm", found.normalised))
    }
}
