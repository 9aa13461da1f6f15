//! A run directory for weights that were not trained here.

use super::checkpoint;
use super::directory::RunDirectory;
use super::features;
use super::meta::{Meta, Provenance};
use super::status::{State, Status};
use crate::config::Config;
use crate::error::Result;
use crate::files::{self, Existing};
use crate::model::{StateTensor, Values};
use unbraid_data::{DataSet, ImageShape};

/// Weights with all that a run is known by.
#[derive(Debug)]
pub(crate) struct ImportedWeights<'a> {
    pub(crate) config: &'a Config,
    /// The data, if it is at hand.
    pub(crate) data: Option<&'a dyn DataSet>,
    pub(crate) image_shape: ImageShape,
    /// The state dict of network and prior.
    pub(crate) state: &'a [StateTensor],
}

impl ImportedWeights<'_> {
    /// Writes everything that a trained run has, except what only training knows: the optimiser's state and the losses.
    ///
    /// # Errors
    /// If something cannot be written.
    pub(crate) fn write(&self, directory: &RunDirectory, provenance: Provenance) -> Result {
        let paths = directory.paths();
        let (data, shape) = (self.data, self.image_shape);
        let dataset_len = data.map_or_else(|| published_len(self.config), |data| Some(data.len()));
        let steps = self.config.training.total_steps(dataset_len.unwrap_or(0));
        directory.prepare(self.config)?;
        if let Some(data) = data {
            features::write(paths, features::read_or_compute(paths, data)?.as_ref())?;
        }
        files::write(&paths.metrics(), Existing::Replace, |_| Ok(()))?;
        checkpoint::save_imported(paths, self.state, self.config, steps, shape)?;
        let mut meta = Meta::new(self.config.seed).finished_now();
        if let Some(data) = data {
            meta.data_sha256 = data.fingerprint()?;
            meta.data_images = data.len();
        }
        meta.data_paths = self.config.relative_paths(paths.root());
        meta.image_shape = [shape.height, shape.width, shape.channels];
        let is_parameter = |tensor: &&StateTensor| {
            let is_buffer = [".running_mean", ".running_var"].iter().any(|end| tensor.name.ends_with(end));
            matches!(tensor.values, Values::Floats(_)) && !is_buffer
        };
        let count = |tensor: &StateTensor| tensor.shape.iter().product::<usize>();
        meta.parameters = self.state.iter().filter(is_parameter).map(count).sum();
        meta.device = "cpu".to_owned();
        meta.imported = Some(provenance);
        meta.write(&paths.meta())?;
        Status::now(State::Done, steps, steps).write(&paths.status())
    }
}

/// How many images a data set has whose files are not at hand, to turn epochs into steps.
fn published_len(config: &Config) -> Option<usize> {
    match config.data.name.as_deref()? {
        "mnist" | "fashion-mnist" => Some(60_000),
        "celeba" => Some(202_599),
        "chairs" => Some(86_366),
        "dsprites" => Some(737_280),
        _ => None,
    }
}
