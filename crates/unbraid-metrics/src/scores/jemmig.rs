//! The joint entropy minus the mutual information gap.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::Information;
use crate::metric::{Description, Metric, Options};
use crate::numeric::{argmax, mean, top_two};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::mig::HistogramParameters;
use crate::views::Labelled;

/// JEMMIG, joint entropy minus mutual information gap: MIG with a penalty on what the best unit encodes beyond its factor.
///
/// ```text
/// JEMMIG = mean over factors k of 1 - (H(z_a, v_k) - I(z_a; v_k) + I(z_b; v_k)) / (H(v_k) + ln bins)
/// ```
/// where a and b are the units with the largest and second largest mutual information with factor k. If unit a also encodes
/// a second factor, the entropy of that factor lowers the score.
///
/// * Range: 0 to 1, higher is better. It reaches 1 only if unit a takes a single bin for each value of the factor, since any
///   further entropy of the unit counts against it.
/// * Reference: Do and Tran 2020, Theory and evaluation metrics for learning disentangled representations.
/// * See also: [`mig`](super::mig), the gap alone; [`rmig`](super::rmig), by the same authors.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, jemmig};
///
/// let (codes, factors) = (array![[0.0], [1.0], [0.0], [1.0]], array![[0], [1], [0], [1]]);
/// let data = Labelled::new(codes.view(), factors.view())?;
/// // H(z, v) = I = H(v), so nothing is lost.
/// assert_eq!(jemmig(&data, &HistogramParameters { bins: 2 })?, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn jemmig(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(jemmig_of(&Information::new(data, parameters.bins)?))
}

/// [`jemmig`] from precomputed mutual information.
pub fn jemmig_of(information: &Information) -> f64 {
    let parts: Vec<f64> = information
        .varying_factors()
        .map(|factor| {
            let column = information.matrix.column(factor).to_vec();
            let best = argmax(&column);
            let (first, second) = top_two(column);
            let factor_entropy = information.factor_entropies[factor];
            let joint = information.unit_entropies[best] + factor_entropy - first;
            1.0 - (joint - first + second) / (factor_entropy + (information.bins as f64).ln())
        })
        .collect();
    mean(&parts)
}

/// The metric `jemmig`; see [`jemmig`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jemmig {
    /// Its parameters.
    pub parameters: HistogramParameters,
}

impl Metric for Jemmig {
    fn description(&self) -> Description {
        let meaning = "as mig, and the best unit has little entropy beyond its factor";
        Description::new("jemmig", meaning).number("jemmig", "JEMMIG")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        Ok(ScoreValues::new("jemmig", jemmig(&codes.labelled()?, &self.parameters)?))
    }
}
