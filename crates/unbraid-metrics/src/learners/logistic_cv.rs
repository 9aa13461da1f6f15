//! Logistic regression whose penalty is chosen by cross-validation, like scikit-learn's `LogisticRegressionCV`.

use super::logistic::{LogisticParameters, LogisticRegression};
use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::numeric::argmax;
use crate::options::Declare;
use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`LogisticRegressionCv`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticCvParameters {
    /// The number of values of C to try, evenly spaced on a logarithmic scale from 1e-4 to 1e4.
    pub candidates: usize,
    /// The number of folds, which are contiguous: rows are not shuffled.
    pub folds: usize,
    /// The maximum number of iterations of L-BFGS for each fit.
    pub max_iterations: usize,
}

impl Default for LogisticCvParameters {
    fn default() -> Self {
        Self { candidates: 10, folds: 5, max_iterations: 100 }
    }
}

impl LogisticCvParameters {
    pub(crate) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { candidates, folds, max_iterations } = self;
        declare.count("candidates", candidates, 1.., "penalties to choose from, C from 1e-4 to 1e4");
        declare.count("folds", folds, 2.., "parts for cross-validation");
        declare.count("max_iterations", max_iterations, 1.., "iterations of L-BFGS at most");
    }
}

/// A fitted classifier and the penalty that was chosen for it.
#[derive(Clone, Debug)]
pub struct LogisticRegressionCv {
    /// The classifier, fitted to all rows.
    pub model: LogisticRegression,
    /// The value of C with the best mean accuracy over folds; the smallest of equals.
    pub c: f64,
}

impl LogisticRegressionCv {
    /// Chooses C by the accuracy on held-out folds, then fits to all rows.
    ///
    /// Folds are not shuffled, so a class may be missing from the rows that a fold trains on: it is then never predicted
    /// there, whereas scikit-learn fails. With fewer rows than folds, every row is a fold of its own.
    ///
    /// # Errors
    /// As [`LogisticRegression::fit`], and if a parameter is out of range.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Classes;
    /// use unbraid_metrics::learners::{LogisticCvParameters, LogisticRegressionCv};
    ///
    /// let features = array![[-2.0], [2.0], [-1.0], [1.0], [-1.5], [1.5]];
    /// let classes = Classes::new(array![0, 1, 0, 1, 0, 1].view());
    /// let fitted = LogisticRegressionCv::fit(features.view(), &classes, &LogisticCvParameters::default())?;
    /// assert_eq!(fitted.model.predict(features.view()), classes.labels());
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(
        features: ArrayView2<'_, f64>,
        classes: &Classes,
        parameters: &LogisticCvParameters,
    ) -> Result<Self> {
        super::check_fit(features, classes)?;
        if parameters.folds < 2 {
            return Err(MetricsError::parameter("folds", parameters.folds, "at least 2"));
        }
        if parameters.candidates == 0 {
            return Err(MetricsError::parameter("candidates", 0, "at least 1"));
        }
        let steps = (parameters.candidates - 1).max(1) as f64;
        let candidates: Vec<f64> =
            (0..parameters.candidates).map(|i| 10_f64.powf(-4.0 + 8.0 * i as f64 / steps)).collect();
        let folds = folds(features.nrows(), parameters.folds);
        let accuracies: Vec<Vec<f64>> = folds
            .par_iter()
            .map(|fold| accuracies_of_fold(features, classes, fold.clone(), &candidates, parameters))
            .collect::<Result<_>>()?;
        let means: Vec<f64> = (0..candidates.len())
            .map(|i| accuracies.iter().map(|fold| fold[i]).sum::<f64>() / accuracies.len().max(1) as f64)
            .collect();
        let c = candidates[argmax(&means)];
        let model = LogisticRegression::fit(
            features,
            classes,
            &LogisticParameters { c, max_iterations: parameters.max_iterations, ..Default::default() },
        )?;
        Ok(Self { model, c })
    }
}

/// The rows that each fold holds out, as evenly divided as possible, longer folds first. A single row cannot be held out.
fn folds(rows: usize, folds: usize) -> Vec<std::ops::Range<usize>> {
    if rows < 2 {
        return Vec::new();
    }
    let folds = folds.min(rows);
    let mut start = 0;
    (0..folds)
        .map(|fold| {
            let end = start + rows / folds + usize::from(fold < rows % folds);
            std::mem::replace(&mut start, end)..end
        })
        .collect()
}

/// The accuracy on the held-out rows for every candidate; each fit starts from the one before.
fn accuracies_of_fold(
    features: ArrayView2<'_, f64>,
    classes: &Classes,
    left_out: std::ops::Range<usize>,
    candidates: &[f64],
    parameters: &LogisticCvParameters,
) -> Result<Vec<f64>> {
    let kept: Vec<usize> = (0..features.nrows()).filter(|row| !left_out.contains(row)).collect();
    let train = features.select(Axis(0), &kept);
    // Class numbers serve as values, so that predictions can be mapped back if a class is missing here.
    let labels: ndarray::Array1<i64> = kept.iter().map(|&row| i64::from(classes.labels()[row])).collect();
    let train_classes = Classes::new(labels.view());
    let test = features.slice_axis(Axis(0), left_out.clone().into());
    let mut last: Option<LogisticRegression> = None;
    let mut accuracies = Vec::with_capacity(candidates.len());
    for &c in candidates {
        let parameters =
            LogisticParameters { c, max_iterations: parameters.max_iterations, ..Default::default() };
        let model = LogisticRegression::fit_from(train.view(), &train_classes, &parameters, last.as_ref())?;
        let hits = model
            .predict(test)
            .iter()
            .zip(&classes.labels()[left_out.clone()])
            .filter(|(predicted, truth)| train_classes.values()[**predicted as usize] == i64::from(**truth))
            .count();
        accuracies.push(hits as f64 / left_out.len() as f64);
        last = Some(model);
    }
    Ok(accuracies)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sklearn.model_selection.KFold(5) on 12 rows.
    #[test]
    fn folds_are_even() {
        assert_eq!(folds(12, 5), [0..3, 3..6, 6..8, 8..10, 10..12]);
        assert_eq!(folds(2, 5), [0..1, 1..2]);
        assert!(folds(1, 5).is_empty());
    }
}
