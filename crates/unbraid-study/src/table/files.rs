//! A table as CSV, JSON or Parquet: one flat row for each run.

use super::Table;
use super::columns::{Column, Values, columns};
use crate::error::{Error, Result};
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use unbraid::files::{self, CellText, Existing};

/// A file format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Fields separated by commas (RFC 4180); what is missing is empty.
    Csv,
    /// A list of objects; what is missing is null.
    Json,
    /// Typed columns, compressed by Snappy; what is missing is null.
    Parquet,
}

impl TableFormat {
    /// By the extension of a file name.
    ///
    /// # Errors
    /// If it is another one.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Error::TableExtension { path: path.to_owned() }),
        }
    }
}

impl Table {
    /// Writes the table to a file.
    ///
    /// # Errors
    /// If it cannot be written, or exists and is to be kept.
    pub fn write(&self, path: &Path, format: TableFormat, existing: Existing) -> Result {
        Ok(files::write(path, existing, |file| match format {
            TableFormat::Csv => self.write_csv(file, CellText::Plain),
            TableFormat::Json => write_json(self, file),
            TableFormat::Parquet => write_parquet(self, file),
        })?)
    }

    /// Writes the table as CSV.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_csv(&self, out: impl Write, cells: CellText) -> io::Result<()> {
        let columns = columns(self);
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(columns.iter().map(|column| cells.of(&column.name))).map_err(io_error)?;
        let field = |column: &Column, row: usize| match column.values {
            Values::Text(_) => cells.of(&column.values.field(row)),
            Values::Integers(_) | Values::Numbers(_) | Values::Flags(_) => column.values.field(row),
        };
        for row in 0..self.rows.len() {
            csv.write_record(columns.iter().map(|column| field(column, row))).map_err(io_error)?;
        }
        csv.flush()
    }
}

/// The system's own error, of a closed pipe for example. Every record has as many fields as the first, so
/// there is no other.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("not a CSV record: {other:?}")),
    }
}

/// Writes a table as JSON, a line for each row.
fn write_json(table: &Table, mut out: impl Write) -> io::Result<()> {
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
    writeln!(out, "\n]")
}

/// Writes a table as Parquet, all rows in one group.
fn write_parquet(table: &Table, out: impl Write + Send) -> io::Result<()> {
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
    written().map_err(|error| match error {
        // The error of the file itself; the text of the outer one repeats it.
        ParquetError::External(cause) => {
            cause.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error)
        }
        other => io::Error::other(other),
    })
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
