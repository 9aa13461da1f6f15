//! A folder of PNG and JPEG images of any size, including sub-folders.
//!
//! Images are cropped to the centre square and resized. They are decoded once, in parallel, and cached under a hash of
//! the files, so that the next start takes seconds. Factors can come from an attribute table (CelebA's or any CSV), from
//! the sub-folders, or from the file names of 3D Chairs.

mod attributes;
mod chairs;
mod decode;
mod files;
mod listing;

pub(crate) use decode::decode;
pub use files::open_files;

use crate::cache::{self, Keep};
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result, chain};
use crate::fingerprint::{Fingerprint, hash_file, hex};
use crate::progress::Progress;
use crate::request::Request;
use crate::storage::Pixels;
use crate::stored::StoredImages;
use crate::table::FactorTable;
use listing::Listing;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Options of every folder of images.
pub(crate) const SIZE: (&str, &str) = ("size", "height and width of the images after resizing (default 64)");
pub(crate) const CHANNELS: (&str, &str) = ("channels", "3 for RGB, 1 for grey (default 3; 1 for chairs)");
pub(crate) const SKIP_BROKEN: (&str, &str) =
    ("skip_broken", "skip files that cannot be decoded (default false)");
pub(crate) const ATTRIBUTES: (&str, &str) = (
    "attributes",
    "attribute table: CelebA's list_attr_celeba.txt, or a CSV with a header and file names in its first column",
);
pub(crate) const LABELS: (&str, &str) =
    ("labels", "none (default), or folders: the first sub-folder is the class");

/// Images per piece: enough for every core, small enough for memory.
const IMAGES_PER_PIECE: usize = 256;

/// Whether a directory or one of its sub-folders has an image.
pub(crate) fn recognise(path: &Path) -> bool {
    path.is_dir() && Listing::read(path).is_ok()
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let root = request.path()?;
    let mut folder = Folder::read(request, 3)?;
    let label_by_folder = request.choice("labels", &[("none", false), ("folders", true)])?;
    folder.factors = match (request.text("attributes")?, label_by_folder) {
        (Some(_), true) => {
            let subject = format!("option `labels` of data set `{}`", request.name());
            return Err(DataError::value(subject, "folders, together with `attributes`", "only one of them"));
        }
        (Some(table), false) => Some(attributes::read(Path::new(table), root, &folder.listing)?),
        (None, true) => Some(folder.listing.folders_as_factor(root)?),
        (None, false) => None,
    };
    Ok(Box::new(folder.into_data("folder")))
}

/// CelebA: a folder of aligned faces, with the published table of 40 attributes in it or next to it.
pub(crate) fn open_celeba(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let root = request.path()?;
    let mut folder = Folder::read(request, 3)?;
    let table_name = attributes::CELEBA_TABLE;
    let table = match request.text("attributes")? {
        Some(table) => Path::new(table).to_owned(),
        None => [
            root.join(table_name),
            root.join("..").join(table_name),
            root.join("..").join("Anno").join(table_name),
        ]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            let expected = "it in the folder, in its parent, or given as `attributes`";
            DataError::content(root, "folder", format!("no {table_name}"), expected)
        })?,
    };
    folder.factors = Some(attributes::read(&table, root, &folder.listing)?);
    Ok(Box::new(folder.into_data("celeba")))
}

/// 3D Chairs (Aubry et al., 2014): grey images, with factors from the file names; split by model.
pub(crate) fn open_chairs(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let root = request.path()?;
    let mut folder = Folder::read(request, 1)?;
    folder.factors = Some(chairs::factors(root, &folder.listing)?);
    Ok(Box::new(folder.into_data("chairs")))
}

pub(crate) fn recognise_chairs(path: &Path) -> bool {
    path.is_dir() && Listing::read(path).is_ok_and(|listing| chairs::factors(path, &listing).is_ok())
}

pub(crate) fn recognise_celeba(path: &Path) -> bool {
    path.join(attributes::CELEBA_TABLE).is_file()
}

