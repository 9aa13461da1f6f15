//! Codes as a Parquet file: the columns of the CSV file, the same numbers in binary, and for each image a
//! thumbnail and its place in the plane of the first two principal components.

use super::plane::Plane;
use super::thumbnail;
use crate::error::{Error, Result};
use crate::html::data_uri;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use unbraid::Run;
use unbraid::data::progress::Progress;
use unbraid::data::{DataSet, FactorSpace};
use unbraid::files::{ContentError, Existing, write_computed};
use unbraid::inference::codes_table::{self, deviation};
use unbraid::model::Posteriors;

/// The longer side of a thumbnail in pixels.
const THUMBNAIL: usize = 64;

/// A column of a row group.
enum Column {
    Text(Vec<ByteArray>),
    Integers(Vec<i64>),
    Floats(Vec<f32>),
}

/// Encodes all images of a data set and writes the table, a row group at a time. `x` and `y` are the first
/// two principal components of the means; `thumbnail`, of data with pictures, is a PNG as a `data:` address,
/// which viewers show as they find it.
///
/// # Errors
/// If an image cannot be read, or the file cannot be written or exists and is to be kept.
pub fn write_codes_parquet(
    run: &Run,
    data: &dyn DataSet,
    path: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result {
    let plane = Plane::of(run, data)?;
    let names = names(run, data);
    let written = write_computed::<unbraid::Error>(path, existing, |file| {
        let schema = schema(&names).map_err(into_io)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("unbraid ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let mut table =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(into_io)?;
        codes_table::in_pieces(run, data, progress, |piece, posteriors| {
            let columns = columns(run, data, &plane, piece, &posteriors).map_err(ContentError::Compute)?;
            let write = || -> Result<(), ParquetError> {
                let mut group = table.next_row_group()?;
                for column in columns {
                    match column {
                        Column::Text(values) => write_column::<ByteArrayType>(&mut group, &values)?,
                        Column::Integers(values) => write_column::<Int64Type>(&mut group, &values)?,
                        Column::Floats(values) => write_column::<FloatType>(&mut group, &values)?,
                    }
                }
                group.close().map(drop)
            };
            write().map_err(into_io)?;
            Ok(())
        })?;
        table.close().map_err(into_io)?;
        Ok(())
    });
    Ok(written?)
}

/// The names of the columns with their types, in order.
fn names(run: &Run, data: &dyn DataSet) -> Vec<(String, PhysicalType)> {
    let kind = |name: &str| {
        if name == "name" {
            PhysicalType::BYTE_ARRAY
        } else if ["image", "category_", "factor_"].iter().any(|start| name.starts_with(start)) {
            PhysicalType::INT64
        } else {
            PhysicalType::FLOAT
        }
    };
    let mut names: Vec<(String, PhysicalType)> =
        codes_table::columns(run, data).into_iter().map(|name| (name.clone(), kind(&name))).collect();
    names.extend([("x".to_owned(), PhysicalType::FLOAT), ("y".to_owned(), PhysicalType::FLOAT)]);
    if thumbnail::has_pictures(data) {
        names.push(("thumbnail".to_owned(), PhysicalType::BYTE_ARRAY));
    }
    names
}

fn schema(names: &[(String, PhysicalType)]) -> Result<Type, ParquetError> {
    let field = |(name, kind): &(String, PhysicalType)| {
        let text = (*kind == PhysicalType::BYTE_ARRAY).then_some(LogicalType::String);
        let builder = Type::primitive_type_builder(name, *kind).with_repetition(Repetition::REQUIRED);
        Ok(Arc::new(builder.with_logical_type(text).build()?))
    };
    let fields = names.iter().map(field).collect::<Result<Vec<_>, ParquetError>>()?;
    Type::group_type_builder("codes").with_fields(fields).build()
}

/// The columns of some images, in the order of the names.
fn columns(
    run: &Run,
    data: &dyn DataSet,
    plane: &Plane,
    piece: Range<usize>,
    posteriors: &Posteriors,
) -> unbraid::Result<Vec<Column>> {
    let mut columns = vec![Column::Integers(piece.clone().map(|image| image as i64).collect())];
    if data.image_name(0).is_some() {
        let name = |image: usize| ByteArray::from(data.image_name(image).unwrap_or_default());
        columns.push(Column::Text(piece.clone().map(name).collect()));
    }
    for unit in 0..run.units() {
        columns.push(Column::Floats(posteriors.mean.column(unit).to_vec()));
    }
    for unit in 0..run.units() {
        columns.push(Column::Floats(
            posteriors.log_variance.column(unit).iter().map(|log| deviation(*log)).collect(),
        ));
    }
    columns.extend(
        posteriors.categories.columns().into_iter().map(|classes| Column::Integers(classes.to_vec())),
    );
    columns
        .extend(posteriors.probabilities.columns().into_iter().map(|share| Column::Floats(share.to_vec())));
    let factors = data.factors().map_or(0, |space: &FactorSpace| space.factors().len());
    let mut values = vec![0; factors];
    let mut by_factor = vec![Vec::with_capacity(piece.len()); factors];
    for image in piece.clone() {
        data.factors_of(image, &mut values);
        by_factor.iter_mut().zip(&values).for_each(|(column, &value)| column.push(i64::from(value)));
    }
    columns.extend(by_factor.into_iter().map(Column::Integers));
    let places: Vec<[f32; 2]> =
        posteriors.mean.rows().into_iter().map(|code| plane.coordinates(&code)).collect();
    for axis in 0..2 {
        columns.push(Column::Floats(places.iter().map(|place| place[axis]).collect()));
    }
    if thumbnail::has_pictures(data) {
        let size = thumbnail::size(data.shape(), THUMBNAIL);
        let png = |image: usize| -> Result<ByteArray> {
            let png = thumbnail::png(data, image, size)?;
            Ok(ByteArray::from(data_uri("image/png", &png).into_bytes()))
        };
        let pictures: Vec<ByteArray> =
            piece.into_par_iter().map(png).collect::<Result<_>>().map_err(into_library)?;
        columns.push(Column::Text(pictures));
    }
    Ok(columns)
}

/// Of what can go wrong with a picture, all but reading it cannot happen to one that has pixels.
fn into_library(error: Error) -> unbraid::Error {
    match error {
        Error::Library(error) => error,
        other => unbraid::Error::argument("thumbnail", other, "a picture"),
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_owned()));
    };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        // The error of the file itself; the text of the outer one repeats it.
        ParquetError::External(cause) => {
            cause.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error)
        }
        other => io::Error::other(other),
    }
}
