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

/// One line for each device: its name for `--device` and what it is. One for each kind that is missing: how to get it.
fn listed() -> String {
    let mut text = String::new();
    for kind in DeviceKind::ALL {
        let word = kind.name();
        let mut line = |name: &str, found: &str| {
            let _ = writeln!(text, "{}", format!("{name:<8} {found}").trim_end());
        };
        match (kind, kind.is_built()) {
            (DeviceKind::Cpu, _) => line(word, &format!("{} threads, {}", threads(), instructions())),
            (_, false) => line(word, &format!("not in this build: cargo build --release --features {word}")),
            (_, true) => match kind.names().as_slice() {
                [] => line(word, "none on this machine"),
                [name] => line(word, name),
                names => {
                    for (index, name) in names.iter().enumerate() {
                        line(&format!("{word}:{index}"), name);
                    }
                }
            },
        }
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
        "unbraid {}\ntarget: {processor} {system}\nfeatures: {}{}parquet, {}\nprofile: {}\n\n{}",
        env!("CARGO_PKG_VERSION"),
        if cfg!(feature = "onnx") { "onnx, " } else { "" },
        if cfg!(feature = "autotune") { "autotune, " } else { "" },
        built.join(", "),
        if cfg!(debug_assertions) { "dev" } else { "release" },
        listed()
    )
}
