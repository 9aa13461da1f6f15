//! Mutual information between units and factors, and their entropies, in nats.
//!
//! By default these are plug-in estimates from histograms, in one pass over the points for each pair of a unit and a factor:
//! the cost is linear in points, units and factors. [`Information::by_neighbours`] estimates mutual information from the
//! distances of nearest neighbours instead.

use crate::classes::Classes;
use crate::error::{MetricsError, Result};
use crate::interruption;
use crate::neighbours;
use crate::numeric::entropy_of_counts;
use crate::views::Labelled;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// The bin of every value, counted from 0, for `bins` bins of equal width between the smallest and the largest value. The
/// largest value falls into the last bin; all values of a constant fall into the same bin.
///
/// The left edges are computed as `i * width + smallest`, in this order of operations, and a value belongs to the last edge
/// that does not exceed it, so that the bins are exactly those of `numpy.histogram` and `numpy.digitize`.
///
/// ```
/// use unbraid_metrics::information::discretise;
///
/// assert_eq!(discretise(&[0.0, 0.9, 1.0, 2.0, 4.0], 4), [0, 0, 1, 2, 3]);
/// assert_eq!(discretise(&[7.5, 7.5], 4), [2, 2]);
/// ```
pub fn discretise(values: &[f64], bins: usize) -> Vec<u32> {
    let (smallest, largest) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    let (start, end) =
        if smallest < largest { (smallest, largest) } else { (smallest - 0.5, smallest + 0.5) };
    let width = (end - start) / bins as f64;
    if width < f64::MIN_POSITIVE || !width.is_finite() {
        return vec![0; values.len()];
    }
    let last = bins - 1;
    let edge = |bin: usize| bin as f64 * width + start;
    values
        .iter()
        .map(|&value| {
            // The quotient can be off by one if a value lies on an edge; comparing with the edge decides.
            let mut bin = (((value - start) / width) as usize).min(last);
            if edge(bin) > value {
                bin = bin.saturating_sub(1);
            } else if bin < last && edge(bin + 1) <= value {
                bin += 1;
            }
            bin as u32
        })
        .collect()
}

/// The plug-in estimate of the mutual information of two discrete variables, in nats.
///
/// `first` and `second` contain classes below `first_count` and `second_count`.
pub fn mutual_information(first: &[u32], first_count: usize, second: &[u32], second_count: usize) -> f64 {
    let mut joint = vec![0_u32; first_count * second_count];
    for (&a, &b) in first.iter().zip(second) {
        joint[a as usize * second_count + b as usize] += 1;
    }
    mutual_information_of_counts(&joint, second_count)
}

/// The mutual information of a contingency table in row-major order.
fn mutual_information_of_counts(joint: &[u32], columns: usize) -> f64 {
    let mut column_sums = vec![0_u64; columns];
    let mut row_sums = Vec::with_capacity(joint.len() / columns.max(1));
    for row in joint.chunks_exact(columns) {
        let mut sum = 0;
        for (&count, column_sum) in row.iter().zip(&mut column_sums) {
            sum += u64::from(count);
            *column_sum += u64::from(count);
        }
        row_sums.push(sum);
    }
    let total = row_sums.iter().sum::<u64>() as f64;
    let mut information = 0.0;
    for (row, &row_sum) in joint.chunks_exact(columns).zip(&row_sums) {
        for (&count, &column_sum) in row.iter().zip(&column_sums) {
            if count > 0 {
                let count = f64::from(count);
                information += count / total * (total * count / (row_sum as f64 * column_sum as f64)).ln();
            }
        }
    }
    information.max(0.0)
}

/// Mutual information between units and factors, with the entropies that scores divide by, in nats.
#[derive(Clone, Debug)]
pub struct Information {
    /// I(unit; factor), \[units, factors\].
    pub matrix: Array2<f64>,
    /// H(factor).
    pub factor_entropies: Vec<f64>,
    /// H(binned unit).
    pub unit_entropies: Vec<f64>,
    /// The number of bins of each unit.
    pub bins: usize,
}

