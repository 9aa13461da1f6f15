//! What can be wrong with a model.

use std::path::PathBuf;
use unbraid_data::DataError;

/// A model that cannot be built or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The network cannot take images of this size.
    #[error("model.architecture `{architecture}`: found images of {height} x {width}, expected {expected}")]
    ImageSize {
        /// The architecture.
        architecture: &'static str,
        /// Rows of the images.
        height: usize,
        /// Columns of the images.
        width: usize,
        /// The sizes that fit.
        expected: String,
    },
    /// The prior asks for more principal components than the data has.
    #[error(
        "model.prior.variances: found data that varies in {found} directions only, expected at least {units}, \
         the number of continuous units"
    )]
    Components {
        /// Directions in which the data varies.
        found: usize,
        /// Number of units.
        units: usize,
    },
    /// An image that the model is fitted to cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file of weights cannot be read.
    #[error("{}: cannot read the weights: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is no safetensors file, or a damaged one.
    #[error("{}: not a whole safetensors file: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file holds the weights of another model.
    #[error("weights of another model: {tensor}: found {found}, expected {expected}")]
    Mismatch {
        /// The tensor.
        tensor: String,
        /// What the file has.
        found: String,
        /// What the model has.
        expected: String,
    },
}
