//! A folder of images of any size and common format, including sub-folders.
//!
//! Images are turned upright, cropped to the centre square and resized. They are decoded once, in parallel,
//! and cached under a hash of the files, so that the next start takes seconds. Factors can come from an
//! attribute table (CelebA's or any CSV), from the sub-folders, or from the file names of 3D Chairs.

mod attributes;
mod chairs;
mod decode;
mod files;
mod jpeg;
mod listing;
mod room;
mod treatment;

pub use decode::is_image_file;
pub(crate) use decode::{FORMATS, decode, on_white};
pub use files::open_files;
pub(crate) use listing::first_names;
pub use treatment::Treatment;

use crate::cache::{self, Keep};
use crate::data_option::{BOOLEAN, DataOption};
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::fingerprint::{Fingerprint, hex};
use crate::kinds;
use crate::progress::Progress;
use crate::readers::labels::{Column, table_of_labels};
use crate::request::Request;
use crate::storage::Pixels;
use crate::stored::StoredImages;
use crate::table::FactorTable;
use attributes::{Attributes, Missing, counted};
use listing::Listing;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Options of every folder of images.
pub(crate) const SIZE: DataOption =
    DataOption::new("size", "1 to 4096", "64", "height and width of the images after resizing");
pub(crate) const CHANNELS: DataOption =
    DataOption::new("channels", "1 or 3", "3; 1 for chairs", "3 for RGB, 1 for grey");
pub(crate) const CROP: DataOption = DataOption::new(
    "crop",
    "1 to 65536",
    "the largest square",
    "side of the centred square that is cut out before resizing, in pixels of the file",
);
pub(crate) const MASK: DataOption = DataOption::new(
    "mask",
    BOOLEAN,
    "false",
    "whether to take silhouettes: 1 where the picture is not white, 0 elsewhere",
);
pub(crate) const MODELS: DataOption = DataOption::new(
    "models",
    "a number, of the first by name, or a text file with a name in each line",
    "all",
    "which chairs to keep",
);
pub(crate) const SKIP_BROKEN: DataOption =
    DataOption::new("skip_broken", BOOLEAN, "false", "whether to leave out files that cannot be decoded");
pub(crate) const ATTRIBUTES: DataOption = DataOption::new(
    "attributes",
    "a path, or { path = \"table.csv\", kinds = { weight = \"number\" } }",
    "none; for celeba, searched beside the images",
    "attribute table, with the kinds of its columns: CelebA's list_attr_celeba.txt, or a CSV with a header and file names \
     in its first column",
);
pub(crate) const MISSING: DataOption = DataOption::new(
    "missing",
    "error or skip",
    "error",
    "images without a row of attributes, or with an empty cell in it: refused, or left out",
);
pub(crate) const PARTITION: DataOption = DataOption::new(
    "partition",
    "a path",
    "searched beside the images",
    "CelebA's list_eval_partition.txt, for split_by = official",
);
pub(crate) const LABELS: DataOption =
    DataOption::new("labels", "none or folders", "none", "folders: the first sub-folder is the class");

/// Images per piece: enough for every core, small enough for memory.
const IMAGES_PER_PIECE: usize = 256;

/// Whether a directory or one of its sub-folders has an image.
pub(crate) fn recognise(path: &Path) -> bool {
    path.is_dir() && Listing::read(path).is_ok()
}

/// What is in a directory that is no data set, in a few words.
pub(crate) fn contents(path: &Path) -> Result<String> {
    Ok(Listing::scan(path)?.without_images())
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let root = request.path()?;
    let stated = request.attributes()?;
    if stated.path.is_none() && !stated.kinds.is_empty() {
        let subject = format!("option `attributes` of data set `{}`", request.name());
        let expected = "attributes.path, the table whose columns they are";
        return Err(DataError::value(subject, "kinds without a path", expected));
    }
    let attributes = stated.path.map(|table| Attributes::read(Path::new(table))).transpose()?;
    let label_by_folder = request.choice("labels", &[("none", false), ("folders", true)])?;
    if label_by_folder && attributes.as_ref().is_some_and(|table| table.names().iter().any(|n| n == "folder"))
    {
        let subject = format!("option `labels` of data set `{}`", request.name());
        let found = "folders, and an attribute of the name `folder`";
        return Err(DataError::value(subject, found, "only one of them"));
    }
    let mut folder = Folder::with_attributes(request, attributes.as_ref())?;
    let mut columns: Vec<Column> = Vec::new();
    if label_by_folder {
        columns.push(folder.listing.folder_labels(root)?);
    }
    if let Some(attributes) = &attributes {
        columns.extend(attributes.columns(root, &folder.listing)?);
    }
    folder.factors = if columns.is_empty() { None } else { Some(table_of_labels(columns)?) };
    if let (Some(attributes), Some(factors)) = (&attributes, &mut folder.factors) {
        attributes.state_kinds(factors)?;
    }
    kinds::apply(request, &mut folder.factors)?;
    Ok(Box::new(folder.into_data("folder")))
}

