//! Accuracy of downstream prediction from few and from many labels.

use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::learners::{
    BoostingParameters, GradientBoosting, LogisticCvParameters, LogisticRegressionCv, accuracy,
};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::mean;
use crate::options::Declare;
use crate::random;
use crate::report::ScoreValues;
use crate::views::TrainTest;
use ndarray::Axis;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The learner of [`downstream`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "learner", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DownstreamLearner {
    /// Gradient-boosted trees.
    Boosting(BoostingParameters),
    /// Logistic regression whose penalty is chosen by cross-validation.
    Logistic(LogisticCvParameters),
}

impl Default for DownstreamLearner {
    fn default() -> Self {
        Self::Boosting(BoostingParameters::default())
    }
}

/// Parameters of [`downstream`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DownstreamParameters {
    /// Numbers of labels to learn from. Those above the number of training points are left out.
    pub labels: Vec<usize>,
    /// The maximum number of test points.
    pub test_points: usize,
    /// The learner.
    pub learner: DownstreamLearner,
    /// Chooses the labelled points.
    pub seed: u64,
}

impl Default for DownstreamParameters {
    fn default() -> Self {
        Self {
            labels: vec![10, 100, 1_000, 10_000],
            test_points: 5_000,
            learner: Default::default(),
            seed: 0,
        }
    }
}

impl DownstreamParameters {
    /// The same parameters with this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        match &mut self.learner {
            DownstreamLearner::Boosting(boosting) => boosting.seed = seed,
            // Its solution involves no randomness.
            DownstreamLearner::Logistic(_) => {}
        }
        self
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { labels, test_points, learner, seed: _ } = self;
        declare.counts("labels", labels, 1.., "numbers of labelled points to learn from");
        declare.count("test_points", test_points, 1.., "test points at most");
        // The learner is not an option: it decides the name of the metric.
        match learner {
            DownstreamLearner::Boosting(boosting) => boosting.declare(declare),
            DownstreamLearner::Logistic(logistic) => logistic.declare(declare),
        }
    }
}

/// What [`downstream`] computes.
#[derive(Clone, Debug)]
pub struct DownstreamValues {
    /// The score: the accuracy with the most labels.
    pub value: f64,
    /// For each number of labels: the mean accuracy over factors, and the accuracy of each factor that varies.
    pub accuracies: Vec<(usize, f64, Vec<f64>)>,
    /// Accuracy from 100 labels divided by accuracy from 10,000; `None` unless both were measured.
    pub sample_efficiency: Option<f64>,
    /// The accuracy on the test points of always predicting the most common value, mean over factors.
    pub majority: f64,
}

/// Downstream accuracy: how accurately are factors predicted from codes, given few or many labels?
///
/// For each number of labels, that many training points are drawn without replacement, a classifier is fitted for each
/// factor, and the accuracy on the test points is averaged over factors. Sample efficiency is the accuracy from 100
/// labels divided by that from 10,000.
///
/// * Range: 0 to 1, higher is better. Values of a factor that are missing from the labelled points are never predicted.
/// * Factors with one value are left out. If there are fewer training points than the smallest number of labels, all
///   points are used.
/// * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
///   representations, section 5.5; sample efficiency as in Mushom's thesis, section 5.6.
/// * See also: the informativeness of [`dci`](super::dci), which is the accuracy with all labels;
///   [`explicitness`](super::explicitness).
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::Array2;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::scores::{DownstreamParameters, downstream};
///
/// let factors = Array2::from_shape_fn((40, 1), |(row, _)| (row % 2) as i64);
/// let codes = factors.mapv(|value| value as f64);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// let parameters = DownstreamParameters { labels: vec![10, 40], ..Default::default() };
/// assert_eq!(downstream(&data, &parameters)?.value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn downstream(data: &TrainTest<'_>, parameters: &DownstreamParameters) -> Result<DownstreamValues> {
    if parameters.labels.is_empty() || parameters.labels.contains(&0) {
        let found = format!("{:?}", parameters.labels);
        return Err(MetricsError::parameter("labels", found, "at least one number, all positive"));
    }
    if parameters.test_points == 0 {
        return Err(MetricsError::parameter("test_points", 0, "at least 1"));
    }
    let rows = data.codes_train().nrows();
    let mut sizes: Vec<usize> = parameters.labels.iter().copied().filter(|&labels| labels <= rows).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        sizes.push(rows);
    }
    let accuracies: Vec<(usize, f64, Vec<f64>)> = sizes
        .par_iter()
        .map(|&labels| {
            let per_factor = accuracies_with(data, parameters, labels)?;
            Ok((labels, mean(&per_factor), per_factor))
        })
        .collect::<Result<_>>()?;
    let of = |labels: usize| accuracies.iter().find(|entry| entry.0 == labels).map(|entry| entry.1);
    let sample_efficiency =
        of(100).zip(of(10_000)).filter(|(_, many)| *many > 0.0).map(|(few, many)| few / many);
    Ok(DownstreamValues {
        value: accuracies.last().map_or(0.0, |entry| entry.1),
        accuracies,
        sample_efficiency,
        majority: majority_accuracy(data, parameters.test_points),
    })
}

