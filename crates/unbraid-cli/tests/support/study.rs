//! Shared by the tests of `unbraid study`: a study of tiny runs in a directory of its own.
use super::{check, check_last_failure, without_directory};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use unbraid::config::{Config, Source};
use unbraid_study::lease::TIMEOUT_VARIABLE;
use unbraid_study::{Entry, Manifest, StudyDirectory};

/// Longer than anything takes, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Every run is scored, by a metric that takes little time.
const SCORED: &str = "evaluation={ metrics = [\"mig\"], after_training = true, report = false }";

/// A temporary directory with a planned study in `study/`.
pub(crate) struct Bench {
    pub(crate) bench: crate::support::Bench,
    pub(crate) study: StudyDirectory,
    pub(crate) manifest: Manifest,
    /// Seconds after which the leases of others are stale.
    pub(crate) stale: Option<&'static str>,
}

impl Bench {
    /// A study of the tiny configuration with the seeds 0, 1, ... and these keys set in all runs.
    pub(crate) fn new(runs: usize, assignments: &[&str]) -> Self {
        Self::of(&vec![assignments; runs])
    }

    /// The same with other keys in each run.
    pub(crate) fn of(runs: &[&[&str]]) -> Self {
        let bench = crate::support::Bench::new();
        let path = bench.path("study");
        Self::at(bench, &path, runs)
    }

    /// The same in another place.
    pub(crate) fn at(bench: crate::support::Bench, path: &Path, runs: &[&[&str]]) -> Self {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("study.toml"), "").unwrap();
        let study = StudyDirectory::open(path).unwrap();
        let configuration = |seed: usize, more: &[&str]| {
            let mut assignments = vec![format!("seed={seed}"), SCORED.to_owned()];
            assignments.extend(more.iter().map(|more| (*more).to_owned()));
            Source { file: Some(bench.path("tiny.toml")), assignments, ..Source::default() }
                .resolve()
                .unwrap()
        };
        let entries = runs.iter().enumerate().map(|(seed, more)| entry(seed, configuration(seed, more)));
        let manifest = Manifest { entries: entries.collect() };
        manifest.write(&study.manifest()).unwrap();
        Self { bench, study, manifest, stale: None }
    }

    /// Writes a changed manifest.
    pub(crate) fn replan(&mut self, change: impl Fn(&mut Config)) {
        self.manifest.entries.iter_mut().for_each(|entry| change(&mut entry.configuration));
        self.manifest.write(&self.study.manifest()).unwrap();
    }

    /// The directory of a run.
    pub(crate) fn run(&self, number: usize) -> PathBuf {
        self.study.run(&self.manifest.entries[number]).root().to_owned()
    }

    /// The lease of a run.
    pub(crate) fn lease(&self, number: usize) -> PathBuf {
        self.study.leases().join(&self.manifest.entries[number].name)
    }

    /// The text of a file of a run; nothing if it is not there.
    pub(crate) fn text(&self, number: usize, file: &str) -> String {
        fs::read_to_string(self.run(number).join(file)).unwrap_or_default()
    }

    /// Rows that all runs have logged so far.
    pub(crate) fn rows(&self) -> usize {
        (0..self.manifest.entries.len())
            .map(|number| self.text(number, "metrics.jsonl").lines().count())
            .sum()
    }

    /// `unbraid study VERB study`.
    pub(crate) fn command(&self, verb: &str, more: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("unbraid"));
        command.args(["study", verb]).arg(self.study.path()).args(more);
        command.current_dir(self.bench.directory.path()).stdin(Stdio::null());
        if let Some(seconds) = self.stale {
            command.env(TIMEOUT_VARIABLE, seconds);
        }
        command
    }

    /// Runs the study to its end; words of its notes on standard error are checked.
    #[track_caller]
    pub(crate) fn succeed(&self, more: &[&str], words: &[&str]) -> Output {
        let output = self.command("run", more).output().unwrap();
        check(&output, words);
        output
    }

    /// Runs the study, which fails with exactly this message.
    #[track_caller]
    pub(crate) fn fail(&self, more: &[&str], code: i32, message: &str) {
        let output = self.command("run", more).output().unwrap();
        check_last_failure(&output, self.bench.directory.path(), code, message);
    }

    /// What the message of a study says of a run that failed.
    pub(crate) fn failed_run(&self, number: usize, error: &str) -> String {
        let name = &self.manifest.entries[number].name;
        let log = self.study.path().join("logs").join(name).display().to_string() + ".log";
        let log = without_directory(&log, self.bench.directory.path());
        format!("{number} {name}: {error}\n  log: {log}\n")
    }

    /// Starts to run the study and leaves it alone.
    pub(crate) fn start(&self, more: &[&str]) -> Child {
        let mut command = self.command("run", more);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What `unbraid study status --format json` says.
    pub(crate) fn status(&self) -> serde_json::Value {
        let output = self.command("status", &["--format", "json"]).output().unwrap();
        check(&output, &[]);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The files in `claims/`.
    pub(crate) fn leases(&self) -> Vec<String> {
        let files = fs::read_dir(self.study.leases()).into_iter().flatten();
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn entry(number: usize, configuration: Config) -> Entry {
    let hash = configuration.fingerprint();
    let name = format!("beta-vae-seed={number}-{}", &hash[..8]);
    let settings = BTreeMap::from([
        ("method".to_owned(), serde_json::json!("beta-vae")),
        ("seed".to_owned(), serde_json::json!(number)),
    ]);
    Entry { number, name, hash, settings, configuration, paths: BTreeMap::new() }
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Sends a signal by its name to a process, or with a minus before the number to a group. That nobody is there any more
/// is no failure.
pub(crate) fn signal(name: &str, target: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), "--", target]).stderr(Stdio::null()).status();
    sent.unwrap();
}

/// The processes that a process has started and that are still there.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Whether a process is there and at work.
pub(crate) fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
