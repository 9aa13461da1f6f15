//! All that an evaluation knows of a representation: what the registry computes scores from.

use crate::error::Result;
use crate::input::{self, TrainTest, check_codes};
use ndarray::{Array2, ArrayView2, Axis};

/// Codes of a training and a test sample, with what is known about them.
///
/// Only the training codes are required. Factors without columns, and test arrays without rows, mean that there are none:
/// scores that need them then do not apply.
#[derive(Clone, Debug)]
pub struct Codes {
    /// Codes \[n, units\] that most scores are computed on and learners are fitted to: means of the posteriors, usually.
    pub codes_train: Array2<f64>,
    /// Their factors \[n, factors\].
    pub factors_train: Array2<i64>,
    /// Codes \[m, units\] that learners are judged on.
    pub codes_test: Array2<f64>,
    /// Their factors \[m, factors\].
    pub factors_test: Array2<i64>,
    /// Logarithms of the posterior variances of the training codes \[n, units\].
    pub log_variance_train: Option<Array2<f64>>,
    /// For each categorical unit the most likely category of each training and of each test point, \[n, categorical units\]
    /// and \[m, categorical units\].
    pub clusters: Option<(Array2<i64>, Array2<i64>)>,
    /// A name for each factor; empty if they have none.
    pub factor_names: Vec<String>,
}

impl Codes {
    /// Codes and factors of a training and a test sample.
    ///
    /// # Errors
    /// If arrays are not finite, are empty, or do not fit each other.
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
        factors_test: Array2<i64>,
    ) -> Result<Self> {
        let codes = Self {
            codes_train,
            factors_train,
            codes_test,
            factors_test,
            log_variance_train: None,
            clusters: None,
            factor_names: Vec::new(),
        };
        codes.check()?;
        Ok(codes)
    }

    /// One sample, split in order: the first two thirds (rounded up) train, the rest is for testing.
    ///
    /// # Errors
    /// As [`Codes::new`].
    pub fn split(codes: ArrayView2<'_, f64>, factors: ArrayView2<'_, i64>) -> Result<Self> {
        check_codes("codes", codes)?;
        input::check_factors("factors", factors, codes.nrows())?;
        let middle = (codes.nrows() * 2).div_ceil(3);
        let part = |range: std::ops::Range<usize>| {
            (
                codes.slice_axis(Axis(0), range.clone().into()).to_owned(),
                factors.slice_axis(Axis(0), range.into()).to_owned(),
            )
        };
        let (codes_train, factors_train) = part(0..middle);
        let (codes_test, factors_test) = part(middle..codes.nrows());
        Self::new(codes_train, factors_train, codes_test, factors_test)
    }

    /// Codes without labels: only the scores that need none apply.
    ///
    /// # Errors
    /// If the codes are not finite or have fewer than two rows.
    pub fn unlabelled(codes: Array2<f64>) -> Result<Self> {
        let (rows, units) = codes.dim();
        Self::new(codes, Array2::zeros((rows, 0)), Array2::zeros((0, units)), Array2::zeros((0, 0)))
    }

    /// The same codes with the logarithms of their posterior variances.
    ///
    /// # Errors
    /// If the array has another shape than the training codes or is not finite.
    pub fn with_log_variances(mut self, log_variance_train: Array2<f64>) -> Result<Self> {
        self.log_variance_train = Some(log_variance_train);
        self.check()?;
        Ok(self)
    }

    /// The same codes with the most likely categories of their categorical units.
    ///
    /// # Errors
    /// If the arrays have other numbers of rows than the codes.
    pub fn with_clusters(mut self, train: Array2<i64>, test: Array2<i64>) -> Result<Self> {
        self.clusters = Some((train, test));
        self.check()?;
        Ok(self)
    }

    /// The same codes with names for their factors.
    ///
    /// # Errors
    /// If there are not as many names as factors.
    pub fn with_factor_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        self.factor_names = names.into_iter().map(Into::into).collect();
        self.check()?;
        Ok(self)
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.codes_train.ncols()
    }

    /// The number of factors.
    pub fn factors(&self) -> usize {
        self.factors_train.ncols()
    }

    /// Whether the points have factors.
    pub fn has_factors(&self) -> bool {
        self.factors() > 0
    }

    /// Whether there are test points with factors.
    pub fn has_test(&self) -> bool {
        self.has_factors() && self.codes_test.nrows() > 0
    }

    /// Views of all four arrays.
    pub fn train_test(&self) -> TrainTest<'_> {
        TrainTest {
            codes_train: self.codes_train.view(),
            factors_train: self.factors_train.view(),
            codes_test: self.codes_test.view(),
            factors_test: self.factors_test.view(),
        }
    }

    /// Checks all arrays anew, as [`registry::run`](crate::registry::run) does: fields can be changed freely.
    ///
    /// # Errors
    /// If arrays are not finite, are empty, or do not fit each other.
    pub fn check(&self) -> Result<()> {
        if self.has_test() {
            self.train_test().check()?;
        } else {
            check_codes("codes_train", self.codes_train.view())?;
            if self.factors_train.nrows() != self.codes_train.nrows() {
                input::check_factors("factors_train", self.factors_train.view(), self.codes_train.nrows())?;
            }
        }
        if let Some(log_variances) = &self.log_variance_train {
            crate::scores::kl_per_unit(self.codes_train.view(), log_variances.view())?;
        }
        if let Some((train, test)) = &self.clusters {
            for (array, clusters, rows) in [
                ("clusters_train", train, self.codes_train.nrows()),
                ("clusters_test", test, self.codes_test.nrows()),
            ] {
                input::check_factors(array, clusters.view(), rows)?;
            }
        }
        if !self.factor_names.is_empty() && self.factor_names.len() != self.factors() {
            input::check_length("factor_names", "name", self.factor_names.len(), self.factors(), "factors")?;
        }
        Ok(())
    }
}
