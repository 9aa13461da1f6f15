//! Scores of disentangled representations, as pure functions of arrays.
//!
//! Codes are `ArrayView2<f64>` of shape \[points, units\], factors `ArrayView2<i64>` of shape \[points, factors\]. Every
//! score is one function with a parameter struct whose defaults are those of the published numbers ([`scores`]); the
//! learners some of them need are here too ([`learners`]). [`registry`] lists all scores and runs any of them by name on
//! [`Codes`]. Nothing here knows of networks or images.
//!
//! Scores are deterministic: the same arrays and seed give the same bits on any number of threads. Input that no score can
//! be computed from is an error that says where it stands; any other input gives a finite number.
//!
//! ```
//! use ndarray::array;
//! use unbraid_metrics::Labelled;
//! use unbraid_metrics::scores::{HistogramParameters, mig};
//!
//! let codes = array![[0.1, 1.9], [0.2, 0.1], [0.9, 1.8], [1.0, 0.2]];
//! let factors = array![[0, 1], [0, 0], [1, 1], [1, 0]];
//! let score = mig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters { bins: 2 })?;
//! assert!((score.value - 1.0).abs() < 1e-12);
//! # Ok::<(), unbraid_metrics::MetricsError>(())
//! ```

mod classes;
mod codes;
pub mod correlation;
mod error;
pub mod information;
pub mod learners;
mod linear_algebra;
mod metric;
mod numeric;
pub mod random;
pub mod registry;
mod report;
pub mod scores;
mod views;

pub use classes::Classes;
pub use codes::Codes;
pub use error::{MetricsError, Result};
pub use metric::{Description, Direction, Metric, Needs, Number, Options, Requirement};
pub use numeric::quantile_of_sorted;
pub use registry::Registry;
pub use report::{Report, Score, ScoreValues, by_name};
pub use views::{Labelled, LabelledPosteriors, Posteriors, TrainTest, Unlabelled, factors_from_floats};
