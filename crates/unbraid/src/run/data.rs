//! The data of a trained run, opened again.

use super::meta::Meta;
use super::trained::Run;
use crate::error::{Error, Result};
use unbraid_data::DataSet;
use unbraid_data::OptionValue;
use unbraid_data::progress::Progress;

/// The data that a run was trained on.
#[derive(Debug)]
pub struct RunData {
    /// The images.
    pub data: Box<dyn DataSet>,
    /// Their hash.
    pub sha256: String,
}

impl Run {
    /// Opens the data that the run was trained on.
    ///
    /// # Errors
    /// If it is not where it was, or has changed since.
    pub fn open_data(&self, progress: &dyn Progress) -> Result<RunData> {
        let data = unbraid_data::open(&self.config().data, progress)?;
        let sha256 = data.fingerprint()?;
        match Meta::read(&self.paths().meta()) {
            Some(meta) if meta.data_sha256 != sha256 => Err(Error::DataChanged {
                path: self.path().to_owned(),
                found: sha256,
                expected: meta.data_sha256,
            }),
            Some(_) | None => Ok(RunData { data, sha256 }),
        }
    }

    /// Opens the test part of the data of a run that was trained on the other part. `sha256` is the hash of the data that
    /// the run was trained on: some data sets are all of their images unless told otherwise, others their training part.
    ///
    /// # Errors
    /// If the run was trained on other images than those of the training part.
    pub fn open_test_split(&self, sha256: &str, progress: &dyn Progress) -> Result<Box<dyn DataSet>> {
        let part = |name: &str| {
            let mut spec = self.config().data.clone();
            spec.options.insert("split".to_owned(), OptionValue::Text(name.to_owned()));
            unbraid_data::open(&spec, progress)
        };
        if part("train")?.fingerprint()? != sha256 {
            return Err(Error::NoTestSplit { path: self.path().to_owned() });
        }
        Ok(part("test")?)
    }
}
