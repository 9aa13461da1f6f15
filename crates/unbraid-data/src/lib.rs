//! Data sets with known factors of variation.
//!
//! Everything that the rest of unbraid knows about images comes through the [`DataSet`] trait: how many there are, what
//! made them, and their pixels. This crate holds the readers of the public files, a renderer that makes the dSprites
//! images without any file, and seeded sampling of batches and of interventions. It knows nothing of networks.
//!
//! ```
//! use unbraid_data::progress::Silent;
//! use unbraid_data::random::Stream;
//! use unbraid_data::{DataSpec, open};
//!
//! let data = open(&"shapes(orientations=10)".parse::<DataSpec>()?, &Silent)?;
//! let mut pixels = vec![0.0; data.shape().values()];
//! let heart = data.index_of(&[2, 5, 0, 16, 16]).expect("the grid is full");
//! data.write_image(heart, Stream::new(0, "noise").at(0).lane(0), &mut pixels)?;
//! assert!(pixels.contains(&1.0));
//! # Ok::<(), unbraid_data::DataError>(())
//! ```

pub mod cache;
pub mod convert;
pub mod formats;
pub mod progress;
pub mod random;
pub mod registry;
pub mod sampling;
pub mod storage;

mod dataset;
mod error;
mod factors;
mod fingerprint;
mod readers;
mod request;
mod spec;
mod split;
mod stored;
mod table;

pub use dataset::{DataSet, ImageShape};
pub use error::{DataError, Result};
pub use factors::{Factor, FactorSpace};
pub use fingerprint::Fingerprint;
pub use readers::folder::open_files;
pub use registry::open;
pub use spec::{DataSpec, OptionValue};
pub use stored::StoredImages;
pub use table::FactorTable;
