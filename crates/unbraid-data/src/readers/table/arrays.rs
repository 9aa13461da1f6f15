//! NumPy's arrays of two axes: an `.npy`, or one array of an `.npz`, in which there may be `columns` (the
//! names), `factors`, `factor_names` and `factor_kinds` as well.

use super::cells::{Cell, Cells};
use super::{Choice, Content};
use crate::error::{DataError, Result};
use crate::formats::npz::{ArrayReader, Npz};
use crate::readers::arrays::read_factors;
use std::path::Path;

/// Whether an archive has arrays that could be a table.
pub(super) fn has_table(path: &Path) -> bool {
    Npz::open(path).is_ok_and(|mut npz| !npz.contains("images") && !tables(&mut npz).is_empty())
}

/// The names of the arrays of numbers with two axes.
fn tables(npz: &mut Npz) -> Vec<String> {
    let is_table = |array: &ArrayReader<'_>| {
        let header = array.header();
        header.shape.len() == 2 && matches!(header.element.kind, 'f' | 'i' | 'u' | 'b')
    };
    let names = npz.names().into_iter().filter(|name| name != "factors");
    names.filter(|name| npz.array(name).is_ok_and(|array| is_table(&array))).collect()
}

pub(super) fn read_npy(path: &Path, choice: &Choice) -> Result<Content> {
    let array = ArrayReader::of_file(path)?;
    let names = numbered(&array)?;
    Ok(Content { cells: read(path, array, &names, choice)?, factors: None })
}

pub(super) fn read_npz(path: &Path, choice: &Choice, wanted: Option<&str>) -> Result<Content> {
    let mut npz = Npz::open(path)?;
    let wanted = match wanted {
        Some(name) => name.to_owned(),
        None => match tables(&mut npz).as_slice() {
            [only] => only.clone(),
            [] => {
                let found = format!("the arrays {}", npz.listed_names());
                return Err(DataError::content(path, "archive", found, "an array of numbers with two axes"));
            }
            several => {
                let found = format!("several arrays of two axes: {}", several.join(", "));
                return Err(DataError::content(path, "archive", found, "array = \"NAME\", which says which"));
            }
        },
    };
    let array = npz.array(&wanted)?;
    let mut names = numbered(&array)?;
    let rows = array.header().shape[0];
    drop(array);
    if npz.contains("columns") {
        let columns = npz.array("columns")?;
        columns.expect_shape(&[names.len()])?;
        names = columns.strings()?;
    }
    let factors = if choice.factors.is_some() { None } else { read_factors(path, &mut npz, rows)? };
    Ok(Content { cells: read(path, npz.array(&wanted)?, &names, choice)?, factors })
}

/// `x0`, `x1`, ...: names for the columns of an array, which has none.
fn numbered(array: &ArrayReader<'_>) -> Result<Vec<String>> {
    array.expect_axes(2)?;
    let columns = array.header().shape[1];
    // A header may claim any number, and names take memory before the first value is read.
    if columns == 0 || columns > MOST_COLUMNS {
        let found = format!("shape {:?}", array.header().shape);
        return Err(array.refuse(found, format!("1 to {MOST_COLUMNS} columns")));
    }
    Ok((0..columns).map(|column| format!("x{column}")).collect())
}

/// More columns than any embedding has.
const MOST_COLUMNS: usize = 1 << 20;

fn read(path: &Path, array: ArrayReader<'_>, names: &[String], choice: &Choice) -> Result<Cells> {
    let mut cells = Cells::new(path, names, choice)?;
    for row in array.floats()?.chunks_exact(names.len()) {
        cells.push(|place| Cell::Number(row[place]))?;
    }
    Ok(cells)
}
