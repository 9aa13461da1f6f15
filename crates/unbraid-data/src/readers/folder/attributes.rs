//! Attribute tables for a folder of images: the format of CelebA, or a CSV with a header.

use super::listing::{Listing, first_names};
use crate::error::{DataError, Result};
use crate::files::{longest_table, read_text};
use crate::kinds::Stated;
use crate::progress::Progress;
use crate::readers::labels::{Column, is_missing};
use crate::table::FactorTable;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// CelebA's table of 40 attributes.
pub(super) const CELEBA_TABLE: &str = "list_attr_celeba.txt";

/// What to do with an image without a row, or with an empty cell in it: an empty cell is a missing value, not a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Refuse the table.
    Refuse,
    /// Leave the image out.
    Skip,
}

/// The names of the attributes, and the values of each file.
pub(super) struct Attributes {
    table: PathBuf,
    names: Vec<String>,
    rows: HashMap<String, Vec<String>>,
    /// Kinds that the table states; nothing for an attribute whose kind is told from its values.
    kinds: Vec<Option<Stated>>,
}

/// What a CSV has in its first column where the line states the kinds of the columns.
const KINDS: &str = "#kinds";

/// Bytes of memory for each of a table: a row of a name and one cell, four bytes, becomes two strings, a list
/// and an entry of a hash map.
const EXPANSION: u64 = 64;

impl Attributes {
    /// Reads a table.
    pub(super) fn read(table: &Path) -> Result<Self> {
        let text = read_text(table, longest_table(EXPANSION)).map_err(DataError::io(table, "read"))?;
        let is_csv = table.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        if is_csv { read_csv(table, &text) } else { read_celeba(table, &text) }
    }

    /// The names of the attributes.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Sets the kinds of factors that the table states.
    pub(super) fn state_kinds(&self, factors: &mut FactorTable) -> Result<()> {
        for (name, stated) in self.names.iter().zip(&self.kinds) {
            let (Some(stated), Some(position)) = (stated, factors.space().position(name)) else { continue };
            let kind = stated.kind_of(&factors.space().factors()[position]).map_err(|label| {
                let (found, expected) = (format!("`{label}`"), "a number, as the line `#kinds` says");
                DataError::content(&self.table, format!("column `{name}`"), found, expected)
            })?;
            factors.set_kind(position, kind);
        }
        Ok(())
    }

    /// Checks that no two images would share a row. A row that has no path in its first column is that of the
    /// only image with this file name.
    pub(super) fn check_names(&self, listing: &Listing) -> Result<()> {
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for name in listing.names() {
            let Some(row) = [name, file_name(name)].into_iter().find(|row| self.rows.contains_key(*row))
            else {
                continue;
            };
            if let Some(other) = owners.insert(row, name) {
                let found = format!("the images {other} and {name}, which would share it");
                let path = if name.contains('/') { name } else { other };
                let expected = format!("their paths in the first column, such as `{path}`");
                return Err(DataError::content(&self.table, format!("row `{row}`"), found, expected));
            }
        }
        Ok(())
    }

    /// The row of an image, by its path or else by its file name.
    fn row(&self, name: &str) -> Option<&[String]> {
        self.rows.get(name).or_else(|| self.rows.get(file_name(name))).map(Vec::as_slice)
    }

    /// Removes the images that have no value for every attribute, and says which.
    pub(super) fn skip_incomplete(
        &self,
        root: &Path,
        listing: &mut Listing,
        progress: &dyn Progress,
    ) -> Result<()> {
        let complete =
            |name: &str| self.row(name).is_some_and(|row| row.iter().all(|value| !is_missing(value)));
        let incomplete: Vec<String> =
            listing.names().iter().filter(|name| !complete(name)).cloned().collect();
        if incomplete.is_empty() {
            return Ok(());
        }
        if incomplete.len() == listing.len() {
            let found = format!("no row without empty cells for any image of {}", root.display());
            return Err(DataError::content(&self.table, "attributes", found, "one for some of them"));
        }
        let complete: Vec<bool> = listing.names().iter().map(|name| complete(name)).collect();
        listing.keep(|index| complete[index]);
        progress.note(&format!(
            "{}: skipped {} without attributes: {}",
            root.display(),
            counted(incomplete.len(), "image"),
            first_names(&incomplete)
        ));
        Ok(())
    }

