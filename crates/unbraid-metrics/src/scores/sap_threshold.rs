//! The best classification of a factor by thresholds on a single unit.

use crate::classes::Classes;

/// The largest balanced accuracy (mean recall of the classes) that thresholds on `values` can reach: the line is cut into at
/// most as many intervals as there are classes, and each interval is assigned to one class.
///
/// Found exactly by dynamic programming over the sorted values. The state is the number of intervals so far and the class of
/// the current one, so the cost is O(n classes^2).
pub(super) fn balanced_threshold_accuracy(values: &[f64], classes: &Classes) -> f64 {
    let count = classes.count();
    let shares: Vec<f64> =
        classes.sizes().iter().map(|&rows| 1.0 / (f64::from(rows) * count as f64)).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    // best[interval][class]: the accuracy so far. Only the first interval can be open at the start.
    let mut best = vec![vec![f64::NEG_INFINITY; count]; count];
    best[0].fill(0.0);
    let mut gains = vec![0.0; count];
    let mut place = 0;
    while place < order.len() {
        // Equal values cannot be separated, so they are added together.
        let value = values[order[place]];
        gains.fill(0.0);
        while place < order.len() && values[order[place]] == value {
            let class = classes.labels()[order[place]] as usize;
            gains[class] += shares[class];
            place += 1;
        }
        let mut before_best = f64::NEG_INFINITY;
        for interval in &mut best {
            let interval_best = interval.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (score, gain) in interval.iter_mut().zip(&gains) {
                *score = score.max(before_best) + gain;
            }
            before_best = interval_best;
        }
    }
    best.iter().flatten().copied().fold(0.0, f64::max).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn known_cuts() {
        let classes = Classes::new(array![0, 0, 1, 1].view());
        assert_eq!(balanced_threshold_accuracy(&[1.0, 2.0, 3.0, 4.0], &classes), 1.0);
        // Either direction of the threshold is allowed.
        assert_eq!(balanced_threshold_accuracy(&[4.0, 3.0, 2.0, 1.0], &classes), 1.0);
        // One threshold cannot cut out the middle: three of four points are right at best.
        assert_eq!(balanced_threshold_accuracy(&[1.0, 4.0, 2.0, 3.0], &classes), 0.75);
        assert_eq!(balanced_threshold_accuracy(&[1.0; 4], &classes), 0.5);
        // Three classes in any order along the line, with class sizes 1, 2 and 3.
        let classes = Classes::new(array![2, 0, 0, 1, 1, 1].view());
        let found = balanced_threshold_accuracy(&[5.0, 0.0, 1.0, 9.0, 8.0, 7.0], &classes);
        assert!((found - 1.0).abs() < 1e-12);
        let found = balanced_threshold_accuracy(&[7.5, 0.0, 1.0, 9.0, 8.0, 7.0], &classes);
        assert!((found - (1.0 + 1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12);
    }
}
