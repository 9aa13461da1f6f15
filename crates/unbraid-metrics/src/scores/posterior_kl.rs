//! How much each unit departs from the prior.

use crate::error::Result;
use crate::input::{self, Classes};
use ndarray::ArrayView2;

/// The mean Kullback-Leibler divergence of each unit's Gaussian posterior from the standard normal prior, in nats.
///
/// ```text
/// KL_i = mean over points of 1/2 (mu_i^2 + sigma_i^2 - ln sigma_i^2 - 1)
/// ```
///
/// * Shapes: `means` and `log_variances` \[n, units\].
/// * Range: 0 and above. About 0 for a unit that the model does not use.
///
/// # Errors
/// If the arrays differ in shape or are not finite.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::scores::kl_per_unit;
///
/// let kl = kl_per_unit(array![[0.0, 2.0], [0.0, -2.0]].view(), array![[0.0, 0.0], [0.0, 0.0]].view())?;
/// assert_eq!(kl, [0.0, 2.0]);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn kl_per_unit(means: ArrayView2<'_, f64>, log_variances: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
    check_posteriors(means, log_variances)?;
    Ok(means
        .columns()
        .into_iter()
        .zip(log_variances.columns())
        .map(|(means, log_variances)| {
            let sum: f64 = means
                .iter()
                .zip(log_variances)
                .map(|(mean, log_variance)| 0.5 * (mean * mean + log_variance.exp() - log_variance - 1.0))
                .sum();
            (sum / means.len() as f64).max(0.0)
        })
        .collect())
}

/// Log-variances beyond this are refused: their exponential must be an ordinary number.
const LARGEST_LOG_VARIANCE: f64 = 250.0;

/// Refuses posteriors whose parts do not fit each other, are not finite, or whose variance is no ordinary number.
pub(crate) fn check_posteriors(means: ArrayView2<'_, f64>, log_variances: ArrayView2<'_, f64>) -> Result<()> {
    input::check_codes("codes", means)?;
    input::check_length("log_variances", "row", log_variances.nrows(), means.nrows(), "rows of codes")?;
    input::check_length("log_variances", "unit", log_variances.ncols(), means.ncols(), "units of codes")?;
    input::check_magnitudes("log_variances", log_variances, LARGEST_LOG_VARIANCE, "numbers from -250 to 250")
}

/// The checks of scores that set posteriors against factors; gives the factors as classes.
pub(crate) fn check_posteriors_and_factors(
    means: ArrayView2<'_, f64>,
    log_variances: ArrayView2<'_, f64>,
    factors: ArrayView2<'_, i64>,
) -> Result<Vec<Classes>> {
    check_posteriors(means, log_variances)?;
    input::check_factors("factors", factors, means.nrows())?;
    let classes = Classes::of_factors(factors);
    input::check_varies("factors", &classes)?;
    Ok(classes)
}
