//! Groups of correlated units, for scores that treat them as one.

use crate::correlation::pearson_columns;
use crate::linear_algebra::{covariance, solve_positive};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate};

/// Groups of units that are connected, directly or through others, by correlations whose magnitude exceeds `above`, in the
/// order of their first units.
pub(super) fn correlated_groups(codes: ArrayView2<'_, f64>, above: f64) -> Vec<Vec<usize>> {
    let correlation = pearson_columns(codes, codes);
    let mut group_of: Vec<usize> = (0..codes.ncols()).collect();
    for i in 0..codes.ncols() {
        for j in 0..i {
            if correlation[[i, j]].abs() > above && group_of[i] != group_of[j] {
                let (from, to) = (group_of[i].max(group_of[j]), group_of[i].min(group_of[j]));
                group_of.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); codes.ncols()];
    for (unit, &group) in group_of.iter().enumerate() {
        groups[group].push(unit);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The share of the variance of `target` that a linear regression on all `features` explains; 0 without features.
pub(super) fn multiple_r_squared(features: ArrayView2<'_, f64>, target: ArrayView1<'_, f64>) -> f64 {
    let width = features.ncols();
    let joined = concatenate![Axis(1), features, target.insert_axis(Axis(1))];
    let covariance: Array2<f64> = covariance(joined.view());
    let variance = covariance[[width, width]];
    if width == 0 || variance <= 0.0 {
        return 0.0;
    }
    let cross: Array1<f64> = (0..width).map(|i| covariance[[i, width]]).collect();
    let inner = Array2::from_shape_fn((width, width), |place| covariance[place]);
    let weights = solve_positive(&inner, &cross.to_vec());
    let explained: f64 = weights.iter().zip(&cross).map(|(weight, cross)| weight * cross).sum();
    (explained / variance).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn chains_of_correlation_join() {
        // Unit 2 is minus unit 0; unit 1 is uncorrelated to both.
        let codes = array![[1.0, 1.0, -1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]];
        assert_eq!(correlated_groups(codes.view(), 0.9), [vec![0, 2], vec![1]]);
        assert_eq!(correlated_groups(codes.view(), 1.0), [vec![0], vec![1], vec![2]]);
    }

    #[test]
    fn two_units_explain_what_one_cannot() {
        let features = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let target = array![0.0, 1.0, 1.0, 2.0];
        assert!((multiple_r_squared(features.view(), target.view()) - 1.0).abs() < 1e-12);
        let one = features.slice_axis(Axis(1), (..1).into());
        assert!((multiple_r_squared(one, target.view()) - 0.5).abs() < 1e-12);
    }
}
