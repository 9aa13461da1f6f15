//! The trait that all data sets implement.

use crate::error::Result;
use crate::factors::FactorSpace;
use crate::random::{Lane, Position};
use rayon::prelude::*;
use std::fmt;

/// Height, width and channels of every image of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// 1 for grey, 3 for RGB.
    pub channels: usize,
}

impl ImageShape {
    /// The shape of these dimensions.
    pub const fn new(height: usize, width: usize, channels: usize) -> Self {
        Self { height, width, channels }
    }

    /// The number of values in one image.
    pub const fn values(self) -> usize {
        self.height * self.width * self.channels
    }
}

impl fmt::Display for ImageShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.height, self.width, self.channels)
    }
}

/// Images and, where known, their factors of variation.
///
/// Pixels are `f32` in \[0, 1\] in the order rows, columns, channels (NHWC). Data sets should hold them in a
/// compact form and convert them in [`DataSet::write_image`], which is called from many threads and should
/// not allocate.
///
/// Implement this trait for images that are computed, or that no reader of this crate can open; every function that
/// takes a `&dyn DataSet` then accepts them. The example `own_data_set` shows a complete implementation. For images
/// that are already in memory, [`StoredImages`](crate::StoredImages) implements the trait.
pub trait DataSet: Send + Sync + fmt::Debug {
    /// The name of the data set, for messages and logs.
    fn name(&self) -> &str;

    /// The number of images.
    fn len(&self) -> usize;

    /// Whether there are no images. The readers of this crate refuse empty data sets.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of every image.
    fn shape(&self) -> ImageShape;

    /// The factors of variation, or `None` for images without labels.
    fn factors(&self) -> Option<&FactorSpace>;

    /// Writes the factor values of image `index` to `values`, one per factor.
    ///
    /// # Panics
    /// If `index` is out of range, or the length of `values` is not the number of factors.
    fn factors_of(&self, index: usize, values: &mut [u32]);

    /// The index of the image with these factor values. `None` if a value is out of range, or if the data set is not a
    /// full grid, that is, if some combination of values is missing or occurs more than once.
    fn index_of(&self, values: &[u32]) -> Option<usize>;

    /// Whether every combination of factor values occurs exactly once.
    fn is_full_grid(&self) -> bool {
        self.factors()
            .is_some_and(|space| !space.is_empty() && self.index_of(&vec![0; space.len()]).is_some())
    }

    /// Whether every pixel is known to be 0 or 1.
    fn is_binary(&self) -> bool {
        false
    }

    /// Writes image `index` to `pixels`. Only stochastic data sets draw random numbers, and only from `noise`.
    ///
    /// # Errors
    /// If the pixels are on disk and cannot be read.
    ///
    /// # Panics
    /// If `index` is out of range or `pixels` is not exactly one image long.
    fn write_image(&self, index: usize, noise: Lane, pixels: &mut [f32]) -> Result<()>;

    /// Bytes of main memory in use.
    fn memory(&self) -> usize;

    /// A SHA-256 in hexadecimal that identifies the data: of the files it was read from, or of a description
    /// of how it is generated. [`Fingerprint`](crate::Fingerprint) computes it.
    ///
    /// # Errors
    /// If a file cannot be read.
    fn fingerprint(&self) -> Result<String>;

    /// The name of image `index`, if it has one, such as its file name.
    fn image_name(&self, _index: usize) -> Option<&str> {
        None
    }

    /// The names of the columns, if this is a table of vectors rather than of images. A vector is an image of
    /// one row, with one grey pixel for each column, whose values are not limited to \[0, 1\].
    fn columns(&self) -> Option<&[String]> {
        None
    }

    /// As [`DataSet::write_image`], in double precision: the values of a table may be large compared with their spread.
    ///
    /// # Errors
    /// As [`DataSet::write_image`].
    ///
    /// # Panics
    /// As [`DataSet::write_image`].
    fn write_row(&self, index: usize, noise: Lane, values: &mut [f64]) -> Result<()> {
        let mut pixels = vec![0.0; values.len()];
        self.write_image(index, noise, &mut pixels)?;
        values.iter_mut().zip(pixels).for_each(|(value, pixel)| *value = f64::from(pixel));
        Ok(())
    }

    /// Writes the images `indices` to `pixels`, one after the other. Image `i` of the batch draws from lane
    /// `i` of `noise`.
    ///
    /// # Errors
    /// As [`DataSet::write_image`].
    ///
    /// # Panics
    /// If `pixels` is not exactly `indices.len()` images long, or an index is out of range.
    fn write_batch(&self, indices: &[usize], noise: Position, pixels: &mut [f32]) -> Result<()> {
        let values = self.shape().values();
        assert_eq!(pixels.len(), indices.len() * values, "`pixels` holds {} images", indices.len());
        for (lane, (&index, image)) in indices.iter().zip(pixels.chunks_exact_mut(values)).enumerate() {
            self.write_image(index, noise.lane(lane as u64), image)?;
        }
        Ok(())
    }

    /// Like [`DataSet::write_batch`], on the threads of the current rayon pool. The result is identical.
    ///
    /// # Errors
    /// As [`DataSet::write_image`].
    ///
    /// # Panics
    /// As [`DataSet::write_batch`].
    fn write_batch_parallel(&self, indices: &[usize], noise: Position, pixels: &mut [f32]) -> Result<()> {
        let values = self.shape().values();
        assert_eq!(pixels.len(), indices.len() * values, "`pixels` holds {} images", indices.len());
        indices
            .par_iter()
            .zip(pixels.par_chunks_exact_mut(values))
            .enumerate()
            .with_min_len(MIN_IMAGES_PER_TASK)
            .try_for_each(|(lane, (&index, image))| self.write_image(index, noise.lane(lane as u64), image))
    }
}

/// Passing a task to another thread takes a few microseconds; unpacking an image takes about one.
const MIN_IMAGES_PER_TASK: usize = 16;
