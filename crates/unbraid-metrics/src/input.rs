//! Checks of the arrays that scores are given, and class labels numbered from 0.

use crate::error::{MetricsError, Result};
use ndarray::{Array2, ArrayView1, ArrayView2};

/// Codes beyond this magnitude are refused: fourth powers of them must still be finite.
const LARGEST_CODE: f64 = 1e60;

/// Refuses codes with no unit or fewer than two rows, and entries that are NaN, infinite or beyond 1e60.
///
/// # Errors
/// [`MetricsError::TooFew`] and [`MetricsError::Entry`], naming the array as `array`.
pub fn check_codes(array: &'static str, codes: ArrayView2<'_, f64>) -> Result<()> {
    if codes.nrows() < 2 {
        return Err(MetricsError::TooFew { array, what: "row", found: codes.nrows(), least: 2 });
    }
    if codes.ncols() == 0 {
        return Err(MetricsError::TooFew { array, what: "unit", found: 0, least: 1 });
    }
    check_magnitudes(array, codes, LARGEST_CODE, "finite numbers of magnitude at most 1e60")
}

/// Refuses factors whose rows are not those of the codes, and factors without a column.
///
/// # Errors
/// [`MetricsError::Mismatch`] and [`MetricsError::TooFew`], naming the array as `array`.
pub fn check_factors(array: &'static str, factors: ArrayView2<'_, i64>, rows: usize) -> Result<()> {
    check_length(array, "row", factors.nrows(), rows, "rows of codes")?;
    if factors.ncols() == 0 {
        return Err(MetricsError::TooFew { array, what: "factor", found: 0, least: 1 });
    }
    Ok(())
}

/// Refuses an array that does not fit another one.
pub(crate) fn check_length(
    array: &'static str,
    what: &'static str,
    found: usize,
    expected: usize,
    other: &'static str,
) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(MetricsError::Mismatch { array, what, found, expected, other })
    }
}

/// Refuses NaN and numbers beyond a magnitude.
pub(crate) fn check_magnitudes(
    array: &'static str,
    values: ArrayView2<'_, f64>,
    largest: f64,
    expected: &'static str,
) -> Result<()> {
    for ((row, column), &value) in values.indexed_iter() {
        if value.is_nan() || value.abs() > largest {
            return Err(MetricsError::Entry { array, row, column, value, expected });
        }
    }
    Ok(())
}

/// The checks that every score of codes and factors starts with.
pub(crate) fn check(codes: ArrayView2<'_, f64>, factors: ArrayView2<'_, i64>) -> Result<()> {
    check_codes("codes", codes)?;
    check_factors("factors", factors, codes.nrows())
}

/// A training and a test sample: codes \[n, units\] and factors \[n, factors\] of each.
#[derive(Clone, Copy, Debug)]
pub struct TrainTest<'a> {
    /// Codes that learners are fitted to.
    pub codes_train: ArrayView2<'a, f64>,
    /// Their factors.
    pub factors_train: ArrayView2<'a, i64>,
    /// Codes that learners are judged on.
    pub codes_test: ArrayView2<'a, f64>,
    /// Their factors.
    pub factors_test: ArrayView2<'a, i64>,
}

impl TrainTest<'_> {
    /// Refuses samples that are not finite or do not fit each other.
    ///
    /// # Errors
    /// [`MetricsError::TooFew`], [`MetricsError::Mismatch`] and [`MetricsError::Entry`].
    pub fn check(&self) -> Result<()> {
        check_codes("codes_train", self.codes_train)?;
        check_factors("factors_train", self.factors_train, self.codes_train.nrows())?;
        check_codes("codes_test", self.codes_test)?;
        check_factors("factors_test", self.factors_test, self.codes_test.nrows())?;
        let (units, factors) = (self.codes_train.ncols(), self.factors_train.ncols());
        check_length("codes_test", "unit", self.codes_test.ncols(), units, "units of codes_train")?;
        check_length("factors_test", "factor", self.factors_test.ncols(), factors, "factors of factors_train")
    }
}

/// One factor as class numbers 0, 1, ... in the order of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row.
    pub of_row: Vec<u32>,
    /// The value that each class stands for, increasing.
    pub values: Vec<i64>,
}

