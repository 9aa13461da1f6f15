#![doc = include_str!("../README.md")]

pub mod cache;
pub mod convert;
pub mod files;
pub mod formats;
pub mod guard;
pub mod memory;
pub mod progress;
pub mod random;
pub mod registry;
pub mod sampling;
pub mod storage;

mod attributes_option;
mod data_option;
mod dataset;
mod error;
mod factors;
mod features;
mod fingerprint;
mod kinds;
mod metadata;
mod picture;
mod readers;
mod request;
mod spec;
mod split;
mod standardised;
mod stored;
mod subset;
mod table;
mod vectors;

pub use data_option::DataOption;
pub use dataset::{DataSet, ImageShape};
pub use error::{DataError, Result, one_line};
pub use factors::{Factor, FactorKind, FactorSpace};
pub use features::{Feature, Features};
pub use fingerprint::{Fingerprint, hex};
pub use picture::Picture;
pub use readers::folder::{Treatment, is_image_file, open_files};
pub use registry::open;
pub use spec::{DataSpec, OptionValue};
pub use standardised::Standardised;
pub use stored::StoredImages;
pub use subset::Subset;
pub use table::FactorTable;
pub use vectors::StoredVectors;
