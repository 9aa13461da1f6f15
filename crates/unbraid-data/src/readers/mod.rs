//! The data sets: one file each.

pub mod arrays;
pub mod decorated;
pub mod dsprites;
pub mod folder;
pub mod mnist;
pub mod pinwheel;
pub mod shapes;
