//! The integration tests of the crate, in one binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod cars3d;
mod convert;
mod dsprites;
mod folder;
mod kinds;
mod mnist;
mod mpi3d;
mod odd_images;
#[path = "../../examples/own_data_set.rs"]
mod own_data_set;
mod requests;
mod scenes;
mod shapes3d;
mod shared_data;
mod smallnorb;
mod support;
mod tables;
mod variants;

#[test]
fn the_example_of_an_own_data_set_runs() {
    own_data_set::run().unwrap();
}
