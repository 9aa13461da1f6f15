//! Which units of two models are the same, by the correlation of their posterior means over the same images.

use crate::run_report::encoded_run::EncodedRun;
use serde_json::{Value, json};
use unbraid::model::Unit;

/// Units whose correlation is weaker do not count as the same.
const WEAKEST: f64 = 0.5;

/// A unit of another model that follows a unit of the first one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Match {
    unit: usize,
    correlation: f64,
}

/// For each unit of the first run in the order of its page, the unit of the other run that moves with it: the strongest
/// correlations choose first, and no unit is chosen twice. A value of the first unit becomes the value of the
/// other that is as many standard deviations from its mean, with the sign of the correlation, as far as its
/// own range goes. Categorical units have no match.
pub(super) fn describe(first: &EncodedRun<'_>, other: &EncodedRun<'_>) -> Vec<Value> {
    let columns = |encoded: &EncodedRun<'_>| -> Vec<Standardised> {
        (0..encoded.layout().continuous()).map(|unit| Standardised::new(&encoded.means(unit))).collect()
    };
    let (left, right) = (columns(first), columns(other));
    let matches = strongest(&left, &right);
    let described = first.by_divergence().iter().map(|(unit, _)| {
        let Unit::Continuous(unit) = *unit else { return Value::Null };
        let Some(Match { unit: matched, correlation }) = matches[unit] else { return Value::Null };
        let (from, to) = (&left[unit], &right[matched]);
        let (low, high) = other.run().range_of(matched);
        let slope = correlation.signum() * to.deviation / from.deviation;
        json!({
            "unit": other.run().unit_label(Unit::Continuous(matched)),
            "column": matched,
            "correlation": correlation,
            "slope": slope,
            "offset": to.mean - slope * from.mean,
            "low": low,
            "high": high,
        })
    });
    described.collect()
}

/// A column with mean 0 and variance 1, or of zeros if it is constant.
#[derive(Debug)]
struct Standardised {
    mean: f64,
    deviation: f64,
    values: Vec<f64>,
}

impl Standardised {
    fn new(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
        let standard = |value: &f64| if deviation > 0.0 { (value - mean) / deviation } else { 0.0 };
        Self { mean, deviation, values: values.iter().map(standard).collect() }
    }

    /// Pearson's correlation; 0 with a constant.
    fn correlation(&self, other: &Self) -> f64 {
        let products = self.values.iter().zip(&other.values).map(|(left, right)| left * right);
        products.sum::<f64>() / self.values.len().max(1) as f64
    }
}

/// The match of each column on the left.
fn strongest(left: &[Standardised], right: &[Standardised]) -> Vec<Option<Match>> {
    let mut pairs: Vec<(usize, Match)> = left
        .iter()
        .enumerate()
        .flat_map(|(unit, column)| {
            let with = move |(unit, other): (usize, &Standardised)| Match {
                unit,
                correlation: column.correlation(other),
            };
            right.iter().enumerate().map(with).map(move |found| (unit, found))
        })
        .filter(|(_, found)| found.correlation.abs() >= WEAKEST)
        .collect();
    pairs.sort_by(|left, right| right.1.correlation.abs().total_cmp(&left.1.correlation.abs()));
    let mut matches: Vec<Option<Match>> = vec![None; left.len()];
    for (unit, found) in pairs {
        let taken = matches.iter().flatten().any(|known| known.unit == found.unit);
        if matches[unit].is_none() && !taken {
            matches[unit] = Some(found);
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns on the right: the second of the left upside down, noise, and the first with another scale.
    #[test]
    fn units_are_matched_one_to_one_with_their_sign() {
        let columns = |rows: &[&[f64]]| rows.iter().map(|row| Standardised::new(row)).collect::<Vec<_>>();
        let left = columns(&[&[1.0, 2.0, 3.0, 4.0], &[1.0, -1.0, -1.0, 1.0], &[5.0, 5.0, 5.0, 5.0]]);
        let right = columns(&[&[-2.0, 2.0, 2.0, -2.0], &[1.0, -1.0, 1.0, -1.0], &[10.0, 20.0, 30.0, 40.0]]);
        let found = strongest(&left, &right);
        let units: Vec<_> = found.iter().map(|found| found.map(|found| found.unit)).collect();
        assert_eq!(units, [Some(2), Some(0), None], "a constant matches nothing");
        assert!((found[0].unwrap().correlation - 1.0).abs() < 1e-12);
        assert!((found[1].unwrap().correlation + 1.0).abs() < 1e-12);
    }
}
