//! A table of numbers: vectors rather than images. CSV (also with tabs or semicolons), Parquet, `.npy`, or an
//! array of an `.npz`.
//!
//! * `patterns` chooses columns by their names.
//! * `delimited`, `parquet` and `arrays` read the kinds of files, cell by cell.
//! * `cells` collects the cells: numbers, labels, and what is missing.

mod arrays;
mod cells;
mod delimited;
#[cfg(feature = "parquet")]
mod parquet;
mod patterns;

use crate::data_option::{BOOLEAN, DataOption, NAMES};
use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::fingerprint::Fingerprint;
use crate::kinds;
use crate::readers::folder::first_names;
use crate::readers::labels::table_of_labels;
use crate::request::Request;
use crate::spec::OptionValue;
use crate::table::FactorTable;
use crate::vectors::StoredVectors;
use cells::{Cells, Missing};
use patterns::Patterns;
use std::path::Path;

pub(crate) const COLUMNS: DataOption = DataOption::new(
    "columns",
    NAMES,
    "all numbers",
    "columns that are trained on; `*` and `?` match any letters, but no factors",
);
pub(crate) const FACTORS: DataOption =
    DataOption::new("factors", NAMES, "none", "columns that are factors; they are not trained on");
pub(crate) const MISSING: DataOption = DataOption::new(
    "missing",
    "error, skip or mean",
    "error",
    "rows with an empty cell: refused, left out, or filled with the column's mean",
);
pub(crate) const ARRAY: DataOption =
    DataOption::new("array", "a name", "the only one of two axes", "the array (n, d) of an .npz");
pub(crate) const HEADER: DataOption =
    DataOption::new("header", BOOLEAN, "true", "whether a CSV begins with the names of its columns");

/// What is asked of a table.
struct Choice {
    /// Features; all columns of numbers if `None`.
    columns: Option<Patterns>,
    factors: Option<Patterns>,
    missing: Missing,
}

/// What a file has.
struct Content {
    cells: Cells,
    /// Factors that are stored apart from the columns.
    factors: Option<FactorTable>,
}

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Delimited,
    Parquet,
    Npy,
    Npz,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" | "tsv" => Some(Self::Delimited),
            "parquet" | "pq" => Some(Self::Parquet),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            _ => None,
        }
    }
}

/// Whether a file is a table, judged by its name, and an archive by its arrays as well.
pub(crate) fn recognise(path: &Path) -> bool {
    match Kind::of(path) {
        Some(Kind::Delimited | Kind::Parquet | Kind::Npy) => path.is_file(),
        Some(Kind::Npz) => arrays::has_table(path),
        None => false,
    }
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let path = request.path()?;
    let patterns = |option: &str| -> Result<Option<Patterns>> {
        let text = match request.value(option) {
            None => return Ok(None),
            // The name of a column may look like a number.
            Some(OptionValue::Text(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let subject = format!("option `{option}` of data set `{}`", request.name());
        Patterns::parse(&text, subject).map(Some)
    };
    let choice = Choice {
        columns: patterns("columns")?,
        factors: patterns("factors")?,
        missing: request.choice(
            "missing",
            &[("error", Missing::Refuse), ("skip", Missing::Skip), ("mean", Missing::Mean)],
        )?,
    };
    let kind = Kind::of(path).ok_or_else(|| {
        let expected = "a name that ends in .csv, .tsv, .parquet, .npy or .npz";
        DataError::content(path, "file", "a name of another kind", expected)
    })?;
    let refuse_option = |option: &str, expected: &str| match request.value(option) {
        None => Ok(()),
        Some(value) => {
            let subject = format!("option `{option}` of data set `{}`", request.name());
            Err(DataError::value(subject, value, expected))
        }
    };
    if kind != Kind::Npz {
        refuse_option("array", "nothing: only an .npz has arrays")?;
    }
    if kind != Kind::Delimited {
        refuse_option("header", "nothing: only a CSV has a header")?;
    }
    let Content { cells, factors } = match kind {
        Kind::Delimited => delimited::read(path, &choice, request.boolean("header", true)?)?,
        Kind::Parquet => read_parquet(path, &choice)?,
        Kind::Npy => arrays::read_npy(path, &choice)?,
        Kind::Npz => arrays::read_npz(path, &choice, request.text("array")?)?,
    };
    let table = cells.finish(choice.missing)?;
    if !table.left_out.is_empty() {
        let (path, names) = (path.display(), first_names(&table.left_out));
        request.progress.note(&format!("{path}: columns that are not numbers are left out: {names}"));
    }
    if table.kept.len() < table.rows {
        let count = table.rows - table.kept.len();
        let rows = if count == 1 { "1 row" } else { &format!("{count} rows") };
        request.progress.note(&format!("{}: skipped {rows} with empty cells", path.display()));
    }
    let mut factors = match (table.labels.is_empty(), factors) {
        (false, _) => Some(table_of_labels(table.labels)?),
        (true, Some(stored)) => Some(of_rows(&stored, &table.kept)?),
        (true, None) => None,
    };
    kinds::apply(request, &mut factors)?;
    let fingerprint = Fingerprint::Files(vec![path.to_owned()]);
    let all_kept = table.kept.len() == table.rows;
    let mut data = StoredVectors::new("table", table.names, table.values, factors, fingerprint);
    if !all_kept {
        // Whoever joins codes to the table needs to know which rows they are of.
        data = data.with_row_names(table.kept.iter().map(|row| format!("row {}", row + 1)).collect());
    }
    Ok(Box::new(data))
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, choice: &Choice) -> Result<Content> {
    parquet::read(path, choice)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _choice: &Choice) -> Result<Content> {
    let expected = "a CSV, or a build with the feature `parquet`";
    Err(DataError::content(path, "file", "Parquet", expected))
}

/// Some rows of a table of factors.
fn of_rows(table: &FactorTable, kept: &[usize]) -> Result<FactorTable> {
    let width = table.space().len();
    let mut values = vec![0; kept.len() * width];
    for (row, out) in kept.iter().zip(values.chunks_exact_mut(width)) {
        table.values_of(*row, out);
    }
    FactorTable::from_rows(table.space().clone(), values)
}

/// Names of columns as the option `columns` takes them, whatever they contain.
pub(crate) fn literal_columns<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(patterns::literal).collect::<Vec<_>>().join("+")
}
