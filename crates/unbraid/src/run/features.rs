//! `features.json`: how the columns of a table are standardised for the network of a run.

use super::paths::RunPaths;
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use std::io::{self, Write};
use unbraid_data::files::{LONGEST_TEXT, read_text};
use unbraid_data::{DataSet, Features};

/// What the file says, or `None` for a run on images, which has no such file.
pub(super) fn read(paths: &RunPaths) -> Result<Option<Features>> {
    let path = paths.features();
    let text = match read_text(&path, LONGEST_TEXT) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(&path, "read it")(error)),
    };
    let malformed = |source: serde_json::Error| Error::Malformed {
        path: path.clone(),
        expected: "a list of columns with `name`, `mean` and `deviation`, a number above 0",
        source: Box::new(source),
    };
    let features: Features = serde_json::from_str(&text).map_err(malformed)?;
    if features.are_valid() {
        return Ok(Some(features));
    }
    Err(malformed(serde::de::Error::custom("a deviation that is not above 0")))
}

/// Those of the run, or for a new one those of the rows that it is trained on; `None` for images.
pub(super) fn read_or_compute(paths: &RunPaths, data: &dyn DataSet) -> Result<Option<Features>> {
    if data.columns().is_none() {
        return Ok(None);
    }
    match read(paths)? {
        Some(features) => Ok(Some(features)),
        None => Ok(Some(Features::of(data)?)),
    }
}

/// Writes the file, if there is anything to write.
pub(super) fn write(paths: &RunPaths, features: Option<&Features>) -> Result {
    let Some(features) = features else { return Ok(()) };
    files::write(&paths.features(), Existing::Replace, |file| {
        serde_json::to_writer_pretty(&mut *file, features)?;
        writeln!(file)
    })
}
