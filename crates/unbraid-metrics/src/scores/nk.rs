//! Neuron knockout.

use super::snc::units_of_factors;
use crate::codes::Codes;
use crate::error::Result;
use crate::learners::{BoostingParameters, GradientBoosting, accuracy};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::mean;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::mig::HistogramParameters;
use crate::views::TrainTest;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`nk`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NkParameters {
    /// How the mutual information that factors and units are matched by is estimated.
    pub histogram: HistogramParameters,
    /// The classifier.
    pub boosting: BoostingParameters,
}

/// What [`nk`] computes.
#[derive(Clone, Debug)]
pub struct NkValues {
    /// The score.
    pub value: f64,
    /// The loss of accuracy for each factor; 0 for one that does not vary or has no unit.
    pub per_factor: Vec<f64>,
    /// The accuracy with all units for each factor that has a unit; 0 for the others.
    pub whole: Vec<f64>,
    /// The unit of each factor; `None` if it does not vary, or there are fewer units than factors.
    pub units: Vec<Option<usize>>,
}

/// NK, neuron knockout: how much accuracy is lost if a factor is predicted without its unit?
///
/// Factors are matched with units one to one so that the sum of mutual information is largest, as for [`snc`](super::snc()).
/// NK is the test accuracy of a classifier on all units minus that of a classifier on all units but the factor's own, averaged
/// over factors. If a single unit holds all the information about its factor, only guessing is left without it.
///
/// * Range: -1 to 1, higher is better; 0 if the other units predict the factor just as well. A factor without a unit counts as
///   0.
/// * If there is only one unit, nothing is left without it, and the most common value is predicted.
/// * Reference: Mahon et al. 2023, Correcting flaws in common disentanglement metrics; defined as in the authors' public code
///   (Lou1sM/snc_nk). Their classifier is a perceptron with one hidden layer; ours is the boosted trees of
///   [`dci`](super::dci()), which are deterministic.
/// * See also: [`snc`](super::snc()), how well that unit alone predicts the factor.
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{NkParameters, nk};
///
/// // The first unit separates the two values, the second is constant: without the first, only a guess is left.
/// let (codes, factors) = (array![[9.0, 1.0], [8.0, 1.0], [1.0, 1.0], [2.0, 1.0]], array![[0], [0], [1], [1]]);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// assert_eq!(nk(&data, &NkParameters::default())?.value, 0.5);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn nk(data: &TrainTest<'_>, parameters: &NkParameters) -> Result<NkValues> {
    let (varying, units) = units_of_factors(data, parameters.histogram.bins)?;
    let accuracies: Vec<[f64; 2]> = units
        .par_iter()
        .enumerate()
        .map(|(factor, unit)| {
            let Some(unit) = *unit else { return Ok([0.0; 2]) };
            let of_codes = |train: ArrayView2<'_, f64>, test: ArrayView2<'_, f64>| {
                test_accuracy(data, factor, train, test, &parameters.boosting)
            };
            let (train, test) = (without(data.codes_train(), unit), without(data.codes_test(), unit));
            Ok([of_codes(data.codes_train(), data.codes_test())?, of_codes(train.view(), test.view())?])
        })
        .collect::<Result<_>>()?;
    let per_factor: Vec<f64> = accuracies.iter().map(|[whole, rest]| whole - rest).collect();
    let scored: Vec<f64> = varying.iter().map(|&factor| per_factor[factor]).collect();
    let whole = accuracies.iter().map(|[whole, _]| *whole).collect();
    Ok(NkValues { value: mean(&scored), per_factor, whole, units })
}

/// All columns but one.
fn without(codes: ArrayView2<'_, f64>, unit: usize) -> Array2<f64> {
    let others: Vec<usize> = (0..codes.ncols()).filter(|&other| other != unit).collect();
    codes.select(Axis(1), &others)
}

fn test_accuracy(
    data: &TrainTest<'_>,
    factor: usize,
    train: ArrayView2<'_, f64>,
    test: ArrayView2<'_, f64>,
    boosting: &BoostingParameters,
) -> Result<f64> {
    let classes = &data.train().classes()[factor];
    let truth = classes.labels_of(data.factors_test().column(factor));
    if train.ncols() == 0 {
        return Ok(classes.majority_accuracy(&truth));
    }
    let model = GradientBoosting::fit(train, classes, boosting)?;
    Ok(accuracy(&model.predict(test), &truth))
}

/// The metric `nk`; see [`nk`](nk()).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nk {
    /// Its parameters.
    pub parameters: NkParameters,
}

impl Metric for Nk {
    fn description(&self) -> Description {
        Description::new("nk", "no other units can replace the unit of a factor in predicting it")
            .number("nk", "NK")
            .range(-1.0, 1.0)
            .needs(Needs::TEST_POINTS)
            .on_request_only()
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let NkParameters { histogram, boosting } = &mut self.parameters;
        histogram.declare(declare);
        boosting.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let mut parameters = self.parameters.clone();
        parameters.boosting.seed = options.seed;
        let found = nk(&codes.train_test()?, &parameters)?;
        Ok(ScoreValues::new("nk", found.value)
            .with_list("nk_per_factor", found.per_factor)
            .with_list("nk_accuracy_per_factor", found.whole))
    }
}
