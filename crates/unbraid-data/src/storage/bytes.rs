//! Images with one byte per value, in memory or read from a file on demand.

use super::block_digests::BlockDigests;
use crate::error::{DataError, Result};
use crate::files::open_regular;
use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Images of values 0 to 255, one after the other.
pub struct ByteImages {
    values_per_image: usize,
    len: usize,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    File {
        path: PathBuf,
        file: File,
        offset: u64,
        /// Those of a file of the cache.
        digests: Option<BlockDigests>,
    },
}

/// Shows the number of images and where they are, not their pixels.
impl fmt::Debug for ByteImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Place::Memory(_) => "memory".to_owned(),
            Place::File { path, .. } => path.display().to_string(),
        };
        f.debug_struct("ByteImages").field("len", &self.len).field("place", &place).finish_non_exhaustive()
    }
}

thread_local! {
    /// A buffer for one image from a file, allocated once per thread.
    static IMAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl ByteImages {
    /// Images in memory.
    ///
    /// # Panics
    /// If `bytes` is not a whole number of images.
    pub fn in_memory(values_per_image: usize, bytes: Vec<u8>) -> Self {
        assert!(values_per_image > 0 && bytes.len().is_multiple_of(values_per_image), "whole images");
        Self { values_per_image, len: bytes.len() / values_per_image, place: Place::Memory(bytes) }
    }

    /// Images that are stored uncompressed in a file, starting at byte `offset`. They are read on demand.
    ///
    /// # Errors
    /// If the file cannot be opened or is too short for `len` images.
    pub fn in_file(values_per_image: usize, len: usize, path: &Path, offset: u64) -> Result<Self> {
        let file = open_regular(path).map_err(DataError::io(path, "open"))?;
        let found = file.metadata().map_err(DataError::io(path, "read its size"))?.len();
        let expected = (len as u64)
            .checked_mul(values_per_image as u64)
            .and_then(|bytes| bytes.checked_add(offset))
            .ok_or_else(|| DataError::value("number of images", len, "a size that does not overflow"))?;
        if found < expected {
            let expected = format!("at least {expected} bytes");
            return Err(DataError::content(path, "file", format!("{found} bytes"), expected));
        }
        let place = Place::File { path: path.to_owned(), file, offset, digests: None };
        Ok(Self { values_per_image, len, place })
    }

    /// As [`ByteImages::in_file`], from a file with the hashes of its blocks after the images; `None` if it
    /// is damaged. What is not noticed at once is an error when the image is read.
    ///
    /// # Errors
    /// If the file cannot be read or is too short.
    pub(crate) fn in_hashed_file(values_per_image: usize, len: usize, path: &Path) -> Result<Option<Self>> {
        let mut images = Self::in_file(values_per_image, len, path, 0)?;
        if let Place::File { file, digests, .. } = &mut images.place {
            let length = len as u64 * values_per_image as u64;
            *digests = BlockDigests::read(file, length).map_err(DataError::io(path, "read its hashes"))?;
            if digests.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(images))
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes image `index` as values in \[0, 1\], each byte divided by 255.
    ///
    /// # Errors
    /// If the images are in a file and it cannot be read.
    ///
    /// # Panics
    /// If `index` is out of range or `pixels` is not one image long.
    pub fn write(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.with_image(index, |bytes| scale(bytes, pixels))
    }

    /// Calls `take` with the bytes of image `index`.
    ///
    /// # Errors
    /// If the images are in a file and it cannot be read.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn with_image<T>(&self, index: usize, take: impl FnOnce(&[u8]) -> T) -> Result<T> {
        assert!(index < self.len, "image {index} of {}", self.len);
        match &self.place {
            Place::Memory(bytes) => {
                Ok(take(&bytes[index * self.values_per_image..][..self.values_per_image]))
            }
            Place::File { path, file, offset, digests } => IMAGE.with_borrow_mut(|image| {
                image.resize(self.values_per_image, 0);
                let position = offset + (index * self.values_per_image) as u64;
                let cannot_read = || DataError::io(path, "read an image");
                if let Some(digests) = digests
                    && !digests.check(file, position, image.len()).map_err(cannot_read())?
                {
                    let expected =
                        "those that were cached; remove the file, and the images are decoded again";
                    return Err(DataError::content(path, format!("image {index}"), "other bytes", expected));
                }
                read_exact_at(file, image, position).map_err(cannot_read())?;
                Ok(take(image))
            }),
        }
    }

    /// Bytes of main memory in use.
    pub fn memory(&self) -> usize {
        match &self.place {
            Place::Memory(bytes) => bytes.capacity(),
            Place::File { .. } => 0,
        }
    }
}

fn scale(bytes: &[u8], pixels: &mut [f32]) {
    assert_eq!(pixels.len(), bytes.len(), "`pixels` holds one image");
    for (pixel, &byte) in pixels.iter_mut().zip(bytes) {
        *pixel = f32::from(byte) / 255.0;
    }
}

#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], position: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, position)
}

#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut position: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, position)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        position += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn memory_and_file_give_the_same_images() {
        let bytes: Vec<u8> = (0..24).map(|i| i * 10).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"head").unwrap();
        file.write_all(&bytes).unwrap();
        let in_memory = ByteImages::in_memory(6, bytes.clone());
        let in_file = ByteImages::in_file(6, 4, file.path(), 4).unwrap();
        assert_eq!((in_memory.memory(), in_file.memory()), (24, 0));
        let (mut left, mut right) = ([0.0; 6], [0.0; 6]);
        for index in 0..4 {
            in_memory.write(index, &mut left).unwrap();
            in_file.write(index, &mut right).unwrap();
            assert_eq!(left, right);
            assert_eq!(left[0], f32::from(bytes[index * 6]) / 255.0);
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_refused_at_once() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[0; 10]).unwrap();
        let error = ByteImages::in_file(6, 2, file.path(), 0).unwrap_err();
        let path = file.path().display();
        assert_eq!(error.to_string(), format!("{path}: file: found 10 bytes, expected at least 12 bytes"));
    }
}
