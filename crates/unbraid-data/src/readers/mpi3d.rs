//! MPI3D: a robot arm that holds an object, simulated or photographed (Gondal et al., 2019).
//!
//! The `.npz` has one array, `images`: the full grid in order, 64 x 64 x 3. Toy, realistic and real have 1,036,800
//! images (12.7 GB); complex, with real-world objects, has 460,800. If the archive is uncompressed, pixels
//! are read from it on demand; otherwise they are decompressed once into the cache.

use crate::cache::{self, Keep};
use crate::data_option::DataOption;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::formats::npz::{ArrayReader, Npz};
use crate::progress::Progress;
use crate::request::Request;
use crate::storage::{ByteImages, Pixels};
use crate::stored::StoredImages;
use crate::table::FactorTable;
use std::path::Path;

/// The names of the factors; the last varies fastest.
pub(crate) const FACTORS: [&str; 7] = [
    "object colour",
    "object shape",
    "object size",
    "camera height",
    "background colour",
    "horizontal axis",
    "vertical axis",
];
/// Their kinds. The two axes of the arm cover half a turn each, so that their ends do not meet.
const KINDS: [FactorKind; 7] = [
    FactorKind::Categorical,
    FactorKind::Categorical,
    FactorKind::Ordered,
    FactorKind::Ordered,
    FactorKind::Categorical,
    FactorKind::Ordered,
    FactorKind::Ordered,
];
/// The published grids.
const GRIDS: [Sizes; 2] = [[6, 6, 2, 3, 3, 40, 40], [4, 4, 2, 3, 3, 40, 40]];
const SHAPE: ImageShape = ImageShape::new(64, 64, 3);
pub(crate) const SIZES: DataOption = DataOption::new(
    "sizes",
    "seven numbers such as 4x4x2x3x3x40x40",
    "those of a published grid",
    "number of values of each factor, for grids that were not published",
);

/// The number of values of each factor.
pub(crate) type Sizes = [usize; 7];

/// Whether the number of `images` is that of a published grid.
pub(crate) fn recognise(path: &Path) -> bool {
    let Ok(mut npz) = Npz::open(path) else { return false };
    npz.array("images").is_ok_and(|images| {
        let grid = |sizes: &Sizes| images.expect_shape(&[sizes.iter().product(), 64, 64, 3]).is_ok();
        images.expect_bytes().is_ok() && GRIDS.iter().any(grid)
    })
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let sizes = request.text(SIZES.name)?.map(parse_sizes).transpose()?;
    Ok(Box::new(read(request.path()?, sizes, request.progress)?))
}

fn parse_sizes(text: &str) -> Result<Sizes> {
    let refuse = || {
        let expected = "seven numbers of at least 1, such as 4x4x2x3x3x40x40";
        DataError::value("option `sizes` of data set `mpi3d`", format!("\"{text}\""), expected)
    };
    let sizes: Result<Vec<usize>, _> = text.split('x').map(|size| size.trim().parse()).collect();
    let sizes: Sizes = sizes.ok().and_then(|sizes| sizes.try_into().ok()).ok_or_else(refuse)?;
    let len = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    if len.is_none_or(|len| len == 0) { Err(refuse()) } else { Ok(sizes) }
}

/// Reads an MPI3D file. Without `sizes`, the number of images determines the grid.
///
/// # Errors
/// If the file is missing or damaged, or the number of images does not match.
pub(crate) fn read(path: &Path, sizes: Option<Sizes>, progress: &dyn Progress) -> Result<StoredImages> {
    let mut npz = Npz::open(path)?;
    let images = npz.array("images")?;
    images.expect_bytes()?;
    images.expect_axes(4)?;
    let len = images.header().shape[0];
    let sizes = match sizes {
        Some(sizes) => {
            images.expect_shape(&[sizes.iter().product(), 64, 64, 3])?;
            sizes
        }
        None => *GRIDS.iter().find(|sizes| sizes.iter().product::<usize>() == len).ok_or_else(|| {
            images
                .refuse(format!("{len} images"), "1036800, or 460800 (complex); set `sizes` for other grids")
        })?,
    };
    images.expect_shape(&[len, 64, 64, 3])?;
    let fingerprint = Fingerprint::Files(vec![path.to_owned()]);
    let pixels = match images.stored_offset()? {
        Some(offset) => ByteImages::in_file(SHAPE.values(), len, path, offset)?,
        None => inflate(images, len, &fingerprint, progress)?,
    };
    let factors = FACTORS.iter().zip(KINDS).zip(sizes);
    let factors = factors.map(|((name, kind), size)| Factor::new(*name, size).of_kind(kind)).collect();
    let table = FactorTable::grid(FactorSpace::new(factors));
    Ok(StoredImages::new("mpi3d", SHAPE, Pixels::Bytes(pixels), Some(table), fingerprint))
}

fn inflate(
    images: ArrayReader<'_>,
    len: usize,
    fingerprint: &Fingerprint,
    progress: &dyn Progress,
) -> Result<ByteImages> {
    let key = Fingerprint::Recipe(format!("mpi3d 1 {}", fingerprint.compute()?)).compute()?;
    cache::load_or_decode(&key, SHAPE.values(), len, Keep::Large, progress, |sink| {
        // Counted in bytes, as a piece of the stream is not a whole number of images.
        progress.start("Decompressing MPI3D", (len * SHAPE.values()) as u64);
        images.stream(|piece| {
            progress.advance(piece.len() as u64);
            sink(piece)
        })?;
        progress.finish();
        Ok(())
    })
}
