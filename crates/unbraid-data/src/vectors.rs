//! A table of vectors in memory.

use crate::dataset::{DataSet, ImageShape};
use crate::error::Result;
use crate::factors::FactorSpace;
use crate::fingerprint::Fingerprint;
use crate::metadata::Metadata;
use crate::random::Lane;
use crate::table::FactorTable;
use std::fmt;

/// A table of numbers in memory: embeddings, measurements, anything that is not an image.
/// [`Features`](crate::Features) has an example.
pub struct StoredVectors {
    columns: Vec<String>,
    /// Row by row.
    values: Vec<f64>,
    metadata: Metadata,
}

impl fmt::Debug for StoredVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredVectors")
            .field("name", &self.metadata.name)
            .field("len", &self.len())
            .field("columns", &self.columns)
            .field("factors", &self.metadata.factors)
            .finish_non_exhaustive()
    }
}

impl StoredVectors {
    /// A table of these columns, with its values row by row.
    ///
    /// # Panics
    /// If there are no columns, the values are not whole rows, or the factors have another number of rows.
    pub fn new(
        name: impl Into<String>,
        columns: Vec<String>,
        values: Vec<f64>,
        factors: Option<FactorTable>,
        fingerprint: Fingerprint,
    ) -> Self {
        assert!(!columns.is_empty() && values.len().is_multiple_of(columns.len()), "whole rows");
        let metadata = Metadata::new(name.into(), values.len() / columns.len(), factors, fingerprint);
        Self { columns, values, metadata }
    }

    /// Sets the name of each row.
    ///
    /// # Panics
    /// If the number of names is not the number of rows.
    #[must_use]
    pub fn with_row_names(self, row_names: Vec<String>) -> Self {
        let metadata = self.metadata.with_image_names(self.values.len() / self.columns.len(), row_names);
        Self { metadata, ..self }
    }

    fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.columns.len()..][..self.columns.len()]
    }
}

impl DataSet for StoredVectors {
    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn len(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    fn shape(&self) -> ImageShape {
        ImageShape::new(1, self.columns.len(), 1)
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

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<()> {
        assert_eq!(pixels.len(), self.columns.len(), "one pixel for each column");
        pixels.iter_mut().zip(self.row(index)).for_each(|(pixel, &value)| *pixel = value as f32);
        Ok(())
    }

    fn memory(&self) -> usize {
        size_of_val(self.values.as_slice()) + self.metadata.memory()
    }

    fn fingerprint(&self) -> Result<String> {
        self.metadata.fingerprint()
    }

    fn image_name(&self, index: usize) -> Option<&str> {
        self.metadata.image_name(index)
    }

    fn columns(&self) -> Option<&[String]> {
        Some(&self.columns)
    }

    fn write_row(&self, index: usize, _noise: Lane, values: &mut [f64]) -> Result<()> {
        values.copy_from_slice(self.row(index));
        Ok(())
    }
}
