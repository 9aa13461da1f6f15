//! The mutual information gap from posteriors, without bins.

use super::posterior_kl::check_posteriors;
use crate::error::{MetricsError, Result};
use crate::input::{self, Classes};
use crate::numeric::{exp, mean, top_two, vectorised};
use crate::random;
use ndarray::{Array2, ArrayView2};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`mig_full_data`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullDataParameters {
    /// Points that one sample of the posterior is drawn for; all points if there are fewer.
    pub samples: usize,
    /// Chooses the points and draws the samples.
    pub seed: u64,
}

impl Default for FullDataParameters {
    fn default() -> Self {
        Self { samples: 10_000, seed: 0 }
    }
}

/// What [`mig_full_data`] found.
#[derive(Clone, Debug)]
pub struct FullDataMig {
    /// The score.
    pub value: f64,
    /// The gap of each factor, divided by its entropy; 0 for a factor that does not vary.
    pub per_factor: Vec<f64>,
    /// I(unit; factor) in nats, \[units, factors\], not below 0.
    pub mutual_information: Array2<f64>,
}

/// MIG with Chen's estimator: entropies of the aggregate posterior q(z) = mean over all points of q(z | x).
///
/// ```text
/// H(z_i)       = - mean over samples z ~ q(z | x_s) of ln (1/N) sum_n q(z_i | x_n)
/// H(z_i | v_k) = - mean over the same samples of ln (1/N_v) sum over n with v_k(n) = v_k(s) of q(z_i | x_n)
/// I(z_i; v_k)  = max(0, H(z_i) - H(z_i | v_k))
/// MIG          = mean over factors k of (largest - second largest of I(.; v_k)) / H(v_k)
/// ```
/// One sample is drawn for each of `samples` points, and serves every factor: the densities are computed once. (Chen et
/// al. draw samples anew for every value of every factor, and leave the shape of dSprites out.)
///
/// * Shapes: `means` and `log_variances` \[N, units\] of Gaussian posteriors, `factors` \[N, factors\]. The points should be
///   the whole data set, or a sample of it: the estimate is of the information in these N points.
/// * Range: 0 to 1, higher is better. Costs N * samples * units exponentials.
/// * Reference: Chen et al. 2018, Isolating sources of disentanglement in VAEs, section 4.1 and appendix C.
///
/// # Errors
/// If the arrays do not fit each other or are not finite, if no factor varies, or if there are to be no samples.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::scores::{FullDataParameters, mig_full_data};
///
/// // Unit 0 is far apart for the two values, unit 1 is the prior everywhere.
/// let means = array![[-9.0, 0.0], [-9.0, 0.0], [9.0, 0.0], [9.0, 0.0]];
/// let log_variances = array![[-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0]];
/// let factors = array![[0], [0], [1], [1]];
/// let score = mig_full_data(means.view(), log_variances.view(), factors.view(), &FullDataParameters::default())?;
/// assert!((score.value - 1.0).abs() < 1e-9);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mig_full_data(
    means: ArrayView2<'_, f64>,
    log_variances: ArrayView2<'_, f64>,
    factors: ArrayView2<'_, i64>,
    parameters: &FullDataParameters,
) -> Result<FullDataMig> {
    check_posteriors(means, log_variances)?;
    input::check_factors("factors", factors, means.nrows())?;
    if parameters.samples == 0 {
        return Err(MetricsError::parameter("samples", 0, "at least 1"));
    }
    let classes = Classes::of_factors(factors);
    input::check_varies("factors", &classes)?;
    let samples = parameters.samples.min(means.nrows());
    let rows = random::choose(&mut random::generator(parameters.seed, "mig rows", 0), means.nrows(), samples);
    let groups: Vec<Vec<Vec<u32>>> = classes
        .iter()
        .map(|classes| {
            classes.rows().iter().map(|rows| rows.iter().map(|&row| row as u32).collect()).collect()
        })
        .collect();
    let units: Vec<Vec<f64>> = (0..means.ncols())
        .into_par_iter()
        .map(|unit| {
            let posterior = Posterior::new(means.column(unit).to_vec(), &log_variances.column(unit).to_vec());
            posterior.information(&rows, &classes, &groups, parameters.seed, unit as u64)
        })
        .collect();
    let matrix = Array2::from_shape_fn((means.ncols(), classes.len()), |(unit, factor)| units[unit][factor]);
    let per_factor: Vec<f64> = classes
        .iter()
        .zip(matrix.columns())
        .map(|(classes, column)| {
            let (first, second) = top_two(column.iter().copied());
            let entropy = crate::numeric::entropy_of_counts(&classes.counts());
            if entropy > 0.0 { (first - second) / entropy } else { 0.0 }
        })
        .collect();
    let varying: Vec<f64> = per_factor
        .iter()
        .zip(&classes)
        .filter(|(_, classes)| classes.varies())
        .map(|(gap, _)| *gap)
        .collect();
    Ok(FullDataMig { value: mean(&varying), per_factor, mutual_information: matrix })
}

