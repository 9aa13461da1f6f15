//! Codes with their factors, posteriors and clusters: the input of metrics.

mod additions;
mod derived;
mod samples;

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::metric::{FactorKind, Needs, Requirement};
use crate::views::{Labelled, LabelledPosteriors, Posteriors, TrainTest, Unlabelled};
use ndarray::{Array2, ArrayView2};

/// Codes of a training and a test sample, with factors, posteriors and clusters where there are any.
///
/// Only the training codes are required. Metrics that need more run only if it is present.
///
/// Everything is checked when it is added, so metrics need not check it again. [`Codes::labelled`],
/// [`Codes::train_test`] and similar methods give the checked views that score functions take, without copying.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Codes, scores::{HistogramParameters, mig}};
///
/// let codes = Codes::split(
///     array![[0.1], [0.9], [0.2], [0.8], [0.1], [0.9]].view(),
///     array![[0], [1], [0], [1], [0], [1]].view(),
/// )?
/// .with_factor_names(["shape"])?;
/// assert_eq!((codes.codes_train().nrows(), codes.codes_test().nrows()), (4, 2));
/// assert!((mig(&codes.labelled()?, &HistogramParameters::default())?.value - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Codes {
    codes_train: Array2<f64>,
    factors_train: Array2<i64>,
    /// The classes of each factor of the training sample, which most scores need.
    classes_train: Vec<Classes>,
    codes_test: Array2<f64>,
    factors_test: Array2<i64>,
    log_variance_train: Option<Array2<f64>>,
    clusters: Option<(Array2<i64>, Array2<i64>)>,
    factor_names: Vec<String>,
    factor_kinds: Vec<FactorKind>,
    reconstruction_errors: Option<Vec<f64>>,
    divergences: Option<Array2<f64>>,
    /// The factors of training and test points as real numbers, if they are more than class labels.
    numbers: Option<(Array2<f64>, Array2<f64>)>,
    /// Whether each factor is predicted as a number; see [`crate::factor_classes`]. Empty if none is.
    regressed: Vec<bool>,
    unseen: Option<Box<Codes>>,
}

impl Codes {
    /// What they have beyond training codes.
    pub fn available(&self) -> Needs {
        Needs {
            factors: self.has_factors(),
            test_points: self.has_test_points(),
            log_variances: self.log_variance_train.is_some(),
            clusters: self.clusters.is_some(),
            factor_kinds: !self.factor_kinds.is_empty(),
            reconstructions: self.reconstruction_errors.is_some(),
        }
    }

    /// The points that a metric with these needs is computed on: those that the model was not trained on, if there are any and
    /// the metric does not distinguish training from test points.
    pub(crate) fn seen_with(&self, needs: Needs) -> &Self {
        self.unseen.as_deref().filter(|_| !needs.test_points).unwrap_or(self)
    }

