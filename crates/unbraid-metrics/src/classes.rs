//! Class labels numbered from 0.

use ndarray::{ArrayView1, ArrayView2};

/// One factor as class labels 0, 1, ... in the order of its values.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Classes;
///
/// let classes = Classes::new(array![7, -3, 7, 5].view());
/// assert_eq!(classes.labels(), [2, 0, 2, 1]);
/// assert_eq!(classes.values(), [-3, 5, 7]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    labels: Vec<u32>,
    values: Vec<i64>,
}

impl Classes {
    /// Numbers the values that occur.
    pub fn new(column: ArrayView1<'_, i64>) -> Self {
        let mut values: Vec<i64> = column.to_vec();
        values.sort_unstable();
        values.dedup();
        let labels =
            column.iter().map(|value| values.partition_point(|other| other < value) as u32).collect();
        Self { labels, values }
    }

    /// The classes of every factor, for `factors` \[n, factors\].
    pub fn of_factors(factors: ArrayView2<'_, i64>) -> Vec<Self> {
        factors.columns().into_iter().map(Self::new).collect()
    }

    /// The class of each row.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The value that each class stands for, increasing.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Whether the factor takes more than one value.
    pub fn varies(&self) -> bool {
        self.count() > 1
    }

    /// The number of rows of each class.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.count()];
        for &class in &self.labels {
            sizes[class as usize] += 1;
        }
        sizes
    }

    /// The rows of each class, in order.
    pub fn rows(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.count()];
        for (row, &class) in self.labels.iter().enumerate() {
            rows[class as usize].push(row);
        }
        rows
    }

    /// The accuracy of always predicting the most common class, on the classes of another sample.
    pub(crate) fn majority_accuracy(&self, truth: &[Option<u32>]) -> f64 {
        let sizes = self.sizes();
        // Of classes of the same size the first one.
        let common = (0..sizes.len()).rev().max_by_key(|&class| sizes[class]).map(|class| class as u32);
        let hits = truth.iter().filter(|class| common.is_some() && **class == common).count();
        hits as f64 / truth.len().max(1) as f64
    }

    /// The class of each row of another sample; `None` for a value that does not occur in this one.
    pub fn labels_of(&self, column: ArrayView1<'_, i64>) -> Vec<Option<u32>> {
        column.iter().map(|value| self.values.binary_search(value).ok().map(|class| class as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn classes_follow_the_order_of_values() {
        let classes = Classes::new(array![7, -3, 7, 5].view());
        assert_eq!(classes.labels(), [2, 0, 2, 1]);
        assert_eq!(classes.values(), [-3, 5, 7]);
        assert_eq!(classes.sizes(), [1, 1, 2]);
        assert_eq!(classes.rows(), [vec![1], vec![3], vec![0, 2]]);
        assert_eq!(classes.labels_of(array![5, 6].view()), [Some(1), None]);
        assert_eq!(classes.majority_accuracy(&[Some(2), Some(1), None, Some(2)]), 0.5);
    }
}