impl Classes {
    /// Numbers the values that occur.
    pub fn new(column: ArrayView1<'_, i64>) -> Self {
        let mut values: Vec<i64> = column.to_vec();
        values.sort_unstable();
        values.dedup();
        let of_row =
            column.iter().map(|value| values.partition_point(|other| other < value) as u32).collect();
        Self { of_row, values }
    }

    /// The classes of every factor.
    pub fn of_factors(factors: ArrayView2<'_, i64>) -> Vec<Self> {
        factors.columns().into_iter().map(Self::new).collect()
    }

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Whether the factor takes more than one value.
    pub fn varies(&self) -> bool {
        self.count() > 1
    }

    /// How many rows each class has.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.count()];
        for &class in &self.of_row {
            counts[class as usize] += 1;
        }
        counts
    }

    /// The class of each row of another sample; `None` for a value that does not occur here.
    pub fn of_other(&self, column: ArrayView1<'_, i64>) -> Vec<Option<u32>> {
        column.iter().map(|value| self.values.binary_search(value).ok().map(|class| class as u32)).collect()
    }

    /// The rows of each class, in order.
    pub fn rows(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.count()];
        for (row, &class) in self.of_row.iter().enumerate() {
            rows[class as usize].push(row);
        }
        rows
    }
}

/// Fails if no factor takes more than one value.
pub(crate) fn check_varies(array: &'static str, factors: &[Classes]) -> Result<()> {
    if factors.iter().any(Classes::varies) { Ok(()) } else { Err(MetricsError::NothingVaries { array }) }
}

/// Reads factors from an array of floating-point numbers, as some tools write them.
///
/// # Errors
/// [`MetricsError::Entry`] at the first number that is not an integer.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::factors_from_floats;
///
/// assert_eq!(factors_from_floats("factors", array![[0.0, 2.0]].view())?, array![[0, 2]]);
/// let error = factors_from_floats("factors", array![[0.0, 2.5]].view()).unwrap_err();
/// assert_eq!(error.to_string(), "factors: found 2.5 in row 0, column 1, expected integers");
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn factors_from_floats(array: &'static str, factors: ArrayView2<'_, f64>) -> Result<Array2<i64>> {
    for ((row, column), &value) in factors.indexed_iter() {
        // Beyond 2^53 neighbouring integers share one floating-point number.
        if value.fract() != 0.0 || value.abs() > 9_007_199_254_740_992.0 || value.is_nan() {
            return Err(MetricsError::Entry { array, row, column, value, expected: "integers" });
        }
    }
    Ok(factors.mapv(|value| value as i64))
}

/// The columns of `codes` as vectors, which is how nearly every score reads them.
pub(crate) fn columns(codes: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
    codes.columns().into_iter().map(|column| column.to_vec()).collect()
}

/// Refuses a number of bins that cannot be right.
pub(crate) fn check_bins(bins: usize) -> Result<()> {
    if (2..=65_536).contains(&bins) {
        Ok(())
    } else {
        Err(MetricsError::parameter("bins", bins, "2 to 65536"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn classes_follow_the_order_of_values() {
        let classes = Classes::new(array![7, -3, 7, 5].view());
        assert_eq!(classes.of_row, [2, 0, 2, 1]);
        assert_eq!(classes.values, [-3, 5, 7]);
        assert_eq!(classes.counts(), [1, 1, 2]);
        assert_eq!(classes.of_other(array![5, 6].view()), [Some(1), None]);
    }

    #[test]
    fn messages_name_the_place() {
        let error = check_codes("codes_train", array![[0.0, 1.0], [f64::NAN, 2.0]].view()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "codes_train: found NaN in row 1, column 0, expected finite numbers of magnitude at most 1e60"
        );
        let error = check_codes("codes", array![[f64::INFINITY], [0.0]].view()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "codes: found inf in row 0, column 0, expected finite numbers of magnitude at most 1e60"
        );
        let error = check(array![[0.0], [1.0]].view(), array![[0], [1], [2]].view()).unwrap_err();
        assert_eq!(error.to_string(), "factors: found 3 rows, expected 2, as many as rows of codes");
    }
}
