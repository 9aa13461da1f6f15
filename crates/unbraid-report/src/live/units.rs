//! What a page says of each latent unit (dimension): how much it carries, and which factor it follows best.

use crate::run_report::encoded_run::EncodedRun;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use unbraid::metrics::information::mutual_information;
use unbraid::model::Unit;

/// All units of a run, those with the largest KL divergence first.
pub(super) fn describe(encoded: &EncodedRun<'_>) -> Vec<Value> {
    let run = encoded.run();
    let factors = factors(encoded);
    let described = encoded.by_divergence().iter().map(|&(unit, divergence)| {
        let columns = encoded.layout().columns(unit);
        let (classes, (low, high)) = match unit {
            Unit::Continuous(unit) => (0, run.range_of(unit)),
            Unit::Categorical(_) => (columns.len(), (0.0, 1.0)),
        };
        json!({
            "unit": unit.to_string(),
            "label": unit.label(),
            "name": run.names().get(unit),
            "column": columns.start,
            "classes": classes,
            "low": low,
            "high": high,
            "kl": divergence,
            "factor": best_factor(encoded, unit, &factors),
        })
    });
    described.collect()
}

/// A factor, and its value for each image.
struct FactorValues {
    name: String,
    size: usize,
    values: Vec<u32>,
}

/// The factors that vary.
fn factors(encoded: &EncodedRun<'_>) -> Vec<FactorValues> {
    let Some(space) = encoded.data().factors() else { return Vec::new() };
    let named = |place: usize| FactorValues {
        name: space.factors()[place].name.clone(),
        size: space.factors()[place].size,
        values: encoded.factor(place).into_iter().map(|value| value as u32).collect(),
    };
    space.latent().into_iter().map(named).collect()
}

/// The factor that a unit follows best: by the share of its variance for a continuous unit, by mutual
/// information in nats for a categorical one.
fn best_factor(encoded: &EncodedRun<'_>, unit: Unit, factors: &[FactorValues]) -> Option<Value> {
    let (measure, strengths): (&str, Vec<f64>) = match unit {
        Unit::Continuous(unit) => {
            let means = encoded.means(unit);
            ("R²", factors.iter().map(|factor| explained_variance(&means, &factor.values)).collect())
        }
        Unit::Categorical(unit) => {
            let classes: Vec<u32> =
                encoded.posteriors().categories.column(unit).iter().map(|&class| class as u32).collect();
            let count = encoded.layout().categorical()[unit];
            let shared =
                |factor: &FactorValues| mutual_information(&classes, count, &factor.values, factor.size);
            ("MI", factors.iter().map(shared).collect())
        }
    };
    let (place, value) =
        strengths.into_iter().enumerate().max_by(|left, right| left.1.total_cmp(&right.1))?;
    Some(json!({ "name": factors[place].name, "measure": measure, "value": value }))
}

/// R² of a unit's posterior means on a factor, whose k values are categories: adjusted for their number,
/// 1 - (1 - Var(E\[z|v\]) / Var(z)) (n - 1) / (n - k), and at least 0. This is the squared correlation ratio
/// (Pearson 1905) with Wherry's adjustment; it does not ask for a linear or ordered relation, so that it fits
/// angles and kinds of shape.
fn explained_variance(means: &[f64], values: &[u32]) -> f64 {
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let total: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    let mut groups: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (&value, group) in means.iter().zip(values) {
        let (sum, size) = groups.entry(*group).or_default();
        (*sum, *size) = (*sum + value, *size + 1.0);
    }
    let between: f64 = groups.values().map(|(sum, size)| size * (sum / size - mean).powi(2)).sum();
    let freedom = count - groups.len() as f64;
    if total <= 0.0 || freedom <= 0.0 {
        return 0.0;
    }
    (1.0 - (1.0 - between / total) * (count - 1.0) / freedom).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: z = 0, 2, 4, 6 in two groups has mean 3, total 20, between 2 * (4 + 4) = 16; R² = 0.8, adjusted
    /// 1 - 0.2 * 3 / 2 = 0.7.
    #[test]
    fn explained_variance_matches_a_hand_computation() {
        assert!((explained_variance(&[0.0, 2.0, 4.0, 6.0], &[0, 0, 7, 7]) - 0.7).abs() < 1e-12);
        assert_eq!(explained_variance(&[1.0, -1.0, -1.0, 1.0], &[0, 0, 1, 1]), 0.0, "nothing is explained");
        assert_eq!(explained_variance(&[2.0, 2.0, 2.0], &[0, 0, 1]), 0.0, "a unit that never changes");
        assert_eq!(explained_variance(&[1.0, 2.0], &[0, 1]), 0.0, "as many values as images");
    }
}
