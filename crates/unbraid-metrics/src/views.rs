//! Borrowed arrays that have been checked: the input of score functions.
//!
//! Each type is built by a constructor that checks the arrays, or obtained from [`Codes`](crate::Codes), which have been
//! checked already. Score functions never check again.

use crate::checks::{check_codes, check_factors, check_log_variances, check_train_test, check_varies};
use crate::classes::Classes;
use crate::error::Result;
use ndarray::{Array2, ArrayView2};
use std::borrow::Cow;

/// Codes without factors.
///
/// Guarantees at least two rows, at least one unit, and finite numbers of magnitude at most 1e60.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Unlabelled, scores::{HoyerParameters, hoyer}};
///
/// let codes = array![[1.0, 0.0], [-1.0, 0.0], [0.0, 5.0], [0.0, -5.0]];
/// assert!(hoyer(&Unlabelled::new(codes.view())?, &HoyerParameters::default()) > 0.99);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Unlabelled<'a> {
    codes: ArrayView2<'a, f64>,
}

impl<'a> Unlabelled<'a> {
    /// Checks `codes` \[n, units\].
    ///
    /// # Errors
    /// If there are too few rows or no units, or a number is NaN, infinite or beyond 1e60.
    pub fn new(codes: ArrayView2<'a, f64>) -> Result<Self> {
        check_codes("codes", codes)?;
        Ok(Self { codes })
    }

    pub(crate) fn from_checked(codes: ArrayView2<'a, f64>) -> Self {
        Self { codes }
    }

    /// The codes \[n, units\].
    pub fn codes(&self) -> ArrayView2<'a, f64> {
        self.codes
    }
}

/// Codes with their factors.
///
/// Guarantees what [`Unlabelled`] does, a row of factors for each code, and at least one factor that takes more than one
/// value.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Labelled, scores::{HistogramParameters, mig}};
///
/// let (codes, factors) = (array![[0.1, 0.3], [0.2, 0.3], [0.9, 0.3], [0.8, 0.3]], array![[0], [0], [1], [1]]);
/// let score = mig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters { bins: 2 })?;
/// assert!((score.value - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Labelled<'a> {
    codes: ArrayView2<'a, f64>,
    factors: ArrayView2<'a, i64>,
    classes: Cow<'a, [Classes]>,
    numbers: Option<ArrayView2<'a, f64>>,
    /// Whether each factor takes too many values to be classes; empty if none does.
    regressed: &'a [bool],
}

impl<'a> Labelled<'a> {
    /// Checks `codes` \[n, units\] and `factors` \[n, factors\].
    ///
    /// # Errors
    /// If the arrays are too small, their shapes do not match, a number is not finite, or no factor varies.
    pub fn new(codes: ArrayView2<'a, f64>, factors: ArrayView2<'a, i64>) -> Result<Self> {
        check_codes("codes", codes)?;
        check_factors("factors", factors, codes.nrows(), "rows of codes")?;
        Self::classify("factors", codes, factors)
    }

    /// Arrays of matching shapes; fails if no factor varies, with `array` as the name of the factors.
    fn classify(
        array: &'static str,
        codes: ArrayView2<'a, f64>,
        factors: ArrayView2<'a, i64>,
    ) -> Result<Self> {
        let classes = Classes::of_factors(factors);
        check_varies(array, &classes)?;
        Ok(Self { codes, factors, classes: Cow::Owned(classes), numbers: None, regressed: &[] })
    }

    /// Arrays of matching shapes, with the classes of each factor; fails if no factor varies.
    pub(crate) fn from_checked(
        codes: ArrayView2<'a, f64>,
        factors: ArrayView2<'a, i64>,
        classes: &'a [Classes],
        numbers: Option<ArrayView2<'a, f64>>,
        regressed: &'a [bool],
    ) -> Result<Self> {
        check_varies("factors_train", classes)?;
        Ok(Self { codes, factors, classes: Cow::Borrowed(classes), numbers, regressed })
    }

    /// The codes \[n, units\].
    pub fn codes(&self) -> ArrayView2<'a, f64> {
        self.codes
    }

    /// The factors \[n, factors\].
    pub fn factors(&self) -> ArrayView2<'a, i64> {
        self.factors
    }

    /// Each factor as class labels.
    pub fn classes(&self) -> &[Classes] {
        &self.classes
    }

    /// Each factor as numbers, \[n, factors\]: its real values if it has any
    /// ([`Codes::from_numbers`](crate::Codes::from_numbers)), otherwise those of [`Labelled::factors`].
    pub fn numbers(&self) -> Array2<f64> {
        numbers_or(self.numbers, self.factors)
    }

    /// Whether a factor takes so many different values that scores treat it as a number if they can. Its classes are then
    /// groups of neighbouring values.
    pub fn is_number(&self, factor: usize) -> bool {
        self.regressed.get(factor).copied().unwrap_or(false)
    }

    /// The codes without their factors.
    pub fn unlabelled(&self) -> Unlabelled<'a> {
        Unlabelled { codes: self.codes }
    }
}

