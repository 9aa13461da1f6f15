//! `cargo xtask fuzz`: every target of `fuzz/` for a while, each from real files.
//!
//! A stable compiler does: the instrumentation that libFuzzer needs is stable. Only a sanitizer is not, which
//! finds errors in `unsafe` code; there is none in the parsers, but in some of what they depend on.
//! `RUSTC_BOOTSTRAP=1` lets a stable compiler take that option, too.

use crate::cannot_start;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A target, and the directory and ending of the real files that it starts from.
struct Target {
    name: &'static str,
    seeds: &'static [(&'static str, &'static str)],
    /// Longer files are no seeds, and none are made: what is in them is found in shorter ones, a hundred
    /// times as often.
    longest: u64,
    needs_library: bool,
}

const fn parser(name: &'static str, longest: u64, seeds: &'static [(&'static str, &'static str)]) -> Target {
    Target { name, seeds, longest, needs_library: false }
}

const fn library(name: &'static str, longest: u64, seeds: &'static [(&'static str, &'static str)]) -> Target {
    Target { name, seeds, longest, needs_library: true }
}

const TARGETS: [Target; 13] = [
    parser(
        "npz",
        4 << 10,
        &[
            ("crates/unbraid-data/tests/fixtures/arrays", ".npz"),
            ("crates/unbraid-data/tests/fixtures/mpi3d", ".npz"),
            ("crates/unbraid-data/tests/fixtures/tables", ".npy"),
            ("fuzz/seeds/codes", ".npz"),
        ],
    ),
    parser("idx", 4 << 10, &[("fuzz/seeds/idx", "")]),
    parser("norb", 4 << 10, &[("fuzz/seeds/norb", ".mat")]),
    parser("mat5", 4 << 10, &[("crates/unbraid-data/tests/fixtures/cars3d", ".mat")]),
    parser("hdf5", 10 << 10, &[("crates/unbraid-data/tests/fixtures/shapes3d", ".h5")]),
    parser(
        "picture",
        4 << 10,
        &[
            ("crates/unbraid-data/tests/fixtures/odd_images", ""),
            ("crates/unbraid-data/tests/fixtures/whole_jpegs", ".jpg"),
        ],
    ),
    library("configuration", 4 << 10, &[("crates/unbraid/src/config/presets", ".toml")]),
    library("checkpoint", 8 << 10, &[("fuzz/seeds/checkpoint", ".safetensors")]),
    library("codes", 4 << 10, &[("fuzz/seeds/codes", "")]),
    library("table", 4 << 10, &[("fuzz/seeds/table", ".csv")]),
    library(
        "import_weights",
        6 << 10,
        &[
            ("crates/unbraid/tests/fixtures", ".pt"),
            ("fuzz/seeds/import", ".pkl"),
            ("fuzz/seeds/checkpoint", "last.safetensors"),
        ],
    ),
    library("import_settings", 4 << 10, &[("fuzz/seeds/import", ".toml"), ("fuzz/seeds/import", ".json")]),
    library("import_encoder", 6 << 10, &[("fuzz/seeds/onnx", ".onnx")]),
];

/// So much is far beyond what the small files of a target need.
const MEMORY_LIMIT: &str = "268435456";

/// What a process may take in all, in MiB: three times the limit, for what it has besides, such as the inputs
/// so far and the counters of its code. More is a failure.
const LARGEST_PROCESS: u32 = 768;

/// What `cargo xtask fuzz` was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    seconds: u32,
    sanitizer: String,
    targets: Vec<String>,
}

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let mut options = Options { seconds: 60, sanitizer: "none".to_owned(), targets: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--sanitizer" => {
                let name = rest.next().filter(|name| ["address", "none"].contains(name));
                options.sanitizer = (*name.ok_or("fuzz: --sanitizer: expected address or none")?).to_owned();
            }
            name if TARGETS.iter().any(|target| target.name == name) => options.targets.push(name.to_owned()),
            other => {
                let names = TARGETS.map(|target| target.name).join(", ");
                options.seconds = other.parse().map_err(|_| {
                    format!(
                        "fuzz: found `{other}`, expected a number of seconds, --sanitizer, or one of {names}"
                    )
                })?;
            }
        }
    }
    Ok(options)
}

/// Runs the targets, so many seconds each, and says how many inputs each of them was given.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let options = parse(arguments)?;
    let is_wanted = |target: &&Target| {
        options.targets.is_empty() || options.targets.iter().any(|name| name == target.name)
    };
    let mut lines = Vec::new();
    let mut total = 0;
    for target in TARGETS.iter().filter(is_wanted) {
        eprintln!("== fuzz: {} for {} s", target.name, options.seconds);
        build(target, &options)?;
        let start = Instant::now();
        let executions = execute(target, &options)?;
        total += executions;
        let seconds = start.elapsed().as_secs_f64();
        lines.push(format!("   {:<14} {executions:>10} executions in {seconds:.0} s", target.name));
    }
    eprintln!("== fuzz: {total} executions, none failed\n{}", lines.join("\n"));
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// `cargo fuzz build` or `run`, with what both need.
fn cargo_fuzz(verb: &str, target: &Target, options: &Options) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(["fuzz", verb, "--sanitizer", &options.sanitizer]);
    if options.sanitizer != "none" {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    if target.needs_library {
        command.args(["--features", "library"]);
    }
    command.arg(target.name);
    command
}

