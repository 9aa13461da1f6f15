//! What a stored data set has beside its pixels or values.

use crate::error::Result;
use crate::factors::FactorSpace;
use crate::fingerprint::Fingerprint;
use crate::table::FactorTable;

/// The name of a data set, the factors and names of its images, and what identifies it.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) factors: Option<FactorTable>,
    fingerprint: Fingerprint,
    image_names: Vec<String>,
}

impl Metadata {
    /// For `len` images.
    ///
    /// # Panics
    /// If the factors have another number of rows.
    pub(crate) fn new(
        name: String,
        len: usize,
        factors: Option<FactorTable>,
        fingerprint: Fingerprint,
    ) -> Self {
        if let Some(table) = &factors {
            assert_eq!(table.len(), len, "one row of factors per image");
        }
        Self { name, factors, fingerprint, image_names: Vec::new() }
    }

    /// Sets the names of `len` images.
    ///
    /// # Panics
    /// If there are more or fewer.
    pub(crate) fn with_image_names(self, len: usize, image_names: Vec<String>) -> Self {
        assert_eq!(image_names.len(), len, "one name per image");
        Self { image_names, ..self }
    }

    pub(crate) fn space(&self) -> Option<&FactorSpace> {
        self.factors.as_ref().map(FactorTable::space)
    }

    pub(crate) fn factors_of(&self, index: usize, values: &mut [u32]) {
        match &self.factors {
            Some(table) => table.values_of(index, values),
            None => assert!(values.is_empty(), "`{}` has no factors", self.name),
        }
    }

    pub(crate) fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.factors.as_ref()?.index_of(values)
    }

    /// Bytes of main memory in use.
    pub(crate) fn memory(&self) -> usize {
        let names: usize = self.image_names.iter().map(|name| size_of::<String>() + name.capacity()).sum();
        self.factors.as_ref().map_or(0, FactorTable::memory) + names
    }

    pub(crate) fn fingerprint(&self) -> Result<String> {
        self.fingerprint.compute()
    }

    pub(crate) fn image_name(&self, index: usize) -> Option<&str> {
        self.image_names.get(index).map(String::as_str)
    }
}
