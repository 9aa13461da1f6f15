//! `unbraid devices`, and what `--version --verbose` adds: what this build and this machine can compute with.

use crate::error::Outcome;
use crate::format::print;
use clap::Args;
use std::fmt::Write;
use unbraid::DeviceKind;
use unbraid_kernels::InstructionSet;

/// Arguments of `unbraid devices`.
#[derive(Args, Debug)]
pub(crate) struct DevicesArgs {}

/// Prints the devices.
///
/// # Errors
/// If standard output cannot be written to.
pub(crate) fn run(_: &DevicesArgs) -> Outcome {
    print(&listed())
}

/// One line for each kind: its names for `--device`, or how to get it.
fn listed() -> String {
    let mut text = String::new();
    for kind in DeviceKind::ALL {
        let word = kind.name();
        let found = match (kind, kind.is_built(), kind.count()) {
            (DeviceKind::Cpu, ..) => format!("{} threads, {}", threads(), instructions()),
            (_, false, _) => format!("not in this build: cargo build --release --features {word}"),
            (_, true, 0) => "none on this machine".to_owned(),
            (_, true, 1) => "one device".to_owned(),
            (_, true, count) => format!("{word}:0 to {word}:{}", count - 1),
        };
        let _ = writeln!(text, "{word:<8} {found}");
    }
    text
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The instruction set in use, and others that this processor has.
fn instructions() -> String {
    let current = InstructionSet::current();
    let others: Vec<String> =
        InstructionSet::available().filter(|set| *set != current).map(|set| set.to_string()).collect();
    format!("{current} (also {})", others.join(", "))
}

/// The version with everything that a report of an error should have.
pub(crate) fn verbose_version() -> String {
    let built: Vec<&str> =
        DeviceKind::ALL.into_iter().filter(|kind| kind.is_built()).map(DeviceKind::name).collect();
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "unbraid {}\ntarget: {processor} {system}\nfeatures: {}parquet, {}\nprofile: {}\n\n{}",
        env!("CARGO_PKG_VERSION"),
        if cfg!(feature = "onnx") { "onnx, " } else { "" },
        built.join(", "),
        if cfg!(debug_assertions) { "dev" } else { "release" },
        listed()
    )
}
