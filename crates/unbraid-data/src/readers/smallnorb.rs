//! smallNORB: toys photographed from 9 elevations and 18 azimuths in 6 lightings (LeCun et al., 2004).
//!
//! There are six files in NORB's matrix format, three for training and three for testing: images of two cameras,
//! categories, and the other factors. As usual in the literature, both parts form one data set of the first camera's
//! images, shrunk to 64 x 64 with a Lanczos filter. The instance (one of ten toys per category) is not a latent factor.

use super::lanczos::Lanczos;
use crate::cache::{self, Keep, Sink};
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::formats::norb::{Element, Matrix};
use crate::progress::Progress;
use crate::request::Request;
use crate::storage::Pixels;
use crate::stored::StoredImages;
use crate::table::FactorTable;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The categories, in the order of their class.
pub(crate) const CATEGORIES: [&str; 5] = ["animal", "human", "plane", "truck", "car"];
const PARTS: [&str; 2] = ["5x46789x9x18x6x2x96x96-training", "5x01235x9x18x6x2x96x96-testing"];
const CAMERAS: usize = 2;
const SIZE_BEFORE: usize = 96;
const SIZE: usize = 64;
/// Examples per piece: enough for every core, small enough for memory.
const EXAMPLES_PER_PIECE: usize = 256;

fn factors() -> FactorSpace {
    FactorSpace::new(vec![
        Factor::labelled("category", CATEGORIES),
        Factor::new("instance", 10).of_kind(FactorKind::Categorical).nuisance(),
        Factor::new("elevation", 9),
        Factor::new("azimuth", 18).of_kind(FactorKind::Angle),
        // Six arrangements of lamps, numbered without an order.
        Factor::new("lighting", 6).of_kind(FactorKind::Categorical),
    ])
}

/// Whether the directory has the images of the training part.
pub(crate) fn recognise(path: &Path) -> bool {
    find(path, PARTS[0], "dat").is_ok()
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    Ok(Box::new(read(request.path()?, request.progress)?))
}

/// Reads the six files in a directory.
///
/// # Errors
/// If a file is missing or damaged, or the files do not match.
pub(crate) fn read(directory: &Path, progress: &dyn Progress) -> Result<StoredImages> {
    if !directory.is_dir() {
        std::fs::metadata(directory).map_err(DataError::io(directory, "open"))?;
        let expected = "the directory of the six smallNORB files";
        return Err(DataError::content(directory, "path", "a file", expected));
    }
    let mut parts = Vec::new();
    for part in PARTS {
        parts.push(["dat", "cat", "info"].map(|kind| find(directory, part, kind)));
    }
    let mut files = Vec::new();
    for file in parts.into_iter().flatten() {
        files.push(file?);
    }
    let (mut len, mut rows) = (0, Vec::new());
    for part in files.chunks_exact(3) {
        let part_len = open_images(&part[0])?.shape()[0];
        read_factors(&part[1], &part[2], part_len, &mut rows)?;
        len += part_len;
    }
    let table = FactorTable::from_rows(factors(), rows)?;
    let hash = Fingerprint::Files(files.clone()).compute()?;
    let key = Fingerprint::Recipe(format!("smallnorb 1 {hash}")).compute()?;
    let images = cache::load_or_decode(&key, SIZE * SIZE, len, Keep::All, progress, |sink| {
        progress.start("Decoding smallNORB", len as u64);
        for part in files.chunks_exact(3) {
            decode(open_images(&part[0])?, progress, sink)?;
        }
        progress.finish();
        Ok(())
    })?;
    let shape = ImageShape::new(SIZE, SIZE, 1);
    Ok(StoredImages::new("smallnorb", shape, Pixels::Bytes(images), Some(table), Fingerprint::Known(hash)))
}

/// The file of a part, compressed or not.
fn find(directory: &Path, part: &str, kind: &str) -> Result<PathBuf> {
    let name = format!("smallnorb-{part}-{kind}.mat");
    let path = directory.join(&name);
    let compressed = directory.join(format!("{name}.gz"));
    [path, compressed].into_iter().find(|path| path.is_file()).ok_or_else(|| {
        DataError::content(directory, "directory", format!("neither {name} nor {name}.gz"), "one of them")
    })
}

fn open_images(path: &Path) -> Result<Matrix> {
    let images = Matrix::open(path)?;
    images.expect(Element::Byte, &[CAMERAS, SIZE_BEFORE, SIZE_BEFORE])?;
    Ok(images)
}

/// Appends the factors of one part to `rows`.
fn read_factors(categories: &Path, others: &Path, len: usize, rows: &mut Vec<u32>) -> Result<()> {
    let space = factors();
    let integers = |path: &Path, inner: &[usize]| {
        let matrix = Matrix::open(path)?;
        matrix.expect(Element::Integer, inner)?;
        if matrix.shape()[0] != len {
            let found = format!("{} rows", matrix.shape()[0]);
            return Err(matrix.refuse(found, format!("{len}, one per image of the same part")));
        }
        matrix.integers()
    };
    let refuse = |path: &Path, k: usize, row: usize, value: i32, expected: &str| {
        let found = format!("{} {value} for image {row}", space.factors()[k].name);
        DataError::content(path, "matrix", found, expected)
    };
    let class = |path: &Path, k: usize, row: usize, value: i32| {
        let size = space.factors()[k].size;
        let class = u32::try_from(value).ok().filter(|&class| (class as usize) < size);
        class.ok_or_else(|| refuse(path, k, row, value, &format!("a class from 0 to {}", size - 1)))
    };
    let category = integers(categories, &[])?;
    let other = integers(others, &[4])?;
    for (row, (&category, other)) in category.iter().zip(other.as_chunks::<4>().0).enumerate() {
        let &[instance, elevation, azimuth, lighting] = other;
        // Azimuths are stored as 0, 2, ..., 34: tens of degrees.
        if azimuth % 2 != 0 || !(0..=34).contains(&azimuth) {
            return Err(refuse(others, 3, row, azimuth, "an even number from 0 to 34"));
        }
        rows.extend([
            class(categories, 0, row, category)?,
            class(others, 1, row, instance)?,
            class(others, 2, row, elevation)?,
            class(others, 3, row, azimuth / 2)?,
            class(others, 4, row, lighting)?,
        ]);
    }
    Ok(())
}

/// Shrinks the image of the first camera of every example.
fn decode(images: Matrix, progress: &dyn Progress, sink: &mut Sink<'_>) -> Result<()> {
    let filter = Lanczos::new(SIZE_BEFORE, SIZE, 1);
    let bytes_per_example = CAMERAS * filter.values_before();
    let mut shrunk = vec![0; EXAMPLES_PER_PIECE * filter.values_after()];
    images.stream(EXAMPLES_PER_PIECE * bytes_per_example, |examples| {
        let count = examples.len() / bytes_per_example;
        let part = &mut shrunk[..count * filter.values_after()];
        part.par_chunks_exact_mut(filter.values_after())
            .zip(examples.par_chunks_exact(bytes_per_example))
            .for_each_init(Vec::new, |between, (pixels, example)| {
                filter.shrink(&example[..filter.values_before()], between, pixels);
            });
        progress.advance(count as u64);
        sink(part)
    })
}
