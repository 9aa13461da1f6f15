//! Development tasks: `cargo xtask test`, `check`, `bench`, `fuzz`, `sbom` and `wheel`. Needs nothing but the Rust
//! toolchain; what the tests can use beyond it is installed where that is allowed.

mod fuzz;
mod gpu;
mod install;
mod python;
mod sbom;

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

const USAGE: &str = "usage: cargo xtask <command>

  test                 everything that must hold: format, lints, unit, integration, doc and end-to-end tests
  test --gpu           the command and the library on a GPU, or on Mesa's llvmpipe, against the CPU; not part of `test`
  check                the quick part of it: format and lints
  check --gpu          lints with the features `cuda` and `wgpu`
  fuzz [SECONDS] [TARGET...] [--sanitizer address]
                       every parser on mutated real files, for so long each (default: 60); needs cargo-fuzz
  sbom [FILE]          the bill of materials for a release (default: target/unbraid.cdx.json)
  wheel                the Python wheel for a release, in target/wheels
  bench kills [N]      kills so many trainings at system calls (default: 1000) and compares what is resumed; needs strace
  bench data [...]     images per second from the data sets; further arguments go to the benchmark
  bench kernels [...]  each convolution against the machine's peak; --choice compares Winograd's algorithm with the
                       definition
  bench metrics [...]  seconds for each score; --python PYTHON runs scikit-learn beside it
  bench train [...]    a training step of each network; --torch PYTHON runs PyTorch beside it, --objectives compares
                       the methods";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => check().and_then(|()| test()),
        ["test", "--gpu"] => gpu::test(),
        ["check"] => check(),
        ["check", "--gpu"] => gpu::check(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["sbom"] => sbom::write("target/unbraid.cdx.json"),
        ["sbom", file] => sbom::write(file),
        ["wheel"] => python::wheel(),
        ["bench", "kills"] => kills("1000"),
        ["bench", "kills", number] => kills(number),
        ["bench", "data", rest @ ..] => bench("batches", rest),
        ["bench", "kernels", rest @ ..] => bench("layers", rest),
        ["bench", "train", rest @ ..] => bench("train", rest),
        ["bench", "metrics", rest @ ..] => bench("scores", rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    cargo("format", &["fmt", "--all", "--check"])?;
    cargo("lints", &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])
}

/// Runs all tests. Those that want the larger shared data find it through `UNBRAID_SHARED` and say when they skip.
fn test() -> Result<(), String> {
    install::missing_tools();
    let mut skipped = cargo_counting_skips("tests", &["test", "--workspace"])?;
    skipped.extend(python::test()?);
    // Documentation that does not build, or links to nothing, is a failure too.
    cargo("documentation", &["doc", "--workspace", "--no-deps", "--quiet"])?;
    eprintln!("== skipped for want of files or tools: {}", skipped.len());
    for line in skipped {
        eprintln!("   {line}");
    }
    Ok(())
}

/// With the features of the whole workspace, so that all benchmarks share one build of the dependencies.
fn bench(name: &str, rest: &[&str]) -> Result<(), String> {
    let mut arguments = vec!["bench", "--workspace", "--bench", name];
    if !rest.is_empty() {
        arguments.push("--");
        arguments.extend(rest);
    }
    cargo("benchmark", &arguments)
}

/// Half of the kills are of trainings, half of trainings that overwrite a run.
fn kills(number: &str) -> Result<(), String> {
    let number: usize =
        number.parse().map_err(|_| format!("bench kills: found `{number}`, expected a number of kills"))?;
    let arguments = ["test", "--workspace", "--test", "cli", "--", "--nocapture", "kill_everywhere"];
    timed("kills", &arguments, |command| {
        command.env("UNBRAID_KILLS", number.div_ceil(2).to_string()).status().map_err(cannot_start)
    })
}

/// Runs cargo in the root of the workspace, and says what and how long.
fn cargo(what: &str, arguments: &[&str]) -> Result<(), String> {
    timed(what, arguments, |command| command.status().map_err(cannot_start))
}

/// As [`cargo`]; gives the lines by which tests say that they skip, which they write to standard error.
fn cargo_counting_skips(what: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
    let mut skipped = Vec::new();
    timed(what, arguments, |command| {
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(cannot_start)?;
        for line in child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).lines()) {
            let line = line.map_err(|error| format!("cannot read what cargo says: {error}"))?;
            eprintln!("{line}");
            // Something else may have been written before it without a line break.
            if let Some((_, why)) = line.split_once("SKIPPED: ") {
                skipped.push(why.to_owned());
            }
        }
        child.wait().map_err(cannot_start)
    })?;
    Ok(skipped)
}

fn timed(
    what: &str,
    arguments: &[&str],
    run: impl FnOnce(&mut Command) -> Result<ExitStatus, String>,
) -> Result<(), String> {
    eprintln!("== {what}: cargo {}", arguments.join(" "));
    let start = Instant::now();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root).env("RUSTDOCFLAGS", "--deny warnings");
    let status = run(&mut command)?;
    if !status.success() {
        return Err(format!("{what} failed ({status})"));
    }
    eprintln!("== {what}: passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn cannot_start(error: std::io::Error) -> String {
    format!("cannot start cargo: {error}")
}