fn build(target: &Target, options: &Options) -> Result<(), String> {
    // The versions of the workspace.
    let lock = root().join("fuzz/Cargo.lock");
    if !lock.exists() {
        fs::copy(root().join("Cargo.lock"), &lock).map_err(cannot_write(&lock))?;
    }
    let status = cargo_fuzz("build", target, options).status().map_err(cannot_start)?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{}: cannot build it ({status}); `cargo install cargo-fuzz` if that is missing", target.name))
}

/// Gives the number of inputs that were tried, which libFuzzer writes at its end.
fn execute(target: &Target, options: &Options) -> Result<u64, String> {
    let corpus = root().join("fuzz/corpus").join(target.name);
    fs::create_dir_all(&corpus).map_err(cannot_write(&corpus))?;
    plant_seeds(target, &corpus)?;
    let mut command = cargo_fuzz("run", target, options);
    command.arg(&corpus).args(["--", &format!("-max_total_time={}", options.seconds)]);
    command.args([format!("-max_len={}", target.longest), format!("-rss_limit_mb={LARGEST_PROCESS}")]);
    command.arg("-timeout=10");
    command.arg("-print_final_stats=1").env("UNBRAID_MEMORY_LIMIT", MEMORY_LIMIT);
    // Small files are read sooner by one thread than by several that wait for each other.
    command.env("RAYON_NUM_THREADS", "1");
    // Most parsers read files: those in memory are quicker to write.
    if Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(cannot_start)?;
    let mut executions = 0;
    for line in child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).split(b'\n')) {
        let line = line.map_err(|error| format!("cannot read what libFuzzer says: {error}"))?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        executions = executions_of(&line).unwrap_or(executions);
    }
    let status = child.wait().map_err(cannot_start)?;
    if status.success() {
        return Ok(executions);
    }
    Err(format!("{} failed ({status}); the input is in fuzz/artifacts/{}", target.name, target.name))
}

/// `stat::number_of_executed_units: 812345`
fn executions_of(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

/// Copies the real files into the corpus, from which libFuzzer makes others.
fn plant_seeds(target: &Target, corpus: &Path) -> Result<(), String> {
    let mut count = 0;
    for (directory, ending) in target.seeds {
        let directory = root().join(directory);
        let cannot_read = |error| format!("cannot read {}: {error}", directory.display());
        for entry in fs::read_dir(&directory).map_err(cannot_read)? {
            let entry = entry.map_err(cannot_read)?;
            let metadata = entry.metadata().map_err(cannot_read)?;
            let name = entry.file_name();
            if !metadata.is_file()
                || metadata.len() > target.longest
                || !name.to_string_lossy().ends_with(ending)
            {
                continue;
            }
            let copy = corpus.join(name);
            fs::copy(entry.path(), &copy).map_err(cannot_write(&copy))?;
            count += 1;
        }
    }
    if count == 0 { Err(format!("{}: found no seeds", target.name)) } else { Ok(()) }
}

fn cannot_write(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_in_any_order() {
        let options = |seconds, sanitizer: &str, targets: &[&str]| Options {
            seconds,
            sanitizer: sanitizer.to_owned(),
            targets: targets.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(parse(&[]), Ok(options(60, "none", &[])));
        let found = parse(&["idx", "5", "--sanitizer", "address", "npz"]);
        assert_eq!(found, Ok(options(5, "address", &["idx", "npz"])));
        assert_eq!(parse(&["--sanitizer"]).unwrap_err(), "fuzz: --sanitizer: expected address or none");
        assert!(
            parse(&["pickle"]).unwrap_err().starts_with("fuzz: found `pickle`, expected a number of seconds")
        );
    }

    #[test]
    fn executions_are_read_from_the_last_lines() {
        assert_eq!(executions_of("stat::number_of_executed_units: 812345"), Some(812_345));
        assert_eq!(executions_of("stat::average_exec_per_sec:     81234"), None);
    }

    #[test]
    fn every_target_has_real_files_to_start_from() {
        let directory = std::env::temp_dir().join(format!("unbraid-seeds-{}", std::process::id()));
        for target in TARGETS {
            let corpus = directory.join(target.name);
            fs::create_dir_all(&corpus).unwrap();
            plant_seeds(&target, &corpus).unwrap();
            let program = root().join("fuzz/fuzz_targets").join(format!("{}.rs", target.name));
            assert!(program.is_file(), "{}", program.display());
        }
        fs::remove_dir_all(directory).unwrap();
    }
}
