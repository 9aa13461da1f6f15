//! Codes with their factors, posteriors and clusters: what metrics are computed from.

use crate::checks::{check_codes, check_factors, check_length, check_log_variances, check_train_test};
use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::metric::Requirement;
use crate::views::{Labelled, LabelledPosteriors, Posteriors, TrainTest, Unlabelled};
use ndarray::{Array2, ArrayView2, Axis};

/// Codes of a training and a test sample, with factors, posteriors and clusters where there are any.
///
/// Only the training codes are required. Metrics that need something else apply where it is present.
///
/// Everything is checked when it is put in, so metrics need not check it again. [`Codes::labelled`],
/// [`Codes::train_test`] and the like give the checked views that score functions take, at no cost.
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
}

impl Codes {
    /// Codes \[n, units\] and factors \[n, factors\] of a training and a test sample. Factors without columns, and test
    /// arrays without rows, mean that there are none.
    ///
    /// # Errors
    /// If arrays are too small, do not fit each other or are not finite.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Codes;
    ///
    /// let error = Codes::new(
    ///     array![[0.5], [0.7]],
    ///     array![[0], [1]],
    ///     array![[0.5, 0.1], [0.7, 0.2]],
    ///     array![[0], [1]],
    /// )
    /// .unwrap_err();
    /// assert_eq!(error.to_string(), "codes_test: found 2 units, expected 1, as many as units of codes_train");
    /// ```
    pub fn new(
        codes_train: Array2<f64>,
        factors_train: Array2<i64>,
        codes_test: Array2<f64>,
        mut factors_test: Array2<i64>,
    ) -> Result<Self> {
        let rows = codes_train.nrows();
        if factors_train.ncols() > 0 && codes_test.nrows() > 0 {
            check_train_test(
                codes_train.view(),
                factors_train.view(),
                codes_test.view(),
                factors_test.view(),
            )?;
        } else {
            check_codes("codes_train", codes_train.view())?;
            check_length("factors_train", "row", factors_train.nrows(), rows, "rows of codes_train")?;
            if codes_test.nrows() > 0 {
                check_codes("codes_test", codes_test.view())?;
                let units = codes_train.ncols();
                check_length("codes_test", "unit", codes_test.ncols(), units, "units of codes_train")?;
            }
            factors_test = Array2::zeros((codes_test.nrows(), factors_train.ncols()));
        }
        Ok(Self::from_checked(codes_train, factors_train, codes_test, factors_test))
    }

    /// One sample, split in order: the first two thirds (rounded up) are for training, the rest is for testing.
    ///
    /// # Errors
    /// If the arrays are too small, do not fit each other or are not finite.
    pub fn split(codes: ArrayView2<'_, f64>, factors: ArrayView2<'_, i64>) -> Result<Self> {
        check_codes("codes", codes)?;
        check_factors("factors", factors, codes.nrows(), "rows of codes")?;
        let (codes_train, codes_test) = codes.split_at(Axis(0), (codes.nrows() * 2).div_ceil(3));
        let (factors_train, factors_test) = factors.split_at(Axis(0), codes_train.nrows());
        if codes_test.nrows() == 1 {
            return Err(MetricsError::TooFew { array: "codes_test", what: "row", found: 1, least: 2 });
        }
        Ok(Self::from_checked(
            codes_train.to_owned(),
            factors_train.to_owned(),
            codes_test.to_owned(),
            factors_test.to_owned(),
        ))
    }

    /// Codes \[n, units\] without factors: only metrics that need none apply.
    ///
    /// # Errors
    /// If the codes are too small or not finite.
    pub fn unlabelled(codes: Array2<f64>) -> Result<Self> {
        check_codes("codes_train", codes.view())?;
        let (rows, units) = codes.dim();
        Ok(Self::from_checked(
            codes,
            Array2::zeros((rows, 0)),
            Array2::zeros((0, units)),
            Array2::zeros((0, 0)),
        ))
    }