fn numbers_or(numbers: Option<ArrayView2<'_, f64>>, factors: ArrayView2<'_, i64>) -> Array2<f64> {
    numbers.map_or_else(|| factors.mapv(|value| value as f64), |numbers| numbers.to_owned())
}

/// A training and a test sample of codes with their factors.
///
/// Guarantees what [`Labelled`] does for the training sample, the same for the test sample except that its factors need
/// not vary, and the same units and factors in both.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{TrainTest, scores::{DciParameters, dci}};
///
/// let codes = array![[0.0, 0.1], [0.1, 1.0], [1.0, 0.0], [1.1, 1.1]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// assert!(dci(&data, &DciParameters::default())?.disentanglement > 0.99);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainTest<'a> {
    train: Labelled<'a>,
    codes_test: ArrayView2<'a, f64>,
    factors_test: ArrayView2<'a, i64>,
    numbers_test: Option<ArrayView2<'a, f64>>,
}

impl<'a> TrainTest<'a> {
    /// Checks codes \[n, units\] and factors \[n, factors\] of both samples.
    ///
    /// # Errors
    /// If the arrays are too small, their shapes do not match, a number is not finite, or no factor varies in the training
    /// sample.
    pub fn new(
        codes_train: ArrayView2<'a, f64>,
        factors_train: ArrayView2<'a, i64>,
        codes_test: ArrayView2<'a, f64>,
        factors_test: ArrayView2<'a, i64>,
    ) -> Result<Self> {
        check_train_test(codes_train, factors_train, codes_test, factors_test)?;
        let train = Labelled::classify("factors_train", codes_train, factors_train)?;
        Ok(Self { train, codes_test, factors_test, numbers_test: None })
    }

    pub(crate) fn from_checked(
        train: Labelled<'a>,
        codes_test: ArrayView2<'a, f64>,
        factors_test: ArrayView2<'a, i64>,
        numbers_test: Option<ArrayView2<'a, f64>>,
    ) -> Self {
        Self { train, codes_test, factors_test, numbers_test }
    }

    /// The training sample.
    pub fn train(&self) -> &Labelled<'a> {
        &self.train
    }

    /// Codes \[n, units\] that learners are fitted to.
    pub fn codes_train(&self) -> ArrayView2<'a, f64> {
        self.train.codes
    }

    /// Factors \[n, factors\] of the training codes.
    pub fn factors_train(&self) -> ArrayView2<'a, i64> {
        self.train.factors
    }

    /// Codes \[m, units\] that learners are tested on.
    pub fn codes_test(&self) -> ArrayView2<'a, f64> {
        self.codes_test
    }

    /// Factors \[m, factors\] of the test codes.
    pub fn factors_test(&self) -> ArrayView2<'a, i64> {
        self.factors_test
    }

    /// The factors of the test codes as numbers; see [`Labelled::numbers`].
    pub fn numbers_test(&self) -> Array2<f64> {
        numbers_or(self.numbers_test, self.factors_test)
    }
}

/// Gaussian posteriors without factors: the means are the codes.
///
/// Guarantees what [`Unlabelled`] does for the means, and a log-variance from -250 to 250 for each of them.
#[derive(Clone, Copy, Debug)]
pub struct Posteriors<'a> {
    means: ArrayView2<'a, f64>,
    log_variances: ArrayView2<'a, f64>,
}

impl<'a> Posteriors<'a> {
    /// Checks `means` and `log_variances`, both \[n, units\].
    ///
    /// # Errors
    /// If the arrays are too small or differ in shape, a number is not finite, or the magnitude of a log-variance exceeds 250.
    pub fn new(means: ArrayView2<'a, f64>, log_variances: ArrayView2<'a, f64>) -> Result<Self> {
        check_codes("means", means)?;
        check_log_variances("log_variances", log_variances, means, ["rows of means", "units of means"])?;
        Ok(Self { means, log_variances })
    }

    pub(crate) fn from_checked(means: ArrayView2<'a, f64>, log_variances: ArrayView2<'a, f64>) -> Self {
        Self { means, log_variances }
    }

