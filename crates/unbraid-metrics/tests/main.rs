//! All integration tests of this crate, as one binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod by_definition;
mod chance;
mod common;
mod golden;
mod invariance;
mod json_forms;
mod known_answers;
mod kumar;
mod learners;
mod metric_options;
mod odd_inputs;
mod own_metric;
mod random_inputs;
mod synthetic;
