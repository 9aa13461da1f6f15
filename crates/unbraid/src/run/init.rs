//! Weights to start from: where they are, which they are, and that they fit.

use super::checkpoint;
use super::directory::read_config;
use super::paths::RunPaths;
use crate::config::{Config, InitConfig};
use crate::error::{Error, Result};
use crate::import::WeightsFile;
use crate::model::{Blueprint, StateTensor};
use std::path::{Path, PathBuf};
use unbraid_data::ImageShape;

/// The configuration with the hash of the weights that it starts from, if it starts from any.
///
/// # Errors
/// If they cannot be read.
pub(super) fn with_hash(mut config: Config) -> Result<Config> {
    if let Some(init) = config.training.init.as_mut().filter(|init| init.sha256.is_none()) {
        let file = open(init)?;
        init.sha256 = Some(file.sha256().to_owned());
    }
    Ok(config)
}

/// Compares the weights with the network for images of this size, before it is made.
///
/// # Errors
/// [`Error::TensorMismatch`] with the first tensor that differs.
pub(super) fn check(config: &Config, images: ImageShape) -> Result {
    let Some(init) = &config.training.init else { return Ok(()) };
    let file = open(init)?;
    file.check(&Blueprint::new(&config.model, images)?.weights())
}

/// The weights for a model with these tensors.
///
/// # Errors
/// If they cannot be read, are others than the configuration says, or do not fit.
pub(super) fn load(init: &InitConfig, expected: &[StateTensor]) -> Result<Vec<StateTensor>> {
    open(init)?.state(expected)
}

fn open(init: &InitConfig) -> Result<WeightsFile> {
    let file = WeightsFile::open(&locate(Path::new(&init.path))?)?;
    match &init.sha256 {
        Some(expected) if expected != file.sha256() => Err(Error::WeightsChanged {
            path: file.path().to_owned(),
            found: file.sha256().to_owned(),
            expected: expected.clone(),
        }),
        Some(_) | None => Ok(file),
    }
}

/// The file of weights: of a run, those that it is used with.
fn locate(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let paths = RunPaths::new(path);
    if !paths.config().is_file() {
        return Err(Error::NotARun { path: path.to_owned(), found: "no config.toml in it" });
    }
    let keep_best = read_config(&paths)?.training.keep_best;
    checkpoint::find_weights(&paths, None, keep_best)
}
