//! A file of weights with the names of our own networks.

use super::mapping::Mapping;
use super::state_file::StateFile;
use crate::error::{Error, Result};
use crate::model::StateTensor;
use std::path::Path;

/// A safetensors file, or a state dict of PyTorch.
#[derive(Debug)]
pub(crate) struct WeightsFile {
    file: StateFile,
}

impl WeightsFile {
    /// Reads the list of its tensors.
    ///
    /// # Errors
    /// If it cannot be read, is of another kind, is damaged, or asks for functions of Python.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self { file: StateFile::open(path, None)? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The hash of the file.
    pub(crate) fn sha256(&self) -> &str {
        self.file.sha256()
    }

    fn foreign(&self, error: Error) -> Error {
        Error::Checkpoint { path: self.path().to_owned(), source: Box::new(error) }
    }

    /// Checks that it has weights of these names and shapes.
    ///
    /// # Errors
    /// [`Error::TensorMismatch`] on the first that is missing or different.
    pub(crate) fn check(&self, weights: &[(String, Vec<usize>)]) -> Result {
        weights
            .iter()
            .try_for_each(|(name, shape)| Mapping::default().check(&self.file, name, shape, true))
            .map_err(|error| self.foreign(error))
    }

    /// The tensors of a model.
    ///
    /// # Errors
    /// If one is missing, superfluous or of another shape.
    pub(crate) fn state(&self, expected: &[StateTensor]) -> Result<Vec<StateTensor>> {
        Mapping::default().apply(&self.file, expected, &[]).map_err(|error| self.foreign(error))
    }
}