/// CelebA: a folder of aligned faces, with the published table of 40 attributes in it or next to it.
pub(crate) fn open_celeba(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let root = request.path()?;
    let table_name = attributes::CELEBA_TABLE;
    let table = match request.attributes()?.path {
        Some(table) => Path::new(table).to_owned(),
        None => celeba_file(root, "Anno", table_name).ok_or_else(|| {
            let expected = "it in the folder, in its parent, or given as `attributes`";
            DataError::content(root, "folder", format!("no {table_name}"), expected)
        })?,
    };
    let attributes = Attributes::read(&table)?;
    let mut folder = Folder::with_attributes(request, Some(&attributes))?;
    let mut factors = table_of_labels(attributes.columns(root, &folder.listing)?)?;
    attributes.state_kinds(&mut factors)?;
    folder.factors = Some(factors);
    kinds::apply(request, &mut folder.factors)?;
    Ok(Box::new(folder.into_data("celeba")))
}

/// A file that comes with CelebA: in the folder of images, in its parent, or in the place where it is published.
pub(crate) fn celeba_file(root: &Path, published_in: &str, name: &str) -> Option<PathBuf> {
    let parent = root.join("..");
    let places = [root.join(name), parent.join(name), parent.join(published_in).join(name)];
    places.into_iter().find(|path| path.is_file())
}

/// 3D Chairs (Aubry et al., 2014): grey images, with factors from the file names; split by model.
pub(crate) fn open_chairs(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let root = request.path()?;
    let wanted = chairs::Models::from_request(request)?;
    let mut folder = Folder::read_some(request, 1, |listing| wanted.keep(root, listing))?;
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
    /// Reads the images in colour; with `missing = "skip"` only those that have all attributes.
    fn with_attributes(request: &Request<'_>, attributes: Option<&Attributes>) -> Result<Self> {
        let missing = request.choice("missing", &[("error", Missing::Refuse), ("skip", Missing::Skip)])?;
        let root = request.path()?;
        Self::read_some(request, 3, |listing| {
            let Some(attributes) = attributes else { return Ok(()) };
            attributes.check_names(listing)?;
            match missing {
                Missing::Skip => attributes.skip_incomplete(root, listing, request.progress),
                Missing::Refuse => Ok(()),
            }
        })
    }

    /// Reads the images that `select` leaves in the listing.
    fn read_some(
        request: &Request<'_>,
        default_channels: usize,
        select: impl FnOnce(&mut Listing) -> Result<()>,
    ) -> Result<Self> {
        let root = request.path()?;
        let size = request.integer("size", 1..=4096, 64)?;
        let channels = request.integer("channels", 1..=3, default_channels)?;
        if channels == 2 {
            let subject = format!("option `channels` of data set `{}`", request.name());
            return Err(DataError::value(subject, channels, "1 or 3"));
        }
        let treatment = Treatment::from_request(request)?;
        if treatment.mask && channels != 1 {
            let subject = format!("option `channels` of data set `{}`", request.name());
            return Err(DataError::value(subject, channels, "1, since `mask` is true"));
        }
        let mut listing = Listing::read(root)?;
        report_foreign(request, &listing)?;
        select(&mut listing)?;
        if request.boolean("skip_broken", false)? {
            skip_broken(root, &mut listing, request.progress)?;
        }
        let shape = ImageShape::new(size, size, channels);
        let key = key(root, &listing, shape, treatment, request.progress)?;
        let values = shape.values();
        let images =
            cache::load_or_decode(&key, values, listing.len(), Keep::All, request.progress, |sink| {
                decode_all(root, &listing, (shape, treatment), request.progress, sink)
            })?;
        Ok(Self { listing, shape, pixels: Pixels::Bytes(images), key, factors: None })
    }

    fn into_data(self, name: &str) -> StoredImages {
        StoredImages::new(name, self.shape, self.pixels, self.factors, Fingerprint::Known(self.key))
            .with_image_names(self.listing.into_names())
    }
}

