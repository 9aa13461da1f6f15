//! `cargo xtask fuzz`: every target of `fuzz/` for a while, each from real files.

use crate::cannot_start;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A target, and the directories of real files that it starts from.
struct Target {
    name: &'static str,
    seeds: &'static [&'static str],
    needs_library: bool,
}

const fn parser(name: &'static str, seeds: &'static [&'static str]) -> Target {
    Target { name, seeds, needs_library: false }
}

const fn library(name: &'static str, seeds: &'static [&'static str]) -> Target {
    Target { name, seeds, needs_library: true }
}

const TARGETS: [Target; 9] = [
    parser("npz", &["crates/unbraid-data/tests/fixtures/arrays"]),
    parser("idx", &["fuzz/seeds/idx"]),
    parser("norb", &["fuzz/seeds/norb"]),
    parser("mat5", &["crates/unbraid-data/tests/fixtures/cars3d"]),
    parser("hdf5", &["crates/unbraid-data/tests/fixtures/shapes3d"]),
    library("configuration", &["crates/unbraid/src/config/presets"]),
    library("checkpoint", &["fuzz/seeds/checkpoint"]),
    library("codes", &["crates/unbraid-data/tests/fixtures/arrays"]),
    library("table", &["fuzz/seeds/table"]),
];

/// So much is far beyond what the small files of a target need.
const MEMORY_LIMIT: &str = "268435456";

/// Runs all targets, so many seconds each.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let seconds: u32 = match arguments {
        [] => 60,
        [seconds] => {
            seconds.parse().map_err(|_| format!("fuzz: found `{seconds}`, expected a number of seconds"))?
        }
        _ => return Err("fuzz: expected at most one argument, a number of seconds".to_owned()),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for target in TARGETS {
        let start = Instant::now();
        eprintln!("== fuzz: {} for {seconds} s", target.name);
        let corpus = root.join("fuzz/corpus").join(target.name);
        std::fs::create_dir_all(&corpus)
            .map_err(|error| format!("cannot create {}: {error}", corpus.display()))?;
        let mut command = Command::new("cargo");
        command.current_dir(&root).args(["+nightly", "fuzz", "run"]);
        if target.needs_library {
            command.args(["--features", "library"]);
        }
        command.arg(target.name).arg(&corpus);
        // The first directory takes what is found; the others are read only.
        command.args(target.seeds.iter().map(|seeds| root.join(seeds)));
        command.args(["--", &format!("-max_total_time={seconds}"), "-rss_limit_mb=2048", "-timeout=10"]);
        let status = command.env("UNBRAID_MEMORY_LIMIT", MEMORY_LIMIT).status().map_err(cannot_start)?;
        if !status.success() {
            return Err(format!(
                "{} failed ({status}); `cargo install cargo-fuzz` if it is missing",
                target.name
            ));
        }
        eprintln!("== fuzz: {} passed in {:.0} s", target.name, start.elapsed().as_secs_f64());
    }
    Ok(())
}
