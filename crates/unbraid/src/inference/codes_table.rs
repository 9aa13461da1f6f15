//! Codes of images as a table: one row for each image, as CSV or as `.npz`.
//!
//! The CSV file has the columns `image` (its index), `name` if images have names, `mean_0`, ... and `deviation_0`, ...
//! for the continuous units, `category_0`, ... (most likely class) and `probability_0_0`, ... for the categorical ones,
//! and `factor_<name>` with the index of the value for each factor of the data. Where a unit has a name, this
//! stands in place of its number: `mean_azimuth`.
//!
//! The archive has the arrays `codes` (the means) and `standard_deviation`, `log_variance`, `[images, units]`;
//! `categories` `[images, categorical units]` and for each of these `probabilities_0`, ... `[images,
//! classes]`; `names`; `factors` and `factor_names`. `unbraid evaluate --codes` reads it as it is.

use super::input::noise;
use super::scratch::GrowingArray;
use crate::error::{Error, Result};
use crate::files::{CellText, ContentError, Existing, write_computed};
use crate::model::{Posteriors, Unit};
use crate::run::Run;
use ndarray::Axis;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::Path;
use unbraid_data::formats::npy::ElementType;
use unbraid_data::formats::npz_writer::NpzWriter;
use unbraid_data::progress::{Progress, Silent};
use unbraid_data::{DataSet, Factor, FactorSpace};

/// Images encoded and written together: enough to use all threads, few enough to fit in memory.
const PIECE: usize = 4096;

/// Encodes all images of a data set in chunks, and passes each chunk on.
///
/// # Errors
/// If an image cannot be read, and the error of `take`.
pub fn in_pieces(
    run: &Run,
    data: &dyn DataSet,
    progress: &dyn Progress,
    mut take: impl FnMut(Range<usize>, Posteriors) -> Result<(), ContentError<Error>>,
) -> Result<(), ContentError<Error>> {
    progress.start("encoding", data.len() as u64);
    for first in (0..data.len()).step_by(PIECE) {
        let piece = first..data.len().min(first + PIECE);
        let indices: Vec<usize> = piece.clone().collect();
        let posteriors = run.encode_data(data, &indices, noise(), &Silent).map_err(ContentError::Compute)?;
        progress.advance(indices.len() as u64);
        take(piece, posteriors)?;
    }
    progress.finish();
    Ok(())
}

fn factors(data: &dyn DataSet) -> &[Factor] {
    data.factors().map_or(&[], FactorSpace::factors)
}

/// Writes the table of a data set as CSV, each chunk as soon as it is encoded, in constant memory.
///
/// # Errors
/// If an image cannot be read, or the table cannot be written.
pub fn write_csv(
    run: &Run,
    data: &dyn DataSet,
    out: impl Write,
    names: CellText,
    progress: &dyn Progress,
) -> Result<(), ContentError<Error>> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns(run, data))?;
    let named = data.image_name(0).is_some();
    let mut values = vec![0; factors(data).len()];
    let mut record: Vec<String> = Vec::new();
    in_pieces(run, data, progress, |piece, posteriors| {
        for (row, image) in piece.enumerate() {
            record.clear();
            record.push(image.to_string());
            if named {
                record.push(names.of(data.image_name(image).unwrap_or_default()));
            }
            // `{:?}` is the shortest text that parses to the same number, with an exponent if that is shorter.
            record.extend(posteriors.mean.row(row).iter().map(|mean| format!("{mean:?}")));
            record
                .extend(posteriors.log_variance.row(row).iter().map(|log| format!("{:?}", deviation(*log))));
            record.extend(posteriors.categories.row(row).iter().map(i64::to_string));
            record.extend(posteriors.probabilities.row(row).iter().map(|share| format!("{share:?}")));
            data.factors_of(image, &mut values);
            record.extend(values.iter().map(u32::to_string));
            csv.write_record(&record)?;
        }
        Ok(())
    })?;
    Ok(csv.flush()?)
}

