//! A data set made of stored pixels and a table of factors, which most readers return.

use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::FactorSpace;
use crate::fingerprint::Fingerprint;
use crate::metadata::Metadata;
use crate::random::Lane;
use crate::storage::Pixels;
use crate::table::FactorTable;
use std::fmt;

/// A data set whose pixels are in memory or in a file.
///
/// ```
/// use unbraid_data::storage::{ByteImages, Pixels};
/// use unbraid_data::{DataSet, Factor, FactorSpace, FactorTable, Fingerprint, ImageShape, StoredImages};
///
/// // Three grey images of 1 x 2 pixels, and one factor.
/// let pixels = Pixels::Bytes(ByteImages::in_memory(2, vec![0, 0, 0, 255, 255, 255]));
/// let space = FactorSpace::new(vec![Factor::new("white pixels", 3)]);
/// let table = FactorTable::from_rows(space, vec![0, 1, 2])?;
/// let recipe = Fingerprint::Recipe("three small images".to_owned());
/// let data = StoredImages::new("small", ImageShape::new(1, 2, 1), pixels, Some(table), recipe);
/// assert_eq!(data.index_of(&[1]), Some(1));
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
pub struct StoredImages {
    shape: ImageShape,
    pixels: Pixels,
    metadata: Metadata,
}

impl fmt::Debug for StoredImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredImages")
            .field("name", &self.metadata.name)
            .field("shape", &self.shape)
            .field("pixels", &self.pixels)
            .field("factors", &self.metadata.factors)
            .finish_non_exhaustive()
    }
}

impl StoredImages {
    /// A data set of these pixels and factors.
    ///
    /// # Panics
    /// If pixels and factors have different numbers of images.
    pub fn new(
        name: impl Into<String>,
        shape: ImageShape,
        pixels: Pixels,
        factors: Option<FactorTable>,
        fingerprint: Fingerprint,
    ) -> Self {
        let metadata = Metadata::new(name.into(), pixels.len(), factors, fingerprint);
        Self { shape, pixels, metadata }
    }

    /// Sets the name of each image.
    ///
    /// # Panics
    /// If the number of names is not the number of images.
    #[must_use]
    pub fn with_image_names(self, image_names: Vec<String>) -> Self {
        let metadata = self.metadata.with_image_names(self.pixels.len(), image_names);
        Self { metadata, ..self }
    }
}

impl DataSet for StoredImages {
    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn len(&self) -> usize {
        self.pixels.len()
    }

    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn factors(&self) -> Option<&FactorSpace> {
        self.metadata.space()
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        self.metadata.factors_of(index, values);
    }

    fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.metadata.index_of(values)
    }

    fn is_binary(&self) -> bool {
        match self.pixels {
            Pixels::Bits(_) => true,
            Pixels::Bytes(_) | Pixels::Floats { .. } => false,
        }
    }

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<()> {
        self.pixels.write(index, pixels)
    }

    fn memory(&self) -> usize {
        self.pixels.memory() + self.metadata.memory()
    }

    fn fingerprint(&self) -> Result<String> {
        self.metadata.fingerprint()
    }

    fn image_name(&self, index: usize) -> Option<&str> {
        self.metadata.image_name(index)
    }
}
