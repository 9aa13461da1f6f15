//! Explicitness.

use crate::codes::Codes;
use crate::error::Result;
use crate::learners::{LogisticParameters, LogisticRegression};
use crate::metric::{Description, Metric, Needs, Options};
use crate::numeric::{mean, standardise};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::TrainTest;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// What [`explicitness`] computes.
#[derive(Clone, Debug)]
pub struct ExplicitnessValues {
    /// The score: area under the ROC curve on the test points, mean over factors.
    pub value: f64,
    /// The same on the training points.
    pub train: f64,
    /// The area of each factor on the training points; 0.5 for a factor that does not vary.
    pub per_factor_train: Vec<f64>,
    /// The area of each factor on the test points; 0.5 for a factor that cannot be tested.
    pub per_factor_test: Vec<f64>,
}

/// Explicitness: can a linear classifier predict each factor from all units?
///
/// ```text
/// explicitness = mean over factors of mean over values v of AUC(p(v_k = v | z), [v_k = v])
/// ```
/// where p is a multinomial logistic regression on codes standardised with the mean and standard deviation of the training
/// points, and AUC the area under the ROC curve, in which ties count half.
///
/// * Range: 0 to 1, higher is better; chance is 0.5, and the score is not rescaled.
/// * Constant units are set to 0. A value that is missing from the test points (or is the only one there) has no AUC and is
///   left out of the mean; so is a factor with one value.
/// * Reference: Ridgeway and Mozer 2018, Learning deep disentangled embeddings with the f-statistic loss.
/// * See also: [`modularity`](super::modularity), its companion in the same paper; the informativeness of
///   [`dci`](super::dci), with a nonlinear learner.
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::TrainTest;
/// use unbraid_metrics::learners::LogisticParameters;
/// use unbraid_metrics::scores::explicitness;
///
/// let (codes, factors) = (array![[-2.0], [-1.0], [1.0], [2.0]], array![[0], [0], [1], [1]]);
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// assert_eq!(explicitness(&data, &LogisticParameters::default())?.value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn explicitness(data: &TrainTest<'_>, parameters: &LogisticParameters) -> Result<ExplicitnessValues> {
    let classes = data.train().classes();
    let (train, test) = standardise(data.codes_train(), data.codes_test());
    let areas: Vec<[Option<f64>; 2]> = classes
        .par_iter()
        .zip(data.factors_test().columns().into_iter().collect::<Vec<_>>())
        .map(|(classes, test_column)| {
            if !classes.varies() {
                return Ok([None, None]);
            }
            let model = LogisticRegression::fit(train.view(), classes, parameters)?;
            let train_truth: Vec<Option<u32>> = classes.labels().iter().copied().map(Some).collect();
            Ok([
                mean_area(model.probabilities(train.view()).view(), &train_truth),
                mean_area(model.probabilities(test.view()).view(), &classes.labels_of(test_column)),
            ])
        })
        .collect::<Result<_>>()?;
    let known = |sample: usize| {
        let values: Vec<f64> = areas.iter().filter_map(|areas| areas[sample]).collect();
        if values.is_empty() { 0.5 } else { mean(&values) }
    };
    Ok(ExplicitnessValues {
        value: known(1),
        train: known(0),
        per_factor_train: areas.iter().map(|areas| areas[0].unwrap_or(0.5)).collect(),
        per_factor_test: areas.iter().map(|areas| areas[1].unwrap_or(0.5)).collect(),
    })
}

/// The mean area over the classes that some rows have and others do not.
fn mean_area(probabilities: ArrayView2<'_, f64>, truth: &[Option<u32>]) -> Option<f64> {
    let areas: Vec<f64> = probabilities
        .columns()
        .into_iter()
        .enumerate()
        .filter_map(|(class, column)| {
            let positive: Vec<bool> = truth.iter().map(|&label| label == Some(class as u32)).collect();
            area_under_curve(&column.to_vec(), &positive)
        })
        .collect();
    (!areas.is_empty()).then(|| mean(&areas))
}

/// The probability that a positive row scores above a negative one, ties counting half; `None` without both kinds.
fn area_under_curve(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let positives = positive.iter().filter(|&&positive| positive).count() as f64;
    let negatives = positive.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let ranks = crate::correlation::ranks(scores);
    let rank_sum: f64 =
        ranks.iter().zip(positive).filter(|(_, positive)| **positive).map(|(rank, _)| rank).sum();
    Some((rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives))
}

/// The metric `explicitness`; see [`explicitness`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explicitness {
    /// Its parameters.
    pub parameters: LogisticParameters,
}

impl Metric for Explicitness {
    fn description(&self) -> Description {
        Description::new("explicitness", "a linear classifier predicts each factor from all units")
            .number("explicitness", "explicitness")
            .needs(Needs::TEST_POINTS)
            .shuffles(1)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = explicitness(&codes.train_test()?, &self.parameters)?;
        Ok(ScoreValues::new("explicitness", found.value)
            .with_list("explicitness_train_per_factor", found.per_factor_train)
            .with_list("explicitness_test_per_factor", found.per_factor_test))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the six pairs (positive, negative) four are in order and one is tied: (4 + 1/2) / 6.
    #[test]
    fn area_by_hand() {
        let area = area_under_curve(&[0.9, 0.4, 0.5, 0.4, 0.1], &[true, true, false, false, false]).unwrap();
        assert!((area - (3.0 + 1.5) / 6.0).abs() < 1e-15);
        assert_eq!(area_under_curve(&[0.5, 0.5], &[true, false]), Some(0.5));
        assert_eq!(area_under_curve(&[0.5, 0.5], &[true, true]), None);
    }
}
