//! The linear algebra that scores need: covariances, eigenvalues and eigenvectors of small symmetric matrices, and linear
//! systems.

use ndarray::{Array2, ArrayView2, Axis};

/// The covariance of the columns of `codes`, with n - 1 in the denominator.
pub(crate) fn covariance(codes: ArrayView2<'_, f64>) -> Array2<f64> {
    let rows = codes.nrows();
    // The deviations of a constant column are rounding errors, which would pass for a variance.
    let centred: Vec<Vec<f64>> = codes
        .axis_iter(Axis(1))
        .map(|column| {
            let first = column[0];
            if column.iter().all(|&value| value == first) {
                return vec![0.0; rows];
            }
            let mean = column.sum() / rows as f64;
            column.iter().map(|value| value - mean).collect()
        })
        .collect();
    let mut covariance = Array2::zeros((centred.len(), centred.len()));
    for i in 0..centred.len() {
        for j in 0..=i {
            let sum: f64 = centred[i].iter().zip(&centred[j]).map(|(a, b)| a * b).sum();
            covariance[[i, j]] = sum / (rows - 1).max(1) as f64;
            covariance[[j, i]] = covariance[[i, j]];
        }
    }
    covariance
}

/// Eigenvalues of a symmetric matrix, largest first, and its eigenvectors as columns in the same order, by Jacobi's rotations:
/// fast enough for tens of rows, and as accurate as any method for well-scaled matrices.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::linear_algebra::symmetric_eigen;
///
/// let (values, vectors) = symmetric_eigen(&array![[2.0, 1.0], [1.0, 2.0]]);
/// assert!((values[0] - 3.0).abs() < 1e-14 && (values[1] - 1.0).abs() < 1e-14);
/// assert!((vectors[[0, 0]] - vectors[[1, 0]]).abs() < 1e-14);
/// ```
///
/// # Panics
/// If the matrix is not square.
pub fn symmetric_eigen(matrix: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let (diagonal, vectors) = diagonalised(matrix);
    let mut order: Vec<usize> = (0..diagonal.len()).collect();
    order.sort_by(|&left, &right| diagonal[right].total_cmp(&diagonal[left]));
    let values = order.iter().map(|&place| diagonal[place]).collect();
    (values, Array2::from_shape_fn(vectors.dim(), |(row, column)| vectors[[row, order[column]]]))
}

/// The eigenvalues of a symmetric matrix, in no particular order.
pub(crate) fn symmetric_eigenvalues(matrix: &Array2<f64>) -> Vec<f64> {
    diagonalised(matrix).0
}

/// The diagonal that rotations turn a symmetric matrix into, and the product of the rotations.
fn diagonalised(matrix: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let size = matrix.nrows();
    // Rounding makes a product that should be symmetric slightly asymmetric.
    let mut a = (matrix + &matrix.t()) * 0.5;
    let mut vectors = Array2::<f64>::eye(size);
    let scale: f64 = a.iter().map(|value| value * value).sum();
    // Convergence is quadratic: a handful of sweeps reach rounding error. The limit is a safeguard.
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
    (a.diag().to_vec(), vectors)
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

/// Solves `matrix x = right` for a symmetric positive semi-definite matrix by Cholesky decomposition. Entries of x whose pivot
/// vanishes are 0.
pub(crate) fn solve_positive(matrix: &Array2<f64>, right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut lower = Array2::<f64>::zeros((size, size));
    let mut dead = vec![false; size];
    for j in 0..size {
        let pivot = matrix[[j, j]] - (0..j).map(|k| lower[[j, k]] * lower[[j, k]]).sum::<f64>();
        if pivot <= matrix[[j, j]] * 1e-12 {
            dead[j] = true;
            continue;
        }
        lower[[j, j]] = pivot.sqrt();
        for i in j + 1..size {
            let sum = matrix[[i, j]] - (0..j).map(|k| lower[[i, k]] * lower[[j, k]]).sum::<f64>();
            lower[[i, j]] = sum / lower[[j, j]];
        }
    }
    let mut x = right.to_vec();
    for i in 0..size {
        let sum: f64 = (0..i).map(|k| lower[[i, k]] * x[k]).sum();
        x[i] = if dead[i] { 0.0 } else { (x[i] - sum) / lower[[i, i]] };
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|k| lower[[k, i]] * x[k]).sum();
        x[i] = if dead[i] { 0.0 } else { (x[i] - sum) / lower[[i, i]] };
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    #[test]
    fn eigenvalues_of_known_matrices() {
        let mut values = symmetric_eigenvalues(&array![[2.0, 1.0], [1.0, 2.0]]);
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14);
        // The second difference on three points: 2 - sqrt(2), 2, 2 + sqrt(2).
        let mut values =
            symmetric_eigenvalues(&array![[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]);
        values.sort_by(f64::total_cmp);
        for (value, expected) in values.iter().zip([2.0 - 2_f64.sqrt(), 2.0, 2.0 + 2_f64.sqrt()]) {
            assert!((value - expected).abs() < 1e-14);
        }
    }

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
    fn solves_and_skips_dead_directions() {
        let x = solve_positive(&array![[4.0, 2.0], [2.0, 3.0]], &[8.0, 8.0]);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
        assert_eq!(solve_positive(&array![[0.0, 0.0], [0.0, 4.0]], &[0.0, 8.0]), [0.0, 2.0]);
    }

    #[test]
    fn covariance_by_hand() {
        let value = covariance(array![[1.0, 2.0], [3.0, 6.0]].view());
        assert_eq!(value, array![[2.0, 4.0], [4.0, 8.0]]);
    }
}
