//! Mean mutual information between pairs of units.

use crate::error::Result;
use crate::information::{check_bins, discretise, mutual_information};
use crate::numeric::{columns, mean};
use crate::scores::mig::HistogramParameters;
use crate::views::Unlabelled;
use rayon::prelude::*;

/// The mean mutual information between two different binned units, in nats.
///
/// ```text
/// score = mean over i != j of I(z_i; z_j)
/// ```
///
/// * Range: 0 to ln bins, lower is better. A single unit scores 0. The plug-in estimate has a bias of about
///   (bins - 1)^2 / 2n nats for independent units.
/// * Reference: Locatello et al. 2019, Challenging common assumptions, unsupervised scores.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Unlabelled, scores::{HistogramParameters, mutual_info_score}};
///
/// let twice = array![[0.0, 0.0], [1.0, 1.0]];
/// let score = mutual_info_score(&Unlabelled::new(twice.view())?, &HistogramParameters::default())?;
/// assert!((score - 2_f64.ln()).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mutual_info_score(data: &Unlabelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    check_bins(parameters.bins)?;
    let bins = parameters.bins;
    let units: Vec<Vec<u32>> =
        columns(data.codes()).par_iter().map(|values| discretise(values, bins)).collect();
    let pairs: Vec<(usize, usize)> = (0..units.len()).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let information: Vec<f64> =
        pairs.par_iter().map(|&(i, j)| mutual_information(&units[i], bins, &units[j], bins)).collect();
    Ok(mean(&information))
}
