//! Rows that have something in common: the boxes of a box plot, the lines of a table.

use super::settings::{HyperParameters, Setting, hyper_parameters};
use super::statistics::{FiveNumbers, Mean};
use crate::Table;
use std::collections::HashMap;

/// What the rows of a group agree in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Where they come from.
    Source,
    /// The data set.
    Data,
    /// The method.
    Method,
    /// The method's hyper-parameters. Together with [`Part::Method`] and [`Part::Data`], rows then differ in
    /// nothing but the seed.
    Setting,
}

/// Rows that agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// In what, one text for each part that was asked for. The study's own runs have the source `""`.
    pub labels: Vec<String>,
    /// Their hyper-parameters, if these were asked for.
    pub setting: Option<Setting>,
    /// Their places in the table.
    pub rows: Vec<usize>,
}

/// Puts rows that agree in all of `parts` together, in order of appearance; groups that differ in nothing but their
/// hyper-parameters are in the order of these.
pub fn groups(table: &Table, rows: &[usize], parts: &[Part]) -> Vec<Group> {
    let parameters = hyper_parameters(table, rows);
    let of_row = Parameters::new(&parameters);
    let mut found: Vec<Group> = Vec::new();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    // The order in which everything but the setting first appeared.
    let mut outer: HashMap<Vec<String>, usize> = HashMap::new();
    let mut ranks = Vec::new();
    for &row in rows {
        let setting = parts.contains(&Part::Setting).then(|| of_row.setting(table, row));
        let label = |part: &Part| match part {
            Part::Source => table.rows[row].source.clone().unwrap_or_default(),
            Part::Data => table.rows[row].data.clone(),
            Part::Method => table.rows[row].method.clone(),
            Part::Setting => setting.as_ref().map_or_else(String::new, |setting| setting.label.clone()),
        };
        let labels: Vec<String> = parts.iter().map(label).collect();
        let place = *places.entry(labels.clone()).or_insert_with(|| {
            let others = parts.iter().zip(&labels).filter(|(part, _)| **part != Part::Setting);
            let count = outer.len();
            ranks.push(*outer.entry(others.map(|(_, label)| label.clone()).collect()).or_insert(count));
            found.push(Group { labels, setting, rows: Vec::new() });
            found.len() - 1
        });
        found[place].rows.push(row);
    }
    let mut ranked: Vec<(usize, Group)> = ranks.into_iter().zip(found).collect();
    ranked.sort_by(|(rank, group), (other_rank, other)| {
        rank.cmp(other_rank).then_with(|| match (&group.setting, &other.setting) {
            (Some(setting), Some(other)) => setting.compare(other),
            _ => std::cmp::Ordering::Equal,
        })
    });
    ranked.into_iter().map(|(_, group)| group).collect()
}

/// The hyper-parameters of each source's methods, to be found by a row.
pub(super) struct Parameters<'a> {
    by_method: HashMap<(Option<&'a str>, &'a str), &'a HyperParameters>,
}

impl<'a> Parameters<'a> {
    pub(super) fn new(parameters: &'a [HyperParameters]) -> Self {
        let entry = |one: &'a HyperParameters| ((one.source.as_deref(), one.method.as_str()), one);
        Self { by_method: parameters.iter().map(entry).collect() }
    }

    /// Of a row whose method is known here; without hyper-parameters otherwise.
    pub(super) fn setting(&self, table: &Table, row: usize) -> Setting {
        let key = (table.rows[row].source.as_deref(), table.rows[row].method.as_str());
        self.by_method.get(&key).map_or_else(
            || Setting { label: String::new(), value: None, values: Vec::new() },
            |parameters| Setting::of(table, row, parameters),
        )
    }
}

/// A number over the rows of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The values that are there, in the order of the rows; of rows of a single run only.
    pub values: Vec<f64>,
    /// Where they lie; none if there are no values.
    pub five_numbers: Option<FiveNumbers>,
    /// Their mean and deviation; published ones count too.
    pub mean: Option<Mean>,
}

