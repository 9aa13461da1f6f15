//! Correlation coefficients, with ties.

use crate::checks::check_length;
use crate::error::{MetricsError, Result};
use ndarray::{Array2, ArrayView2};

/// Pearson's correlation of two samples; 0 if either is constant.
///
/// # Errors
/// If the samples differ in length, have fewer than two values, or hold NaN or infinities.
///
/// ```
/// use unbraid_metrics::correlation::pearson;
///
/// assert!((pearson(&[1.0, 2.0, 3.0], &[-2.0, -4.0, -6.0])? + 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn pearson(first: &[f64], second: &[f64]) -> Result<f64> {
    check(first, second)?;
    Ok(cosine(&centred(first), &centred(second)))
}

/// Spearman's rank correlation of two samples: Pearson's of their ranks, where equal values share their mean rank.
///
/// # Errors
/// As [`pearson`].
///
/// ```
/// use unbraid_metrics::correlation::spearman;
///
/// assert!((spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 8.0, 27.0, 64.0])? - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn spearman(first: &[f64], second: &[f64]) -> Result<f64> {
    check(first, second)?;
    Ok(cosine(&centred(&ranks(first)), &centred(&ranks(second))))
}

fn check(first: &[f64], second: &[f64]) -> Result<()> {
    check_length("second sample", "value", second.len(), first.len(), "values of the first sample")?;
    if first.len() < 2 {
        return Err(MetricsError::TooFew {
            array: "first sample",
            what: "value",
            found: first.len(),
            least: 2,
        });
    }
    for (array, sample) in [("first sample", first), ("second sample", second)] {
        if let Some(row) = sample.iter().position(|value| !value.is_finite()) {
            let (value, expected) = (sample[row], "finite numbers");
            return Err(MetricsError::Entry { array, row, column: 0, value, expected });
        }
    }
    Ok(())
}

/// Ranks from 1; equal values share the mean of their ranks.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let end = start + order[start..].iter().take_while(|&&row| values[row] == value).count();
        for &row in &order[start..end] {
            ranks[row] = (start + end + 1) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}

/// Pearson's correlation of every column of `first` with every column of `second`, \[first, second\].
pub(crate) fn pearson_columns(first: ArrayView2<'_, f64>, second: ArrayView2<'_, f64>) -> Array2<f64> {
    let [first, second] = [first, second]
        .map(|array| array.columns().into_iter().map(|column| centred(&column.to_vec())).collect::<Vec<_>>());
    Array2::from_shape_fn((first.len(), second.len()), |(i, j)| cosine(&first[i], &second[j]))
}

/// The deviations from the mean, exactly 0 for a constant.
fn centred(values: &[f64]) -> Vec<f64> {
    if crate::numeric::is_constant(values.iter().copied()) {
        return vec![0.0; values.len()];
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

fn cosine(first: &[f64], second: &[f64]) -> f64 {
    let (mut product, mut first_square, mut second_square) = (0.0, 0.0, 0.0);
    for (a, b) in first.iter().zip(second) {
        product += a * b;
        first_square += a * a;
        second_square += b * b;
    }
    let scale = f64::sqrt(first_square) * f64::sqrt(second_square);
    if scale > 0.0 && scale.is_finite() { (product / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.spearmanr([1, 2, 2, 3], [4, 1, 1, 0]) by hand: ranks 1, 2.5, 2.5, 4 and 4, 2.5, 2.5, 1 give -1.
    #[test]
    fn ties_share_ranks() {
        assert_eq!(ranks(&[10.0, 20.0, 20.0, 30.0]), [1.0, 2.5, 2.5, 4.0]);
        assert!((spearman(&[1.0, 2.0, 2.0, 3.0], &[4.0, 1.0, 1.0, 0.0]).unwrap() + 1.0).abs() < 1e-12);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, squares 4.5 and 5.
        let expected = 4.5 / (4.5_f64 * 5.0).sqrt();
        assert!((spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn constants_and_bad_samples() {
        assert_eq!(pearson(&[1.0, 1.0], &[1.0, 2.0]).unwrap(), 0.0);
        let message = |first: &[f64], second: &[f64]| pearson(first, second).unwrap_err().to_string();
        assert_eq!(message(&[1.0], &[1.0]), "first sample: found 1 value, expected at least 2");
        assert_eq!(
            message(&[1.0, 2.0], &[1.0]),
            "second sample: found 1 value, expected 2, the number of values of the first sample"
        );
        assert_eq!(
            message(&[1.0, f64::NAN], &[1.0, 2.0]),
            "first sample: found NaN in row 1, column 0, expected finite numbers"
        );
    }
}
