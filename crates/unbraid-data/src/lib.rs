//! Data sets with known factors of variation.
//!
//! Everything that the rest of unbraid knows about images comes through the [`DataSet`] trait: how many there are, what
//! made them, and their pixels. This crate holds the readers of the public files, a renderer that makes the dSprites
//! images without any file, and seeded sampling of batches and of interventions. It knows nothing of networks.

pub mod cache;
pub mod dataset;
pub mod error;
pub mod factors;
pub mod fingerprint;
pub mod formats;
pub mod progress;
pub mod random;
pub mod readers;
pub mod registry;
pub mod request;
pub mod sampling;
pub mod spec;
pub mod split;
pub mod storage;
pub mod stored;
pub mod table;

pub use dataset::{DataSet, ImageShape};
pub use error::{DataError, Result};
pub use factors::{Factor, FactorSpace};
pub use registry::open;
pub use spec::DataSpec;
