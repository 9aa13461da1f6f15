//! The columns of a table and how they are standardised.

use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::random::Stream;
use serde::{Deserialize, Serialize};

/// A column of a table: its name, and the mean and standard deviation of its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The name.
    pub name: String,
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 1 for a column whose values are all the same.
    pub deviation: f64,
}

/// The columns of a table, each of which is standardised: x becomes (x - mean) / deviation.
///
/// A network learns columns of different units and sizes equally well only after that, and one scale of the
/// likelihood can then be that of all columns.
///
/// ```
/// use unbraid_data::{DataSet, Features, Fingerprint, StoredVectors};
///
/// let names = vec!["height".to_owned(), "age".to_owned()];
/// let recipe = Fingerprint::Recipe("two people".to_owned());
/// let data = StoredVectors::new("people", names, vec![1.6, 30.0, 1.8, 50.0], None, recipe);
/// let features = Features::of(&data)?;
/// let mut row = [1.8, 30.0];
/// features.standardise(&mut row);
/// assert!((row[0] - 1.0).abs() < 1e-9 && (row[1] + 1.0).abs() < 1e-9);
/// features.restore(&mut row);
/// assert!((row[0] - 1.8).abs() < 1e-9 && (row[1] - 30.0).abs() < 1e-9);
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Features {
    columns: Vec<Feature>,
}

impl Features {
    /// The mean and standard deviation of every column of a table. Columns without a name are numbered.
    ///
    /// # Errors
    /// If the table cannot be read, or numbers are so large that their squares are infinite.
    ///
    /// # Panics
    /// If the table is empty.
    pub fn of(data: &dyn DataSet) -> Result<Self> {
        assert!(!data.is_empty(), "a table has rows");
        let width = data.shape().values();
        let names: Vec<String> = match data.columns() {
            Some(names) => names.to_vec(),
            None => (0..width).map(|column| format!("x{column}")).collect(),
        };
        let noise = Stream::new(0, "features").at(0);
        let rows = data.len() as f64;
        let mut row = vec![0.0; width];
        let mut visit = |each: &mut dyn FnMut(usize, f64)| -> Result<()> {
            for index in 0..data.len() {
                data.write_row(index, noise.lane(index as u64), &mut row)?;
                row.iter().enumerate().for_each(|(column, &value)| each(column, value));
            }
            Ok(())
        };
        let mut means = vec![0.0; width];
        visit(&mut |column, value| means[column] += value / rows)?;
        // In a second pass: the mean of squares minus the square of the mean loses what is small beside the mean.
        let mut variances = vec![0.0; width];
        visit(&mut |column, value| variances[column] += (value - means[column]).powi(2) / rows)?;
        let columns = names.into_iter().zip(means).zip(variances).map(|((name, mean), variance)| {
            if !(mean.is_finite() && variance.is_finite()) {
                let subject = format!("column `{name}` of data set `{}`", data.name());
                return Err(DataError::value(subject, "numbers too large to square", "smaller numbers"));
            }
            // Rounding leaves a little of the variance of values that are all the same.
            let least = (mean.abs() * 1e-12).max(f64::MIN_POSITIVE);
            let deviation = variance.sqrt();
            Ok(Feature { name, mean, deviation: if deviation > least { deviation } else { 1.0 } })
        });
        Ok(Self { columns: columns.collect::<Result<_>>()? })
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Feature] {
        &self.columns
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether all numbers are possible ones; a file may say anything.
    pub fn are_valid(&self) -> bool {
        let valid = |column: &Feature| {
            column.mean.is_finite() && column.deviation.is_finite() && column.deviation > 0.0
        };
        self.columns.iter().all(valid)
    }

    /// Standardises a row, or several in a row.
    pub fn standardise(&self, values: &mut [f64]) {
        for row in values.chunks_exact_mut(self.len().max(1)) {
            for (value, column) in row.iter_mut().zip(&self.columns) {
                *value = (*value - column.mean) / column.deviation;
            }
        }
    }

    /// Undoes [`Features::standardise`].
    pub fn restore(&self, values: &mut [f64]) {
        for row in values.chunks_exact_mut(self.len().max(1)) {
            for (value, column) in row.iter_mut().zip(&self.columns) {
                *value = *value * column.deviation + column.mean;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Fingerprint;
    use crate::vectors::StoredVectors;

    fn features(values: Vec<f64>, names: [&str; 2]) -> Result<Features> {
        let recipe = Fingerprint::Recipe(String::new());
        Features::of(&StoredVectors::new("t", names.map(str::to_owned).to_vec(), values, None, recipe))
    }

    /// By hand: 1, 2, 6 have the mean 3 and the variance (4 + 1 + 9) / 3.
    #[test]
    fn columns_get_mean_zero_and_variance_one() {
        let features = features(vec![1.0, 7.0, 2.0, 7.0, 6.0, 7.0], ["a", "constant"]).unwrap();
        let [a, constant] = features.columns() else { panic!("two columns") };
        assert!((a.mean - 3.0).abs() < 1e-12 && (a.deviation - (14.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((constant.mean - 7.0).abs() < 1e-12);
        assert_eq!(constant.deviation, 1.0);
        let mut rows = [3.0 + a.deviation, 7.0, 3.0, 8.0];
        features.standardise(&mut rows);
        for (found, expected) in rows.iter().zip([1.0, 0.0, 0.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    /// Seconds since 1970 with a spread of one: in single precision they would all be the same number.
    #[test]
    fn a_small_spread_of_large_numbers_is_kept() {
        let features = features(vec![1.6e9, 0.0, 1.6e9 + 2.0, 1.0], ["time", "b"]).unwrap();
        assert!((features.columns()[0].deviation - 1.0).abs() < 1e-6);
    }

    #[test]
    fn numbers_whose_squares_are_infinite_are_refused() {
        let error = features(vec![1e300, 0.0, -1e300, 1.0], ["a", "b"]).unwrap_err();
        let expected =
            "column `a` of data set `t`: found numbers too large to square, expected smaller numbers";
        assert_eq!(error.to_string(), expected);
    }
}
