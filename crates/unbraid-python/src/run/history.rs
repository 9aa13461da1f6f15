//! The losses of training, as columns.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use unbraid::data::files;

/// The longest `metrics.jsonl` that is read at once.
const LONGEST_HISTORY: u64 = 1 << 30;

/// Every key of the rows with its numbers.
pub(super) fn history(path: &Path) -> PyResult<BTreeMap<String, Vec<f64>>> {
    let refused = |error: &dyn std::fmt::Display| PyOSError::new_err(format!("{}: {error}", path.display()));
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = files::read_text(path, LONGEST_HISTORY).map_err(|error| refused(&error))?;
    // A row that is still being written does not end with a line break.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (number, line) in complete.lines().enumerate() {
        let row: BTreeMap<String, Option<f64>> =
            serde_json::from_str(line).map_err(|error| refused(&format!("row {number}: {error}")))?;
        for (key, value) in row {
            let column = columns.entry(key).or_default();
            column.resize(number, f64::NAN);
            column.push(value.unwrap_or(f64::NAN));
        }
    }
    let rows = complete.lines().count();
    columns.values_mut().for_each(|column| column.resize(rows, f64::NAN));
    Ok(columns)
}
