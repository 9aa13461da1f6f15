//! A few image files, named one by one, as a data set.

use super::decode::decode_resized;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::fingerprint::Fingerprint;
use crate::storage::{ByteImages, Pixels};
use crate::stored::StoredImages;
use std::path::PathBuf;

/// These PNG or JPEG files as images of `shape`, each with its path for a name. Whatever their size, they become what a
/// folder would make of them: the largest centred rectangle of the right aspect is cut out and resized, transparent pixels
/// are shown on white, and colours become grey where one channel is wanted.
///
/// # Errors
/// If there is no file, one cannot be read or decoded, or `shape` is not that of grey or RGB images.
pub fn open_files(paths: &[PathBuf], shape: ImageShape) -> Result<Box<dyn DataSet>> {
    if paths.is_empty() {
        return Err(DataError::value("image files", "none", "at least one PNG or JPEG"));
    }
    if !matches!(shape.channels, 1 | 3) || shape.values() == 0 {
        return Err(DataError::value("shape of image files", shape, "1 channel (grey) or 3 (RGB)"));
    }
    let mut pixels = vec![0; paths.len() * shape.values()];
    for (path, image) in paths.iter().zip(pixels.chunks_exact_mut(shape.values())) {
        decode_resized(path, shape, image)?;
    }
    let pixels = Pixels::Bytes(ByteImages::in_memory(shape.values(), pixels));
    let names = paths.iter().map(|path| path.display().to_string()).collect();
    let images = StoredImages::new("image files", shape, pixels, None, Fingerprint::Files(paths.to_vec()));
    Ok(Box::new(images.with_image_names(names)))
}
