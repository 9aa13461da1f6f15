//! Which settings are the hyper-parameters of a method, and what their values are called.

use crate::Table;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The settings that distinguish the runs of one method beside data and seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperParameters {
    /// Where the runs come from; none for the study's own.
    pub source: Option<String>,
    /// The method.
    pub method: String,
    /// Dotted keys. The first is *the* hyper-parameter, which goes on the axis of a figure: those of the objective come
    /// before others.
    pub keys: Vec<String>,
}

/// The hyper-parameters of every method of these rows, for each source on its own, in order of appearance.
///
/// They are the settings that vary within the method on a data set, except those of the data, and except
/// those that another one determines, as in lists that go together. If none varies, they are the settings of
/// the objective that are there.
pub fn hyper_parameters(table: &Table, rows: &[usize]) -> Vec<HyperParameters> {
    let mut found: Vec<HyperParameters> = Vec::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut places = HashMap::new();
    for &row in rows {
        let (source, method) = (&table.rows[row].source, &table.rows[row].method);
        let place = *places.entry((source, method)).or_insert_with(|| {
            found.push(HyperParameters { source: source.clone(), method: method.clone(), keys: Vec::new() });
            members.push(Vec::new());
            members.len() - 1
        });
        members[place].push(row);
    }
    for (parameters, rows) in found.iter_mut().zip(&members) {
        parameters.keys = keys_of(table, rows);
    }
    found
}

fn keys_of(table: &Table, rows: &[usize]) -> Vec<String> {
    let is_data = |key: &str| key == "data" || key.starts_with("data.");
    let of_objective = |column: &usize| table.setting_keys[*column].starts_with("objective.");
    let mut columns: Vec<usize> = (0..table.setting_keys.len())
        .filter(|&column| !is_data(&table.setting_keys[column]))
        .filter(|&column| rows.iter().any(|&row| table.rows[row].settings[column].is_some()))
        .collect();
    columns.sort_by_key(|&column| (!of_objective(&column), !is_published_axis(table, rows, column)));
    let texts = |column: usize| -> Vec<String> {
        rows.iter().map(|&row| value_label(table.rows[row].settings[column].as_ref())).collect()
    };
    // What differs from one data set to the next belongs to the data, such as the length of training on each.
    let varies = |values: &[String]| {
        let mut first = HashMap::new();
        let data = rows.iter().map(|&row| table.rows[row].data.as_str());
        data.zip(values).any(|(data, value)| *first.entry(data).or_insert(value) != value)
    };
    let mut kept: Vec<(usize, Vec<String>)> = Vec::new();
    for &column in &columns {
        let values = texts(column);
        if varies(&values) && !kept.iter().any(|(_, other)| is_renaming(other, &values)) {
            kept.push((column, values));
        }
    }
    if kept.is_empty() {
        columns.retain(of_objective);
    } else {
        columns = kept.into_iter().map(|(column, _)| column).collect();
    }
    columns.into_iter().map(|column| table.setting_keys[column].clone()).collect()
}

/// Of the settings of an objective that vary together, the one that publications vary: for DIP-VAE the weight off the
/// diagonal (Kumar et al. 2018, Figures 1 and 2; Hartmann, Table 1), not the one on it, which follows from it.
fn is_published_axis(table: &Table, rows: &[usize], column: usize) -> bool {
    let is_dip = rows.iter().any(|&row| {
        ["objective.lambda_od", "objective.lambda_d"].iter().all(|key| {
            table.setting_column(key).is_some_and(|column| table.rows[row].settings[column].is_some())
        })
    });
    is_dip && table.setting_keys[column] == "objective.lambda_od"
}

/// Whether values of one are equal exactly where those of the other are.
fn is_renaming(first: &[String], second: &[String]) -> bool {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    first
        .iter()
        .zip(second)
        .all(|(a, b)| *there.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a)
}

/// The hyper-parameters of one row: what it is called beside its method, and where it goes on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Such as `beta=4`, or `beta=4, continuous=10`; empty if the method has none.
    pub label: String,
    /// The first hyper-parameter as a number, if it is one.
    pub value: Option<f64>,
    /// Every hyper-parameter by its key; `null` where a run has none.
    pub values: Vec<(String, Value)>,
}

impl Setting {
    /// Of a row, by the hyper-parameters of its method.
    pub fn of(table: &Table, row: usize, parameters: &HyperParameters) -> Self {
        let value = |key: &String| {
            let column = table.setting_column(key)?;
            table.rows[row].settings[column].clone()
        };
        let values: Vec<(String, Value)> =
            parameters.keys.iter().map(|key| (key.clone(), value(key).unwrap_or(Value::Null))).collect();
        let value = values.first().and_then(|(_, value)| as_number(value));
        Self { label: label_of(&values), value, values }
    }

    /// What it says beyond the first hyper-parameter, such as `continuous=10`.
    pub fn others(&self) -> String {
        label_of(self.values.get(1..).unwrap_or_default())
    }

    /// By the numbers of the hyper-parameters, one after the other, then by their texts.
    pub fn compare(&self, other: &Self) -> Ordering {
        let one = |(_, a): &(String, Value), (_, b): &(String, Value)| match (as_number(a), as_number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            // Words after numbers, in the order of their letters.
            (None, None) => value_label(Some(a)).cmp(&value_label(Some(b))),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        let pairs = self.values.iter().zip(&other.values);
        pairs
            .map(|(a, b)| one(a, b))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| self.label.cmp(&other.label))
    }
}

