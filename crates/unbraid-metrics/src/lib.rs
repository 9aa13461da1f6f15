//! Scores of disentangled representations, as pure functions of arrays.

pub mod error;
pub mod information;
mod input;
pub mod learners;
mod linear_algebra;
mod numeric;
pub mod random;
pub mod scores;

pub use error::{MetricsError, Result};
pub use input::{Classes, TrainTest, check_codes, check_factors, factors_from_floats};
