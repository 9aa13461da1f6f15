//! Parquet: columns of numbers and text. Nested columns are left aside.

use super::cells::{Cell, Cells};
use super::{Choice, Content};
use crate::error::{DataError, Result};
use crate::files::open_regular;
use crate::guard::guarded;
use crate::memory;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use std::fs::File;
use std::path::Path;

/// Reads the columns that are wanted. A panic in the parser becomes an error.
pub(super) fn read(path: &Path, choice: &Choice) -> Result<Content> {
    guarded(|| read_columns(path, choice)).unwrap_or_else(|_| {
        Err(DataError::content(
            path,
            "file",
            "data on which the Parquet parser panicked",
            "a whole Parquet file",
        ))
    })
}

fn read_columns(path: &Path, choice: &Choice) -> Result<Content> {
    let damaged = |error: ParquetError| {
        DataError::content(path, "file", "damaged or unknown data", "a whole Parquet file").caused_by(error)
    };
    let file = open_regular(path).map_err(DataError::io(path, "open"))?;
    let length = file.metadata().map_err(DataError::io(path, "read its size"))?.len();
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let metadata = reader.metadata().file_metadata();
    let simple: Vec<_> =
        metadata.schema().get_fields().iter().filter(|field| field.is_primitive()).cloned().collect();
    let names: Vec<String> = simple.iter().map(|field| field.name().to_owned()).collect();
    let mut cells = Cells::new(path, &names, choice)?;
    let mut places: Vec<usize> = cells.places().collect();
    places.sort_unstable();
    places.dedup();
    let promised = u64::try_from(metadata.num_rows()).unwrap_or(0);
    // By column and by row, as doubles; labels as strings with memory of their own.
    let each = if choice.factors.is_some() { 64 } else { 16 };
    let needed = promised.saturating_mul(each).saturating_mul(places.len() as u64);
    DataError::check_memory(path, "table", needed)?;
    // A few bytes repeat a value any number of times.
    let limit = memory::largest_expansion(length);
    if needed > limit {
        let subject = format!("table of {}", memory::Bytes(length));
        return Err(DataError::TooLarge { path: path.to_owned(), subject, needed, limit });
    }
    let chosen: Vec<&str> = places.iter().map(|&place| names[place].as_str()).collect();
    check_compression(path, &reader, &chosen)?;
    let wanted = places.iter().map(|&place| simple[place].clone()).collect();
    let projection = Type::group_type_builder(metadata.schema().name()).with_fields(wanted).build();
    let rows = reader.get_row_iter(Some(projection.map_err(damaged)?)).map_err(damaged)?;
    for (number, row) in rows.enumerate() {
        let row = row.map_err(damaged)?;
        // The parts of a file count for themselves.
        if number as u64 >= promised {
            return Err(DataError::content(
                path,
                "table",
                "more rows than its footer says",
                promised.to_string(),
            ));
        }
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        cells.push(|place| {
            let field = places.binary_search(&place).ok().and_then(|position| fields.get(position));
            field.map_or(Cell::Missing, |field| cell(field))
        })?;
    }
    Ok(Content { cells, factors: None })
}

/// Refuses the codecs that this reader does not have: other decoders than Snappy's are not worth their dependencies.
fn check_compression(path: &Path, reader: &SerializedFileReader<File>, chosen: &[&str]) -> Result<()> {
    for column in reader.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
        let name = column.column_path().string();
        let compression = column.compression();
        if chosen.contains(&name.as_str())
            && !matches!(compression, Compression::UNCOMPRESSED | Compression::SNAPPY)
        {
            // Some of them have a level, of no interest here.
            let codec = format!("{compression:?}");
            let found = format!("{} compression", codec.split('(').next().unwrap_or_default());
            return Err(DataError::content(path, format!("column `{name}`"), found, "none, or Snappy"));
        }
    }
    Ok(())
}

/// Dates and other types that are neither numbers nor text count as text that is not a number.
fn cell(field: &Field) -> Cell<'_> {
    match field {
        Field::Null => Cell::Missing,
        Field::Bool(value) => Cell::Number(f64::from(u8::from(*value))),
        Field::Byte(value) => Cell::Number(f64::from(*value)),
        Field::Short(value) => Cell::Number(f64::from(*value)),
        Field::Int(value) => Cell::Number(f64::from(*value)),
        Field::Long(value) => Cell::Number(*value as f64),
        Field::UByte(value) => Cell::Number(f64::from(*value)),
        Field::UShort(value) => Cell::Number(f64::from(*value)),
        Field::UInt(value) => Cell::Number(f64::from(*value)),
        Field::ULong(value) => Cell::Number(*value as f64),
        Field::Float16(value) => Cell::Number(f64::from(*value)),
        Field::Float(value) => Cell::Number(f64::from(*value)),
        Field::Double(value) => Cell::Number(*value),
        Field::Str(text) => Cell::Text(text),
        _ => Cell::Text("neither a number nor text"),
    }
}
