//! Results on a GPU against those of the CPU, and the command on both: `cargo xtask test --gpu`. Mesa's
//! llvmpipe, a Vulkan device that computes on the CPU, serves where there is no GPU; the variable
//! `UNBRAID_TEST_DEVICE` names another device than `wgpu`.
//!
//! The CPU's results are tested against golden numbers elsewhere. Each tolerance is in `docs/devices.md` with
//! its reason.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod command;
mod models;
mod objectives;
mod operations;
mod training;
