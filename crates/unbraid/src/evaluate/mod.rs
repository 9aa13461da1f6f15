//! From a trained run, or from codes that somebody else made, to scores. Metrics see arrays only; where the arrays come
//! from is decided here. Depends on runs and data.
//!
//! * [`evaluate`] draws the points that scores are computed on, encodes each image that any score needs once, and runs the
//!   metrics. Interventional scores look codes up by image ([`DataSampler`]) instead of encoding millions of images.
//! * [`measures`] says how good a run is as a model: likelihood, rate and distortion, what codes know of images.
//! * [`codes_file`] is the `.npz` that codes come in and leave by, [`scores_file`] the `scores.json` of a run.

pub mod aggregate_posterior;
pub mod codes_file;
mod encoded;
mod evaluation;
pub mod log_likelihood;
pub mod measures;
mod points;
mod sampler;
pub mod scores_file;
mod stored_scores;
pub mod table;

pub use encoded::{Encoded, Representation};
pub use evaluation::{Evaluation, Settings, evaluate, score};
pub use points::Points;
pub use sampler::{DataSampler, Lookup};
