//! Means, deviations, confidence intervals and quartiles of a few numbers.

use crate::Table;
use unbraid::metrics::quantile_of_sorted;
use unbraid::prior::special::{inverse, student_t_cdf};

/// A mean and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// How many numbers.
    pub count: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// Their standard deviation, with n - 1 in the denominator; NaN for a single number.
    pub deviation: f64,
}

impl Mean {
    /// Of the numbers that are finite; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        if known.is_empty() {
            return None;
        }
        let count = known.len();
        let (mean, squares) = mean_and_squares(&known);
        Some(Self { count, mean, deviation: deviation(squares, count) })
    }

    /// Of both samples together, from what is known of each.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let count = self.count + other.count;
        let (first, second) = (self.count as f64, other.count as f64);
        let mean = (first * self.mean + second * other.mean) / count as f64;
        let between = first * second / count as f64 * (self.mean - other.mean).powi(2);
        Self { count, mean, deviation: deviation(self.squares() + other.squares() + between, count) }
    }

    /// Of one number of these rows; those that summarise several runs count as many. `None` if no row has it.
    pub fn of_rows(table: &Table, rows: &[usize], column: usize) -> Option<Self> {
        let (published, single): (Vec<usize>, Vec<usize>) =
            rows.iter().partition(|&&row| table.rows[row].spread.is_some());
        let values: Vec<f64> = single.iter().map(|&row| table.rows[row].numbers[column]).collect();
        let published = published.iter().filter_map(|&row| {
            let (row, mean) = (&table.rows[row], table.rows[row].numbers[column]);
            let spread = row.spread.as_ref().filter(|_| mean.is_finite())?;
            Some(Self { count: spread.runs, mean, deviation: spread.deviations[column] })
        });
        Self::of(&values).into_iter().chain(published).reduce(Self::and)
    }

    /// The standard error of the mean, s / sqrt(n); NaN for a single number.
    pub fn standard_error(&self) -> f64 {
        self.deviation / (self.count as f64).sqrt()
    }

    /// The interval that covers the expectation with a probability of 95 %, if the numbers are normally distributed:
    /// mean +- t s / sqrt(n), with the quantile t of 0.975 of Student's distribution with n - 1 degrees of freedom.
    /// `None` for a single number.
    pub fn confidence(&self) -> Option<(f64, f64)> {
        if self.count < 2 || !self.deviation.is_finite() {
            return None;
        }
        let half = student_t_quantile((self.count - 1) as f64, 0.975) * self.standard_error();
        Some((self.mean - half, self.mean + half))
    }

    /// The sum of squared distances from the mean.
    fn squares(&self) -> f64 {
        if self.count == 1 { 0.0 } else { self.deviation.powi(2) * (self.count - 1) as f64 }
    }
}

/// The mean of at least one number, and the sum of squared distances from it: exactly 0 if all are equal,
/// where rounding would pass for a difference.
pub(super) fn mean_and_squares(values: &[f64]) -> (f64, f64) {
    if values.iter().all(|value| *value == values[0]) {
        return (values[0], 0.0);
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum())
}

fn deviation(squares: f64, count: usize) -> f64 {
    if count < 2 { f64::NAN } else { (squares / (count - 1) as f64).sqrt() }
}

/// The x at which Student's distribution function with `degrees` degrees of freedom reaches `probability`.
pub fn student_t_quantile(degrees: f64, probability: f64) -> f64 {
    inverse(|x| student_t_cdf(degrees, x), probability)
}

/// Where the numbers of a sample lie: what a box plot shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiveNumbers {
    /// The smallest.
    pub minimum: f64,
    /// A quarter is below.
    pub lower_quartile: f64,
    /// Half is below.
    pub median: f64,
    /// Three quarters are below.
    pub upper_quartile: f64,
    /// The largest.
    pub maximum: f64,
}

