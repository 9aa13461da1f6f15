//! Choosing a model without labels: do models that differ only in their seed agree?

use super::correlations::correlation;
use super::groups::{Part, groups};
use super::quantities::{Kind, UDR, keys_of};
use super::settings::Setting;
use super::statistics::FiveNumbers;
use crate::Table;

/// The runs of one setting, judged by UDR.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The method.
    pub method: String,
    /// Its hyper-parameters.
    pub setting: Setting,
    /// The runs that have a UDR.
    pub rows: Vec<usize>,
    /// Where their UDR lies; the ranking is by the median.
    pub udr: FiveNumbers,
}

/// The settings of all methods, the one with the highest median UDR first (Duan et al. 2020, section 4): what would be
/// chosen if there were no factors to compute scores from. The rows should be of one data set.
///
/// Reads the column [`UDR`], which [`study_udr`](crate::study_udr) computes from the codes of the runs.
pub fn ranking(table: &Table, rows: &[usize]) -> Vec<Ranked> {
    let Some(column) = table.number_column(UDR) else { return Vec::new() };
    let value = |row: usize| table.rows[row].numbers[column];
    let known: Vec<usize> = rows.iter().copied().filter(|&row| value(row).is_finite()).collect();
    let mut ranked: Vec<Ranked> = groups(table, &known, &[Part::Method, Part::Setting])
        .into_iter()
        .filter_map(|group| {
            let values: Vec<f64> = group.rows.iter().map(|&row| value(row)).collect();
            let method = table.rows[group.rows[0]].method.clone();
            Some(Ranked { method, setting: group.setting?, rows: group.rows, udr: FiveNumbers::of(&values)? })
        })
        .collect();
    ranked.sort_by(|a, b| b.udr.median.total_cmp(&a.udr.median));
    ranked
}

/// How well UDR predicts one score.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The score.
    pub key: String,
    /// Spearman's rank correlation with UDR over single runs; NaN where it says nothing.
    pub correlation: f64,
    /// How many runs have both.
    pub runs: usize,
}

/// The rank correlation of UDR with every score of these rows (Duan et al. 2020, Fig. 2 and Table 1).
pub fn agreement(table: &Table, rows: &[usize]) -> Vec<Agreement> {
    let Some(udr) = table.number_column(UDR) else { return Vec::new() };
    let values =
        |column: usize| rows.iter().map(|&row| table.rows[row].numbers[column]).collect::<Vec<f64>>();
    let found = values(udr);
    keys_of(table, rows, Kind::Score)
        .into_iter()
        .filter_map(|key| {
            let (correlation, runs) = correlation(&found, &values(table.number_column(&key)?));
            Some(Agreement { key, correlation, runs })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_ranked_by_their_median() {
        let line = |beta: u64, seed: u64, udr: f64, mig: f64| {
            ("beta-vae", "shapes", vec![json!(beta)], seed, vec![udr, mig])
        };
        let table = table(
            &["objective.beta"],
            &[UDR, "mig"],
            vec![
                line(1, 0, 0.9, 0.5),
                line(1, 1, 0.1, 0.1),
                line(1, 2, 0.2, 0.2),
                line(4, 0, 0.3, 0.3),
                line(4, 1, 0.4, 0.4),
                line(4, 2, f64::NAN, 0.9),
                line(8, 0, f64::NAN, 0.9),
            ],
        );
        let ranked = ranking(&table, &all(&table));
        let found: Vec<(&str, f64, usize)> = ranked
            .iter()
            .map(|ranked| (ranked.setting.label.as_str(), ranked.udr.median, ranked.rows.len()))
            .collect();
        assert_eq!(found, [("beta=4", 0.35, 2), ("beta=1", 0.2, 3)]);
        let agreement = agreement(&table, &all(&table));
        assert_eq!((agreement.len(), agreement[0].key.as_str(), agreement[0].runs), (1, "mig", 5));
        assert!((agreement[0].correlation - 1.0).abs() < 1e-12, "both are in the same order");
        assert!(ranking(&Table::default(), &[]).is_empty());
    }
}