fn label_of(values: &[(String, Value)]) -> String {
    let label = |(key, value): &(String, Value)| format!("{}={}", short_key(key), value_label(Some(value)));
    values.iter().filter(|(_, value)| !value.is_null()).map(label).collect::<Vec<_>>().join(", ")
}

/// A value as a number: itself, or where a schedule arrives.
pub fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.get("to").or_else(|| value.get("value"))?.as_f64())
}

/// A value in short form: numbers without needless digits, schedules by where they arrive, words without quotes.
pub fn value_label(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(word)) => word.clone(),
        Some(value) => as_number(value).map_or_else(|| value.to_string(), |number| number.to_string()),
    }
}

/// The last part of a dotted key that says what it is: `objective.beta` is `beta`, and so is `objective.beta.to`.
pub fn short_key(key: &str) -> &str {
    let key = key.strip_suffix(".to").unwrap_or(key);
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, table};
    use super::*;
    use serde_json::json;

    fn keys(table: &Table) -> Vec<(String, Vec<String>)> {
        let found = hyper_parameters(table, &all(table)).into_iter();
        found.map(|parameters| (parameters.method, parameters.keys)).collect()
    }

    #[test]
    fn what_varies_within_a_method_is_its_hyper_parameter() {
        let columns = ["data.positions", "model.latents.continuous", "objective.beta", "objective.gamma"];
        let table = table(
            &columns,
            &[],
            vec![
                ("beta-vae", "a", vec![json!(8), json!(6), json!(1), json!(null)], 0, vec![]),
                ("beta-vae", "b", vec![json!(16), json!(10), json!(4), json!(null)], 0, vec![]),
                ("beta-vae", "b", vec![json!(16), json!(6), json!(1), json!(null)], 0, vec![]),
                ("beta-vae", "b", vec![json!(16), json!(10), json!(1), json!(null)], 0, vec![]),
                ("factor-vae", "b", vec![json!(16), json!(6), json!(null), json!(10)], 0, vec![]),
                ("vae", "b", vec![json!(16), json!(6), json!(null), json!(null)], 0, vec![]),
            ],
        );
        let expected = [
            ("beta-vae", vec!["objective.beta", "model.latents.continuous"]),
            ("factor-vae", vec!["objective.gamma"]),
            ("vae", vec![]),
        ];
        let expected = expected.map(|(method, keys)| {
            (method.to_owned(), keys.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(keys(&table), expected);
        let parameters = hyper_parameters(&table, &all(&table));
        let setting = Setting::of(&table, 1, &parameters[0]);
        assert_eq!((setting.label.as_str(), setting.value), ("beta=4, continuous=10", Some(4.0)));
        assert_eq!(setting.others(), "continuous=10");
        assert_eq!(Setting::of(&table, 5, &parameters[2]).label, "");
    }

    #[test]
    fn of_lists_that_go_together_one_is_enough() {
        let line = |od: f64, d: f64, steps: u64| {
            ("dip-vae-i", "shapes", vec![json!(d), json!(od), json!(steps)], 0, vec![])
        };
        let columns = ["objective.lambda_d", "objective.lambda_od", "training.steps"];
        let table = table(&columns, &[], vec![line(1.0, 10.0, 5), line(2.0, 20.0, 5), line(2.0, 20.0, 7)]);
        let found = keys(&table).remove(0).1;
        assert_eq!(found, ["objective.lambda_od", "training.steps"], "as in the publications");
        let parameters = hyper_parameters(&table, &all(&table));
        assert_eq!(Setting::of(&table, 1, &parameters[0]).value, Some(2.0));
    }

    #[test]
    fn what_only_the_data_decides_is_no_hyper_parameter() {
        let line = |data: &'static str, beta: u64, steps: u64| {
            ("beta-vae", data, vec![json!(beta), json!(steps)], 0, vec![])
        };
        let lines = vec![line("a", 1, 5), line("a", 4, 5), line("b", 1, 7), line("b", 4, 7)];
        assert_eq!(
            keys(&table(&["objective.beta", "training.steps"], &[], lines)).remove(0).1,
            ["objective.beta"]
        );
    }

    #[test]
    fn values_have_short_names_and_schedules_a_number() {
        let schedule = json!({ "from": 0.0, "to": 25.0, "end": 100_000 });
        assert_eq!(as_number(&schedule), Some(25.0));
        assert_eq!(value_label(Some(&schedule)), "25");
        assert_eq!(value_label(Some(&json!(0.5))), "0.5");
        assert_eq!(value_label(Some(&json!(4.0))), value_label(Some(&json!(4))));
        assert_eq!(value_label(Some(&json!("student-t"))), "student-t");
        assert_eq!(value_label(Some(&json!([1, 2]))), "[1,2]");
        assert_eq!((short_key("objective.capacity.to"), short_key("seed")), ("capacity", "seed"));
    }

    #[test]
    fn settings_are_ordered_as_numbers_are() {
        let setting = |value: Value| Setting {
            label: value_label(Some(&value)),
            value: as_number(&value),
            values: vec![("objective.beta".to_owned(), value)],
        };
        let mut sorted = [json!("high"), json!(16), json!(4), json!("all"), json!(8.5)].map(setting);
        sorted.sort_by(Setting::compare);
        assert_eq!(sorted.map(|setting| setting.label), ["4", "8.5", "16", "all", "high"]);
    }
}
