//! Accuracy of downstream prediction from few and many labels.

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::learners::{BoostingParameters, GradientBoosting, LogisticCvParameters, LogisticRegressionCv};
use crate::numeric::mean;
use crate::random;
use crate::scores::dci::accuracy;
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
    /// Test points at most.
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

/// What [`downstream`] found.
#[derive(Clone, Debug)]
pub struct Downstream {
    /// The score: the accuracy with the most labels.
    pub value: f64,
    /// For each number of labels: the mean accuracy over factors, and that of each factor that varies.
    pub accuracies: Vec<(usize, f64, Vec<f64>)>,
    /// Accuracy from 100 labels divided by accuracy from 10,000; `None` unless both were measured.
    pub sample_efficiency: Option<f64>,
}

/// Downstream accuracy: how well are factors predicted from codes, given few or many labels?
///
/// For each number of labels, that many training points are drawn without replacement, a classifier is fitted for each
/// factor, and the accuracy on the test points is averaged over factors. Sample efficiency is the accuracy from 100
/// labels divided by that from 10,000.
///
/// * Range: 0 to 1, higher is better. Values of a factor that the labelled points lack are never predicted.
/// * Factors with one value are left out. If there are fewer training points than the smallest number of labels, all
///   points are used.
/// * Reference: Locatello et al. 2019, section 5.5; sample efficiency as in Mushom's thesis, section 5.6.
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
pub fn downstream(data: &TrainTest<'_>, parameters: &DownstreamParameters) -> Result<Downstream> {
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
    Ok(Downstream { value: accuracies.last().map_or(0.0, |entry| entry.1), accuracies, sample_efficiency })
}

/// The test accuracy for each factor that varies, from a number of labelled points.
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
