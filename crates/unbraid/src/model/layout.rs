//! Latent units (dimensions): their names, their columns in a row of latent values, and rows in which a single unit
//! changes.

use crate::config::LatentsConfig;
use ndarray::{Array2, ArrayRef, Axis, Ix1, Ix2};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A latent unit (dimension). It is written as `3`, or `category.0` for a categorical one.
///
/// ```
/// use unbraid::model::Unit;
///
/// assert_eq!("3".parse(), Ok(Unit::Continuous(3)));
/// assert_eq!(Unit::Categorical(0).to_string(), "category.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A real number.
    Continuous(usize),
    /// One of several classes.
    Categorical(usize),
}

impl Unit {
    /// The unit of the same kind with this number.
    #[must_use]
    pub fn with_number(self, number: usize) -> Self {
        match self {
            Self::Continuous(_) => Self::Continuous(number),
            Self::Categorical(_) => Self::Categorical(number),
        }
    }

    /// `continuous` or `categorical`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Continuous(_) => "continuous",
            Self::Categorical(_) => "categorical",
        }
    }

    /// Its label in figures.
    pub fn label(self) -> String {
        match self {
            Self::Continuous(unit) => format!("unit {unit}"),
            Self::Categorical(unit) => format!("category {unit}"),
        }
    }
}

/// The prefix of the names of categorical units.
const CATEGORY: &str = "category.";

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continuous(unit) => unit.fmt(f),
            Self::Categorical(unit) => write!(f, "{CATEGORY}{unit}"),
        }
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = |digits: &str| digits.parse::<usize>().ok();
        let unit = match text.strip_prefix(CATEGORY) {
            Some(digits) => number(digits).map(Self::Categorical),
            None => number(text).map(Self::Continuous),
        };
        unit.ok_or_else(|| {
            format!(
                "found `{text}`, expected the number of a unit, as in 3, or category.0 for a categorical unit"
            )
        })
    }
}

/// Which columns of a row belong to which unit: continuous units first, then the classes of each categorical unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    continuous: usize,
    categorical: Vec<usize>,
}

impl Layout {
    /// From a configuration.
    pub fn new(config: &LatentsConfig) -> Self {
        Self { continuous: config.continuous, categorical: config.categorical.clone() }
    }

    /// For this many continuous units, and categorical units with these numbers of classes.
    pub fn with_units(continuous: usize, categorical: &[usize]) -> Self {
        Self { continuous, categorical: categorical.to_vec() }
    }

    /// The number of continuous units.
    pub fn continuous(&self) -> usize {
        self.continuous
    }

    /// The number of classes of each categorical unit.
    pub fn categorical(&self) -> &[usize] {
        &self.categorical
    }

    /// The number of classes of all categorical units together.
    pub fn classes(&self) -> usize {
        self.categorical.iter().sum()
    }

    /// The number of columns: one for each continuous unit and each class of each categorical unit.
    pub fn width(&self) -> usize {
        self.continuous + self.classes()
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

    /// The columns of all continuous units.
    pub fn continuous_columns(&self) -> Range<usize> {
        0..self.continuous
    }

    /// The column of a class of a categorical unit.
    pub fn class_column(&self, unit: usize, class: usize) -> usize {
        self.columns(Unit::Categorical(unit)).start + class
    }

    /// The columns of a categorical unit in a matrix of the classes of all categorical units, without continuous ones.
    pub fn probability_columns(&self, unit: usize) -> Range<usize> {
        let columns = self.columns(Unit::Categorical(unit));
        columns.start - self.continuous..columns.end - self.continuous
    }

    /// The class of each categorical unit in a row of latent values: the one with the largest value.
    pub fn classes_of(&self, row: &ArrayRef<f32, Ix1>) -> Vec<usize> {
        let class = |unit| {
            let columns = self.columns(Unit::Categorical(unit));
            let first = columns.start;
            columns.max_by(|&a, &b| row[a].total_cmp(&row[b])).map_or(0, |column| column - first)
        };
        (0..self.categorical.len()).map(class).collect()
    }

    /// Copies of a row with a continuous unit set to each of these values.
    pub fn traversal(&self, row: &ArrayRef<f32, Ix1>, unit: usize, values: &[f64]) -> Array2<f32> {
        let mut rows = repeated(row, values.len());
        rows.column_mut(unit).iter_mut().zip(values).for_each(|(place, value)| *place = *value as f32);
        rows
    }

    /// Copies of a row with a categorical unit set to each of its classes.
    pub fn class_traversal(&self, row: &ArrayRef<f32, Ix1>, unit: usize) -> Array2<f32> {
        let columns = self.columns(Unit::Categorical(unit));
        let mut rows = repeated(row, columns.len());
        rows.slice_axis_mut(Axis(1), columns.into()).assign(&Array2::eye(self.categorical[unit]));
        rows
    }

    /// Rows with a categorical unit set to `class`.
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

/// Equally spaced values from `low` to `high`, both included; for a single one, the midpoint.
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
        assert_eq!((layout().class_column(1, 1), layout().probability_columns(1)), (6, 3..5));
        assert_eq!(layout().classes_of(&array![9.0, 9.0, 0.0, 0.2, 0.8, 1.0, 0.0]), [2, 0]);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for unit in [Unit::Continuous(0), Unit::Continuous(31), Unit::Categorical(2)] {
            assert_eq!(unit.to_string().parse(), Ok(unit));
        }
        for text in ["", "-1", "x", "category", "category.", "category.x", "1.5"] {
            assert_eq!(
                text.parse::<Unit>(),
                Err(format!(
                    "found `{text}`, expected the number of a unit, as in 3, or category.0 for a categorical unit"
                ))
            );
        }
    }

    #[test]
    fn only_one_unit_changes() {
        let row = array![0.5, -0.5, 0.0, 1.0, 0.0, 1.0, 0.0];
        let rows = layout().traversal(&row, 1, &[-3.0, 3.0]);
        assert_eq!(rows, array![[0.5, -3.0, 0.0, 1.0, 0.0, 1.0, 0.0], [0.5, 3.0, 0.0, 1.0, 0.0, 1.0, 0.0]]);
        let rows = layout().class_traversal(&row, 0);
        assert_eq!(rows.row(0), array![0.5, -0.5, 1.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(rows.row(2), array![0.5, -0.5, 0.0, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!(layout().in_class(&rows, 1, 1).column(6), array![1.0, 1.0, 1.0]);
        assert_eq!(layout().in_class(&rows, 1, 1).column(5), array![0.0, 0.0, 0.0]);
    }

    /// As in a plot: to the right and upwards.
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
