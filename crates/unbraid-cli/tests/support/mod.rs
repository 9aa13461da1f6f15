//! Shared by all tests of the command: a run of milliseconds a step, what to compare of two runs, and studies.
#![allow(dead_code, reason = "each test binary uses some of it")]

pub(crate) mod devtools;
pub(crate) mod sameness;
pub(crate) mod study;
pub(crate) mod synthetic_study;
pub(crate) mod table_study;
use assert_cmd::Command;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A small network on few images. Rows and checkpoints do not coincide, so that a row in progress has to survive.
pub(crate) const TINY: &str = r#"
seed = 5
[data]
name = "shapes"
scales = 2
orientations = 2
positions = 4
[model]
architecture = { name = "burgess", channels = 8, hidden = 16 }
latents = { continuous = 3 }
[objective]
name = "beta-vae"
beta = 2
[optimizer]
learning_rate = 1e-3
[training]
batch_size = 8
steps = 60
log_every = 7
checkpoint_every = 20
[evaluation]
after_training = false
report = false
"#;

/// A temporary directory with the tiny configuration.
pub(crate) struct Bench {
    pub(crate) directory: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("tiny.toml"), TINY).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `unbraid` in this directory.
    pub(crate) fn unbraid(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("unbraid").unwrap();
        command.current_dir(self.directory.path()).args(arguments);
        command
    }

    /// `unbraid train` with the tiny configuration into `out`.
    pub(crate) fn train(&self, out: &str, more: &[&str]) -> Command {
        let mut command = self.unbraid(&["train", "--config", "tiny.toml", "--quiet", "--out", out]);
        command.args(more);
        command
    }

    /// `unbraid` with these arguments succeeds; words of its notes on standard error are checked.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str], words: &[&str]) {
        check(&self.unbraid(arguments).output().unwrap(), words);
    }

    /// `unbraid` with these arguments is refused with exit code 2 and exactly this message.
    #[track_caller]
    pub(crate) fn refuse(&self, arguments: &[&str], message: &str) {
        let output = self.unbraid(arguments).output().unwrap();
        check_failure(&output, self.directory.path(), 2, message);
        assert!(output.stdout.is_empty(), "{message}");
    }

    /// `unbraid` with these arguments fails with exactly this message.
    #[track_caller]
    pub(crate) fn fail(&self, arguments: &[&str], code: i32, message: &str) {
        check_failure(&self.unbraid(arguments).output().unwrap(), self.directory.path(), code, message);
    }

    /// What a command that succeeds prints to standard output.
    pub(crate) fn expect_output(&self, arguments: &[&str]) -> String {
        let output = self.unbraid(arguments).output().unwrap();
        check(&output, &[]);
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A run of a few steps on a table, whose columns have names that a spreadsheet takes for formulas.
pub(crate) fn train_on_rows(bench: &Bench, out: &str) {
    let rows = (0..40).map(|row| format!("{row},{},{}\n", row % 5, row * row));
    fs::write(bench.path("rows.csv"), format!("=1+2,@b,c\n{}", rows.collect::<String>())).unwrap();
    let train = ["train", "rows.csv", "--quiet", "--steps", "4", "--batch-size", "8", "--out", out];
    let more = ["--set", "evaluation.after_training=false", "--no-report"];
    bench.succeed(&[&train[..], &more].concat(), &[]);
}

/// Success, and words of the notes on standard error.
#[track_caller]
pub(crate) fn check(output: &Output, words: &[&str]) -> String {
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{:?}: {notes}", output.status);
    for word in words {
        assert!(notes.contains(word), "expected `{word}` in: {notes}");
    }
    notes
}

/// The exit code, and the whole of standard error, in which `directory` is written as `DIR`.
#[track_caller]
pub(crate) fn check_failure(output: &Output, directory: &Path, code: i32, message: &str) {
    assert_eq!(error_text(output, directory), format!("{message}\n"));
    assert_eq!(output.status.code(), Some(code), "{message}");
}

/// As [`check_failure`], for a command that has shown its progress before the message.
#[track_caller]
pub(crate) fn check_last_failure(output: &Output, directory: &Path, code: i32, message: &str) {
    let text = error_text(output, directory);
    let error = text.find("error: ").map_or(text.as_str(), |start| &text[start..]);
    assert_eq!(error, format!("{message}\n"));
    assert_eq!(output.status.code(), Some(code), "{message}");
}

/// Standard error, in which `directory` is written as `DIR`.
fn error_text(output: &Output, directory: &Path) -> String {
    without_directory(&String::from_utf8_lossy(&output.stderr), directory)
}

/// A message in which `directory` is written as `DIR`.
pub(crate) fn without_directory(message: &str, directory: &Path) -> String {
    message.replace(&directory.display().to_string(), "DIR")
}

/// All files of `checkpoints/`, by name.
pub(crate) fn checkpoints(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(run.join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// `metrics.jsonl` without the rate, which is a matter of time.
pub(crate) fn metrics(run: &Path) -> Vec<String> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    text.lines().map(|line| line.split(",\"images_per_second\"").next().unwrap().to_owned()).collect()
}

/// Fails unless two runs wrote the same bytes, times aside.
pub(crate) fn assert_same(left: &Path, right: &Path) {
    assert_eq!(metrics(left), metrics(right));
    let (left_files, right_files) = (checkpoints(left), checkpoints(right));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&left_files), names(&right_files));
    for ((name, left), (_, right)) in left_files.iter().zip(&right_files) {
        assert!(left == right, "{name} differs");
    }
    assert_eq!(fs::read(left.join("config.toml")).unwrap(), fs::read(right.join("config.toml")).unwrap());
    let events =
        |run: &Path| fs::metadata(run.join("tensorboard/events.out.tfevents.0.unbraid")).unwrap().len();
    assert_eq!(events(left), events(right));
}

/// Says on standard error that a test skips, and why. Written directly: the test harness captures `eprintln!`.
pub(crate) fn skip(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

/// A file of the larger shared data, or `None` with a word on why.
pub(crate) fn shared(file: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("UNBRAID_SHARED").map_or_else(beside, PathBuf::from).join(file);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("{} is not there; UNBRAID_SHARED names the directory of the shared data", path.display()));
    None
}

/// A disk of this size, or `None`, with a word on why, where we may not mount one.
#[cfg(target_os = "linux")]
pub(crate) struct Disk(PathBuf);

#[cfg(target_os = "linux")]
impl Disk {
    pub(crate) fn mount(path: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let options = format!("size={size}");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&path)
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(path));
        }
        skip("only root can mount a disk");
        None
    }

    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(
            std::process::Command::new("mount")
                .args(["-o", &options])
                .arg(&self.0)
                .status()
                .unwrap()
                .success()
        );
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}