    /// The labels of every image.
    pub(super) fn columns(&self, root: &Path, listing: &Listing) -> Result<Vec<Column>> {
        const EXPECTED: &str = "for every image, or missing = \"skip\" to leave out the others";
        let mut columns: Vec<Column> =
            self.names.iter().map(|name| (name.clone(), Vec::with_capacity(listing.len()))).collect();
        for name in listing.names() {
            let refuse = |found: String, what: &str| {
                let expected = format!("{what} {EXPECTED}");
                DataError::content(&self.table, "attributes", found, expected)
            };
            let image = root.join(name);
            let row =
                self.row(name).ok_or_else(|| refuse(format!("no row for {}", image.display()), "a row"))?;
            for ((attribute, column), value) in columns.iter_mut().zip(row) {
                if is_missing(value) {
                    let found = format!("an empty cell of `{attribute}` for {}", image.display());
                    return Err(refuse(found, "a value"));
                }
                column.push(value.clone());
            }
        }
        Ok(columns)
    }
}

/// The last part of a path with `/` between its parts.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Adds the row of a file, of which there is only one.
fn add_row(
    (table, line): (&Path, u64),
    rows: &mut HashMap<String, Vec<String>>,
    file: &str,
    values: Vec<String>,
) -> Result<()> {
    match rows.insert(file.to_owned(), values) {
        None => Ok(()),
        Some(_) => {
            let found = format!("a second row of `{file}`");
            Err(DataError::content(table, format!("line {line}"), found, "one row for each file"))
        }
    }
}

/// `1 image`, `2 images`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
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
        let file = fields.next().unwrap_or_default();
        let values: Vec<String> = fields.map(str::to_owned).collect();
        let place = number as u64 + 3;
        let line = format!("line {place}");
        if values.len() != names.len() {
            return refuse(&line, format!("{} values", values.len()), &format!("{} values", names.len()));
        }
        if let Some(value) = values.iter().find(|value| !matches!(value.as_str(), "1" | "-1")) {
            return refuse(&line, format!("`{value}`"), "1 or -1");
        }
        add_row((table, place), &mut rows, file, values)?;
    }
    if rows.len() != count {
        return refuse("file", format!("{} rows", rows.len()), &format!("{count} rows, as line 1 says"));
    }
    Ok(Attributes { table: table.to_owned(), names, rows, kinds: Vec::new() })
}

/// The kinds that a line states: `categorical`, `ordered` (or `number`), `angle`, or nothing.
fn stated_kinds(table: &Path, record: &csv::StringRecord) -> Result<Vec<Option<Stated>>> {
    let kind = |word: &str| match word.trim() {
        "" => Ok(None),
        word => Stated::from_word(word).map(Some).ok_or_else(|| {
            let expected = "categorical, ordered, number, angle, or nothing";
            DataError::content(table, format!("line `{KINDS}`"), format!("`{word}`"), expected)
        }),
    };
    record.iter().skip(1).map(kind).collect()
}

/// Parses a header and rows whose first column is the file name. A row with `#kinds` in that column states
/// the kinds of the others.
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
    let (mut rows, mut kinds) = (HashMap::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        if record.get(0) == Some(KINDS) {
            kinds = stated_kinds(table, &record)?;
            continue;
        }
        let values = record.iter().skip(1).map(str::to_owned).collect();
        let line = record.position().map_or(0, csv::Position::line);
        add_row((table, line), &mut rows, record.get(0).unwrap_or_default(), values)?;
    }
    Ok(Attributes { table: table.to_owned(), names, rows, kinds })
}
