//! The Python wheel: building it, and testing what it installs in an environment of its own.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// What builds the wheel.
const BUILD: &[&str] = &["maturin>=1.16,<2"];

/// What its tests need beside NumPy.
const TESTS: &[&str] = &["pytest", "scikit-learn", "nbclient", "ipykernel", "mypy"];

/// The oldest Python that the wheel is for.
const OLDEST: &str = "3.11";

/// Builds the wheel for a release into `target/wheels`. `pip install .` uses the same build of the dependencies.
pub(crate) fn wheel() -> Result<(), String> {
    let python = environment("target/python/build", BUILD)?;
    run("wheel", maturin(&python).args(["build", "--release", "--locked", "--out", "target/wheels"]))
}

/// Builds the wheel in the profile of the other tests, installs it and runs its tests. Gives what was skipped, and why.
pub(crate) fn test() -> Result<Vec<String>, String> {
    let needed: Vec<&str> = BUILD.iter().chain(TESTS).copied().collect();
    let python = match environment("target/python/test", &needed) {
        Ok(python) => python,
        Err(why) => {
            eprintln!("SKIPPED: the Python package: {why}");
            return Ok(vec![format!("the Python package: {why}")]);
        }
    };
    let wheels = root().join("target/python/wheels");
    // A wheel of an earlier version would be installed as well.
    let _ = fs::remove_dir_all(&wheels);
    run("wheel", maturin(&python).args(["build", "--out"]).arg(&wheels))?;
    let built = fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let built: Vec<PathBuf> = built.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let [wheel] = built.as_slice() else {
        return Err(format!("{}: found {} wheels, expected one", wheels.display(), built.len()));
    };
    let mut install = command(&python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]).arg(wheel);
    run("installation of the wheel", &mut install)?;
    pytest(command(&python).args(["-m", "pytest", "--quiet", "-rs"]))
}

/// Runs the tests; gives the lines by which they say that they skip.
fn pytest(command: &mut Command) -> Result<Vec<String>, String> {
    let mut skipped = Vec::new();
    timed("tests of the wheel", || {
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot_start)?;
        for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
            let line = line.map_err(|error| format!("cannot read what pytest says: {error}"))?;
            println!("{line}");
            if let Some(why) = line.strip_prefix("SKIPPED ") {
                skipped.push(why.to_owned());
            }
        }
        child.wait().map_err(cannot_start)
    })?;
    Ok(skipped)
}

/// A fresh environment with these packages and NumPy; gives its interpreter.
fn environment(folder: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = root().join(folder);
    let _ = fs::remove_dir_all(&folder);
    let base = ["python3", "python"]
        .into_iter()
        .find(|name| is_new_enough(name))
        .ok_or_else(|| format!("found no Python {OLDEST} or newer"))?;
    quiet(Command::new(base).args(["-m", "venv"]).arg(&folder))
        .ok_or_else(|| format!("{base} cannot make a virtual environment"))?;
    let python = if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") };
    quiet(command(&python).args(["-m", "pip", "install", "--quiet", "numpy"]).args(packages))
        .ok_or_else(|| format!("pip cannot install {}", packages.join(", ")))?;
    Ok(python)
}

fn is_new_enough(python: &str) -> bool {
    let check = format!("import sys; sys.exit(sys.version_info < ({}))", OLDEST.replace('.', ", "));
    quiet(Command::new(python).args(["-c", &check])).is_some()
}

/// Runs a program without a word; `None` if it is missing or fails.
fn quiet(command: &mut Command) -> Option<()> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then_some(())
}

fn maturin(python: &Path) -> Command {
    let mut command = command(python);
    command.args(["-m", "maturin"]);
    // maturin and pip otherwise go by whatever environment this process was started in.
    if let Some(folder) = python.parent().and_then(Path::parent) {
        command.env("VIRTUAL_ENV", folder);
    }
    command
}

fn command(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root()).env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    // The command of the wheel comes before any other of its name.
    let folders = python.parent().map(Path::to_owned).into_iter();
    let path = env::var_os("PATH").unwrap_or_default();
    if let Ok(path) = env::join_paths(folders.chain(env::split_paths(&path))) {
        command.env("PATH", path);
    }
    command
}

fn run(what: &str, command: &mut Command) -> Result<(), String> {
    timed(what, || command.status().map_err(cannot_start))
}

fn cannot_start(error: std::io::Error) -> String {
    format!("cannot start Python: {error}")
}

/// Says what runs and how long it took.
fn timed(what: &str, work: impl FnOnce() -> Result<ExitStatus, String>) -> Result<(), String> {
    eprintln!("== {what}");
    let start = Instant::now();
    let status = work()?;
    if !status.success() {
        return Err(format!("{what} failed ({status})"));
    }
    eprintln!("== {what}: passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