/// The metrics `downstream` and, with logistic regression, `downstream_logistic`; see [`downstream`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Downstream {
    /// Its parameters. The learner decides which of the two metrics it is.
    pub parameters: DownstreamParameters,
}

impl Downstream {
    /// The metric `downstream_logistic`.
    pub fn logistic() -> Self {
        let learner = DownstreamLearner::Logistic(LogisticCvParameters::default());
        Self { parameters: DownstreamParameters { learner, ..Default::default() } }
    }

    /// The name, with which every key begins.
    fn name(&self) -> &'static str {
        match self.parameters.learner {
            DownstreamLearner::Boosting(_) => "downstream",
            DownstreamLearner::Logistic(_) => "downstream_logistic",
        }
    }
}

impl Metric for Downstream {
    fn description(&self) -> Description {
        let (meaning, label) = match self.parameters.learner {
            DownstreamLearner::Boosting(_) => {
                ("factors are predictable from codes with few and with many labels", "downstream")
            }
            DownstreamLearner::Logistic(_) => (
                "as downstream, by logistic regression with a cross-validated penalty",
                "downstream logistic",
            ),
        };
        let name = self.name();
        Description::new(name, meaning)
            .number(format!("{name}_accuracy"), format!("{label} accuracy"))
            .number(format!("{name}_sample_efficiency"), format!("{label} sample efficiency"))
            .needs(Needs::TEST_POINTS)
            .on_request_only()
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let found = downstream(&codes.train_test()?, &self.parameters.clone().with_seed(options.seed))?;
        let name = self.name();
        let mut values = ScoreValues::new(format!("{name}_accuracy"), found.value)
            .with_majority(format!("{name}_accuracy"), found.majority);
        for (labels, accuracy, _) in found.accuracies {
            let key = format!("{name}_accuracy_{labels}");
            values = values.with_number(&key, accuracy).with_majority(key, found.majority);
        }
        Ok(match found.sample_efficiency {
            Some(efficiency) => values.with_number(format!("{name}_sample_efficiency"), efficiency),
            None => values,
        })
    }
}

/// The accuracy of always predicting the most common value, mean over the factors that vary.
fn majority_accuracy(data: &TrainTest<'_>, test_points: usize) -> f64 {
    let tested = data.codes_test().nrows().min(test_points);
    let (truth, _) = data.factors_test().split_at(Axis(0), tested);
    let classes = data.train().classes().iter().zip(truth.columns());
    let varying = classes.filter(|(classes, _)| classes.varies());
    mean(
        &varying
            .map(|(classes, truth)| classes.majority_accuracy(&classes.labels_of(truth)))
            .collect::<Vec<_>>(),
    )
}

/// The test accuracy for each factor that varies, given a number of labelled points.
fn accuracies_with(
    data: &TrainTest<'_>,
    parameters: &DownstreamParameters,
    labels: usize,
) -> Result<Vec<f64>> {
    let mut generator = random::generator(parameters.seed, "downstream", labels as u64);
    let rows = random::choose(&mut generator, data.codes_train().nrows(), labels);
    let codes = data.codes_train().select(Axis(0), &rows);
    let factors = data.factors_train().select(Axis(0), &rows);
    let tested = data.codes_test().nrows().min(parameters.test_points);
    let (test, _) = data.codes_test().split_at(Axis(0), tested);
    let (truth, _) = data.factors_test().split_at(Axis(0), tested);
    (0..factors.ncols())
        .into_par_iter()
        .filter(|&factor| data.train().classes()[factor].varies())
        .map(|factor| {
            let classes = Classes::new(factors.column(factor));
            let predicted = match &parameters.learner {
                DownstreamLearner::Boosting(boosting) => {
                    GradientBoosting::fit(codes.view(), &classes, boosting)?.predict(test)
                }
                DownstreamLearner::Logistic(logistic) => {
                    LogisticRegressionCv::fit(codes.view(), &classes, logistic)?.model.predict(test)
                }
            };
            Ok(accuracy(&predicted, &classes.labels_of(truth.column(factor))))
        })
        .collect()
}
