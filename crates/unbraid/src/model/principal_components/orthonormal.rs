//! Orthonormal directions, which principal components are made of.

use ndarray::{Array2, Axis};

/// Orthonormal columns that span the same space, by Gram-Schmidt, applied twice, since a single pass leaves an error
/// that grows with the condition number. A column that depends on earlier ones becomes zero.
pub(super) fn orthonormalize(columns: &Array2<f64>) -> Array2<f64> {
    // As rows, which are contiguous.
    let mut rows = columns.t().as_standard_layout().into_owned();
    for place in 0..rows.nrows() {
        let (earlier, mut rest) = rows.view_mut().split_at(Axis(0), place);
        let mut row = rest.row_mut(0);
        let before = row.dot(&row).sqrt();
        for _ in 0..2 {
            for other in earlier.outer_iter() {
                let overlap = other.dot(&row);
                row.scaled_add(-overlap, &other);
            }
        }
        let length = row.dot(&row).sqrt();
        row *= if length > before * 1e-14 { 1.0 / length } else { 0.0 };
    }
    rows.reversed_axes().as_standard_layout().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn dependent_columns_become_zero_and_others_orthonormal() {
        let columns = orthonormalize(&array![[1.0, 1.0, 2.0], [0.0, 1e-9, 0.0], [0.0, 0.0, 0.0]]);
        let product = columns.t().dot(&columns);
        let expected = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]];
        assert!((product - expected).iter().all(|value: &f64| value.abs() < 1e-14));
    }
}