impl FiveNumbers {
    /// Of the numbers that are finite; `None` if there are none. Quartiles between two numbers are
    /// interpolated linearly, as NumPy does by default.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| quantile_of_sorted(&sorted, share);
        (!sorted.is_empty()).then(|| Self {
            minimum: at(0.0),
            lower_quartile: at(0.25),
            median: at(0.5),
            upper_quartile: at(0.75),
            maximum: at(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Row, Spread};

    /// `scipy.stats.t.ppf(0.975, df)` of SciPy 1.17.1; to three digits these are in every table of statistics.
    #[test]
    fn quantiles_of_students_distribution() {
        for (degrees, expected) in [
            (1.0, 12.706_204_736_174_694),
            (2.0, 4.302_652_729_749_462),
            (4.0, 2.776_445_105_197_793_4),
            (9.0, 2.262_157_162_798_205),
            (49.0, 2.009_575_237_129_239_2),
            (1000.0, 1.962_339_080_826_408_3),
        ] {
            let found = student_t_quantile(degrees, 0.975);
            assert!((found - expected).abs() < 1e-9 * expected, "{degrees}: {found}");
            assert!((student_t_quantile(degrees, 0.025) + expected).abs() < 1e-9 * expected);
        }
    }

    /// 1 to 5 by hand: mean 3, variance 10 / 4; the interval is `scipy.stats.t.interval(0.95, 4, 3, sem([1,
    /// 2, 3, 4, 5]))`.
    #[test]
    fn means_and_their_intervals() {
        let mean = Mean::of(&[1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((mean.count, mean.mean), (5, 3.0));
        assert!((mean.deviation - 2.5_f64.sqrt()).abs() < 1e-15);
        let (low, high) = mean.confidence().unwrap();
        assert!((low - 1.036_756_838_522_442_8).abs() < 1e-9 && (high - 4.963_243_161_477_557).abs() < 1e-9);
        let single = Mean::of(&[7.0]).unwrap();
        assert!(single.deviation.is_nan() && single.confidence().is_none());
        assert_eq!(Mean::of(&[f64::NAN]), None);
    }

    #[test]
    fn parts_together_are_the_whole() {
        let values = [0.5, 1.5, -2.0, 4.0, 4.0, 0.25, 9.0];
        let whole = Mean::of(&values).unwrap();
        for cut in 1..values.len() {
            let parts = Mean::of(&values[..cut]).unwrap().and(Mean::of(&values[cut..]).unwrap());
            assert_eq!(parts.count, whole.count);
            assert!((parts.mean - whole.mean).abs() < 1e-14, "{cut}");
            assert!((parts.deviation - whole.deviation).abs() < 1e-14, "{cut}");
        }
    }

    #[test]
    fn a_published_mean_counts_for_all_its_runs() {
        let published = Row {
            numbers: vec![3.0],
            spread: Some(Spread { runs: 5, deviations: vec![2.5_f64.sqrt()], medians: vec![f64::NAN] }),
            ..Row::named("published", "vae", "shapes")
        };
        let own = Row { numbers: vec![6.0], ..Row::named("own", "vae", "shapes") };
        let table = Table { number_keys: vec!["mig".into()], rows: vec![published, own], ..Table::default() };
        let alone = Mean::of_rows(&table, &[0], 0).unwrap();
        assert_eq!((alone.count, alone.mean), (5, 3.0));
        let both = Mean::of_rows(&table, &[0, 1], 0).unwrap();
        let expected = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!(both.count == 6 && (both.mean - 3.5).abs() < 1e-15);
        assert!((both.deviation - expected.deviation).abs() < 1e-14);
    }

    /// `numpy.quantile([1, 2, 4, 8, 16, 32], [0, 0.25, 0.5, 0.75, 1])`
    #[test]
    fn five_numbers_as_numpy_has_them() {
        let found = FiveNumbers::of(&[32.0, 1.0, 16.0, f64::INFINITY, 2.0, 8.0, 4.0]).unwrap();
        let expected = FiveNumbers {
            minimum: 1.0,
            lower_quartile: 2.5,
            median: 6.0,
            upper_quartile: 14.0,
            maximum: 32.0,
        };
        assert_eq!(found, expected);
        assert_eq!(FiveNumbers::of(&[]), None);
    }
}
