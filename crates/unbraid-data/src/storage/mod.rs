//! Compact storage of pixels, in memory or in a file.

mod bits;
mod block_digests;
mod bytes;

pub use bits::BitImages;
pub(crate) use block_digests::{BlockDigests, BlockHasher};
pub use bytes::ByteImages;

use crate::error::Result;
use std::fmt;

/// The pixels of a data set, in the most compact form that represents them exactly.
pub enum Pixels {
    /// Black and white, eight pixels per byte.
    Bits(BitImages),
    /// One byte per value, 0 to 255.
    Bytes(ByteImages),
    /// 32-bit floats, one image after the other.
    Floats {
        /// The number of values in one image.
        values_per_image: usize,
        /// All values.
        values: Vec<f32>,
    },
}

impl fmt::Debug for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(images) => images.fmt(f),
            Self::Bytes(images) => images.fmt(f),
            Self::Floats { .. } => f.debug_struct("Floats").field("len", &self.len()).finish_non_exhaustive(),
        }
    }
}

impl Pixels {
    /// The number of images.
    pub fn len(&self) -> usize {
        match self {
            Self::Bits(images) => images.len(),
            Self::Bytes(images) => images.len(),
            Self::Floats { values_per_image, values } => values.len() / values_per_image,
        }
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes image `index` as floats in \[0, 1\].
    ///
    /// # Errors
    /// If the pixels are on disk and cannot be read.
    ///
    /// # Panics
    /// If `index` is out of range or `pixels` is not one image long.
    pub fn write(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        match self {
            Self::Bits(images) => images.write(index, pixels),
            Self::Bytes(images) => images.write(index, pixels)?,
            Self::Floats { values_per_image, values } => {
                pixels.copy_from_slice(&values[index * values_per_image..][..*values_per_image]);
            }
        }
        Ok(())
    }

    /// Bytes of main memory in use.
    pub fn memory(&self) -> usize {
        match self {
            Self::Bits(images) => images.memory(),
            Self::Bytes(images) => images.memory(),
            Self::Floats { values, .. } => size_of_val(values.as_slice()),
        }
    }
}
