//! The small learners that scores need. Each follows a well-known implementation and is compared with it in the tests.
//!
//! All of them are deterministic given a seed, and do not depend on the number of threads.

mod boosting;
mod forest;
mod lasso;
mod lbfgs;
mod logistic;
mod logistic_cv;
mod svm;
mod svm_single;

pub use boosting::{BoostingParameters, GradientBoosting, GradientBoostingRegression};
pub use forest::{ForestParameters, RandomForest};
pub use lasso::{Lasso, LassoParameters};
pub use logistic::{LogisticParameters, LogisticRegression};
pub use logistic_cv::{LogisticCvParameters, LogisticRegressionCv};
pub use svm::{LinearSvm, SvmLoss, SvmParameters};

use crate::checks::check_length;
use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use ndarray::ArrayView2;

/// The share of rows whose class is predicted correctly; `None` is a class that the classifier was not trained on.
pub(crate) fn accuracy(predicted: &[u32], truth: &[Option<u32>]) -> f64 {
    let hits = predicted.iter().zip(truth).filter(|(predicted, truth)| Some(**predicted) == **truth).count();
    hits as f64 / truth.len().max(1) as f64
}

/// Checks the training data of a classifier.
fn check_fit(features: ArrayView2<'_, f64>, classes: &Classes) -> Result<()> {
    check_features(features)?;
    check_length("classes", "label", classes.labels().len(), features.nrows(), "rows of features")
}

/// Checks the features of a learner.
fn check_features(features: ArrayView2<'_, f64>) -> Result<()> {
    for (what, found) in [("row", features.nrows()), ("column", features.ncols())] {
        if found == 0 {
            return Err(MetricsError::TooFew { array: "features", what, found, least: 1 });
        }
    }
    Ok(())
}
