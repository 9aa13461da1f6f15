//! Latent values from a table of codes, written by `unbraid encode` and perhaps edited by hand or another program.
//!
//! From an `.npz` archive, the arrays `codes` and, if the run has categorical units, `categories` are read; from a CSV
//! file, the columns `mean_0`, ... and `category_0`, ..., in which a unit's name may stand for its number;
//! from a JSON file, `codes` and `categories` as lists of rows, as a page copies them. Everything else is
//! optional and ignored.

use crate::error::{Error, Result};
use crate::model::Unit;
use crate::run::Run;
use ndarray::Array2;
use serde::Deserialize;
use std::path::Path;
use unbraid_data::DataError;
use unbraid_data::files::{longest_table, open_limited, read_text};
use unbraid_data::formats::npz::Npz;

/// Reads latent values for a run, `[rows, width]`.
///
/// # Errors
/// If the file is damaged, a unit is missing, a value is not a number, or a class does not exist.
pub fn read(run: &Run, path: &Path) -> Result<Array2<f32>> {
    let is = |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    let (means, classes) = if is("csv") {
        read_csv(run, path)?
    } else if is("json") {
        read_json(run, path)?
    } else {
        read_npz(run, path)?
    };
    joined(run, path, &means, &classes)
}

/// Checked by the readers.
const AS_MANY: &str = "as many values as rows and columns";

/// Means and classes, row by row.
type Columns = (Array2<f64>, Array2<i64>);

fn read_npz(run: &Run, path: &Path) -> Result<Columns> {
    let mut npz = Npz::open(path)?;
    let (units, categorical) = (run.units(), run.categorical_units().len());
    let mut rows = None;
    let mut shape_of = |npz: &mut Npz, name: &str, columns: usize| -> Result<(usize, usize)> {
        let array = npz.array(name)?;
        array.expect_axes(2)?;
        let found = (array.header().shape[0], array.header().shape[1]);
        let expected = rows.get_or_insert(found.0);
        if found != (*expected, columns) {
            let expected =
                format!("shape ({expected}, {columns}), for the units of {}", run.path().display());
            return Err(array.refuse(format!("shape ({}, {})", found.0, found.1), expected).into());
        }
        Ok(found)
    };
    let means = if units > 0 {
        let shape = shape_of(&mut npz, "codes", units)?;
        Array2::from_shape_vec(shape, npz.array("codes")?.floats()?).expect(AS_MANY)
    } else {
        Array2::zeros((0, 0))
    };
    let classes = if categorical > 0 {
        let shape = shape_of(&mut npz, "categories", categorical)?;
        Array2::from_shape_vec(shape, npz.array("categories")?.integers()?).expect(AS_MANY)
    } else {
        Array2::zeros((means.nrows(), 0))
    };
    let means = if units == 0 { Array2::zeros((classes.nrows(), 0)) } else { means };
    Ok((means, classes))
}

fn malformed(path: &Path, error: csv::Error) -> Error {
    let line = error.position().map_or_else(|| "CSV".to_owned(), |place| format!("line {}", place.line()));
    let (found, expected) = match error.into_kind() {
        csv::ErrorKind::Io(error) => return Error::io(path, "read it")(error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            (format!("a row of length {len}"), format!("{expected_len}, the length of the header"))
        }
        csv::ErrorKind::Utf8 { err, .. } => (err.to_string(), "text in UTF-8".to_owned()),
        // csv may come to know other errors.
        other => (format!("{other:?}"), "a header, and rows of equal length".to_owned()),
    };
    DataError::content(path, line, found, expected).into()
}

