//! Writing any data set as an `.npz` file.
//!
//! Binary images of dSprites' size and factors, such as those of `dsprites` and `shapes`, are written in the
//! layout of the published dSprites file: `imgs` (n, 64, 64), zeros and ones, and `latents_classes`. For the
//! full grid, `latents_classes` has six columns, colour first, and there is `latents_values` as well; for a
//! reduced grid it has five columns, like the published subsets. Every other data set becomes `images` (n,
//! height, width, channels), `factors`, `factor_names` and `factor_kinds`, which the data set `npz` reads. A
//! table becomes `vectors` (n, d) and `columns` in place of `images`, which the data set `table` reads.

use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorSpace};
use crate::formats::npy::ElementType;
use crate::formats::npz_writer::NpzWriter;
use crate::progress::Progress;
use crate::random::Stream;
use crate::readers::dsprites;
use std::f64::consts::TAU;
use std::io::{self, Seek, Write};

/// Images per batch.
const CHUNK: usize = 1024;

/// How pixels are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelType {
    /// One byte, 0 to 255: 255 times the value, rounded.
    Bytes,
    /// The value itself, as a 32-bit float.
    Floats,
}

/// Writes all images and factors. `seed` is the seed of the noise of stochastic data sets.
///
/// ```
/// use std::io::Cursor;
/// use unbraid_data::convert::{PixelType, write_npz};
/// use unbraid_data::open;
/// use unbraid_data::progress::Silent;
///
/// let data = open(&"shapes(scales=1, orientations=1, positions=4)".parse()?, &Silent)?;
/// let archive = write_npz(data.as_ref(), PixelType::Bytes, 0, Cursor::new(Vec::new()), &Silent)?;
/// assert!(archive.into_inner().starts_with(b"PK")); // a zip archive
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
///
/// # Errors
/// If the data cannot be read, or does not fit the pixel type; [`DataError::Write`] if the writer fails.
pub fn write_npz<W: Write + Seek>(
    data: &dyn DataSet,
    pixels: PixelType,
    seed: u64,
    writer: W,
    progress: &dyn Progress,
) -> Result<W> {
    let mut npz = NpzWriter::new(writer);
    let shape = data.shape();
    if pixels == PixelType::Bytes && fits_dsprites(data) {
        let out = npz.array("imgs", ElementType::little('u', 1), &[data.len(), shape.height, shape.width]);
        let out = out.map_err(unwritable)?;
        write_images(data, seed, progress, |values| {
            out.write_all(&values.iter().map(|&v| v as u8).collect::<Vec<_>>())
        })?;
        write_dsprites_classes(data, &mut npz).map_err(unwritable)?;
        return npz.finish().map_err(unwritable);
    }
    let axes = [data.len(), shape.height, shape.width, shape.channels];
    if let Some(columns) = data.columns() {
        write_vectors(data, columns, seed, &mut npz, progress)?;
        write_factors(data, &mut npz)?;
        return npz.finish().map_err(unwritable);
    }
    match pixels {
        PixelType::Bytes => {
            let mut outside = None;
            let out = npz.array("images", ElementType::little('u', 1), &axes).map_err(unwritable)?;
            write_images(data, seed, progress, |values| {
                outside =
                    outside.or_else(|| values.iter().copied().find(|value| !(0.0..=1.0).contains(value)));
                out.write_all(&values.iter().map(|value| (value * 255.0).round() as u8).collect::<Vec<_>>())
            })?;
            if let Some(value) = outside {
                let expected = "values in [0, 1] for byte pixels; write floats instead";
                let subject = format!("pixels of data set `{}`", data.name());
                return Err(DataError::value(subject, value, expected));
            }
        }
        PixelType::Floats => {
            let out = npz.array("images", ElementType::little('f', 4), &axes).map_err(unwritable)?;
            write_images(data, seed, progress, |values| {
                out.write_all(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
            })?;
        }
    }
    write_factors(data, &mut npz)?;
    npz.finish().map_err(unwritable)
}

/// The rows of a table in double precision, and the names of its columns.
fn write_vectors<W: Write + Seek>(
    data: &dyn DataSet,
    columns: &[String],
    seed: u64,
    npz: &mut NpzWriter<W>,
    progress: &dyn Progress,
) -> Result<()> {
    let noise = Stream::new(seed, "convert").at(0);
    progress.start("Writing rows", data.len() as u64);
    let mut row = vec![0.0; columns.len()];
    let doubles = ElementType::little('f', 8);
    let out = npz.array("vectors", doubles, &[data.len(), columns.len()]).map_err(unwritable)?;
    for index in 0..data.len() {
        data.write_row(index, noise.lane(index as u64), &mut row)?;
        let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
        out.write_all(&bytes).map_err(unwritable)?;
        progress.advance(1);
    }
    progress.finish();
    npz.strings("columns", columns).map_err(unwritable)
}

fn write_factors<W: Write + Seek>(data: &dyn DataSet, npz: &mut NpzWriter<W>) -> Result<()> {
    let Some(space) = data.factors() else { return Ok(()) };
    let values = rows(data).flatten().map(i64::from);
    npz.integers("factors", &[data.len(), space.len()], values).map_err(unwritable)?;
    let names: Vec<String> = space.factors().iter().map(|factor| factor.name.clone()).collect();
    npz.strings("factor_names", &names).map_err(unwritable)?;
    let kinds: Vec<String> = space.factors().iter().map(|factor| factor.kind.to_string()).collect();
    npz.strings("factor_kinds", &kinds).map_err(unwritable)
}

fn unwritable(source: io::Error) -> DataError {
    DataError::Write { source }
}

/// Passes all images to `write`, in order, in batches.
fn write_images(
    data: &dyn DataSet,
    seed: u64,
    progress: &dyn Progress,
    mut write: impl FnMut(&[f32]) -> io::Result<()>,
) -> Result<()> {
    let stream = Stream::new(seed, "convert");
    progress.start("Writing images", data.len() as u64);
    let mut pixels = vec![0.0; CHUNK.min(data.len()) * data.shape().values()];
    for first in (0..data.len()).step_by(CHUNK) {
        let indices: Vec<usize> = (first..data.len().min(first + CHUNK)).collect();
        let pixels = &mut pixels[..indices.len() * data.shape().values()];
        data.write_batch_parallel(&indices, stream.at((first / CHUNK) as u64), pixels)?;
        write(pixels).map_err(unwritable)?;
        progress.advance(indices.len() as u64);
    }
    progress.finish();
    Ok(())
}

fn rows(data: &dyn DataSet) -> impl Iterator<Item = Vec<u32>> + '_ {
    let count = data.factors().map_or(0, crate::FactorSpace::len);
    (0..data.len()).map(move |index| {
        let mut row = vec![0; count];
        data.factors_of(index, &mut row);
        row
    })
}