    fn from_checked(
        codes_train: Array2<f64>,
        factors_train: Array2<i64>,
        codes_test: Array2<f64>,
        factors_test: Array2<i64>,
    ) -> Self {
        Self {
            classes_train: Classes::of_factors(factors_train.view()),
            codes_train,
            factors_train,
            codes_test,
            factors_test,
            log_variance_train: None,
            clusters: None,
            factor_names: Vec::new(),
        }
    }

    /// Adds the logarithms of the posterior variances of the training codes, \[n, units\]; the codes are then means.
    ///
    /// # Errors
    /// If the array has another shape than the training codes, or a number is NaN or beyond 250.
    pub fn with_log_variances(mut self, log_variance_train: Array2<f64>) -> Result<Self> {
        check_log_variances(
            "log_variance_train",
            log_variance_train.view(),
            self.codes_train.view(),
            ["rows of codes_train", "units of codes_train"],
        )?;
        self.log_variance_train = Some(log_variance_train);
        Ok(self)
    }

    /// Adds the most likely category of each categorical unit for each training and each test point, \[n, categorical
    /// units\] and \[m, categorical units\].
    ///
    /// # Errors
    /// If the arrays have no column, or other numbers of rows than the codes.
    pub fn with_clusters(mut self, train: Array2<i64>, test: Array2<i64>) -> Result<Self> {
        for (array, clusters, codes, other) in [
            ("clusters_train", &train, &self.codes_train, "rows of codes_train"),
            ("clusters_test", &test, &self.codes_test, "rows of codes_test"),
        ] {
            check_length(array, "row", clusters.nrows(), codes.nrows(), other)?;
            if clusters.ncols() == 0 {
                return Err(MetricsError::TooFew { array, what: "unit", found: 0, least: 1 });
            }
        }
        check_length("clusters_test", "unit", test.ncols(), train.ncols(), "units of clusters_train")?;
        self.clusters = Some((train, test));
        Ok(self)
    }

    /// Adds a name for each factor.
    ///
    /// # Errors
    /// If there are not as many names as factors.
    pub fn with_factor_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if !names.is_empty() {
            check_length("factor_names", "name", names.len(), self.factor_count(), "factors")?;
        }
        self.factor_names = names;
        Ok(self)
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
        Labelled::from_checked(self.codes_train(), self.factors_train(), &self.classes_train)
    }

    /// Training and test codes with their factors.
    ///
    /// # Errors
    /// If there are no factors or no test points, or no factor varies in the training sample.
    pub fn train_test(&self) -> Result<TrainTest<'_>> {
        let train = self.labelled()?;
        self.require(self.has_test_points(), Requirement::TestPoints)?;
        Ok(TrainTest::from_checked(train, self.codes_test(), self.factors_test()))
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

    fn codes() -> Codes {
        let (codes, factors) = (array![[0.0, 1.0], [1.0, 0.0]], array![[0], [1]]);
        Codes::new(codes.clone(), factors.clone(), codes, factors).unwrap()
    }

    #[test]
    fn what_is_added_is_checked_against_the_codes() {
        assert_eq!(
            message(codes().with_log_variances(Array2::zeros((3, 2)))),
            "log_variance_train: found 3 rows, expected 2, as many as rows of codes_train"
        );
        assert_eq!(
            message(codes().with_clusters(array![[0], [1]], array![[0]])),
            "clusters_test: found 1 row, expected 2, as many as rows of codes_test"
        );
        assert_eq!(
            message(codes().with_clusters(array![[0, 0], [1, 1]], array![[0], [1]])),
            "clusters_test: found 1 unit, expected 2, as many as units of clusters_train"
        );
        assert_eq!(
            message(codes().with_factor_names(["shape", "scale"])),
            "factor_names: found 2 names, expected 1, as many as factors"
        );
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

    #[test]
    fn a_sample_too_small_to_split_is_refused() {
        let (codes, factors) = (array![[0.0], [1.0], [2.0]], array![[0], [1], [0]]);
        assert_eq!(
            message(Codes::split(codes.view(), factors.view())),
            "codes_test: found 1 row, expected at least 2"
        );
    }
}
