//! dSprites: 737,280 black and white images of one shape, made from five factors (Matthey et al., 2017).
//!
//! The published `.npz` has `imgs` (n, 64, 64) and `latents_classes` (n, 6): colour, shape, scale, orientation, x, y.
//! Colour has a single value and is dropped. Subsets have five columns, without colour. The pickled `metadata` is not
//! read.

use super::decorated;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::formats::npz::Npz;
use crate::progress::Progress;
use crate::request::Request;
use crate::storage::{BitImages, Pixels};
use crate::stored::StoredImages;
use crate::table::FactorTable;
use std::path::Path;

/// The shapes, in the order of their class.
pub(crate) const SHAPES: [&str; 3] = ["square", "ellipse", "heart"];
/// The shape of the images.
pub(crate) const SHAPE: ImageShape = ImageShape::new(64, 64, 1);
/// Names of the factors after shape.
pub(crate) const OTHER_FACTORS: [&str; 4] = ["scale", "orientation", "x", "y"];
/// Their kinds. Orientations cover a full turn.
const OTHER_KINDS: [FactorKind; 4] =
    [FactorKind::Ordered, FactorKind::Angle, FactorKind::Ordered, FactorKind::Ordered];
/// The number of values of each factor of the complete file.
pub(crate) const SIZES: [usize; 5] = [3, 6, 40, 32, 32];

/// The factors of dSprites with these numbers of values.
pub(crate) fn factors(sizes: [usize; 5]) -> Vec<Factor> {
    let shape = Factor::labelled("shape", SHAPES.into_iter().chain(["triangle"]).take(sizes[0]));
    let others = OTHER_FACTORS.iter().zip(OTHER_KINDS).zip(&sizes[1..]);
    let others = others.map(|((name, kind), &size)| Factor::new(*name, size).of_kind(kind));
    std::iter::once(shape).chain(others).collect()
}

/// Whether the archive has the arrays of dSprites.
pub(crate) fn recognise(path: &Path) -> bool {
    Npz::open(path).is_ok_and(|npz| npz.contains("imgs") && npz.contains("latents_classes"))
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    decorated::decorate(Box::new(read(request.path()?, request.progress)?), request)
}

/// Reads a dSprites file and packs its images.
///
/// # Errors
/// If the file is missing, damaged, or not dSprites.
pub(crate) fn read(path: &Path, progress: &dyn Progress) -> Result<StoredImages> {
    let mut npz = Npz::open(path)?;
    let (len, rows, columns) = read_classes(&mut npz)?;
    let mut images = read_images(&mut npz, len, progress)?;
    images.shrink_to_fit();
    let factors = table(path, &rows, columns)?;
    let fingerprint = Fingerprint::Files(vec![path.to_owned()]);
    Ok(StoredImages::new("dsprites", SHAPE, Pixels::Bits(images), Some(factors), fingerprint))
}

/// The classes without colour: number of images, their rows, and how many columns the file has.
fn read_classes(npz: &mut Npz) -> Result<(usize, Vec<i64>, usize)> {
    let classes = npz.array("latents_classes")?;
    classes.expect_axes(2)?;
    let (len, columns) = (classes.header().shape[0], classes.header().shape[1]);
    if !matches!(columns, 5 | 6) || len == 0 {
        let found = format!("shape {:?}", classes.header().shape);
        return Err(classes.refuse(found, "one row per image, with 6 columns, or 5 without colour"));
    }
    let mut rows = classes.integers()?;
    if columns == 6 {
        let mut column = 0;
        rows.retain(|_| {
            column = (column + 1) % 6;
            column != 1
        });
    }
    Ok((len, rows, columns))
}

fn read_images(npz: &mut Npz, len: usize, progress: &dyn Progress) -> Result<BitImages> {
    let images = npz.array("imgs")?;
    images.expect_bytes()?;
    images.expect_axes(3)?;
    if images.header().shape[0] != len {
        let found = format!("{} images", images.header().shape[0]);
        return Err(images.refuse(found, format!("{len}, one per row of `latents_classes`")));
    }
    images.expect_shape(&[len, 64, 64])?;
    let refuse = images.refusal();
    let mut packed = BitImages::new(64 * 64);
    progress.start("Reading dSprites", len as u64);
    // A piece of the stream has 2^20 bytes, which are 256 whole images.
    images.stream(|piece| {
        packed
            .push(piece)
            .map_err(|byte| refuse(format!("a pixel of value {byte}"), "pixels of value 0 or 1"))?;
        progress.advance((piece.len() / (64 * 64)) as u64);
        Ok(())
    })?;
    progress.finish();
    Ok(packed)
}

/// Turns rows of classes into a table. Files with six columns have the published grid. Those with five are subsets that
/// may have renumbered their classes, so the size of each factor follows from its largest class.
fn table(path: &Path, rows: &[i64], columns: usize) -> Result<FactorTable> {
    let mut sizes = SIZES;
    if columns == 5 {
        for (k, size) in sizes.iter_mut().enumerate() {
            let largest = rows[k..].iter().step_by(5).max().copied().unwrap_or(0);
            *size = usize::try_from(largest + 1).unwrap_or(1).min(SIZES[k]);
        }
    }
    let subject = "array `latents_classes`";
    let refuse = |value: i64, row: usize, k: usize| {
        let name = if k == 0 { "shape" } else { OTHER_FACTORS[k - 1] };
        let expected = format!("a class from 0 to {}", sizes[k] - 1);
        DataError::content(path, subject, format!("{name} {value} for image {row}"), expected)
    };
    let mut values = Vec::with_capacity(rows.len());
    for (i, &value) in rows.iter().enumerate() {
        let class = u32::try_from(value).ok().filter(|&class| (class as usize) < sizes[i % 5]);
        values.push(class.ok_or_else(|| refuse(value, i / 5, i % 5))?);
    }
    FactorTable::from_rows(FactorSpace::new(factors(sizes)), values)
}
