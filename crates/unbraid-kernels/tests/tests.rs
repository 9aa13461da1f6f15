//! The public functions of the crate, in one test binary.

mod adam;
mod bernoulli;
mod channels;
mod common;
mod convolution;
mod determinism;
mod interface;
mod stack;
