//! Codes from arrays of a training and a test sample, or of one sample that is split.

use super::Codes;
use crate::checks::{check_codes, check_factors, check_finite, check_length, check_train_test};
use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::factor_classes::classes_of_numbers;
use crate::metric::Requirement;
use ndarray::{Array2, ArrayView2, Axis};

impl Codes {
    /// Codes \[n, units\] and factors \[n, factors\] of a training and a test sample. Factors without columns, and test
    /// arrays without rows, mean that there are none.
    ///
    /// # Errors
    /// If the arrays are too small, their shapes do not match, or a number is not finite.
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
    /// assert_eq!(error.to_string(), "codes_test: found 2 units, expected 1, the number of units of codes_train");
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

    /// As [`Codes::new`], for factors that may be real numbers: an angle, an age, a weight.
    ///
    /// A factor of whole numbers is treated as in [`Codes::new`]. The distinct values of any other factor, in ascending order,
    /// are its classes for scores that need classes; scores that need numbers see the values. (A
    /// [`Registry`](crate::Registry) groups values that hardly ever repeat into twenty classes of equal size.)
    ///
    /// # Errors
    /// As [`Codes::new`]; if a factor is not finite.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::Codes;
    ///
    /// let (codes, factors) = (array![[0.0], [1.0], [2.0]], array![[3.0, 0.5], [7.0, -1.5], [7.0, 0.5]]);
    /// let codes = Codes::from_numbers(codes.clone(), factors.clone(), codes, factors)?;
    /// assert_eq!(codes.factors_train(), array![[3, 1], [7, 0], [7, 1]]);
    /// assert_eq!(codes.labelled()?.numbers(), array![[3.0, 0.5], [7.0, -1.5], [7.0, 0.5]]);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn from_numbers(
        codes_train: Array2<f64>,
        factors_train: Array2<f64>,
        codes_test: Array2<f64>,
        factors_test: Array2<f64>,
    ) -> Result<Self> {
        for (array, factors) in [("factors_train", &factors_train), ("factors_test", &factors_test)] {
            check_finite(array, factors.view())?;
        }
        check_length(
            "factors_test",
            "factor",
            factors_test.ncols(),
            factors_train.ncols(),
            "factors of factors_train",
        )?;
        let (train, test) = classes_of_numbers(&factors_train, &factors_test);
        let mut codes = Self::new(codes_train, train, codes_test, test)?;
        codes.numbers = Some((factors_train, factors_test));
        Ok(codes)
    }

    /// One sample, split in order: the first two thirds (rounded up) are for training, the rest is for testing.
    ///
    /// # Errors
    /// If the arrays are too small, their shapes do not match, or a number is not finite.
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

    /// As [`Codes::split`], for factors that may be real numbers; see [`Codes::from_numbers`].
    ///
    /// # Errors
    /// As [`Codes::split`]; if a factor is not finite.
    pub fn split_numbers(codes: ArrayView2<'_, f64>, factors: ArrayView2<'_, f64>) -> Result<Self> {
        check_finite("factors", factors)?;
        let none = Array2::zeros((0, factors.ncols()));
        let mut split = Self::split(codes, classes_of_numbers(&factors.to_owned(), &none).0.view())?;
        let (train, test) = factors.split_at(Axis(0), split.codes_train.nrows());
        split.numbers = Some((train.to_owned(), test.to_owned()));
        Ok(split)
    }

    /// Codes \[n, units\] without factors: only metrics that need none apply.
    ///
    /// # Errors
    /// If there are too few codes, or a number is not finite.
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

    /// The test points with their factors, as training and as test points: for [`Codes::with_unseen`].
    ///
    /// # Errors
    /// If there are none.
    pub fn test_points(&self) -> Result<Self> {
        self.require(self.has_test_points(), Requirement::TestPoints)?;
        let (codes, factors) = (&self.codes_test, &self.factors_test);
        let mut points = Self::new(codes.clone(), factors.clone(), codes.clone(), factors.clone())?;
        points.numbers = self.numbers.as_ref().map(|(_, test)| (test.clone(), test.clone()));
        Ok(points)
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
            factor_kinds: Vec::new(),
            reconstruction_errors: None,
            divergences: None,
            numbers: None,
            regressed: Vec::new(),
            unseen: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_sample_too_small_to_split_is_refused() {
        let (codes, factors) = (array![[0.0], [1.0], [2.0]], array![[0], [1], [0]]);
        assert_eq!(
            Codes::split(codes.view(), factors.view()).unwrap_err().to_string(),
            "codes_test: found 1 row, expected at least 2"
        );
    }
}
