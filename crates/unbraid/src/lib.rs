#![doc = include_str!("../README.md")]

pub mod config;
mod device;
mod error;
pub mod evaluate;
pub mod export;
pub mod files;
pub mod import;
pub mod inference;
pub mod model;
pub mod objective;
mod observer;
mod optimizer;
pub mod prior;
pub mod run;
pub mod train;

pub use burn;
pub use config::Config;
pub use device::{Device, DeviceKind, check_environment};
pub use error::{AfterTraining, BoxedError, Error, ErrorKind, Result, error_chain};
pub use ndarray;
pub use observer::{Encoding, Observer, Trained, TrainingStart};
pub use run::{Run, Session};
pub use unbraid_data as data;
pub use unbraid_metrics as metrics;

/// Compiles the code of the repository's README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
