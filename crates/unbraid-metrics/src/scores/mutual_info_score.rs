//! Mean mutual information between pairs of units.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{check_bins, discretise, mutual_information};
use crate::metric::{Description, Direction, Metric, Needs, Options};
use crate::numeric::{columns, mean};
use crate::options::Declare;
use crate::report::ScoreValues;
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
/// * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
///   representations, where it is one of the unsupervised scores.
/// * See also: [`gaussian_total_correlation`](super::gaussian_total_correlation), of all units at once.
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

/// The metric `mutual_info_score`; see [`mutual_info_score`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutualInfoScore {
    /// Its parameters.
    pub parameters: HistogramParameters,
}

impl Metric for MutualInfoScore {
    fn description(&self) -> Description {
        Description::new("mutual_info_score", "mean mutual information between two units")
            .number("mutual_info_score", "mutual info score")
            .direction(Direction::Lower)
            .range(0.0, f64::INFINITY)
            .needs(Needs::CODES)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let value = mutual_info_score(&codes.train(), &self.parameters)?;
        Ok(ScoreValues::new("mutual_info_score", value))
    }
}
