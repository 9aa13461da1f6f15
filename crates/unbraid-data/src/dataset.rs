//! The one abstraction that all data sets share.

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
    /// A shape from its three numbers.
    pub const fn new(height: usize, width: usize, channels: usize) -> Self {
        Self { height, width, channels }
    }

    /// The number of values of one image.
    pub const fn values(self) -> usize {
        self.height * self.width * self.channels
    }
}

impl fmt::Display for ImageShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.height, self.width, self.channels)
    }
}

/// Images with, where they are known, the factors that made them.
///
/// Pixels are handed out as `f32` in \[0, 1\], rows first, then columns, then channels (NHWC). Implementations keep them
/// compact in memory and convert on the way out, without allocating.
pub trait DataSet: Send + Sync + fmt::Debug {
    /// The name under which the data set is known.
    fn name(&self) -> &str;

    /// The number of images.
    fn len(&self) -> usize;

    /// Whether there is no image. Readers refuse empty data, so this is of little use to callers.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size that all images share.
    fn shape(&self) -> ImageShape;

    /// The factors of variation, or `None` for images without labels.
    fn factors(&self) -> Option<&FactorSpace>;

    /// Writes the factors of image `index` to `values`, one for each factor.
    ///
    /// # Panics
    /// If `index` is out of range or `values` has another length than [`DataSet::factors`].
    fn factors_of(&self, index: usize, values: &mut [u32]);

    /// The image with these factors, where every combination occurs exactly once; else `None`.
    fn index_of(&self, values: &[u32]) -> Option<usize>;

    /// Whether every combination of factors occurs exactly once, so that [`DataSet::index_of`] answers.
    fn is_full_grid(&self) -> bool {
        self.factors()
            .is_some_and(|space| !space.is_empty() && self.index_of(&vec![0; space.len()]).is_some())
    }

    /// Writes image `index` to `pixels`. Only stochastic data sets draw from `noise`.
    ///
    /// # Errors
    /// If the pixels live on disk and cannot be read any more.
    ///
    /// # Panics
    /// If `index` is out of range or `pixels` is not exactly one image long.
    fn write_image(&self, index: usize, noise: Lane, pixels: &mut [f32]) -> Result<()>;

    /// Bytes of main memory that the data set holds.
    fn memory(&self) -> usize;

    /// A SHA-256 that names the data: of the files it was read from, or of the recipe it is made by.
    ///
    /// # Errors
    /// If a file cannot be read.
    fn fingerprint(&self) -> Result<String>;

    /// A name for image `index` where it has one, such as its file.
    fn image_name(&self, _index: usize) -> Option<&str> {
        None
    }

    /// Writes the images `indices` one after the other to `pixels`; image `i` of the batch draws from lane `i`.
    ///
    /// # Errors
    /// As [`DataSet::write_image`].
    ///
    /// # Panics
    /// If `pixels` is not exactly `indices.len()` images long, or an index is out of range.
    fn write_batch(&self, indices: &[usize], noise: Position, pixels: &mut [f32]) -> Result<()> {
        let values = self.shape().values();
        assert_eq!(pixels.len(), indices.len() * values, "room for exactly {} images", indices.len());
        for (lane, (&index, image)) in indices.iter().zip(pixels.chunks_exact_mut(values)).enumerate() {
            self.write_image(index, noise.lane(lane as u64), image)?;
        }
        Ok(())
    }

    /// The same as [`DataSet::write_batch`], bit for bit, on the threads of the current rayon pool.
    ///
    /// # Errors
    /// As [`DataSet::write_image`].
    ///
    /// # Panics
    /// As [`DataSet::write_batch`].
    fn write_batch_parallel(&self, indices: &[usize], noise: Position, pixels: &mut [f32]) -> Result<()> {
        let values = self.shape().values();
        assert_eq!(pixels.len(), indices.len() * values, "room for exactly {} images", indices.len());
        indices
            .par_iter()
            .zip(pixels.par_chunks_exact_mut(values))
            .enumerate()
            .with_min_len(MIN_IMAGES_PER_TASK)
            .try_for_each(|(lane, (&index, image))| self.write_image(index, noise.lane(lane as u64), image))
    }
}

/// Handing a task to another thread costs a few microseconds; unpacking an image costs about one.
const MIN_IMAGES_PER_TASK: usize = 16;