/// Whether the layout of the published dSprites file can hold a data set: binary images of its size with its
/// five factors, whose names, kinds and labels the file does not say, and no more values of any.
fn fits_dsprites(data: &dyn DataSet) -> bool {
    let has_its_factors = |space: &FactorSpace| {
        let sizes: Vec<usize> = space.factors().iter().map(|factor| factor.size).collect();
        <[usize; 5]>::try_from(sizes).is_ok_and(|sizes| {
            sizes.iter().zip(dsprites::SIZES).all(|(&size, largest)| size <= largest)
                && dsprites::factors(sizes) == space.factors()
        })
    };
    data.is_binary() && data.shape() == dsprites::SHAPE && data.factors().is_some_and(has_its_factors)
}

/// Writes the classes of shape, scale, orientation, x and y.
fn write_dsprites_classes<W: Write + Seek>(data: &dyn DataSet, npz: &mut NpzWriter<W>) -> io::Result<()> {
    let factors: &[Factor] = data.factors().map_or(&[], |space| space.factors());
    let full = data.is_full_grid() && factors.iter().map(|factor| factor.size).eq(dsprites::SIZES);
    if !full {
        let classes = rows(data).flatten().map(i64::from);
        return npz.integers("latents_classes", &[data.len(), 5], classes);
    }
    let with_colour =
        rows(data).flat_map(|row| std::iter::once(0).chain(row).map(i64::from).collect::<Vec<_>>());
    npz.integers("latents_classes", &[data.len(), 6], with_colour)?;
    let values = rows(data).flat_map(|row| {
        let class = |k: usize| f64::from(row[k]);
        // Evenly spaced with both ends included, as the published file lists them.
        [1.0, 1.0 + class(0), 0.5 + 0.1 * class(1), class(2) * (TAU / 39.0), class(3) / 31.0, class(4) / 31.0]
    });
    npz.floats("latents_values", &[data.len(), 6], values)
}