/// The names of the columns of a CSV file.
pub fn columns(run: &Run, data: &dyn DataSet) -> Vec<String> {
    let mut columns = vec![if data.columns().is_some() { "row" } else { "image" }.to_owned()];
    columns.extend(data.image_name(0).map(|_| "name".to_owned()));
    let continuous = |unit: usize| name_or(run.names().get(Unit::Continuous(unit)), unit);
    columns.extend((0..run.units()).map(|unit| format!("mean_{}", continuous(unit))));
    columns.extend((0..run.units()).map(|unit| format!("deviation_{}", continuous(unit))));
    let categorical = run.categorical_units();
    let category = |unit: usize| name_or(run.names().get(Unit::Categorical(unit)), unit);
    columns.extend((0..categorical.len()).map(|unit| format!("category_{}", category(unit))));
    for (unit, &classes) in categorical.iter().enumerate() {
        columns.extend((0..classes).map(|class| format!("probability_{}_{class}", category(unit))));
    }
    columns.extend(factors(data).iter().map(|factor| format!("factor_{}", factor.name)));
    columns
}

fn name_or(name: Option<&str>, number: usize) -> String {
    name.map_or_else(|| number.to_string(), str::to_owned)
}

/// The standard deviation that a logarithm of a variance stands for.
pub fn deviation(log_variance: f32) -> f32 {
    (0.5 * log_variance).exp()
}

/// Writes the table of a data set as an archive. Arrays are buffered on disk until they are complete, so that memory
/// does not grow with the data.
///
/// # Errors
/// If an image cannot be read, or the file cannot be written or exists and is to be kept.
pub fn write_npz(
    run: &Run,
    data: &dyn DataSet,
    path: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result {
    write_computed(path, existing, |file| {
        let (singles, integers) = (ElementType::little('f', 4), ElementType::little('i', 8));
        let (units, categorical) = (run.units(), run.categorical_units());
        let mut mean = GrowingArray::new(path, "codes", singles, units)?;
        let mut deviations = GrowingArray::new(path, "standard_deviation", singles, units)?;
        let mut log_variance = GrowingArray::new(path, "log_variance", singles, units)?;
        let mut categories = GrowingArray::new(path, "categories", integers, categorical.len())?;
        let probabilities = |(unit, &classes): (usize, &usize)| {
            GrowingArray::new(path, &format!("probabilities_{unit}"), singles, classes)
        };
        let mut probabilities =
            categorical.iter().enumerate().map(probabilities).collect::<io::Result<Vec<_>>>()?;
        in_pieces(run, data, progress, |_, posteriors| {
            mean.extend(posteriors.mean.iter().map(|value| value.to_le_bytes()))?;
            deviations.extend(posteriors.log_variance.iter().map(|log| deviation(*log).to_le_bytes()))?;
            log_variance.extend(posteriors.log_variance.iter().map(|log| log.to_le_bytes()))?;
            categories.extend(posteriors.categories.iter().map(|class| class.to_le_bytes()))?;
            for (unit, array) in probabilities.iter_mut().enumerate() {
                let columns = run.layout().probability_columns(unit);
                let own = posteriors.probabilities.slice_axis(Axis(1), columns.into());
                array.extend(own.iter().map(|share| share.to_le_bytes()))?;
            }
            Ok(())
        })?;
        let mut npz = NpzWriter::new(file);
        for array in [mean, deviations, log_variance] {
            array.finish(data.len(), &mut npz)?;
        }
        if !categorical.is_empty() {
            categories.finish(data.len(), &mut npz)?;
        }
        for array in probabilities {
            array.finish(data.len(), &mut npz)?;
        }
        write_names_and_factors(data, &mut npz)?;
        npz.finish()?;
        Ok(())
    })
}

fn write_names_and_factors<W: Write + Seek>(data: &dyn DataSet, npz: &mut NpzWriter<W>) -> io::Result<()> {
    if data.image_name(0).is_some() {
        let name = |image: usize| data.image_name(image).unwrap_or_default().to_owned();
        npz.strings("names", &(0..data.len()).map(name).collect::<Vec<_>>())?;
    }
    let factors = factors(data);
    if factors.is_empty() {
        return Ok(());
    }
    let mut values = vec![0; factors.len()];
    let rows = (0..data.len()).flat_map(|image| {
        data.factors_of(image, &mut values);
        values.iter().map(|&value| i64::from(value)).collect::<Vec<_>>()
    });
    npz.integers("factors", &[data.len(), factors.len()], rows)?;
    npz.strings("factor_names", &factors.iter().map(|factor| factor.name.clone()).collect::<Vec<_>>())
}
