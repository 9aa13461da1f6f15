//! `cargo xtask test --gpu` and `check --gpu`: what the default tests leave out, since it compiles twice as many crates. A target
//! directory of its own keeps the other builds as they are.

use crate::{cargo, install};

/// The one crate that sees all others.
const PACKAGE: [&str; 4] = ["--target-dir", "target/gpu", "--package", "unbraid-cli"];

/// Runs the tests of devices other than the CPU, one at a time: llvmpipe has every core for itself.
pub(crate) fn test() -> Result<(), String> {
    install::vulkan_device();
    let features = ["--features", "wgpu", "--profile", "gpu", "--test", "devices"];
    let options = ["--", "--test-threads", "1", "--show-output"];
    cargo("tests on a GPU", &[&["test"][..], &PACKAGE, &features, &options].concat())
}

/// Compiles and lints with the features of all devices for which that needs no toolkit, CUDA's among them.
pub(crate) fn check() -> Result<(), String> {
    let features = ["--features", "cuda,wgpu", "--all-targets", "--", "--deny", "warnings"];
    cargo("lints with GPUs", &[&["clippy"][..], &PACKAGE, &features].concat())
}
