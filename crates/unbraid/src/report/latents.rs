//! Latent values as rows of numbers: which columns belong to which unit, and rows in which only one unit changes.

use crate::config::LatentsConfig;
use ndarray::{Array2, ArrayRef, Axis, Ix1, Ix2};
use std::ops::Range;

/// A latent unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number.
    Continuous(usize),
    /// One of some classes.
    Categorical(usize),
}

/// Which columns of a row belong to which unit: continuous units first, then the classes of each categorical unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    continuous: usize,
    categorical: Vec<usize>,
}

impl Layout {
    /// Of a configuration.
    pub fn new(config: &LatentsConfig) -> Self {
        Self { continuous: config.continuous, categorical: config.categorical.clone() }
    }

    /// The number of continuous units.
    pub fn continuous(&self) -> usize {
        self.continuous
    }

    /// The number of classes of each categorical unit.
    pub fn categorical(&self) -> &[usize] {
        &self.categorical
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.continuous + self.categorical.iter().sum::<usize>()
    }

    /// All units in order.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        let categorical = (0..self.categorical.len()).map(Unit::Categorical);
        (0..self.continuous).map(Unit::Continuous).chain(categorical)
    }

    /// The columns of a unit.
    pub fn columns(&self, unit: Unit) -> Range<usize> {
        match unit {
            Unit::Continuous(unit) => unit..unit + 1,
            Unit::Categorical(unit) => {
                let start = self.continuous + self.categorical[..unit].iter().sum::<usize>();
                start..start + self.categorical[unit]
            }
        }
    }

    /// What a unit is called.
    pub fn name(&self, unit: Unit) -> String {
        match unit {
            Unit::Continuous(unit) => format!("unit {unit}"),
            Unit::Categorical(unit) => format!("category {unit}"),
        }
    }

    /// Copies of a row in which a continuous unit takes these values, one each.
    pub fn traversal(&self, row: &ArrayRef<f32, Ix1>, unit: usize, values: &[f64]) -> Array2<f32> {
        let mut rows = repeated(row, values.len());
        rows.column_mut(unit).iter_mut().zip(values).for_each(|(place, value)| *place = *value as f32);
        rows
    }

    /// Copies of a row in which a categorical unit is in each of its classes.
    pub fn classes(&self, row: &ArrayRef<f32, Ix1>, unit: usize) -> Array2<f32> {
        let columns = self.columns(Unit::Categorical(unit));
        let mut rows = repeated(row, columns.len());
        rows.slice_axis_mut(Axis(1), columns.into()).assign(&Array2::eye(self.categorical[unit]));
        rows
    }

    /// Rows in which a categorical unit is in class `class`, whatever it was in.
    pub fn in_class(&self, rows: &ArrayRef<f32, Ix2>, unit: usize, class: usize) -> Array2<f32> {
        let columns = self.columns(Unit::Categorical(unit));
        let mut rows = rows.to_owned();
        let start = columns.start;
        rows.slice_axis_mut(Axis(1), columns.into()).fill(0.0);
        rows.column_mut(start + class).fill(1.0);
        rows
    }

    /// Copies of a row over a grid: the first unit changes from left to right, the second from bottom to top.
    pub fn grid(
        &self,
        row: &ArrayRef<f32, Ix1>,
        (across, values): (usize, &[f64]),
        (up, heights): (usize, &[f64]),
    ) -> Array2<f32> {
        let mut rows = repeated(row, values.len() * heights.len());
        for (place, mut row) in rows.rows_mut().into_iter().enumerate() {
            row[across] = values[place % values.len()] as f32;
            row[up] = heights[heights.len() - 1 - place / values.len()] as f32;
        }
        rows
    }
}

fn repeated(row: &ArrayRef<f32, Ix1>, times: usize) -> Array2<f32> {
    Array2::from_shape_fn((times, row.len()), |(_, column)| row[column])
}

/// Equal steps from `low` to `high`, both included; for a single one, the middle.
pub fn steps((low, high): (f64, f64), count: usize) -> Vec<f64> {
    if count == 1 {
        return vec![(low + high) / 2.0];
    }
    (0..count).map(|step| low + (high - low) * step as f64 / (count - 1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn layout() -> Layout {
        Layout { continuous: 2, categorical: vec![3, 2] }
    }

    #[test]
    fn columns_follow_each_other() {
        let columns: Vec<_> = layout().units().map(|unit| layout().columns(unit)).collect();
        assert_eq!(columns, [0..1, 1..2, 2..5, 5..7]);
    }

    #[test]
    fn only_one_unit_changes() {
        let row = array![0.5, -0.5, 0.0, 1.0, 0.0, 1.0, 0.0];
        let rows = layout().traversal(&row, 1, &[-3.0, 3.0]);
        assert_eq!(rows, array![[0.5, -3.0, 0.0, 1.0, 0.0, 1.0, 0.0], [0.5, 3.0, 0.0, 1.0, 0.0, 1.0, 0.0]]);
        let rows = layout().classes(&row, 0);
        assert_eq!(rows.row(0), array![0.5, -0.5, 1.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(rows.row(2), array![0.5, -0.5, 0.0, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!(layout().in_class(&rows, 1, 1).column(6), array![1.0, 1.0, 1.0]);
        assert_eq!(layout().in_class(&rows, 1, 1).column(5), array![0.0, 0.0, 0.0]);
    }

    /// As in a graph: to the right and upwards.
    #[test]
    fn a_grid_grows_to_the_right_and_upwards() {
        let row = array![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        let rows = layout().grid(&row, (0, &[-1.0, 1.0]), (1, &[-2.0, 2.0]));
        let pairs: Vec<(f32, f32)> = rows.rows().into_iter().map(|row| (row[0], row[1])).collect();
        assert_eq!(pairs, [(-1.0, 2.0), (1.0, 2.0), (-1.0, -2.0), (1.0, -2.0)]);
    }

    #[test]
    fn steps_include_both_ends() {
        assert_eq!(steps((-3.0, 3.0), 5), [-3.0, -1.5, 0.0, 1.5, 3.0]);
        assert_eq!(steps((-3.0, 5.0), 1), [1.0]);
    }
}
