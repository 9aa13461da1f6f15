//! File formats: NumPy's `.npy` and `.npz`, and, for the readers of this crate, idx, NORB, MATLAB level 5 and HDF5.
//!
//! The parsers do not trust headers: beyond a fixed-size buffer, memory grows with the data that arrives, not with the
//! size that a header claims. HDF5 is read by another crate, within the limits given in the module `hdf5`.

#[cfg(fuzzing)]
pub mod fuzzing;
pub mod npy;
pub mod npz;
pub mod npz_writer;

pub(crate) mod gzip;
pub(crate) mod hdf5;
pub(crate) mod idx;
pub(crate) mod mat5;
pub(crate) mod norb;
