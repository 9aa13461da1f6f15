//! `cargo xtask test --gpu` and `check --gpu`: what the default tests leave out, since it compiles twice as
//! many crates. A target directory of its own keeps the other builds as they are.

use crate::{cannot_start, install, timed};

/// The one crate that sees all others.
const PACKAGE: [&str; 4] = ["--target-dir", "target/gpu", "--package", "unbraid-cli"];

/// Runs the tests of devices other than the CPU, one at a time: llvmpipe has every core for itself.
pub(crate) fn test() -> Result<(), String> {
    install::vulkan_device();
    let features = ["--features", "wgpu", "--profile", "gpu", "--test", "devices"];
    let options = ["--", "--test-threads", "1", "--show-output"];
    timed("tests on a GPU", &[&["test"][..], &PACKAGE, &features, &options].concat(), |command| {
        // Without a desktop, the probe for a display complains on standard error, which tests compare.
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
        }
        command.status().map_err(cannot_start)
    })
}

/// Compiles and lints with the features of all devices for which that needs no toolkit, CUDA's among them.
pub(crate) fn check() -> Result<(), String> {
    let features = ["--features", "cuda,wgpu", "--all-targets", "--", "--deny", "warnings"];
    timed("lints with GPUs", &[&["clippy"][..], &PACKAGE, &features].concat(), |command| {
        // The CUDA backend downloads LLVM when it is built, except for docs.rs. Without it, the code can be
        // checked all the same.
        command.env("DOCS_RS", "1").status().map_err(cannot_start)
    })
}