    /// The means \[n, units\].
    pub fn means(&self) -> ArrayView2<'a, f64> {
        self.means
    }

    /// The logarithms of the variances \[n, units\].
    pub fn log_variances(&self) -> ArrayView2<'a, f64> {
        self.log_variances
    }
}

/// Gaussian posteriors with their factors.
///
/// Guarantees what [`Labelled`] and [`Posteriors`] do together.
#[derive(Clone, Debug)]
pub struct LabelledPosteriors<'a> {
    labelled: Labelled<'a>,
    log_variances: ArrayView2<'a, f64>,
}

impl<'a> LabelledPosteriors<'a> {
    /// Checks `means` and `log_variances`, both \[n, units\], and `factors` \[n, factors\].
    ///
    /// # Errors
    /// As [`Posteriors::new`] and [`Labelled::new`].
    pub fn new(
        means: ArrayView2<'a, f64>,
        log_variances: ArrayView2<'a, f64>,
        factors: ArrayView2<'a, i64>,
    ) -> Result<Self> {
        Posteriors::new(means, log_variances)?;
        check_factors("factors", factors, means.nrows(), "rows of means")?;
        Ok(Self { labelled: Labelled::classify("factors", means, factors)?, log_variances })
    }

    pub(crate) fn from_checked(labelled: Labelled<'a>, log_variances: ArrayView2<'a, f64>) -> Self {
        Self { labelled, log_variances }
    }

    /// The means \[n, units\].
    pub fn means(&self) -> ArrayView2<'a, f64> {
        self.labelled.codes
    }

    /// The logarithms of the variances \[n, units\].
    pub fn log_variances(&self) -> ArrayView2<'a, f64> {
        self.log_variances
    }

    /// The means as codes, with their factors.
    pub fn labelled(&self) -> &Labelled<'a> {
        &self.labelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn messages_name_the_array_and_the_place() {
        let (codes, factors) = (array![[0.0, 1.0], [1.0, 0.0]], array![[0], [1]]);
        let labelled =
            |codes: &Array2<f64>, factors: &Array2<i64>| message(Labelled::new(codes.view(), factors.view()));
        let nan = array![[0.0, 1.0], [f64::NAN, 2.0]];
        assert_eq!(
            labelled(&nan, &factors),
            "codes: found NaN in row 1, column 0, expected finite numbers of magnitude at most 1e60"
        );
        let infinite = array![[f64::INFINITY], [0.0]];
        assert_eq!(
            message(Unlabelled::new(infinite.view())),
            "codes: found inf in row 0, column 0, expected finite numbers of magnitude at most 1e60"
        );
        assert_eq!(
            labelled(&codes, &array![[0], [1], [2]]),
            "factors: found 3 rows, expected 2, the number of rows of codes"
        );
        assert_eq!(labelled(&array![[0.0]], &factors), "codes: found 1 row, expected at least 2");
        assert_eq!(labelled(&Array2::zeros((2, 0)), &factors), "codes: found 0 units, expected at least 1");
        assert_eq!(labelled(&codes, &Array2::zeros((2, 0))), "factors: found 0 factors, expected at least 1");
        assert_eq!(
            labelled(&codes, &array![[3], [3]]),
            "factors: every factor takes a single value, expected at least one factor that varies"
        );
    }

    #[test]
    fn messages_tell_training_from_test() {
        let (codes, factors) = (array![[0.0, 1.0], [1.0, 0.0]], array![[0], [1]]);
        let (wide, two) = (array![[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]], array![[0, 1], [1, 1]]);
        assert_eq!(
            message(TrainTest::new(codes.view(), factors.view(), wide.view(), factors.view())),
            "codes_test: found 3 units, expected 2, the number of units of codes_train"
        );
        assert_eq!(
            message(TrainTest::new(codes.view(), factors.view(), codes.view(), two.view())),
            "factors_test: found 2 factors, expected 1, the number of factors of factors_train"
        );
    }

    #[test]
    fn log_variances_are_checked_against_the_means() {
        let means = array![[0.0, 1.0], [1.0, 0.0]];
        let with = |log_variances: Array2<f64>| message(Posteriors::new(means.view(), log_variances.view()));
        assert_eq!(
            with(Array2::zeros((2, 3))),
            "log_variances: found 3 units, expected 2, the number of units of means"
        );
        assert_eq!(
            with(array![[0.0, 0.0], [0.0, 300.0]]),
            "log_variances: found 300 in row 1, column 1, expected numbers from -250 to 250"
        );
    }
}
