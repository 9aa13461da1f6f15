//! The data sets: one file each.

pub mod decorated;
pub mod dsprites;
pub mod folder;
pub mod shapes;
