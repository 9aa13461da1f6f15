//! The built-in data sets, one module each.
//!
//! A new data set is a module here and an entry in `registry.rs`.

pub(crate) mod arrays;
pub(crate) mod cars3d;
pub(crate) mod decorated;
pub(crate) mod dsprites;
pub(crate) mod folder;
pub(crate) mod labels;
mod lanczos;
pub(crate) mod mnist;
pub(crate) mod mpi3d;
pub(crate) mod pinwheel;
pub(crate) mod scenes;
pub(crate) mod shapes;
pub(crate) mod shapes3d;
pub(crate) mod smallnorb;
pub(crate) mod table;
