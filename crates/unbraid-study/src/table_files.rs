//! A table as CSV, JSON or Parquet: one flat row for each run.

use super::columns::{Column, Values, columns};
use super::table::Table;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Broken, Existing};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fields separated by commas (RFC 4180); what is missing is empty.
    Csv,
    /// A list of objects; what is missing is null.
    Json,
    /// Typed columns, compressed by Snappy; what is missing is null.
    Parquet,
}

impl Format {
    /// By the ending of a name.
    ///
    /// # Errors
    /// If it is another one.
    pub fn of(path: &Path) -> Outcome<Self> {
        match path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Failure::input(format!(
                "{}: expected a name that ends in .csv, .json or .parquet",
                path.display()
            ))),
        }
    }
}

/// Writes a table to a file.
///
/// # Errors
/// If it cannot be written, or exists and is to be kept.
pub fn write(table: &Table, path: &Path, format: Format, existing: Existing) -> Outcome {
    files::write_made(path, existing, |file| match format {
        Format::Csv => write_csv(table, file),
        Format::Json => write_json(table, file),
        Format::Parquet => write_parquet(table, file),
    })
}

/// Writes a table as CSV.
///
/// # Errors
/// If it cannot be written.
pub fn write_csv(table: &Table, out: impl Write) -> Result<(), Broken> {
    let columns = columns(table);
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns.iter().map(|column| &column.name))?;
    for row in 0..table.rows.len() {
        csv.write_record(columns.iter().map(|column| column.values.field(row)))?;
    }
    Ok(csv.flush()?)
}

/// Writes a table as JSON, a line for each row.
fn write_json(table: &Table, mut out: impl Write) -> Result<(), Broken> {
    let columns = columns(table);
    write!(out, "[")?;
    for row in 0..table.rows.len() {
        write!(out, "{}", if row == 0 { "\n{" } else { ",\n{" })?;
        for (place, column) in columns.iter().enumerate() {
            let name = serde_json::Value::from(column.name.as_str());
            write!(out, "{}{name}:{}", if place == 0 { "" } else { "," }, column.values.json(row))?;
        }
        write!(out, "}}")?;
    }
    Ok(writeln!(out, "\n]")?)
}

/// Writes a table as Parquet, all rows in one group.
fn write_parquet(table: &Table, out: impl Write + Send) -> Result<(), Broken> {
    let columns = columns(table);
    let written = || -> Result<(), ParquetError> {
        let fields = columns.iter().map(|column| Ok(Arc::new(parquet_type(column)?)));
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Type::group_type_builder("runs").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("unbraid ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for column in &columns {
            match &column.values {
                Values::Text(values) => {
                    let bytes = values.iter().map(|value| value.as_deref().map(ByteArray::from));
                    write_column::<ByteArrayType>(&mut group, bytes.collect())
                }
                Values::Integers(values) => write_column::<Int64Type>(&mut group, values.clone()),
                Values::Numbers(values) => write_column::<DoubleType>(&mut group, values.clone()),
                Values::Flags(values) => write_column::<BoolType>(&mut group, values.clone()),
            }?;
        }
        group.close()?;
        file.close()?;
        Ok(())
    };
    written().map_err(|error| Broken::Write(std::io::Error::other(error)))
}

fn parquet_type(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.values {
        Values::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Integers(_) => (PhysicalType::INT64, None),
        Values::Numbers(_) => (PhysicalType::DOUBLE, None),
        Values::Flags(_) => (PhysicalType::BOOLEAN, None),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// Values that are there, and for each row whether it has one: its definition level.
fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let known: Vec<T::T> = values.into_iter().flatten().collect();
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("the schema has fewer columns than the table".to_owned()))?;
    column.typed::<T>().write_batch(&known, Some(&levels), None)?;
    column.close()
}
