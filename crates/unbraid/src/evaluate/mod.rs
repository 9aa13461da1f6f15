//! Scores of a trained run, or of codes that another program computed. Metrics see arrays only; this module provides
//! the arrays. Depends on runs and data.
//!
//! * [`evaluate()`] draws the points that scores are computed on, encodes each image that any score needs once, and
//!   runs the metrics. Interventional scores look up codes by image ([`DataSampler`]) instead of encoding millions of
//!   images. [`evaluate_and_write`] also writes `scores.json` and `codes.npz` into the run directory. With the feature
//!   `onnx`, `evaluate_encoder` does the same for an encoder of another program.
//! * [`Measures`] judge a run as a generative model: likelihood, rate and distortion, mutual information.
//! * [`codes_file`] reads and writes codes as `.npz`, [`Scores`] is a `scores.json`.

mod aggregate_posterior;
mod code_source;
pub mod codes_file;
mod encoded;
mod evaluation;
mod log_likelihood;
mod measures;
mod points;
mod sampler;
mod scores_file;
mod written;

pub use aggregate_posterior::{AggregatePosterior, Bracket};
pub use encoded::{Encoded, Representation};
#[cfg(feature = "onnx")]
pub use evaluation::evaluate_encoder;
pub use evaluation::{Evaluation, Settings, evaluate, score};
pub use log_likelihood::{LogLikelihood, Sampling};
pub use measures::{ACTIVE, Effort, Measures};
pub use points::Points;
pub use sampler::{DataSampler, Lookup};
pub use scores_file::{About, Earlier, Scores, read_about};
pub use written::{Source, check_outputs, evaluate_and_write};