fn read_csv(run: &Run, path: &Path) -> Result<Columns> {
    let malformed = |error: csv::Error| malformed(path, error);
    // A digit and its separator become a double, while the list of them grows two, and a single.
    let file = open_limited(path, longest_table(16)).map_err(Error::io(path, "read it"))?;
    let mut reader = csv::Reader::from_reader(file);
    let header = reader.headers().map_err(malformed)?.clone();
    let place = |prefix: &str, unit: Unit, number: usize| -> Result<usize> {
        let name = format!("{prefix}_{number}");
        let named = run.names().get(unit).map(|name| format!("{prefix}_{name}"));
        let is_it = |column: &str| column.trim() == name || Some(column.trim()) == named.as_deref();
        header.iter().position(is_it).ok_or_else(|| {
            let expected = format!("one for each unit of {}", run.path().display());
            DataError::content(path, "header", format!("no column `{name}`"), expected).into()
        })
    };
    let (units, categorical) = (run.units(), run.categorical_units().len());
    let means_at =
        (0..units).map(|unit| place("mean", Unit::Continuous(unit), unit)).collect::<Result<Vec<_>>>()?;
    let classes_at = (0..categorical)
        .map(|unit| place("category", Unit::Categorical(unit), unit))
        .collect::<Result<Vec<_>>>()?;
    let (mut means, mut classes) = (Vec::new(), Vec::new());
    let mut rows = 0;
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        rows += 1;
        let wrong = |column: usize, expected: &str| -> Error {
            let subject = format!("row {rows}, column `{}`", &header[column]);
            DataError::content(path, subject, format!("`{}`", &record[column]), expected).into()
        };
        for &column in &means_at {
            means.push(record[column].trim().parse::<f64>().map_err(|_| wrong(column, "a number"))?);
        }
        for &column in &classes_at {
            let class = record[column].trim().parse::<i64>();
            classes.push(class.map_err(|_| wrong(column, "the number of a class"))?);
        }
    }
    let means = Array2::from_shape_vec((rows, units), means).expect(AS_MANY);
    let classes = Array2::from_shape_vec((rows, categorical), classes).expect(AS_MANY);
    Ok((means, classes))
}

/// The part of a JSON file that is read.
#[derive(Deserialize)]
struct JsonCodes {
    #[serde(default)]
    codes: Vec<Vec<f64>>,
    #[serde(default)]
    categories: Vec<Vec<i64>>,
}

fn read_json(run: &Run, path: &Path) -> Result<Columns> {
    // A row of one digit, four bytes, is a list with room for four doubles.
    let text = read_text(path, longest_table(32)).map_err(Error::io(path, "read it"))?;
    let JsonCodes { mut codes, mut categories } =
        serde_json::from_str(&text).map_err(|source| Error::Malformed {
            path: path.to_owned(),
            expected: "an object with `codes` and `categories`, lists of rows",
            source: Box::new(source),
        })?;
    let (units, categorical) = (run.units(), run.categorical_units().len());
    let rows = codes.len().max(categories.len());
    // Units of a kind that the run does not have need no rows.
    if units == 0 && codes.is_empty() {
        codes = vec![Vec::new(); rows];
    }
    if categorical == 0 && categories.is_empty() {
        categories = vec![Vec::new(); rows];
    }
    let check = |name: &str, lengths: Vec<usize>, columns: usize| -> Result {
        if lengths.len() == rows && lengths.iter().all(|&length| length == columns) {
            return Ok(());
        }
        let expected = format!("{rows} rows of {columns}, for the units of {}", run.path().display());
        let found = match lengths.iter().find(|&&length| length != columns) {
            Some(length) => format!("a row of {length}"),
            None => format!("{} rows", lengths.len()),
        };
        Err(DataError::content(path, format!("`{name}`"), found, expected).into())
    };
    check("codes", codes.iter().map(Vec::len).collect(), units)?;
    check("categories", categories.iter().map(Vec::len).collect(), categorical)?;
    let means = Array2::from_shape_vec((rows, units), codes.concat()).expect(AS_MANY);
    let classes = Array2::from_shape_vec((rows, categorical), categories.concat()).expect(AS_MANY);
    Ok((means, classes))
}

/// Rows of latent values for the decoder, after a check of every value.
fn joined(run: &Run, path: &Path, means: &Array2<f64>, classes: &Array2<i64>) -> Result<Array2<f32>> {
    if means.nrows() == 0 {
        return Err(DataError::content(path, "table", "no codes", "at least one row").into());
    }
    let layout = run.layout();
    let mut latents = Array2::zeros((means.nrows(), layout.width()));
    for ((row, unit), &mean) in means.indexed_iter() {
        let value = mean as f32;
        if !value.is_finite() {
            let subject = format!("row {}, unit {unit}", row + 1);
            return Err(DataError::content(path, subject, mean.to_string(), "a finite number").into());
        }
        latents[[row, unit]] = value;
    }
    for ((row, unit), &class) in classes.indexed_iter() {
        let columns = layout.columns(Unit::Categorical(unit));
        match usize::try_from(class) {
            Ok(class) if class < columns.len() => latents[[row, columns.start + class]] = 1.0,
            _ => {
                let subject = format!("row {}, category.{unit}", row + 1);
                let expected = format!("a class from 0 to {}", columns.len() - 1);
                return Err(DataError::content(path, subject, class.to_string(), expected).into());
            }
        }
    }
    Ok(latents)
}
