//! The robust mutual information gap.

use super::mig::MigValues;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::Result;
use crate::information::{BINS, check_bins};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::entropy_of_counts;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::LabelledPosteriors;
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`rmig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RmigParameters {
    /// Bins of equal width for each unit; 2 to 65536.
    pub bins: usize,
}

impl Default for RmigParameters {
    fn default() -> Self {
        Self { bins: 100 }
    }
}

impl RmigParameters {
    pub(super) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { bins } = self;
        declare.count("bins", bins, BINS, "bins of equal width for each unit");
    }
}

/// RMIG, the robust mutual information gap: MIG with the mass of each posterior distributed over the bins.
///
/// ```text
/// p(bin, v)  = 1/N sum over points n with v_k(n) = v of q(z_i in bin | x_n)
/// RMIG       = mean over factors k of (I(z_a; v_k) - I(z_b; v_k)) / H(v_k)
/// ```
/// Bins lie between the smallest mean - 4 sigma and the largest mean + 4 sigma of a unit; the outer ones are unbounded. An
/// inactive unit has the same posterior for every point and so no mutual information, while binned means would still show some.
///
/// * Range: 0 to 1, higher is better. Factors with one value are left out.
/// * Reference: Do and Tran 2020, Theory and evaluation metrics for learning disentangled representations; divided by the
///   factor's entropy as MIG is.
/// * See also: [`mig`](super::mig), which bins the means; [`mig_full_data`](super::mig_full_data), which has no bins.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{LabelledPosteriors, scores::{RmigParameters, rmig}};
///
/// let means = array![[-9.0, 0.1], [-9.0, 0.0], [9.0, 0.0], [9.0, 0.1]];
/// let log_variances = array![[-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0]];
/// let factors = array![[0], [0], [1], [1]];
/// let data = LabelledPosteriors::new(means.view(), log_variances.view(), factors.view())?;
/// let score = rmig(&data, &RmigParameters::default())?;
/// assert!((score.value - 1.0).abs() < 1e-9);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn rmig(data: &LabelledPosteriors<'_>, parameters: &RmigParameters) -> Result<MigValues> {
    check_bins(parameters.bins)?;
    let (means, log_variances, classes) = (data.means(), data.log_variances(), data.labelled().classes());
    let rows: Vec<Vec<f64>> = (0..means.ncols())
        .into_par_iter()
        .map(|unit| {
            let joints = joint_distributions(
                &means.column(unit).to_vec(),
                &log_variances.column(unit).to_vec(),
                classes,
                parameters.bins,
            );
            joints.iter().map(|joint| information(joint, parameters.bins)).collect()
        })
        .collect();
    let matrix = Array2::from_shape_fn((means.ncols(), classes.len()), |(unit, factor)| rows[unit][factor]);
    let entropies: Vec<f64> = classes.iter().map(|classes| entropy_of_counts(&classes.sizes())).collect();
    Ok(MigValues::new(matrix, &entropies))
}

/// For each factor, p(value, bin), rows of bins.
fn joint_distributions(
    means: &[f64],
    log_variances: &[f64],
    classes: &[Classes],
    bins: usize,
) -> Vec<Vec<f64>> {
    // Less than a ten-thousandth of the mass of a posterior lies beyond four standard deviations.
    const REACH: f64 = 4.0;
    let deviations: Vec<f64> = log_variances.iter().map(|log_variance| (0.5 * log_variance).exp()).collect();
    let points = || means.iter().zip(&deviations);
    let start = points().map(|(mean, deviation)| mean - REACH * deviation).fold(f64::INFINITY, f64::min);
    let end = points().map(|(mean, deviation)| mean + REACH * deviation).fold(f64::NEG_INFINITY, f64::max);
    let width = (end - start) / bins as f64;
    let share = 1.0 / means.len() as f64;
    let mut joints: Vec<Vec<f64>> = classes.iter().map(|classes| vec![0.0; classes.count() * bins]).collect();
    let mut masses = vec![0.0; bins];
    for (row, (mean, deviation)) in points().enumerate() {
        // Bins more than nine deviations away get no more than rounding error.
        let place = |value: f64| (((value - start) / width).max(0.0) as usize).min(bins - 1);
        let (first, last) = (place(mean - 9.0 * deviation), place(mean + 9.0 * deviation));
        let mut below = 0.0;
        for (offset, mass) in masses[first..=last].iter_mut().enumerate() {
            let bin = first + offset;
            let edge = start + (bin + 1) as f64 * width;
            let up_to = if bin == last { 1.0 } else { cumulative((edge - mean) / deviation) };
            *mass = (up_to - below) * share;
            below = up_to;
        }
        for (joint, classes) in joints.iter_mut().zip(classes) {
            let target = &mut joint[classes.labels()[row] as usize * bins..][..bins];
            for (target, mass) in target[first..=last].iter_mut().zip(&masses[first..=last]) {
                *target += mass;
            }
        }
    }
    joints
}

/// The cumulative distribution function of the standard normal.
fn cumulative(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The mutual information of a joint distribution with rows of length `columns`.
fn information(joint: &[f64], columns: usize) -> f64 {
    let mut column_sums = vec![0.0; columns];
    for row in joint.chunks_exact(columns) {
        for (sum, value) in column_sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let mut information = 0.0;
    for row in joint.chunks_exact(columns) {
        let row_sum: f64 = row.iter().sum();
        for (&value, &column_sum) in row.iter().zip(&column_sums) {
            let independent = row_sum * column_sum;
            if value > 0.0 && independent > 0.0 {
                information += value * (value / independent).ln();
            }
        }
    }
    information.max(0.0)
}

/// The metric `rmig`; see [`rmig`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rmig {
    /// Its parameters.
    pub parameters: RmigParameters,
}

impl Metric for Rmig {
    fn description(&self) -> Description {
        Description::new("rmig", "as mig, with each point spread over the bins as its posterior is")
            .number("rmig", "RMIG")
            .detail("mutual_information_quantised")
            .needs(Needs::LABELLED_POSTERIORS)
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = rmig(&codes.labelled_posteriors()?, &self.parameters)?;
        Ok(ScoreValues::new("rmig", found.value)
            .with_matrix("mutual_information_quantised", found.mutual_information))
    }
}
