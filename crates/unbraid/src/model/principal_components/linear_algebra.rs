//! The linear algebra that principal components need.

use ndarray::{Array2, Axis};

/// Eigenvalues of a symmetric matrix, largest first, and its eigenvectors as columns in the same order, by Jacobi
/// rotations: fast for tens of rows, and as accurate as any method.
pub fn symmetric_eigen(matrix: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let size = matrix.nrows();
    // Rounding makes a product that should be symmetric slightly asymmetric.
    let mut a = (matrix + &matrix.t()) * 0.5;
    let mut vectors = Array2::<f64>::eye(size);
    let scale: f64 = a.iter().map(|value| value * value).sum();
    // Convergence is quadratic: a handful of sweeps reaches rounding error; the limit only guards against endless
    // loops.
    for _sweep in 0..64 {
        let off_diagonal: f64 =
            a.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, value)| value * value).sum();
        if off_diagonal <= scale * 1e-32 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&left, &right| a[[right, right]].total_cmp(&a[[left, left]]));
    let values = order.iter().map(|&place| a[[place, place]]).collect();
    (values, Array2::from_shape_fn((size, size), |(row, column)| vectors[[row, order[column]]]))
}

/// The rotation in the plane of `p` and `q` that makes their entry 0, applied to the vectors as well.
fn rotate(a: &mut Array2<f64>, vectors: &mut Array2<f64>, p: usize, q: usize) {
    let entry = a[[p, q]];
    if entry == 0.0 {
        return;
    }
    let theta = (a[[q, q]] - a[[p, p]]) / (2.0 * entry);
    let tangent = if theta.is_finite() { theta.signum() / (theta.abs() + theta.hypot(1.0)) } else { 0.0 };
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turned = |first: f64, second: f64| (cosine * first - sine * second, sine * first + cosine * second);
    for k in 0..a.nrows() {
        (a[[k, p]], a[[k, q]]) = turned(a[[k, p]], a[[k, q]]);
        (vectors[[k, p]], vectors[[k, q]]) = turned(vectors[[k, p]], vectors[[k, q]]);
    }
    for k in 0..a.nrows() {
        (a[[p, k]], a[[q, k]]) = turned(a[[p, k]], a[[q, k]]);
    }
}

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
    use ndarray::{Array1, array};

    /// The second-difference matrix on three points has the eigenvalues 2 + sqrt(2), 2 and 2 - sqrt(2).
    #[test]
    fn eigenvectors_of_a_known_matrix() {
        let matrix = array![[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]];
        let (values, vectors) = symmetric_eigen(&matrix);
        for (value, expected) in values.iter().zip([2.0 + 2_f64.sqrt(), 2.0, 2.0 - 2_f64.sqrt()]) {
            assert!((value - expected).abs() < 1e-14);
        }
        let residual = matrix.dot(&vectors) - vectors.dot(&Array2::from_diag(&Array1::from(values)));
        assert!(residual.iter().all(|value| value.abs() < 1e-14), "{residual}");
        let identity = vectors.t().dot(&vectors) - Array2::<f64>::eye(3);
        assert!(identity.iter().all(|value| value.abs() < 1e-14));
    }

    #[test]
    fn dependent_columns_become_zero_and_others_orthonormal() {
        let columns = orthonormalize(&array![[1.0, 1.0, 2.0], [0.0, 1e-9, 0.0], [0.0, 0.0, 0.0]]);
        let product = columns.t().dot(&columns);
        let expected = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]];
        assert!((product - expected).iter().all(|value: &f64| value.abs() < 1e-14));
    }
}
