//! Parsers of the file formats that data sets come in. They know bytes and arrays, not images or factors.
//!
//! The parsers here are our own where the crates that exist trust the file too much: a header that promises gigabytes
//! must never make us allocate them.

pub mod npy;
pub mod npz;
pub mod npz_writer;

pub(crate) mod gzip;
pub(crate) mod hdf5;
pub(crate) mod idx;
pub(crate) mod mat5;
pub(crate) mod norb;
