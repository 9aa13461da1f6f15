#![doc = include_str!("../README.md")]

mod checks;
mod classes;
mod codes;
pub mod correlation;
mod error;
mod factor_classes;
pub mod information;
mod interruption;
pub mod learners;
pub mod linear_algebra;
mod matching;
mod metric;
mod neighbours;
mod numeric;
mod options;
pub mod random;
pub mod registry;
mod report;
pub mod scores;
mod trials;
mod views;

pub use checks::factors_from_floats;
pub use classes::Classes;
pub use codes::Codes;
pub use error::{MetricsError, OptionError, Result};
pub use interruption::{Interrupted, interruptible};
pub use metric::{Description, Direction, FactorKind, Metric, Needs, Number, Options, Requirement};
pub use numeric::quantile_of_sorted;
pub use options::{Choice, Declare, OptionInfo, POSITIVE, nearest};
pub use registry::Registry;
pub use report::{Bootstrap, Chance, Level, Report, Score, ScoreValues, by_name};
pub use views::{Labelled, LabelledPosteriors, Posteriors, TrainTest, Unlabelled};
