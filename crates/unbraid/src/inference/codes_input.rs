//! Latent values from a table of codes: what `unbraid encode` wrote, perhaps changed by hand or by another program.
//!
//! Of an archive the arrays `codes` and, where the run has categorical units, `categories` are read; of a CSV file the
//! columns `mean_0`, ... and `category_0`, .... Everything else may be absent and is passed over.

use crate::error::{Error, Result};
use crate::model::Unit;
use crate::run::Run;
use ndarray::Array2;
use std::path::Path;
use unbraid_data::DataError;
use unbraid_data::formats::npz::Npz;

/// Reads latent values for a run, `[rows, width]`.
///
/// # Errors
/// If the file is damaged, lacks a unit, or has values that are no numbers or classes that do not exist.
pub fn read(run: &Run, path: &Path) -> Result<Array2<f32>> {
    let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let (means, classes) = if is_csv { read_csv(run, path)? } else { read_npz(run, path)? };
    joined(run, path, &means, &classes)
}

/// What the readers have checked.
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

fn read_csv(run: &Run, path: &Path) -> Result<Columns> {
    let malformed = |error: csv::Error| -> Error {
        DataError::content(path, "CSV", error.to_string(), "a header, and rows of equal length").into()
    };
    let mut reader = csv::Reader::from_path(path).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io(path, "open it")(error),
        other => {
            DataError::content(path, "CSV", format!("{other:?}"), "a header, and rows of equal length").into()
        }
    })?;
    let header = reader.headers().map_err(malformed)?.clone();
    let place = |name: String| -> Result<usize> {
        header.iter().position(|column| column.trim() == name).ok_or_else(|| {
            let expected = format!("it beside those of the other units of {}", run.path().display());
            DataError::content(path, "header", format!("no column `{name}`"), expected).into()
        })
    };
    let (units, categorical) = (run.units(), run.categorical_units().len());
    let means_at = (0..units).map(|unit| place(format!("mean_{unit}"))).collect::<Result<Vec<_>>>()?;
    let classes_at =
        (0..categorical).map(|unit| place(format!("category_{unit}"))).collect::<Result<Vec<_>>>()?;
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

/// Rows for the decoder; every value is checked.
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
