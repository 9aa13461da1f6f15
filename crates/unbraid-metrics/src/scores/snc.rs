//! Single-neuron classification.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::Information;
use crate::matching::best_matching;
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::mean;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::mig::HistogramParameters;
use crate::views::TrainTest;
use ndarray::Axis;

/// What [`snc`] computes.
#[derive(Clone, Debug)]
pub struct SncValues {
    /// The score.
    pub value: f64,
    /// The accuracy of each factor; 0 for one that does not vary or has no unit.
    pub per_factor: Vec<f64>,
    /// The accuracy of always predicting the most common value, mean over the factors that vary.
    pub majority: f64,
    /// The unit of each factor; `None` if it does not vary, or there are fewer units than factors.
    pub units: Vec<Option<usize>>,
}

/// SNC, single-neuron classification: how well does a single unit predict the values of its factor?
///
/// Factors are matched with units one to one so that the sum of mutual information is largest. The values of a factor's unit
/// are put into as many bins of equal size (on the training points) as the factor has values, bins are matched with values
/// one to one so that as many training points as possible are classified correctly, and the accuracy on the test points is
/// averaged over factors.
///
/// * Range: 0 to 1, higher is better. A factor without a unit counts as 0.
/// * Reference: Mahon et al. 2023, Correcting flaws in common disentanglement metrics; defined as in the authors' public code
///   (Lou1sM/snc_nk), except for the estimate of mutual information.
/// * See also: [`nk`](super::nk), what is lost without that unit; [`sap`](super::sap), [`mig`](super::mig).
///
/// # Errors
/// If `bins` (of the mutual information) is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{HistogramParameters, snc};
///
/// let (codes, factors) = (array![[9.0, 1.0], [8.0, 1.0], [1.0, 1.0], [2.0, 1.0]], array![[0], [0], [1], [1]]);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// assert_eq!(snc(&data, &HistogramParameters::default())?.value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn snc(data: &TrainTest<'_>, parameters: &HistogramParameters) -> Result<SncValues> {
    let (varying, units) = units_of_factors(data, parameters.bins)?;
    let mut per_factor = vec![0.0; units.len()];
    let mut majorities = Vec::new();
    for &factor in &varying {
        let truth = data.train().classes()[factor].labels_of(data.factors_test().column(factor));
        majorities.push(data.train().classes()[factor].majority_accuracy(&truth));
        if let Some(unit) = units[factor] {
            per_factor[factor] = accuracy_of_unit(data, factor, unit, &truth);
        }
    }
    let scored: Vec<f64> = varying.iter().map(|&factor| per_factor[factor]).collect();
    Ok(SncValues { value: mean(&scored), per_factor, majority: mean(&majorities), units })
}

/// The factors that vary, and the unit of each factor, matched one to one so that the sum of mutual information is largest.
pub(super) fn units_of_factors(
    data: &TrainTest<'_>,
    bins: usize,
) -> Result<(Vec<usize>, Vec<Option<usize>>)> {
    let information = Information::new(data.train(), bins)?;
    let varying: Vec<usize> = information.varying_factors().collect();
    let matrix = information.matrix.select(Axis(1), &varying);
    let gains: Vec<Vec<f64>> = matrix.columns().into_iter().map(|column| column.to_vec()).collect();
    let mut units = vec![None; information.factor_entropies.len()];
    for (&factor, unit) in varying.iter().zip(best_matching(&gains)) {
        units[factor] = unit;
    }
    Ok((varying, units))
}

/// The test accuracy of predicting a value for each bin, with bins of equal size.
fn accuracy_of_unit(data: &TrainTest<'_>, factor: usize, unit: usize, truth: &[Option<u32>]) -> f64 {
    let classes = &data.train().classes()[factor];
    let train = data.codes_train().column(unit).to_vec();
    let mut sorted = train.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = classes.count();
    let edges: Vec<f64> = (1..count).map(|bin| sorted[bin * sorted.len() / count]).collect();
    let bin = |value: f64| edges.partition_point(|edge| *edge <= value);
    let mut counts = vec![vec![0.0; count]; count];
    for (&value, &class) in train.iter().zip(classes.labels()) {
        counts[bin(value)][class as usize] += 1.0;
    }
    let class_of_bin = best_matching(&counts);
    let test = data.codes_test().column(unit).to_vec();
    let hits = test.iter().zip(truth).filter(|(value, class)| {
        class.is_some_and(|class| class_of_bin[bin(**value)] == Some(class as usize))
    });
    hits.count() as f64 / truth.len() as f64
}

/// The metric `snc`; see [`snc`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snc {
    /// Its parameters.
    pub parameters: HistogramParameters,
}

impl Metric for Snc {
    fn description(&self) -> Description {
        Description::new("snc", "one unit alone, a different one for each factor, tells its values apart")
            .number("snc", "SNC")
            .needs(Needs::TEST_POINTS)
            .on_request_only()
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = snc(&codes.train_test()?, &self.parameters)?;
        Ok(ScoreValues::new("snc", found.value)
            .with_majority("snc", found.majority)
            .with_list("snc_per_factor", found.per_factor))
    }
}
