//! What an evaluation needs of whatever gives the codes: a trained run, or a network of another program.

use crate::error::Result;
use crate::model::Posteriors;
use crate::prior::Prior;
use crate::run::Run;
use std::path::Path;
use unbraid_data::DataSet;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;

/// A network that encodes images.
pub(crate) trait CodeSource: Sync {
    /// What messages name.
    fn path(&self) -> &Path;

    /// Whether it gives the log-variances of its codes.
    fn has_log_variances(&self) -> bool;

    /// Whether it has categorical units.
    fn has_clusters(&self) -> bool;

    /// Why no samples of its posteriors can be drawn; `None` if they can.
    fn sample_obstacle(&self) -> Option<String>;

    /// Encodes images of a data set, in the order of `indices`; see [`Run::encode_data`]. Without
    /// log-variances their matrix has no columns.
    fn encode(
        &self,
        data: &dyn DataSet,
        indices: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Result<Posteriors>;

    /// The prior of its continuous units.
    fn prior(&self) -> &Prior;

    /// The run, if it is one: only a run can reconstruct images.
    fn run(&self) -> Option<&Run>;
}

impl CodeSource for Run {
    fn path(&self) -> &Path {
        Self::path(self)
    }

    fn has_log_variances(&self) -> bool {
        self.units() > 0 && !self.decodes_means()
    }

    fn has_clusters(&self) -> bool {
        !self.categorical_units().is_empty()
    }

    fn sample_obstacle(&self) -> Option<String> {
        let posterior = &self.config().model.posterior;
        if self.decodes_means() {
            return Some("an encoder that is deterministic has no posterior to draw from".into());
        }
        (!posterior.is_diagonal())
            .then(|| format!("samples of a posterior that is `{}` are not drawn here", posterior.name()))
    }

    fn encode(
        &self,
        data: &dyn DataSet,
        indices: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Result<Posteriors> {
        self.encode_data(data, indices, noise, progress)
    }

    fn prior(&self) -> &Prior {
        Self::prior(self)
    }

    fn run(&self) -> Option<&Run> {
        Some(self)
    }
}

#[cfg(feature = "onnx")]
impl CodeSource for crate::import::OnnxEncoder {
    fn path(&self) -> &Path {
        Self::path(self)
    }

    fn has_log_variances(&self) -> bool {
        Self::has_log_variances(self)
    }

    fn has_clusters(&self) -> bool {
        !self.categorical_units().is_empty()
    }

    fn sample_obstacle(&self) -> Option<String> {
        Self::sample_obstacle(self)
    }

    fn encode(
        &self,
        data: &dyn DataSet,
        indices: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Result<Posteriors> {
        self.encode_data(data, indices, noise, progress)
    }

    fn prior(&self) -> &Prior {
        Self::prior(self)
    }

    fn run(&self) -> Option<&Run> {
        None
    }
}
