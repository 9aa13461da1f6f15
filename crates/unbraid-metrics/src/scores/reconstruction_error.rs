//! The reconstruction error.

use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::metric::{Description, Direction, Metric, Needs, Options, Requirement};
use crate::numeric::mean;
use crate::report::ScoreValues;

/// Reconstruction error per pixel: how much do images differ from their reconstructions?
///
/// ```text
/// error = mean over points of 1/(pixels channels) sum over pixels and channels of (x - x')^2
/// ```
/// where x' is the mean of the decoder for the posterior mean of x (and its most likely categories). The error of each point
/// has to be computed with the model; this function takes their mean.
///
/// * Range: 0 and above, lower is better. For pixels from 0 to 1, it is 1 if black is reconstructed as white.
/// * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, table 1 and figures 1 and 2,
///   "reconstruction error (per pixel)"; they do not say which norm they use.
/// * See also: [`kl_per_unit`](super::kl_per_unit), which usually grows as this error falls.
///
/// ```
/// assert_eq!(unbraid_metrics::scores::reconstruction_error(&[0.25, 0.75]), 0.5);
/// ```
pub fn reconstruction_error(errors: &[f64]) -> f64 {
    mean(errors)
}

/// The metric `reconstruction_error`; see [`reconstruction_error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReconstructionError;

impl Metric for ReconstructionError {
    fn description(&self) -> Description {
        let meaning = "squared error of a pixel between images and their reconstructions";
        Description::new("reconstruction_error", meaning)
            .number("reconstruction_error", "reconstruction error")
            .direction(Direction::Lower)
            .range(0.0, f64::INFINITY)
            .needs(Needs { reconstructions: true, ..Needs::CODES })
            .on_request_only()
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let missing = MetricsError::Missing { missing: Requirement::Reconstructions };
        let errors = codes.reconstruction_errors().ok_or(missing)?;
        Ok(ScoreValues::new("reconstruction_error", reconstruction_error(errors)))
    }
}
