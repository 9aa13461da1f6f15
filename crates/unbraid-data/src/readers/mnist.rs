//! MNIST (LeCun et al., 1998) and FashionMNIST (Xiao et al., 2017): 28 x 28 grey images in idx files.
//!
//! Networks that halve the image several times need 32 pixels per side, so images are resized by default (bilinearly,
//! like in the public implementations), or padded.

use crate::data_option::DataOption;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorSpace};
use crate::fingerprint::Fingerprint;
use crate::formats::idx;
use crate::request::Request;
use crate::storage::{ByteImages, Pixels};
use crate::stored::StoredImages;
use crate::table::FactorTable;
use image::GrayImage;
use image::imageops::{self, FilterType};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

const GARMENTS: [&str; 10] =
    ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"];
const CLASSES: u8 = 10;
/// Height and width after resizing or padding.
const FULL_SIDE: u32 = 32;

pub(crate) const FIT: DataOption = DataOption::new(
    "fit",
    "resize, pad or none",
    "resize",
    "how images become 32 x 32: resized, or padded with zeros; none leaves 28 x 28",
);

/// How images are made 32 x 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Resize,
    Pad,
    /// They keep their size.
    None,
}

/// Whether a directory has the training images of MNIST.
pub(crate) fn recognise(path: &Path) -> bool {
    find(path, "train-images", 3).is_some() && !recognise_fashion(path)
}

/// Both data sets have files of the same names, so the name of the directory decides.
pub(crate) fn recognise_fashion(path: &Path) -> bool {
    let named =
        path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().contains("fashion"));
    named && find(path, "train-images", 3).is_some()
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let directory = request.path()?;
    let splits: [(&str, &[&str]); 3] =
        [("train", &["train"]), ("test", &["t10k"]), ("all", &["train", "t10k"])];
    let parts = request.choice("split", &splits)?;
    let fit = request.choice("fit", &[("resize", Fit::Resize), ("pad", Fit::Pad), ("none", Fit::None)])?;
    let (mut side, mut pixels, mut labels, mut files) = (None, Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let part = read_part(directory, part)?;
        if side.is_some_and(|side| side != part.side) {
            let found = format!("images of {} x {} pixels", part.side.0, part.side.1);
            return Err(DataError::content(directory, "directory", found, "the same size in train and test"));
        }
        side = Some(part.side);
        pixels.extend(fit_all(fit, part.side, &part.pixels));
        labels.extend(part.labels);
        files.extend(part.files);
    }
    let (height, width) = side.map_or((0, 0), |side| fitted(fit, side));
    let shape = ImageShape::new(height as usize, width as usize, 1);
    let factor = if request.name() == "fashion-mnist" {
        Factor::labelled("garment", GARMENTS)
    } else {
        Factor::labelled("digit", (0..CLASSES).map(|digit| digit.to_string()))
    };
    let table = FactorTable::from_rows(FactorSpace::new(vec![factor]), labels)?;
    let pixels = Pixels::Bytes(ByteImages::in_memory(shape.values(), pixels));
    Ok(Box::new(StoredImages::new(request.name(), shape, pixels, Some(table), Fingerprint::Files(files))))
}

/// The images and labels of train or of test.
struct Part {
    side: (u32, u32),
    pixels: Vec<u8>,
    labels: Vec<u32>,
    files: Vec<PathBuf>,
}

fn read_part(directory: &Path, part: &str) -> Result<Part> {
    let need = |kind: &str, axes: usize| {
        find(directory, &format!("{part}-{kind}"), axes).ok_or_else(|| {
            let expected = format!("{part}-{kind}-idx{axes}-ubyte, with or without .gz");
            let found = if directory.is_dir() { "no such file" } else { "no such directory" };
            DataError::content(directory, "directory", found, expected)
        })
    };
    let (image_file, label_file) = (need("images", 3)?, need("labels", 1)?);
    let (images, labels) = (idx::read(&image_file, 3)?, idx::read(&label_file, 1)?);
    let [count, height, width] = images.shape[..] else { unreachable!("idx::read checked the axes") };
    if count == 0 || !(1..=4096).contains(&height) || !(1..=4096).contains(&width) {
        let expected = "at least one image of 1 to 4096 pixels per side";
        return Err(DataError::content(&image_file, "header", format!("shape {:?}", images.shape), expected));
    }
    if labels.bytes.len() != count {
        let found = format!("{} labels", labels.bytes.len());
        return Err(DataError::content(&label_file, "data", found, format!("{count}, one per image")));
    }
    if let Some(label) = labels.bytes.iter().find(|&&label| label >= CLASSES) {
        return Err(DataError::content(&label_file, "data", format!("label {label}"), "labels from 0 to 9"));
    }
    Ok(Part {
        side: (height as u32, width as u32),
        pixels: images.bytes,
        labels: labels.bytes.into_iter().map(u32::from).collect(),
        files: vec![image_file, label_file],
    })
}

/// The file with this prefix, as named on the original site or on one of its mirrors.
fn find(directory: &Path, start: &str, axes: usize) -> Option<PathBuf> {
    let names = [format!("{start}-idx{axes}-ubyte"), format!("{start}.idx{axes}-ubyte")];
    let endings = ["", ".gz"];
    let candidates =
        names.iter().flat_map(|name| endings.map(|ending| directory.join(format!("{name}{ending}"))));
    candidates.into_iter().find(|path| path.is_file())
}

/// Height and width after resizing or padding; larger images keep their size.
fn fitted(fit: Fit, (height, width): (u32, u32)) -> (u32, u32) {
    match fit {
        Fit::Resize | Fit::Pad => (height.max(FULL_SIDE), width.max(FULL_SIDE)),
        Fit::None => (height, width),
    }
}

fn fit_all(fit: Fit, side: (u32, u32), pixels: &[u8]) -> Vec<u8> {
    let new = fitted(fit, side);
    if new == side {
        return pixels.to_vec();
    }
    let values = (side.0 * side.1) as usize;
    let images = pixels.par_chunks_exact(values).map(|image| {
        // The chunk has exactly the pixels of one image, so this cannot fail.
        let image = GrayImage::from_raw(side.1, side.0, image.to_vec()).unwrap_or_default();
        match fit {
            Fit::Resize => imageops::resize(&image, new.1, new.0, FilterType::Triangle).into_raw(),
            Fit::Pad => {
                let mut padded = GrayImage::new(new.1, new.0);
                let (left, top) = ((new.1 - side.1) / 2, (new.0 - side.0) / 2);
                imageops::replace(&mut padded, &image, i64::from(left), i64::from(top));
                padded.into_raw()
            }
            Fit::None => image.into_raw(),
        }
    });
    images.flatten_iter().collect()
}
