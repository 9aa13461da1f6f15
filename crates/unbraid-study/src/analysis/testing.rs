//! Tables made by hand.

use crate::{Row, Table};
use serde_json::Value;

/// Method, data, settings, seed, numbers.
pub(super) type Line<'a> = (&'a str, &'a str, Vec<Value>, u64, Vec<f64>);

/// A table of finished runs.
pub(super) fn table(setting_keys: &[&str], number_keys: &[&str], lines: Vec<Line<'_>>) -> Table {
    let rows = lines.into_iter().enumerate().map(|(number, (method, data, settings, seed, numbers))| Row {
        number: Some(number),
        seed: Some(seed),
        settings: settings.into_iter().map(|value| Some(value).filter(|value| !value.is_null())).collect(),
        numbers,
        ..Row::named(format!("run {number}"), method, data)
    });
    Table {
        setting_keys: setting_keys.iter().map(|&key| key.to_owned()).collect(),
        number_keys: number_keys.iter().map(|&key| key.to_owned()).collect(),
        rows: rows.collect(),
    }
}

/// All rows of a table.
pub(super) fn all(table: &Table) -> Vec<usize> {
    (0..table.rows.len()).collect()
}
