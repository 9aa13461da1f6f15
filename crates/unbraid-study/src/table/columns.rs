//! A table column by column, each with one type: how it goes into files.

use super::{Row, Spread, Table};
use serde_json::Value;

/// One column of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// Its name.
    pub(super) name: String,
    /// A value, or none, for each row.
    pub(super) values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// Words.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// True or false.
    Flags(Vec<Option<bool>>),
}

/// The column that says of how many runs a row has the means.
pub(super) const RUNS: &str = "runs";
/// After the name of a number: its standard deviation over these.
pub(super) const DEVIATION: &str = "_std";
/// After the name of a number: its median over these.
pub(super) const MEDIAN: &str = "_median";

impl Values {
    /// The narrowest type that holds all of these; lists, tables and mixtures become text.
    fn of_settings(values: Vec<Option<&Value>>) -> Self {
        let all = |is: fn(&Value) -> bool| values.iter().flatten().all(|value| is(value));
        if all(Value::is_i64) {
            Self::Integers(values.iter().map(|value| value.and_then(Value::as_i64)).collect())
        } else if all(Value::is_number) {
            Self::numbers(values.iter().map(|value| value.and_then(Value::as_f64).unwrap_or(f64::NAN)))
        } else if all(Value::is_boolean) {
            Self::Flags(values.iter().map(|value| value.and_then(Value::as_bool)).collect())
        } else {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Self::Text(values.iter().map(|value| value.map(text)).collect())
        }
    }

    /// Numbers, of which those that are not finite are missing.
    fn numbers(values: impl Iterator<Item = f64>) -> Self {
        Self::Numbers(values.map(|value| Some(value).filter(|value| value.is_finite())).collect())
    }

    /// The value of a row as a field of CSV; empty if there is none. Numbers are the shortest text that gives the same
    /// number back.
    pub(super) fn field(&self, row: usize) -> String {
        match self {
            Self::Text(values) => values[row].clone(),
            Self::Integers(values) => values[row].map(|value| value.to_string()),
            Self::Numbers(values) => values[row].map(|value| format!("{value:?}")),
            Self::Flags(values) => values[row].map(|value| value.to_string()),
        }
        .unwrap_or_default()
    }

    /// The value of a row as JSON; null if there is none.
    pub(super) fn json(&self, row: usize) -> Value {
        match self {
            Self::Text(values) => Value::from(values[row].clone()),
            Self::Integers(values) => Value::from(values[row]),
            Self::Numbers(values) => Value::from(values[row]),
            Self::Flags(values) => Value::from(values[row]),
        }
    }
}

/// The columns of a table: what a run is, its settings by their dotted keys, its numbers. Tables with rows
/// that summarise several runs have three columns for each number: mean, deviation, median.
pub(super) fn columns(table: &Table) -> Vec<Column> {
    let column = |name: &str, values: Values| Column { name: name.to_owned(), values };
    let text = |of: fn(&Row) -> Option<String>| Values::Text(table.rows.iter().map(of).collect());
    let integer = |of: fn(&Row) -> Option<u64>| {
        Values::Integers(
            table.rows.iter().map(|row| of(row).and_then(|value| value.try_into().ok())).collect(),
        )
    };
    let mut columns = vec![
        column("number", integer(|row| row.number.map(|number| number as u64))),
        column("name", text(|row| Some(row.name.clone()))),
        column("hash", text(|row| row.hash.clone())),
        column("method", text(|row| Some(row.method.clone()))),
        column("data", text(|row| Some(row.data.clone()))),
        column("seed", integer(|row| row.seed)),
        column("state", text(|row| Some(row.state.word().to_owned()))),
        column("step", integer(|row| row.step)),
        column("seconds", Values::numbers(table.rows.iter().map(|row| row.seconds.unwrap_or(f64::NAN)))),
    ];
    for (place, key) in table.setting_keys.iter().enumerate() {
        let values = table.rows.iter().map(|row| row.settings[place].as_ref()).collect();
        columns.push(column(key, Values::of_settings(values)));
    }
    let summaries = table.rows.iter().any(|row| row.spread.is_some());
    if summaries {
        columns.push(column(RUNS, integer(|row| row.spread.as_ref().map(|spread| spread.runs as u64))));
    }
    for (place, key) in table.number_keys.iter().enumerate() {
        columns.push(column(key, Values::numbers(table.rows.iter().map(|row| row.numbers[place]))));
        if summaries {
            let of_spread = |of: fn(&Spread) -> &Vec<f64>| {
                let value = move |row: &Row| row.spread.as_ref().map_or(f64::NAN, |spread| of(spread)[place]);
                Values::numbers(table.rows.iter().map(value))
            };
            columns.push(column(&format!("{key}{DEVIATION}"), of_spread(|spread| &spread.deviations)));
            columns.push(column(&format!("{key}{MEDIAN}"), of_spread(|spread| &spread.medians)));
        }
    }
    columns
}
