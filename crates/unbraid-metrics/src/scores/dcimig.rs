//! The gap between factors, summed over the factors' best units.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{Information, NEIGHBOURS};
use crate::metric::{Description, Metric, Options};
use crate::numeric::{argmax, top_two};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::mig::HistogramParameters;
use crate::views::Labelled;

/// DCIMIG: what share of the factors' entropy is captured by units that encode a single factor?
///
/// ```text
/// gap_i = I(z_i; v_a) - I(z_i; v_b)
/// DCIMIG = sum over factors k of max { gap_i : v_a = v_k } / sum over k of H(v_k)
/// ```
/// where a and b are the factors with the largest and second largest mutual information with unit i.
///
/// * Range: 0 to 1, higher is better. With a single factor the second largest is 0.
/// * Reference: Sepliarskaia et al. 2019, How to not measure disentanglement, where it is called 3CharM.
/// * See also: [`mig_sup`](super::mig_sup), the mean of such gaps over units; [`dci`](super::dci).
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, dcimig};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// let score = dcimig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())?;
/// assert!((score - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn dcimig(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(dcimig_of(&Information::new(data, parameters.bins)?))
}

/// [`dcimig`] from precomputed mutual information.
pub fn dcimig_of(information: &Information) -> f64 {
    let mut best_gaps = vec![0.0_f64; information.factor_entropies.len()];
    for row in information.matrix.rows() {
        let row = row.to_vec();
        let factor = argmax(&row);
        let (first, second) = top_two(row);
        best_gaps[factor] = best_gaps[factor].max(first - second);
    }
    best_gaps.iter().sum::<f64>() / information.factor_entropies.iter().sum::<f64>()
}

/// The metric `dcimig`; see [`dcimig`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dcimig {
    /// Its parameters.
    pub parameters: HistogramParameters,
    /// The number of nearest neighbours to estimate mutual information from ([`Information::by_neighbours`]); bins if `None`.
    pub neighbours: Option<usize>,
}

impl Metric for Dcimig {
    fn description(&self) -> Description {
        let meaning = "share of the factors' entropy that is captured by units that encode one factor each";
        Description::new("dcimig", meaning)
            .number("dcimig", "DCIMIG")
            .alias("3charm")
            .compares_factors("dcimig")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
        declare.optional_count("neighbours", &mut self.neighbours, 1.., NEIGHBOURS);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let information = Information::by(&codes.labelled()?, self.parameters.bins, self.neighbours)?;
        Ok(ScoreValues::new("dcimig", dcimig_of(&information)))
    }
}
