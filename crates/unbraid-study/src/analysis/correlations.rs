//! Rank correlations between the numbers of a table.

use crate::Table;
use ndarray::Array2;
use rayon::prelude::*;
use unbraid::metrics::correlation::spearman;

/// Below this many runs a correlation says nothing.
const LEAST: usize = 3;

/// The rank correlation of every number of one list with every number of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlations {
    /// Keys of the rows.
    pub rows: Vec<String>,
    /// Keys of the columns.
    pub columns: Vec<String>,
    /// Spearman's coefficient, \[rows, columns\]; NaN where one of the two is constant, or fewer than three
    /// runs have both.
    pub values: Array2<f64>,
    /// How many runs have both, \[rows, columns\].
    pub counts: Array2<usize>,
}

/// Spearman's rank correlation over runs: Pearson's correlation of the ranks, where equal values share their mean rank.
///
/// With `first` and `second` the same scores: thesis, Fig. 5.13. With scores and
/// [`unsupervised_keys`](super::quantities::unsupervised_keys): thesis, Fig. 5.16. The rows should be of one data set:
/// across data sets every number depends on the data most. Each pair of numbers is computed from the runs
/// that have both.
pub fn rank_correlations(table: &Table, rows: &[usize], first: &[String], second: &[String]) -> Correlations {
    let values_of = |key: &String| -> Vec<f64> {
        let column = table.number_column(key);
        rows.iter().map(|&row| column.map_or(f64::NAN, |column| table.rows[row].numbers[column])).collect()
    };
    let left: Vec<Vec<f64>> = first.iter().map(values_of).collect();
    let right: Vec<Vec<f64>> = second.iter().map(values_of).collect();
    let cells: Vec<(f64, usize)> = (0..left.len() * right.len())
        .into_par_iter()
        .map(|cell| correlation(&left[cell / right.len()], &right[cell % right.len()]))
        .collect();
    let shape = (first.len(), second.len());
    let cell = |(row, column): (usize, usize)| cells[row * shape.1 + column];
    Correlations {
        rows: first.to_vec(),
        columns: second.to_vec(),
        values: Array2::from_shape_fn(shape, |place| cell(place).0),
        counts: Array2::from_shape_fn(shape, |place| cell(place).1),
    }
}

/// The coefficient of the runs that have both numbers, and how many these are.
pub(super) fn correlation(first: &[f64], second: &[f64]) -> (f64, usize) {
    let both = first.iter().zip(second).filter(|(a, b)| a.is_finite() && b.is_finite());
    let (first, second): (Vec<f64>, Vec<f64>) = both.unzip();
    let varies = |values: &[f64]| values.iter().any(|value| *value != values[0]);
    if first.len() < LEAST || !varies(&first) || !varies(&second) {
        return (f64::NAN, first.len());
    }
    (spearman(&first, &second).unwrap_or(f64::NAN), first.len())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;

    /// `scipy.stats.spearmanr` of SciPy 1.17.1 on the runs that have both.
    #[test]
    fn correlations_agree_with_scipy() {
        let first = [1.0, 2.0, 2.0, 3.0, 5.0, 9.0];
        let second = [2.0, 1.0, 4.0, 4.0, 3.0, f64::NAN];
        let lines = first.iter().zip(second);
        let lines = lines.map(|(a, b)| ("vae", "shapes", vec![], 0, vec![*a, b, 1.0])).collect();
        let table = table(&[], &["mig", "sap", "irs"], lines);
        let keys: Vec<String> = ["mig", "sap", "irs", "absent"].map(str::to_owned).to_vec();
        let found = rank_correlations(&table, &all(&table), &keys, &keys[..3]);
        assert_eq!(found.values.dim(), (4, 3));
        assert!((found.values[[0, 1]] - 0.394_736_842_105_263_2).abs() < 1e-12);
        assert_eq!(found.values[[0, 1]], found.values[[1, 0]]);
        assert!((found.values[[0, 0]] - 1.0).abs() < 1e-12);
        assert_eq!((found.counts[[0, 0]], found.counts[[0, 1]], found.counts[[3, 0]]), (6, 5, 0));
        assert!(found.values[[0, 2]].is_nan(), "a constant has no ranks");
        assert!(found.values[[3, 0]].is_nan());
        assert!(rank_correlations(&table, &[0, 1], &keys, &keys).values.iter().all(|value| value.is_nan()));
    }
}