/// A folder whose images have been read.
struct Folder {
    listing: Listing,
    shape: ImageShape,
    pixels: Pixels,
    key: String,
    factors: Option<FactorTable>,
}

impl Folder {
    fn read(request: &Request<'_>, default_channels: usize) -> Result<Self> {
        let root = request.path()?;
        let size = request.integer("size", 1..=4096, 64)?;
        let channels = request.integer("channels", 1..=3, default_channels)?;
        if channels == 2 {
            let subject = format!("option `channels` of data set `{}`", request.name());
            return Err(DataError::value(subject, channels, "1 or 3"));
        }
        let mut listing = Listing::read(root)?;
        if request.boolean("skip_broken", false)? {
            skip_broken(root, &mut listing, request.progress)?;
        }
        let shape = ImageShape::new(size, size, channels);
        let key = key(root, &listing, shape, request.progress)?;
        let values = shape.values();
        let images =
            cache::load_or_decode(&key, values, listing.len(), Keep::All, request.progress, |sink| {
                decode_all(root, &listing, shape, request.progress, sink)
            })?;
        Ok(Self { listing, shape, pixels: Pixels::Bytes(images), key, factors: None })
    }

    fn into_data(self, name: &str) -> StoredImages {
        StoredImages::new(name, self.shape, self.pixels, self.factors, Fingerprint::Known(self.key))
            .with_image_names(self.listing.into_names())
    }
}

/// The cache key: a hash of the files in order, and of the size of the decoded images.
fn key(root: &Path, listing: &Listing, shape: ImageShape, progress: &dyn Progress) -> Result<String> {
    progress.start("Hashing files", listing.len() as u64);
    let hashes: Result<Vec<String>> = (0..listing.len())
        .into_par_iter()
        .map(|i| {
            let hash = hash_file(&root.join(listing.name(i)))?;
            progress.advance(1);
            Ok(hash)
        })
        .collect();
    progress.finish();
    let mut all = Sha256::new();
    all.update(format!("folder 1 {shape}\n"));
    for (i, hash) in hashes?.iter().enumerate() {
        all.update(format!("{hash}  {}\n", listing.name(i)));
    }
    Ok(hex(&all.finalize()))
}

fn decode_all(
    root: &Path,
    listing: &Listing,
    shape: ImageShape,
    progress: &dyn Progress,
    sink: &mut cache::Sink<'_>,
) -> Result<()> {
    progress.start("Decoding images", listing.len() as u64);
    let mut piece = vec![0; IMAGES_PER_PIECE.min(listing.len()) * shape.values()];
    for first in (0..listing.len()).step_by(IMAGES_PER_PIECE) {
        let count = IMAGES_PER_PIECE.min(listing.len() - first);
        let part = &mut piece[..count * shape.values()];
        part.par_chunks_exact_mut(shape.values()).enumerate().try_for_each(|(i, pixels)| {
            decode::decode_resized(&root.join(listing.name(first + i)), shape, pixels)?;
            progress.advance(1);
            Ok::<(), DataError>(())
        })?;
        sink(part)?;
    }
    progress.finish();
    Ok(())
}

/// Removes the files that cannot be decoded, and reports them.
fn skip_broken(root: &Path, listing: &mut Listing, progress: &dyn Progress) -> Result<()> {
    progress.start("Checking images", listing.len() as u64);
    let failures: Vec<Option<DataError>> = (0..listing.len())
        .into_par_iter()
        .map(|i| {
            progress.advance(1);
            decode(&root.join(listing.name(i))).err()
        })
        .collect();
    progress.finish();
    for failure in failures.iter().flatten() {
        progress.note(&format!("skipped: {}", chain(failure)));
    }
    listing.keep(|i| failures[i].is_none());
    if listing.len() == 0 {
        let expected = "at least one that can be decoded";
        return Err(DataError::content(root, "folder", "only broken images", expected));
    }
    Ok(())
}
