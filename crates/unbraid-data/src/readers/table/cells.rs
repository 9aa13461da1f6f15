//! The cells of a table on their way to numbers and labels.

use super::Choice;
use crate::error::{DataError, Result};
use crate::readers::labels::{Column, is_missing};
use std::path::{Path, PathBuf};

/// What to do with a row that has an empty cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Refuse the table.
    Refuse,
    /// Leave the row out.
    Skip,
    /// Take the mean of the column.
    Mean,
}

/// A cell as a file has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    Number(f64),
    Text(&'a str),
}

/// What people and programs write in place of a number that they do not have.
const NO_NUMBER: [&str; 8] = ["", "na", "n/a", "nan", "null", "none", "-", "?"];

/// The cells that are wanted, row by row.
pub(super) struct Cells {
    path: PathBuf,
    features: Vec<FeatureColumn>,
    labels: Vec<LabelColumn>,
    rows: usize,
}

struct FeatureColumn {
    name: String,
    place: usize,
    /// Whether it was asked for; others are left out if they are not numbers.
    is_wanted: bool,
    /// NaN where there is none; `None` once it has turned out that they are not numbers.
    values: Option<Vec<f64>>,
}

struct LabelColumn {
    name: String,
    place: usize,
    /// Empty where there is none.
    values: Vec<String>,
}

/// A table without gaps.
pub(super) struct Complete {
    pub(super) names: Vec<String>,
    /// Row by row.
    pub(super) values: Vec<f64>,
    pub(super) labels: Vec<Column>,
    /// Columns that are not numbers.
    pub(super) left_out: Vec<String>,
    /// How many rows the file has, and which of them are kept.
    pub(super) rows: usize,
    pub(super) kept: Vec<usize>,
}

impl Cells {
    /// For a table with these columns, of which some are wanted. A column without a name is an index that a
    /// program wrote.
    pub(super) fn new(path: &Path, names: &[String], choice: &Choice) -> Result<Self> {
        let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        sorted.sort();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let found = format!("the column `{}` twice", twice[0]);
            return Err(DataError::content(path, "header", found, "a different name for every column"));
        }
        let labels = choice.factors.as_ref().map_or(Ok(Vec::new()), |wanted| wanted.places(names, &[]))?;
        let (places, is_wanted) = match &choice.columns {
            Some(wanted) => (wanted.places(names, &labels)?, true),
            None => {
                let other = |place: &usize| !labels.contains(place) && !names[*place].is_empty();
                ((0..names.len()).filter(other).collect(), false)
            }
        };
        let feature = |place: usize| FeatureColumn {
            name: names[place].clone(),
            place,
            is_wanted,
            values: Some(Vec::new()),
        };
        let label = |place: usize| LabelColumn { name: names[place].clone(), place, values: Vec::new() };
        Ok(Self {
            path: path.to_owned(),
            features: places.into_iter().map(feature).collect(),
            labels: labels.into_iter().map(label).collect(),
            rows: 0,
        })
    }

    /// The places of the columns that are read.
    #[cfg(feature = "parquet")]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.features.iter().map(|column| column.place).chain(self.labels.iter().map(|column| column.place))
    }

    /// Adds a row, whose cells are asked for by their places.
    pub(super) fn push<'a>(&mut self, cell: impl Fn(usize) -> Cell<'a>) -> Result<()> {
        self.rows += 1;
        for column in &mut self.features {
            let Some(values) = &mut column.values else { continue };
            let number = match cell(column.place) {
                Cell::Missing => Ok(f64::NAN),
                Cell::Number(number) => Ok(number),
                Cell::Text(text) => number(text),
            };
            let refuse = |found: String, expected: &str| {
                let subject = format!("row {}, column `{}`", self.rows, column.name);
                Err(DataError::content(&self.path, subject, found, expected))
            };
            match number {
                Ok(number) if number.is_infinite() => return refuse(number.to_string(), "a finite number"),
                Ok(number) => values.push(number),
                Err(text) if column.is_wanted => return refuse(format!("`{text}`"), "a number"),
                Err(_) => column.values = None,
            }
        }
        for column in &mut self.labels {
            column.values.push(match cell(column.place) {
                Cell::Missing => String::new(),
                Cell::Number(number) if number.is_nan() => String::new(),
                Cell::Number(number) => number.to_string(),
                Cell::Text(text) if is_missing(text) => String::new(),
                Cell::Text(text) => text.trim().to_owned(),
            });
        }
        Ok(())
    }

    /// The table without the rows that have a gap, or with their gaps filled.
    pub(super) fn finish(self, missing: Missing) -> Result<Complete> {
        let Self { path, features, labels, rows } = self;
        let refuse = |subject: String, found: &str, expected: &str| {
            Err(DataError::content(&path, subject, found, expected))
        };
        let (mut columns, mut left_out) = (Vec::new(), Vec::new());
        for FeatureColumn { name, values, .. } in features {
            match values {
                Some(values) => columns.push((name, values)),
                None => left_out.push(name),
            }
        }
        if rows == 0 {
            return refuse("table".to_owned(), "no rows", "at least one row");
        }
        if columns.is_empty() {
            return refuse("table".to_owned(), "no column of numbers", "at least one");
        }
        if let Some((name, _)) = columns.iter().find(|(_, values)| values.iter().all(|value| value.is_nan()))
        {
            return refuse(
                format!("column `{name}`"),
                "no number at all",
                "numbers; `columns` can leave it out",
            );
        }
        let no_label = |row: usize| labels.iter().find(|column| column.values[row].is_empty());
        let no_number = |row: usize| columns.iter().find(|(_, values)| values[row].is_nan());
        let mut kept = Vec::with_capacity(rows);
        for row in 0..rows {
            let number = no_number(row).map(|(name, _)| name.as_str());
            let label = no_label(row).map(|column| column.name.as_str());
            let at = |name: &str| format!("row {}, column `{name}`", row + 1);
            match (missing, number, label) {
                (_, None, None) | (Missing::Mean, _, None) => kept.push(row),
                (Missing::Skip, _, _) => {}
                (Missing::Refuse, Some(name), _) => {
                    let expected =
                        "a number; missing = \"skip\" leaves such rows out, \"mean\" fills in the mean";
                    return refuse(at(name), "nothing", expected);
                }
                (Missing::Refuse | Missing::Mean, _, Some(name)) => {
                    let expected = "the value of a factor; missing = \"skip\" leaves such rows out";
                    return refuse(at(name), "nothing", expected);
                }
            }
        }
        if kept.is_empty() {
            return refuse("table".to_owned(), "an empty cell in every row", "at least one row without one");
        }
        for (_, values) in &mut columns {
            let known = values.iter().filter(|value| !value.is_nan());
            let count = known.clone().count() as f64;
            let mean: f64 = known.map(|value| value / count).sum();
            values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = mean);
        }
        let values =
            kept.iter().flat_map(|&row| columns.iter().map(move |(_, values)| values[row])).collect();
        let labels = labels.into_iter().map(|LabelColumn { name, values, .. }| {
            (name, kept.iter().map(|&row| values[row].clone()).collect())
        });
        let labels = labels.collect();
        let names = columns.into_iter().map(|(name, _)| name).collect();
        Ok(Complete { names, values, labels, left_out, rows, kept })
    }
}

/// The number that a text is, NaN if it says that there is none; or the text itself.
fn number(text: &str) -> Result<f64, &str> {
    let text = text.trim();
    if NO_NUMBER.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(f64::NAN);
    }
    text.parse().map_err(|_| text)
}