impl Information {
    /// Bins the units and counts them against the factors.
    ///
    /// # Errors
    /// If `bins` is not in 2 to 65536.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::{Labelled, information::Information};
    ///
    /// let (codes, factors) = (array![[0.0, 5.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]], array![[0], [0], [1], [1]]);
    /// let information = Information::new(&Labelled::new(codes.view(), factors.view())?, 20)?;
    /// assert!((information.matrix[[0, 0]] - 2_f64.ln()).abs() < 1e-12);
    /// assert_eq!(information.matrix[[1, 0]], 0.0);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn new(data: &Labelled<'_>, bins: usize) -> Result<Self> {
        check_bins(bins)?;
        Ok(Self::of_classes(data.codes(), data.classes(), bins))
    }

    /// As [`Information::new`], with mutual information estimated from the distances of nearest neighbours instead of bins: by
    /// the estimator of Ross (2014) for factors that are classes, and by that of Kraskov, Stögbauer and Grassberger (2004) for
    /// factors that are numbers ([`Labelled::is_number`]). Both are capped at the entropy of the factor's classes. Entropies are
    /// still those of bins and classes.
    ///
    /// Unlike the plug-in estimate, it has little bias with many classes and few points.
    ///
    /// # Errors
    /// If `bins` is not in 2 to 65536, or `neighbours` is 0.
    pub fn by_neighbours(data: &Labelled<'_>, neighbours: usize, bins: usize) -> Result<Self> {
        if neighbours == 0 {
            return Err(MetricsError::parameter("neighbours", 0, "at least 1"));
        }
        let mut information = Self::new(data, bins)?;
        let numbers = data.numbers();
        let (units, factors) = information.matrix.dim();
        let values: Vec<f64> = (0..units * factors)
            .into_par_iter()
            .map(|place| {
                interruption::check();
                let (unit, factor) = (place / factors, place % factors);
                let unit = data.codes().column(unit).to_vec();
                let found = if data.is_number(factor) {
                    neighbours::of_numbers(&unit, &numbers.column(factor).to_vec(), neighbours)
                } else {
                    neighbours::of_classes(&unit, &data.classes()[factor], neighbours)
                };
                found.min(information.factor_entropies[factor])
            })
            .collect();
        information.matrix =
            Array2::from_shape_fn((units, factors), |(unit, factor)| values[unit * factors + factor]);
        Ok(information)
    }

    /// By neighbours if their number is given, otherwise by bins.
    pub(crate) fn by(data: &Labelled<'_>, bins: usize, neighbours: Option<usize>) -> Result<Self> {
        match neighbours {
            Some(neighbours) => Self::by_neighbours(data, neighbours, bins),
            None => Self::new(data, bins),
        }
    }

    fn of_classes(codes: ArrayView2<'_, f64>, classes: &[Classes], bins: usize) -> Self {
        let units: Vec<(f64, Vec<f64>)> = (0..codes.ncols())
            .into_par_iter()
            .map(|unit| {
                let binned = discretise(&codes.column(unit).to_vec(), bins);
                let mut counts = vec![0; bins];
                for &bin in &binned {
                    counts[bin as usize] += 1;
                }
                let row = classes
                    .iter()
                    .map(|factor| mutual_information(&binned, bins, factor.labels(), factor.count()))
                    .collect();
                (entropy_of_counts(&counts), row)
            })
            .collect();
        Self {
            matrix: Array2::from_shape_fn((units.len(), classes.len()), |(unit, factor)| {
                units[unit].1[factor]
            }),
            factor_entropies: classes.iter().map(|factor| entropy_of_counts(&factor.sizes())).collect(),
            unit_entropies: units.iter().map(|(entropy, _)| *entropy).collect(),
            bins,
        }
    }

    /// The indices of the factors that take more than one value; the others carry no information and are left out of means.
    pub(crate) fn varying_factors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.factor_entropies.len()).filter(|&factor| self.factor_entropies[factor] > 0.0)
    }
}

/// The help text of the option `neighbours`.
pub(crate) const NEIGHBOURS: &str =
    "estimate by this many nearest neighbours (Kraskov, Ross) instead of bins";

/// The allowed numbers of bins.
pub const BINS: RangeInclusive<usize> = 2..=65_536;

/// Checks that a number of bins is allowed.
pub(crate) fn check_bins(bins: usize) -> Result<()> {
    if BINS.contains(&bins) { Ok(()) } else { Err(MetricsError::parameter("bins", bins, "2 to 65536")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand: counts [[2, 1], [0, 1]], so I = 1/2 ln(4/3) + 1/4 ln(2/3) + 1/4 ln 2.
    #[test]
    fn mutual_information_by_hand() {
        let value = mutual_information(&[0, 0, 0, 1], 2, &[0, 0, 1, 1], 2);
        let expected = 0.5 * (4.0_f64 / 3.0).ln() + 0.25 * (2.0_f64 / 3.0).ln() + 0.25 * 2.0_f64.ln();
        assert!((value - expected).abs() < 1e-15);
    }

    #[test]
    fn tiny_and_huge_ranges_stay_in_the_table() {
        for values in [[0.0, f64::MIN_POSITIVE], [-1e60, 1e60], [1.0, 1.0 + f64::EPSILON]] {
            assert!(discretise(&values, 20).iter().all(|&bin| bin < 20), "{values:?}");
        }
    }
}
