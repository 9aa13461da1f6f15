//! The error of reconstructions.

use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::metric::{Description, Direction, Metric, Needs, Options, Requirement};
use crate::numeric::mean;
use crate::report::ScoreValues;

/// Reconstruction error per pixel: how far are images from what the model makes of their codes?
///
/// ```text
/// error = mean over points of 1/(pixels channels) sum over pixels and channels of (x - x')^2
/// ```
/// where x' is the image that the decoder expects for the mean of the posterior of x (and its most likely categories).
/// Whoever has the model computes the error of each point; this is their mean.
///
/// * Range: 0 and above, lower is better. Pixels run from 0 to 1, so that 1 is the error of the opposite image.
/// * Reference: Kumar et al. 2018, table 1 and figures 1 and 2, "reconstruction error (per pixel)"; they leave open which
///   norm they use.
/// * See also: [`kl_per_unit`](super::kl_per_unit), the price of a small error.
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
