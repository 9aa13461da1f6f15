//! The data sets: one file each.

pub mod arrays;
pub mod cars3d;
pub mod decorated;
pub mod dsprites;
pub mod folder;
mod lanczos;
pub mod mnist;
pub mod mpi3d;
pub mod pinwheel;
pub mod shapes;
pub mod shapes3d;
pub mod smallnorb;