/// The cache key: a hash of the files in order, of the size of the decoded images and of what is done to them.
fn key(
    root: &Path,
    listing: &Listing,
    shape: ImageShape,
    treatment: Treatment,
    progress: &dyn Progress,
) -> Result<String> {
    progress.start("Hashing files", listing.len() as u64);
    let hashes: Result<Vec<String>> = (0..listing.len())
        .into_par_iter()
        .map(|i| {
            let path = root.join(listing.path(i));
            let bytes = decode::read(&path)?;
            let hash = hex(&Sha256::digest(&bytes));
            progress.advance(1);
            // Earlier versions left such a picture lying on its side, and kept it in the cache.
            Ok(if decode::is_turned(&bytes) { format!("{hash} upright") } else { hash })
        })
        .collect();
    progress.finish();
    let mut all = Sha256::new();
    all.update(format!("folder 1 {shape}\n"));
    // Nothing by default, so that data of earlier versions keeps its key.
    if let Some(side) = treatment.crop {
        all.update(format!("crop {side}\n"));
    }
    if treatment.mask {
        all.update("mask\n");
    }
    for (i, hash) in hashes?.iter().enumerate() {
        all.update(format!("{hash}  {}\n", listing.name(i)));
    }
    Ok(hex(&all.finalize()))
}

fn decode_all(
    root: &Path,
    listing: &Listing,
    (shape, treatment): (ImageShape, Treatment),
    progress: &dyn Progress,
    sink: &mut cache::Sink<'_>,
) -> Result<()> {
    progress.start("Decoding images", listing.len() as u64);
    let mut piece = vec![0; IMAGES_PER_PIECE.min(listing.len()) * shape.values()];
    for first in (0..listing.len()).step_by(IMAGES_PER_PIECE) {
        let count = IMAGES_PER_PIECE.min(listing.len() - first);
        let part = &mut piece[..count * shape.values()];
        part.par_chunks_exact_mut(shape.values()).enumerate().try_for_each(|(i, pixels)| {
            let path = root.join(listing.path(first + i));
            decode::decode_resized(&path, shape, treatment, pixels).map_err(with_way_out)?;
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
            decode(&root.join(listing.path(i))).err()
        })
        .collect();
    progress.finish();
    let broken: Vec<&str> =
        (0..listing.len()).filter(|&i| failures[i].is_some()).map(|i| listing.name(i)).collect();
    if broken.len() == listing.len() {
        let found = format!("only broken images: {}", first_names(&broken));
        return Err(DataError::content(root, "folder", found, "at least one that can be decoded"));
    }
    if !broken.is_empty() {
        let (count, names) = (counted(broken.len(), "broken image"), first_names(&broken));
        progress.note(&format!("{}: skipped {count}: {names}", root.display()));
    }
    listing.keep(|i| failures[i].is_none());
    Ok(())
}

/// Says which files are not images. A table of attributes that is in the folder is used, not skipped.
fn report_foreign(request: &Request<'_>, listing: &Listing) -> Result<()> {
    let root = request.path()?;
    let table = request.attributes()?.path;
    let is_used = |name: &&String| {
        let name = name.rsplit('/').next().unwrap_or(name);
        let of_celeba = [attributes::CELEBA_TABLE, crate::split::PARTITION_FILE].contains(&name);
        of_celeba || table.is_some_and(|table| Path::new(table).file_name().is_some_and(|file| file == name))
    };
    let skipped: Vec<&String> = listing.foreign().iter().filter(|name| !is_used(name)).collect();
    if !skipped.is_empty() {
        let (count, names) = (counted(skipped.len(), "file"), first_names(&skipped));
        let verb = if skipped.len() == 1 { "is no image" } else { "are no images" };
        request.progress.note(&format!("{}: skipped {count} that {verb}: {names}", root.display()));
    }
    Ok(())
}

/// Adds to the message on a broken file what to do about it.
fn with_way_out(error: DataError) -> DataError {
    match error {
        DataError::Content { path, subject, found, expected, source } if expected == FORMATS => {
            let expected = format!("{expected}, or skip_broken = true to leave out such files");
            DataError::Content { path, subject, found, expected, source }
        }
        other => other,
    }
}
