//! How to judge a score: its chance level, and how much it would vary with other points.

/// The chance levels of a score's numbers: the same score on the same codes with the rows of the factors shuffled, all factors
/// of a row together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chance {
    /// How often the rows were shuffled.
    pub shuffles: usize,
    levels: Vec<(String, Level)>,
}

/// The chance level of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The mean over the shuffles.
    pub mean: f64,
    /// The standard deviation over the shuffles; `None` with a single shuffle.
    pub deviation: Option<f64>,
    /// The number of shuffles.
    pub shuffles: usize,
}

impl Chance {
    /// From the numbers of each shuffle. A number that is missing or not finite in any of them is left out.
    pub(crate) fn of_shuffles(shuffles: &[Vec<(String, f64)>]) -> Self {
        let Some(first) = shuffles.first() else { return Self::default() };
        let levels = first.iter().filter_map(|(key, _)| {
            let values: Option<Vec<f64>> = shuffles
                .iter()
                .map(|numbers| numbers.iter().find(|(other, _)| other == key).map(|(_, value)| *value))
                .collect();
            let values = values.filter(|values| values.iter().all(|value| value.is_finite()))?;
            Some((key.clone(), Level::of(&values)))
        });
        Self { shuffles: shuffles.len(), levels: levels.collect() }
    }

    /// From levels that were stored.
    pub(crate) fn from_levels(shuffles: usize, levels: Vec<(String, Level)>) -> Self {
        Self { shuffles, levels }
    }

    /// The levels by the keys of their numbers.
    pub fn levels(&self) -> &[(String, Level)] {
        &self.levels
    }

    /// The level of the number with this key.
    pub fn get(&self, key: &str) -> Option<Level> {
        super::lookup(&self.levels, key).copied()
    }
}

impl Level {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Self { mean, deviation, shuffles: values.len() }
    }

    /// Whether a value cannot be told from chance: of a hundred further shuffles, 99 would be as near to the mean, or it is
    /// within 0.01 of it. With n shuffles of mean m and standard deviation s, one more lies within m ± t s sqrt(1 + 1/n), t
    /// being the 99.5 % quantile of Student's distribution with n - 1 degrees of freedom.
    pub fn includes(&self, value: f64) -> bool {
        let reach = self.deviation.map_or(0.0, |deviation| {
            deviation * student_quantile(self.shuffles - 1) * (1.0 + 1.0 / self.shuffles as f64).sqrt()
        });
        (value - self.mean).abs() <= reach.max(NEGLIGIBLE)
    }
}

/// A difference from chance that nobody would call a result.
pub(crate) const NEGLIGIBLE: f64 = 0.01;

/// The 99.5 % quantile of Student's distribution: from tables for few degrees of freedom, then by the expansion about that
/// of the normal distribution (Abramowitz and Stegun 26.7.5), which is right to 1e-3.
fn student_quantile(degrees: usize) -> f64 {
    const TABLE: [f64; 9] = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250];
    const NORMAL: f64 = 2.575_829_303_548_901;
    if let Some(quantile) = degrees.checked_sub(1).and_then(|place| TABLE.get(place)) {
        return *quantile;
    }
    let (z, n) = (NORMAL, degrees as f64);
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * n.powi(3))
        + (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
            / (92_160.0 * n.powi(4))
}

/// Bootstrap intervals of a score's numbers: the 2.5 % and 97.5 % quantiles over resamples of the points with replacement
/// (Efron 1979, Bootstrap methods: Another look at the jackknife).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bootstrap {
    /// The number of resamples.
    pub resamples: usize,
    intervals: Vec<(String, [f64; 2])>,
}

impl Bootstrap {
    /// From the numbers of each resample. A number that is missing or not finite in any of them is left out.
    pub(crate) fn of_resamples(resamples: &[Vec<(String, f64)>]) -> Self {
        let Some(first) = resamples.first() else { return Self::default() };
        let intervals = first.iter().filter_map(|(key, _)| {
            let values: Option<Vec<f64>> = resamples
                .iter()
                .map(|numbers| numbers.iter().find(|(other, _)| other == key).map(|(_, value)| *value))
                .collect();
            let mut values = values.filter(|values| values.iter().all(|value| value.is_finite()))?;
            values.sort_unstable_by(f64::total_cmp);
            let quantile = |share: f64| crate::numeric::quantile_of_sorted(&values, share);
            Some((key.clone(), [quantile(0.025), quantile(0.975)]))
        });
        Self { resamples: resamples.len(), intervals: intervals.collect() }
    }

    /// From intervals that were stored.
    pub(crate) fn from_intervals(resamples: usize, intervals: Vec<(String, [f64; 2])>) -> Self {
        Self { resamples, intervals }
    }

    /// The intervals by the keys of their numbers.
    pub fn intervals(&self) -> &[(String, [f64; 2])] {
        &self.intervals
    }

    /// The interval of the number with this key.
    pub fn get(&self, key: &str) -> Option<[f64; 2]> {
        super::lookup(&self.intervals, key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(entries: &[(&str, f64)]) -> Vec<(String, f64)> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()
    }

    /// 1, 2 and 6: the mean is 3, the squared deviations sum to 14, and 14 / 2 = 7.
    #[test]
    fn levels_by_hand() {
        let rounds = [1.0, 2.0, 6.0].map(|value| numbers(&[("a", value), ("b", f64::NAN)]));
        let chance = Chance::of_shuffles(&rounds);
        let level = chance.get("a").unwrap();
        assert_eq!((chance.shuffles, level.mean), (3, 3.0));
        assert!((level.deviation.unwrap() - 7_f64.sqrt()).abs() < 1e-15);
        assert!(chance.get("b").is_none());
        // Two degrees of freedom: 9.925 sqrt(1 + 1/3) = 11.460.
        assert!(level.includes(3.0 + 11.45 * 7_f64.sqrt()) && !level.includes(3.0 + 11.47 * 7_f64.sqrt()));
        let single = Chance::of_shuffles(&rounds[..1]).get("a").unwrap();
        assert!(single.deviation.is_none() && single.includes(1.009) && !single.includes(1.011));
    }

    /// Printed tables have 3.169 for 10 degrees of freedom, 2.845 for 20 and 2.576 for infinitely many.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected) in [(1, 63.657), (4, 4.604), (10, 3.169), (20, 2.845), (1_000_000, 2.576)] {
            assert!((student_quantile(degrees) - expected).abs() < 1e-3, "{degrees}");
        }
    }

    /// The numbers 0 to 40: 2.5 % and 97.5 % of the way are 1 and 39.
    #[test]
    fn intervals_are_quantiles() {
        let rounds: Vec<_> = (0..41).map(|value| numbers(&[("a", f64::from(value))])).collect();
        let [low, high] = Bootstrap::of_resamples(&rounds).get("a").unwrap();
        assert!((low - 1.0).abs() < 1e-12 && (high - 39.0).abs() < 1e-12);
    }
}
