#![doc = include_str!("../README.md")]

mod checks;
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

pub use checks::factors_from_floats;
pub use classes::Classes;
pub use codes::Codes;
pub use error::{MetricsError, Result};
pub use metric::{Description, Direction, Metric, Needs, Number, Options, Requirement};
pub use numeric::quantile_of_sorted;
pub use registry::Registry;
pub use report::{Report, Score, ScoreValues, by_name};
pub use views::{Labelled, LabelledPosteriors, Posteriors, TrainTest, Unlabelled};
