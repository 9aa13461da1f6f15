//! All integration tests of this crate, as one binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod golden;
mod invariance;
mod known_answers;
mod learners;
mod odd_inputs;
mod random_inputs;
mod synthetic;