/// One unit's posteriors of all points.
struct Posterior {
    means: Vec<f64>,
    inverse_deviations: Vec<f64>,
    /// Minus ln sigma; the constant of the normal density cancels in every difference of entropies.
    log_scales: Vec<f64>,
}

impl Posterior {
    fn new(means: Vec<f64>, log_variances: &[f64]) -> Self {
        let inverse_deviations =
            log_variances.iter().map(|log_variance| (-0.5 * log_variance).exp()).collect();
        let log_scales = log_variances.iter().map(|log_variance| -0.5 * log_variance).collect();
        Self { means, inverse_deviations, log_scales }
    }

    /// The mutual information with every factor.
    fn information(
        &self,
        rows: &[usize],
        classes: &[Classes],
        groups: &[Vec<Vec<u32>>],
        seed: u64,
        unit: u64,
    ) -> Vec<f64> {
        // Samples are worked on in parallel, and their differences added in order.
        let parts: Vec<Vec<f64>> = rows
            .par_iter()
            .map_init(
                || vec![0.0; self.means.len()],
                |densities, &row| {
                    let mut generator = random::generator(seed, "mig samples", (unit << 40) ^ row as u64);
                    let noise: f64 = StandardNormal.sample(&mut generator);
                    let sample = self.means[row] + noise / self.inverse_deviations[row];
                    // The density at the sample's own posterior bounds the sum from below, so it serves as the unit.
                    let own = self.log_scales[row] - 0.5 * noise * noise;
                    let total = self.densities(sample, own, densities) / densities.len() as f64;
                    classes
                        .iter()
                        .zip(groups)
                        .map(|(classes, groups)| {
                            let group = &groups[classes.of_row[row] as usize];
                            let sum = sum_of_lanes(group, |&other| densities[other as usize]);
                            (sum / group.len() as f64).ln() - total.ln()
                        })
                        .collect()
                },
            )
            .collect();
        (0..classes.len())
            .map(|factor| (parts.iter().map(|part| part[factor]).sum::<f64>() / rows.len() as f64).max(0.0))
            .collect()
    }

    /// Writes q(sample | x_n) / exp(own) for all points n, and gives the sum.
    fn densities(&self, sample: f64, own: f64, densities: &mut [f64]) -> f64 {
        vectorised(
            #[inline(always)]
            || {
                let points = self.means.iter().zip(&self.inverse_deviations).zip(&self.log_scales);
                for (density, ((mean, inverse_deviation), log_scale)) in densities.iter_mut().zip(points) {
                    let distance = (sample - mean) * inverse_deviation;
                    *density = exp(log_scale - own - 0.5 * distance * distance);
                }
                sum_of_lanes(densities, |&density| density)
            },
        )
    }
}

/// The sum in eight lanes that are added at the end: one addition need not wait for the last.
#[inline(always)]
fn sum_of_lanes<T>(entries: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = entries.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(&value).sum();
    for chunk in chunks {
        for (lane, entry) in lanes.iter_mut().zip(chunk) {
            *lane += value(entry);
        }
    }
    lanes.iter().sum::<f64>() + rest
}
