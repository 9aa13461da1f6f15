//! The checks behind the types of [`views`](crate::views) and [`Codes`](crate::Codes).

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use ndarray::{Array2, ArrayView2};

/// The largest magnitude of a code: its fourth power must still be finite.
const LARGEST_CODE: f64 = 1e60;

/// The largest magnitude of a log-variance: its exponential must be neither infinite nor subnormal.
const LARGEST_LOG_VARIANCE: f64 = 250.0;

pub(crate) fn check_codes(array: &'static str, codes: ArrayView2<'_, f64>) -> Result<()> {
    if codes.nrows() < 2 {
        return Err(MetricsError::TooFew { array, what: "row", found: codes.nrows(), least: 2 });
    }
    if codes.ncols() == 0 {
        return Err(MetricsError::TooFew { array, what: "unit", found: 0, least: 1 });
    }
    check_magnitudes(array, codes, LARGEST_CODE, "finite numbers of magnitude at most 1e60")
}

pub(crate) fn check_factors(
    array: &'static str,
    factors: ArrayView2<'_, i64>,
    rows: usize,
    other: &'static str,
) -> Result<()> {
    check_length(array, "row", factors.nrows(), rows, other)?;
    if factors.ncols() == 0 {
        return Err(MetricsError::TooFew { array, what: "factor", found: 0, least: 1 });
    }
    Ok(())
}

pub(crate) fn check_log_variances(
    array: &'static str,
    log_variances: ArrayView2<'_, f64>,
    means: ArrayView2<'_, f64>,
    [rows, units]: [&'static str; 2],
) -> Result<()> {
    check_length(array, "row", log_variances.nrows(), means.nrows(), rows)?;
    check_length(array, "unit", log_variances.ncols(), means.ncols(), units)?;
    check_magnitudes(array, log_variances, LARGEST_LOG_VARIANCE, "numbers from -250 to 250")
}

pub(crate) fn check_train_test(
    codes_train: ArrayView2<'_, f64>,
    factors_train: ArrayView2<'_, i64>,
    codes_test: ArrayView2<'_, f64>,
    factors_test: ArrayView2<'_, i64>,
) -> Result<()> {
    check_codes("codes_train", codes_train)?;
    check_factors("factors_train", factors_train, codes_train.nrows(), "rows of codes_train")?;
    check_codes("codes_test", codes_test)?;
    check_factors("factors_test", factors_test, codes_test.nrows(), "rows of codes_test")?;
    let (units, factors) = (codes_train.ncols(), factors_train.ncols());
    check_length("codes_test", "unit", codes_test.ncols(), units, "units of codes_train")?;
    check_length("factors_test", "factor", factors_test.ncols(), factors, "factors of factors_train")
}

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

pub(crate) fn check_finite(array: &'static str, values: ArrayView2<'_, f64>) -> Result<()> {
    check_magnitudes(array, values, f64::MAX, "finite numbers")
}

fn check_magnitudes(
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

pub(crate) fn check_varies(array: &'static str, factors: &[Classes]) -> Result<()> {
    if factors.iter().any(Classes::varies) { Ok(()) } else { Err(MetricsError::NothingVaries { array }) }
}

/// Converts factors from floating-point numbers, as some tools write them.
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
