//! The KL divergence of posteriors from the prior.

use crate::codes::Codes;
use crate::error::Result;
use crate::metric::{Description, Direction, Metric, Needs, Options};
use crate::report::ScoreValues;
use crate::views::Posteriors;
use ndarray::ArrayView2;

/// The mean Kullback-Leibler divergence of each unit's Gaussian posterior from the standard normal prior, in nats.
///
/// ```text
/// KL_i = mean over points of 1/2 (mu_i^2 + sigma_i^2 - ln sigma_i^2 - 1)
/// ```
///
/// * Range: 0 and above; about 0 for an inactive unit.
/// * Reference: Kingma and Welling 2014, Auto-encoding variational Bayes, appendix B.
/// * See also: [`udr`](super::udr), which leaves inactive units out.
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

/// The mean over the points, at least 0: an estimate from samples can be negative.
fn mean_per_unit(divergences: ArrayView2<'_, f64>) -> Vec<f64> {
    divergences.columns().into_iter().map(|unit| (unit.sum() / unit.len() as f64).max(0.0)).collect()
}

/// The metric `kl`: the mean KL divergence of each unit's posterior from its prior, summed over the units.
///
/// For a standard normal prior this is the sum of [`kl_per_unit`]. For other priors, the divergences have to be added to the
/// codes ([`Codes::with_divergences`]), in closed form or estimated from samples of the posteriors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kl;

impl Metric for Kl {
    fn description(&self) -> Description {
        let meaning = "KL divergence of the posteriors from the prior in nats, summed over continuous units";
        Description::new("kl", meaning)
            .number("kl", "KL of codes")
            .direction(Direction::Neither)
            .range(0.0, f64::INFINITY)
            .needs(Needs::POSTERIORS)
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let per_unit = match codes.divergences() {
            Some(divergences) => mean_per_unit(divergences),
            None => kl_per_unit(&codes.posteriors()?),
        };
        Ok(ScoreValues::new("kl", per_unit.iter().sum()).with_list("kl_per_unit", per_unit))
    }
}
