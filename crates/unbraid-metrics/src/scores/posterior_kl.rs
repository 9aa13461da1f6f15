//! How much each unit departs from the prior.

use crate::views::Posteriors;

/// The mean Kullback-Leibler divergence of each unit's Gaussian posterior from the standard normal prior, in nats.
///
/// ```text
/// KL_i = mean over points of 1/2 (mu_i^2 + sigma_i^2 - ln sigma_i^2 - 1)
/// ```
///
/// * Range: 0 and above. About 0 for a unit that the model does not use.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Posteriors, scores::kl_per_unit};
///
/// let (means, log_variances) = (array![[0.0, 2.0], [0.0, -2.0]], array![[0.0, 0.0], [0.0, 0.0]]);
/// assert_eq!(kl_per_unit(&Posteriors::new(means.view(), log_variances.view())?), [0.0, 2.0]);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn kl_per_unit(data: &Posteriors<'_>) -> Vec<f64> {
    data.means()
        .columns()
        .into_iter()
        .zip(data.log_variances().columns())
        .map(|(means, log_variances)| {
            let sum: f64 = means
                .iter()
                .zip(log_variances)
                .map(|(mean, log_variance)| 0.5 * (mean * mean + log_variance.exp() - log_variance - 1.0))
                .sum();
            (sum / means.len() as f64).max(0.0)
        })
        .collect()
}
