//! The linear algebra that scores need: covariances, eigenvalues of small symmetric matrices, and linear systems.

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

/// The eigenvalues of a symmetric matrix by Jacobi's rotations, in no particular order.
///
/// Jacobi's method is fast enough for the tens of units of codes, and as accurate as any for well-scaled matrices.
pub(crate) fn symmetric_eigenvalues(matrix: &Array2<f64>) -> Vec<f64> {
    let size = matrix.nrows();
    let mut a = matrix.clone();
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
                rotate(&mut a, p, q);
            }
        }
    }
    a.diag().to_vec()
}

/// The rotation in the plane of `p` and `q` that makes their entry 0.
fn rotate(a: &mut Array2<f64>, p: usize, q: usize) {
    let entry = a[[p, q]];
    if entry == 0.0 {
        return;
    }
    let theta = (a[[q, q]] - a[[p, p]]) / (2.0 * entry);
    let tangent = if theta.is_finite() { theta.signum() / (theta.abs() + theta.hypot(1.0)) } else { 0.0 };
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for k in 0..a.nrows() {
        let (first, second) = (a[[k, p]], a[[k, q]]);
        a[[k, p]] = cosine * first - sine * second;
        a[[k, q]] = sine * first + cosine * second;
    }
    for k in 0..a.nrows() {
        let (first, second) = (a[[p, k]], a[[q, k]]);
        a[[p, k]] = cosine * first - sine * second;
        a[[q, k]] = sine * first + cosine * second;
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
    use ndarray::array;

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
