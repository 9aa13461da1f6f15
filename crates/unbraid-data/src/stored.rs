//! The data set that most readers return: pixels and a table of factors.

use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::FactorSpace;
use crate::fingerprint::Fingerprint;
use crate::random::Lane;
use crate::storage::Pixels;
use crate::table::FactorTable;
use std::fmt;

/// Images that were read from somewhere.
pub struct StoredImages {
    name: String,
    shape: ImageShape,
    pixels: Pixels,
    factors: Option<FactorTable>,
    fingerprint: Fingerprint,
    image_names: Vec<String>,
}

impl fmt::Debug for StoredImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredImages")
            .field("name", &self.name)
            .field("shape", &self.shape)
            .field("pixels", &self.pixels)
            .field("factors", &self.factors)
            .finish_non_exhaustive()
    }
}

impl StoredImages {
    /// A data set of these pixels and factors.
    ///
    /// # Panics
    /// If pixels and factors are not of the same number of images; readers check this with their own words first.
    pub fn new(
        name: impl Into<String>,
        shape: ImageShape,
        pixels: Pixels,
        factors: Option<FactorTable>,
        fingerprint: Fingerprint,
    ) -> Self {
        if let Some(table) = &factors {
            assert_eq!(table.len(), pixels.len(), "one row of factors for each image");
        }
        Self { name: name.into(), shape, pixels, factors, fingerprint, image_names: Vec::new() }
    }

    /// The same data set with a name for each image.
    ///
    /// # Panics
    /// If there is not exactly one name for each image.
    #[must_use]
    pub fn with_image_names(self, image_names: Vec<String>) -> Self {
        assert_eq!(image_names.len(), self.pixels.len(), "one name for each image");
        Self { image_names, ..self }
    }
}

impl DataSet for StoredImages {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> usize {
        self.pixels.len()
    }

    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn factors(&self) -> Option<&FactorSpace> {
        self.factors.as_ref().map(FactorTable::space)
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        match &self.factors {
            Some(table) => table.values_of(index, values),
            None => assert!(values.is_empty(), "`{}` has no factors", self.name),
        }
    }

    fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.factors.as_ref()?.index_of(values)
    }

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<()> {
        self.pixels.write(index, pixels)
    }

    fn memory(&self) -> usize {
        let names: usize = self.image_names.iter().map(|name| size_of::<String>() + name.capacity()).sum();
        self.pixels.memory() + self.factors.as_ref().map_or(0, FactorTable::memory) + names
    }

    fn fingerprint(&self) -> Result<String> {
        self.fingerprint.compute()
    }

    fn image_name(&self, index: usize) -> Option<&str> {
        self.image_names.get(index).map(String::as_str)
    }
}
