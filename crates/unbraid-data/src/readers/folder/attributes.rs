//! Attribute tables for a folder of images: the format of CelebA, or a CSV with a header.

use super::listing::{Listing, table_of_labels};
use crate::error::{DataError, Result};
use crate::table::FactorTable;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// CelebA's table of 40 attributes.
pub(super) const CELEBA_TABLE: &str = "list_attr_celeba.txt";

/// The names of the attributes, and the values of each file.
struct Attributes {
    names: Vec<String>,
    rows: HashMap<String, Vec<String>>,
}

/// Reads a table and looks up the row of every image.
pub(super) fn read(table: &Path, root: &Path, listing: &Listing) -> Result<FactorTable> {
    let text = fs::read_to_string(table).map_err(DataError::io(table, "read"))?;
    let is_csv = table.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let attributes = if is_csv { read_csv(table, &text)? } else { read_celeba(table, &text)? };
    let mut columns: Vec<(String, Vec<String>)> =
        attributes.names.iter().map(|name| (name.clone(), Vec::with_capacity(listing.len()))).collect();
    for name in listing.names() {
        let file = name.rsplit('/').next().unwrap_or(name);
        let row = attributes.rows.get(name).or_else(|| attributes.rows.get(file)).ok_or_else(|| {
            let found = format!("no row for {}", root.join(name).display());
            DataError::content(table, "attributes", found, "a row for every image")
        })?;
        for ((_, column), value) in columns.iter_mut().zip(row) {
            column.push(value.clone());
        }
    }
    table_of_labels(columns)
}

/// Parses a line with the number of rows, a line with the names, and rows of a file name and a -1 or 1 per attribute.
fn read_celeba(table: &Path, text: &str) -> Result<Attributes> {
    let refuse = |subject: &str, found: String, expected: &str| {
        Err(DataError::content(table, subject, found, expected))
    };
    let mut lines = text.lines();
    let count = lines.next().unwrap_or_default().trim();
    let Ok(count) = count.parse::<usize>() else {
        return refuse("line 1", format!("`{count}`"), "the number of rows (or a file that ends in .csv)");
    };
    let names: Vec<String> = lines.next().unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    if names.is_empty() {
        return refuse("line 2", "nothing".to_owned(), "the names of the attributes");
    }
    let mut rows = HashMap::new();
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut fields = line.split_whitespace();
        let file = fields.next().unwrap_or_default().to_owned();
        let values: Vec<String> = fields.map(str::to_owned).collect();
        let line = format!("line {}", number + 3);
        if values.len() != names.len() {
            return refuse(&line, format!("{} values", values.len()), &format!("{} values", names.len()));
        }
        if let Some(value) = values.iter().find(|value| !matches!(value.as_str(), "1" | "-1")) {
            return refuse(&line, format!("`{value}`"), "1 or -1");
        }
        rows.insert(file, values);
    }
    if rows.len() != count {
        return refuse("file", format!("{} rows", rows.len()), &format!("{count} rows, as line 1 says"));
    }
    Ok(Attributes { names, rows })
}

/// Parses a header and rows whose first column is the file name.
fn read_csv(table: &Path, text: &str) -> Result<Attributes> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let malformed = |error: csv::Error| {
        DataError::content(table, "CSV", "malformed rows", "rows of equal length").caused_by(error)
    };
    let names: Vec<String> = reader.headers().map_err(malformed)?.iter().skip(1).map(str::to_owned).collect();
    if names.is_empty() {
        let expected = "a header with the file name first, then at least one attribute";
        return Err(DataError::content(table, "header", "fewer than two columns", expected));
    }
    let mut rows = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let values = record.iter().skip(1).map(str::to_owned).collect();
        rows.insert(record.get(0).unwrap_or_default().to_owned(), values);
    }
    Ok(Attributes { names, rows })
}