    /// Codes \[n, units\] that most scores are computed from and learners are fitted to.
    pub fn codes_train(&self) -> ArrayView2<'_, f64> {
        self.codes_train.view()
    }

    /// Factors \[n, factors\] of the training codes; no columns if there are none.
    pub fn factors_train(&self) -> ArrayView2<'_, i64> {
        self.factors_train.view()
    }

    /// Codes \[m, units\] that learners are tested on; no rows if there are none.
    pub fn codes_test(&self) -> ArrayView2<'_, f64> {
        self.codes_test.view()
    }

    /// Factors \[m, factors\] of the test codes.
    pub fn factors_test(&self) -> ArrayView2<'_, i64> {
        self.factors_test.view()
    }

    /// Logarithms of the posterior variances of the training codes, \[n, units\].
    pub fn log_variance_train(&self) -> Option<ArrayView2<'_, f64>> {
        self.log_variance_train.as_ref().map(|array| array.view())
    }

    /// The most likely category of each categorical unit for training and test points, \[n, categorical units\] and
    /// \[m, categorical units\].
    pub fn clusters(&self) -> Option<(ArrayView2<'_, i64>, ArrayView2<'_, i64>)> {
        self.clusters.as_ref().map(|(train, test)| (train.view(), test.view()))
    }

    /// A name for each factor; empty if they have none.
    pub fn factor_names(&self) -> &[String] {
        &self.factor_names
    }

    /// The kind of each factor; empty if they are not known.
    pub fn factor_kinds(&self) -> &[FactorKind] {
        &self.factor_kinds
    }

    /// The mean squared error per pixel of each training point.
    pub fn reconstruction_errors(&self) -> Option<&[f64]> {
        self.reconstruction_errors.as_deref()
    }

    /// The KL divergence of each unit's posterior from its prior for each training point, \[n, units\].
    pub fn divergences(&self) -> Option<ArrayView2<'_, f64>> {
        self.divergences.as_ref().map(|array| array.view())
    }

    /// The number of units.
    pub fn unit_count(&self) -> usize {
        self.codes_train.ncols()
    }

    /// The number of factors.
    pub fn factor_count(&self) -> usize {
        self.factors_train.ncols()
    }

    /// Whether the points have factors.
    pub fn has_factors(&self) -> bool {
        self.factor_count() > 0
    }

    /// Whether some of the factors that were given are treated as numbers or left out ([`crate::factor_classes`]).
    pub(crate) fn is_scorable_part(&self) -> bool {
        !self.regressed.is_empty()
    }

    /// Whether there are test points with factors.
    pub fn has_test_points(&self) -> bool {
        self.has_factors() && self.codes_test.nrows() > 0
    }

    /// The training codes alone.
    pub fn train(&self) -> Unlabelled<'_> {
        Unlabelled::from_checked(self.codes_train())
    }

    /// The training codes with their factors.
    ///
    /// # Errors
    /// If there are no factors, or none of them varies.
    pub fn labelled(&self) -> Result<Labelled<'_>> {
        self.require(self.has_factors(), Requirement::Factors)?;
        let numbers = self.numbers.as_ref().map(|(train, _)| train.view());
        Labelled::from_checked(
            self.codes_train(),
            self.factors_train(),
            &self.classes_train,
            numbers,
            &self.regressed,
        )
    }

    /// Training and test codes with their factors.
    ///
    /// # Errors
    /// If there are no factors or no test points, or no factor varies in the training sample.
    pub fn train_test(&self) -> Result<TrainTest<'_>> {
        let train = self.labelled()?;
        self.require(self.has_test_points(), Requirement::TestPoints)?;
        let numbers = self.numbers.as_ref().map(|(_, test)| test.view());
        Ok(TrainTest::from_checked(train, self.codes_test(), self.factors_test(), numbers))
    }

    /// The posteriors of the training points.
    ///
    /// # Errors
    /// If there are no log-variances.
    pub fn posteriors(&self) -> Result<Posteriors<'_>> {
        Ok(Posteriors::from_checked(self.codes_train(), self.log_variances()?))
    }

    /// The posteriors of the training points with their factors.
    ///
    /// # Errors
    /// If there are no log-variances or no factors, or no factor varies.
    pub fn labelled_posteriors(&self) -> Result<LabelledPosteriors<'_>> {
        Ok(LabelledPosteriors::from_checked(self.labelled()?, self.log_variances()?))
    }

    /// The classes of each factor of the training points.
    pub(crate) fn classes_train(&self) -> &[Classes] {
        &self.classes_train
    }

    fn log_variances(&self) -> Result<ArrayView2<'_, f64>> {
        self.log_variance_train().ok_or(MetricsError::Missing { missing: Requirement::LogVariances })
    }

    fn require(&self, present: bool, missing: Requirement) -> Result<()> {
        if present { Ok(()) } else { Err(MetricsError::Missing { missing }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_is_missing_is_named() {
        let bare = Codes::unlabelled(array![[0.0], [1.0]]).unwrap();
        assert_eq!(message(bare.labelled()), "the codes have no factors");
        assert_eq!(message(bare.posteriors()), "the codes have no log-variances of the posteriors");
        let (codes, factors) = (array![[0.0], [1.0]], array![[0], [1]]);
        let no_test = Codes::new(codes, factors, Array2::zeros((0, 1)), Array2::zeros((0, 1))).unwrap();
        assert_eq!(message(no_test.train_test()), "the codes have no test points with factors");
    }
}
