//! The data of a trained run, opened again.

use super::meta::Meta;
use super::trained::Run;
use crate::error::{Error, Result};
use unbraid_data::DataSet;
use unbraid_data::progress::Progress;
use unbraid_data::{DataSpec, OptionValue};

/// The data that a run was trained on.
#[derive(Debug)]
pub struct RunData {
    /// The images.
    pub data: Box<dyn DataSet>,
    /// Their hash.
    pub sha256: String,
}

impl Run {
    /// The data that the run was trained on, where it is now: a run and its data may be moved together.
    pub fn data_spec(&self) -> DataSpec {
        self.paths().data_spec(self.config())
    }

    /// As [`Run::data_spec`]; if something else is now at the place where the data was, where it was moved
    /// with the run.
    pub(crate) fn find_data(&self, progress: &dyn Progress) -> DataSpec {
        self.paths().find_data(self.config(), progress)
    }

    /// Opens the data that the run was trained on.
    ///
    /// # Errors
    /// If it has moved or changed since.
    pub fn open_data(&self, progress: &dyn Progress) -> Result<RunData> {
        let data = unbraid_data::open(&self.find_data(progress), progress)?;
        let sha256 = data.fingerprint()?;
        match Meta::read(&self.paths().meta()) {
            // Imported weights may have come without their data.
            Some(meta) if !meta.data_sha256.is_empty() && meta.data_sha256 != sha256 => {
                Err(Error::DataChanged {
                    path: self.path().to_owned(),
                    found: sha256,
                    expected: meta.data_sha256,
                })
            }
            Some(_) | None => Ok(RunData { data, sha256 }),
        }
    }

    /// Opens the test split of the data of a run that was trained on the training split. `sha256` is the hash of the
    /// data that the run was trained on: by default, some data sets are all of their images, others their training
    /// split.
    ///
    /// # Errors
    /// If the run was trained on other images than the training split.
    pub fn open_test_split(&self, sha256: &str, progress: &dyn Progress) -> Result<Box<dyn DataSet>> {
        let found = test_part(&self.find_data(progress), sha256, progress)?;
        found.ok_or_else(|| Error::NoTestSplit { path: self.path().to_owned() })
    }
}

/// The test split of the data whose hash is `sha256`; `None` if that is not the training split.
///
/// # Errors
/// If it cannot be opened, or the data set has no such split.
pub fn test_part(data: &DataSpec, sha256: &str, progress: &dyn Progress) -> Result<Option<Box<dyn DataSet>>> {
    let part = |name: &str| {
        let mut spec = data.clone();
        spec.options.insert("split".to_owned(), OptionValue::Text(name.to_owned()));
        unbraid_data::open(&spec, progress)
    };
    let says_train = data.options.get("split") == Some(&OptionValue::Text("train".to_owned()));
    if !says_train && part("train")?.fingerprint()? != sha256 {
        return Ok(None);
    }
    Ok(Some(part("test")?))
}