/// How the number `key` is distributed over the rows of each group: scores per method over hyper-parameters and seeds
/// (Hartmann, Fig. 7; thesis, Fig. 5.14), per data set (Fig. 8), per hyper-parameter over seeds (Fig. 9 to 11).
pub fn distributions(table: &Table, groups: &[Group], key: &str) -> Vec<Distribution> {
    let column = table.number_column(key);
    let of_group = |group: &Group| {
        let single = group.rows.iter().filter(|&&row| table.rows[row].spread.is_none());
        let values: Vec<f64> = column.map_or_else(Vec::new, |column| {
            single.map(|&row| table.rows[row].numbers[column]).filter(|value| value.is_finite()).collect()
        });
        let mean = column.and_then(|column| Mean::of_rows(table, &group.rows, column));
        Distribution { five_numbers: FiveNumbers::of(&values), mean, values }
    };
    groups.iter().map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;
    use crate::{Row, Spread};
    use serde_json::json;

    fn two_methods() -> Table {
        let line = |method: &'static str, data: &'static str, beta: f64, seed: u64, mig: f64| {
            (method, data, vec![json!(beta)], seed, vec![mig])
        };
        table(
            &["objective.beta"],
            &["mig"],
            vec![
                line("beta-vae", "shapes", 16.0, 0, 0.5),
                line("beta-vae", "shapes", 16.0, 1, 0.7),
                line("beta-vae", "shapes", 4.0, 0, 0.2),
                line("beta-vae", "cars3d", 4.0, 0, f64::NAN),
                line("beta-tcvae", "shapes", 4.0, 0, 0.1),
            ],
        )
    }

    #[test]
    fn rows_that_agree_are_together_in_order() {
        let table = two_methods();
        let found = |parts: &[Part]| -> Vec<(String, Vec<usize>)> {
            let groups = groups(&table, &all(&table), parts).into_iter();
            groups.map(|group| (group.labels.join("/"), group.rows)).collect()
        };
        let expected = |pairs: &[(&str, &[usize])]| -> Vec<(String, Vec<usize>)> {
            pairs.iter().map(|(label, rows)| ((*label).to_owned(), rows.to_vec())).collect()
        };
        assert_eq!(found(&[Part::Method]), expected(&[("beta-vae", &[0, 1, 2, 3]), ("beta-tcvae", &[4])]));
        assert_eq!(found(&[Part::Data]), expected(&[("shapes", &[0, 1, 2, 4]), ("cars3d", &[3])]));
        assert_eq!(
            found(&[Part::Method, Part::Setting]),
            expected(&[
                ("beta-vae/beta=4", &[2, 3]),
                ("beta-vae/beta=16", &[0, 1]),
                ("beta-tcvae/beta=4", &[4]),
            ])
        );
        assert_eq!(found(&[]), expected(&[("", &[0, 1, 2, 3, 4])]));
    }

    #[test]
    fn distributions_are_of_single_runs_and_means_of_all() {
        let mut table = two_methods();
        table.rows.push(Row {
            settings: vec![Some(json!(8))],
            numbers: vec![0.9],
            spread: Some(Spread { runs: 2, deviations: vec![0.0], medians: vec![0.9] }),
            ..Row::named("published", "beta-tcvae", "shapes")
        });
        let groups = groups(&table, &all(&table), &[Part::Method]);
        let found = distributions(&table, &groups, "mig");
        assert_eq!(found[0].values, [0.5, 0.7, 0.2]);
        assert_eq!(found[0].five_numbers.unwrap().median, 0.5);
        assert_eq!(found[1].values, [0.1]);
        let mean = found[1].mean.unwrap();
        assert!(mean.count == 3 && (mean.mean - 1.9 / 3.0).abs() < 1e-15);
        assert!(distributions(&table, &groups, "sap").iter().all(|found| found.mean.is_none()));
    }
}
