//! The axis-alignment metric.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{Information, NEIGHBOURS};
use crate::metric::{Description, Metric, Options};
use crate::numeric::{mean, top_two};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::mig::HistogramParameters;
use crate::views::Labelled;

/// AAM, the axis-alignment metric: does the best unit of a factor have more information about it than all others together?
///
/// ```text
/// AAM = mean over factors k of max(0, I(z_a; v_k) - sum over i != a of I(z_i; v_k)) / I(z_a; v_k)
/// ```
/// where a is the unit with the largest mutual information with factor k.
///
/// * Range: 0 to 1, higher is better. A factor without mutual information with any unit scores 0. The plug-in estimate is
///   biased upwards, so that with few points many inactive units lower the score.
/// * Reference: the implementation of the disentangling-vae project, which computes it from entropies of the aggregate
///   posterior.
/// * See also: [`mig`](super::mig), which compares with the second best unit only.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, aam};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0], [0], [1], [1]];
/// assert_eq!(aam(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())?, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn aam(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(aam_of(&Information::new(data, parameters.bins)?))
}

/// [`aam`] from precomputed mutual information.
pub fn aam_of(information: &Information) -> f64 {
    let parts: Vec<f64> = information
        .varying_factors()
        .map(|factor| {
            let column = information.matrix.column(factor);
            let (first, _) = top_two(column.iter().copied());
            let others = column.sum() - first;
            if first > 0.0 { ((first - others) / first).max(0.0) } else { 0.0 }
        })
        .collect();
    mean(&parts)
}

/// The metric `aam`; see [`aam`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aam {
    /// Its parameters.
    pub parameters: HistogramParameters,
    /// The number of nearest neighbours to estimate mutual information from ([`Information::by_neighbours`]); bins if `None`.
    pub neighbours: Option<usize>,
}

impl Metric for Aam {
    fn description(&self) -> Description {
        let meaning =
            "the best unit of a factor has more mutual information with it than all others together";
        Description::new("aam", meaning).number("aam", "AAM")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
        declare.optional_count("neighbours", &mut self.neighbours, 1.., NEIGHBOURS);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let information = Information::by(&codes.labelled()?, self.parameters.bins, self.neighbours)?;
        Ok(ScoreValues::new("aam", aam_of(&information)))
    }
}
