//! The integration tests of the crate, in one binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod cars3d;
mod convert;
mod dsprites;
mod folder;
mod mnist;
mod mpi3d;
mod requests;
mod shapes3d;
mod shared_data;
mod smallnorb;
mod support;
mod variants;
