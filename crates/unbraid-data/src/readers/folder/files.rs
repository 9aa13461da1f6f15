//! Individual image files as a data set.

use super::decode::decode_resized;
use super::treatment::Treatment;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::fingerprint::Fingerprint;
use crate::storage::{ByteImages, Pixels};
use crate::stored::StoredImages;
use std::path::PathBuf;

/// Opens image files as a data set of images of `shape`, named by their paths.
///
/// As in the data set `folder`, the part that `treatment` says is cropped and resized, transparent pixels are
/// blended with white, and colours become grey if `shape` has one channel.
///
/// # Errors
/// If `paths` is empty, a file cannot be read or decoded or is too small, or `shape` has neither 1 nor 3 channels.
pub fn open_files(paths: &[PathBuf], shape: ImageShape, treatment: Treatment) -> Result<Box<dyn DataSet>> {
    if paths.is_empty() {
        return Err(DataError::value("image files", "none", format!("at least {}", super::FORMATS)));
    }
    if !matches!(shape.channels, 1 | 3) || shape.values() == 0 {
        return Err(DataError::value("shape of image files", shape, "1 channel (grey) or 3 (RGB)"));
    }
    let mut pixels = vec![0; paths.len() * shape.values()];
    for (path, image) in paths.iter().zip(pixels.chunks_exact_mut(shape.values())) {
        decode_resized(path, shape, treatment, image)?;
    }
    let pixels = Pixels::Bytes(ByteImages::in_memory(shape.values(), pixels));
    let names = paths.iter().map(|path| path.display().to_string()).collect();
    let images = StoredImages::new("image files", shape, pixels, None, Fingerprint::Files(paths.to_vec()));
    Ok(Box::new(images.with_image_names(names)))
}
