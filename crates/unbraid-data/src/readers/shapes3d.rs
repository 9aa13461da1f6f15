//! Shapes3D: an object in a room, made from six factors (Burgess and Kim, 2018).
//!
//! The published `3dshapes.h5` has `images` (n, 64, 64, 3) and `labels` (n, 6), which are physical values: hues, a
//! scale, a shape and an angle. The sorted distinct values of each column become its classes, so subsets of the file
//! work as well. The 5.9 GB of pixels are too large for memory and slow to access in compressed chunks, so they are
//! decompressed once into the cache.

use crate::cache::{self, Keep};
use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::formats::hdf5::{Array, Element, File};
use crate::progress::Progress;
use crate::request::Request;
use crate::storage::Pixels;
use crate::stored::StoredImages;
use crate::table::FactorTable;
use std::path::Path;

/// The names of the factors; the last varies fastest.
pub(crate) const FACTORS: [&str; 6] =
    ["floor hue", "wall hue", "object hue", "scale", "shape", "orientation"];
/// Their kinds. Hues lie on the colour circle; orientations are from -30 to 30 degrees and do not meet.
const KINDS: [FactorKind; 6] = [
    FactorKind::Angle,
    FactorKind::Angle,
    FactorKind::Angle,
    FactorKind::Ordered,
    FactorKind::Categorical,
    FactorKind::Ordered,
];
/// The number of values of each factor of the complete file.
pub(crate) const SIZES: [usize; 6] = [10, 10, 10, 8, 4, 15];
const SHAPE: ImageShape = ImageShape::new(64, 64, 3);

/// Whether the file has the arrays of Shapes3D.
pub(crate) fn recognise(path: &Path) -> bool {
    let is_hdf5 = path.is_file() && path.extension().is_some_and(|end| end == "h5" || end == "hdf5");
    is_hdf5 && File::open(path).and_then(|file| arrays(&file)).is_ok()
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    Ok(Box::new(read(request.path()?, request.progress)?))
}

/// Reads a Shapes3D file.
///
/// # Errors
/// If the file is missing, damaged, or not Shapes3D.
pub(crate) fn read(path: &Path, progress: &dyn Progress) -> Result<StoredImages> {
    let file = File::open(path)?;
    let (images, labels) = arrays(&file)?;
    let len = images.shape()[0];
    let table = table(&labels)?;
    let fingerprint = Fingerprint::Files(vec![path.to_owned()]);
    let key = Fingerprint::Recipe(format!("shapes3d 1 {}", fingerprint.compute()?)).compute()?;
    let images = cache::load_or_decode(&key, SHAPE.values(), len, Keep::Large, progress, |sink| {
        progress.start("Decompressing Shapes3D", len as u64);
        images.stream(|rows| {
            progress.advance((rows.len() / SHAPE.values()) as u64);
            sink(rows)
        })?;
        progress.finish();
        Ok(())
    })?;
    Ok(StoredImages::new("shapes3d", SHAPE, Pixels::Bytes(images), Some(table), fingerprint))
}

/// Images and labels, of matching shapes.
fn arrays(file: &File) -> Result<(Array, Array)> {
    let images = file.array("images")?;
    images.expect(Element::Byte, &[64, 64, 3])?;
    // Zeros compress a thousandfold, and all of it would be written to the cache.
    let most = SIZES.iter().product::<usize>();
    if images.shape()[0] > most {
        let found = format!("{} images", images.shape()[0]);
        return Err(images.refuse(found, format!("at most {most}, as in the published file")));
    }
    let labels = file.array("labels")?;
    labels.expect(Element::Double, &[FACTORS.len()])?;
    if labels.shape()[0] != images.shape()[0] {
        let expected = format!("{}, one per image", images.shape()[0]);
        return Err(labels.refuse(format!("{} rows", labels.shape()[0]), expected));
    }
    Ok((images, labels))
}

/// Turns physical values into classes.
fn table(labels: &Array) -> Result<FactorTable> {
    let values = labels.floats()?;
    let complete = values.len() == FACTORS.len() * SIZES.iter().product::<usize>();
    let mut rows = vec![0; values.len()];
    let mut factors = Vec::new();
    for (k, (&name, &size)) in FACTORS.iter().zip(&SIZES).enumerate() {
        let column = || values[k..].iter().step_by(FACTORS.len());
        let mut distinct = Vec::new();
        for (row, &value) in column().enumerate() {
            if !value.is_finite() {
                return Err(labels.refuse(format!("{name} {value} for image {row}"), "a finite number"));
            }
            if let Err(place) = distinct.binary_search_by(|other: &f64| other.total_cmp(&value)) {
                distinct.insert(place, value);
            }
            // Checked immediately, so that the list stays short even if every value is different.
            if distinct.len() > size {
                let found = format!("more than {size} values of {name}, the last {value} for image {row}");
                return Err(labels.refuse(found, format!("at most {size}")));
            }
        }
        if complete && distinct.len() != size {
            let found = format!("{} values of {name} in {} images", distinct.len(), rows.len() / 6);
            return Err(labels.refuse(found, format!("{size}, as in the published file")));
        }
        for (row, value) in column().enumerate() {
            let class = distinct.binary_search_by(|other| other.total_cmp(value)).unwrap_or_default();
            rows[row * FACTORS.len() + k] = class as u32;
        }
        let labels = distinct.iter().map(|value| format!("{value:.2}"));
        factors.push(Factor::labelled(name, labels).of_kind(KINDS[k]));
    }
    FactorTable::from_rows(FactorSpace::new(factors), rows)
}
