//! A study on a real Slurm cluster, started on this host for the test: submitted in two arrays, disturbed in every way a
//! cluster has, submitted again, and in the end equal to the study that was run here. Without Slurm, the test says that it
//! skips; `cargo xtask test` installs it where it may.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster;
mod common;

use cluster::{Cluster, PATIENCE};
use common::{TINY, assert_same, check};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};
use unbraid::config::Source;
use unbraid::run::{State, Status};
use unbraid::study::{Entry, Manifest};

const RUNS: usize = 6;

/// Seconds of work: a run that has been seen at work is still at work a moment later.
const STEPS: u64 = 1500;

struct Study<'a> {
    cluster: &'a Cluster,
    path: PathBuf,
}

impl<'a> Study<'a> {
    /// Six runs that differ in their seeds.
    fn new(cluster: &'a Cluster, name: &str) -> Self {
        let path = cluster.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("study.toml"), "").unwrap();
        let entry = |number: usize| {
            let mut configuration = Source::parse(TINY, "tiny").unwrap();
            configuration.seed = u64::try_from(number).unwrap();
            configuration.training.steps = Some(STEPS);
            configuration.training.checkpoint_every = 500;
            configuration.training.log_every = 20;
            let name = format!("run-{number}");
            let settings = BTreeMap::from([("seed".to_owned(), configuration.seed.into())]);
            Entry { number, name, hash: configuration.fingerprint(), settings, configuration }
        };
        Manifest { entries: (0..RUNS).map(entry).collect() }.write(&path.join("manifest.jsonl")).unwrap();
        Self { cluster, path }
    }

    fn run(&self, number: usize) -> PathBuf {
        self.path.join(format!("runs/run-{number}"))
    }

    fn status(&self, number: usize) -> Option<Status> {
        Status::read(&self.run(number).join("status.json"))
    }

    fn unbraid(&self, verb: &str, more: &[&str]) -> Output {
        let mut command = self.cluster.command(env!("CARGO_BIN_EXE_unbraid"));
        command.args(["study", verb]).arg(&self.path).args(more).output().unwrap()
    }

    /// Submits, and gives the jobs.
    fn submit(&self, more: &[&str], words: &[&str]) -> Vec<String> {
        let output = self.unbraid("submit", &[&["--mem", "100M"], more].concat());
        check(&output, 0, words);
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    /// Waits until something is found.
    fn wait<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}\n{}", self.story());
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a run is being trained, and gives the number of its process.
    fn wait_for_work(&self, number: usize) -> u32 {
        self.wait(&format!("run {number} at work"), || {
            let status = self.status(number)?;
            let has_begun =
                fs::metadata(self.run(number).join("metrics.jsonl")).is_ok_and(|rows| rows.len() > 0);
            (status.state == State::Running && has_begun).then_some(status.pid)
        })
    }

    fn wait_for_empty_queue(&self) {
        self.wait("an empty queue", || self.cluster.queue().is_empty().then_some(()));
    }

    /// Waits until squeue shows a task in a state; with an empty one, until it shows it no more.
    fn wait_for_state(&self, task: &str, wanted: &str) {
        self.wait(&format!("{task} to be `{wanted}`"), || {
            let queue = self.cluster.queue();
            let state = queue.iter().find(|(job, _)| job == task).map_or("", |(_, state)| state);
            (state == wanted).then_some(())
        });
    }

    /// Everything that helps to see what went wrong.
    fn story(&self) -> String {
        let mut text = format!("queue: {:?}\n", self.cluster.queue());
        for number in 0..RUNS {
            text += &format!("run {number}: {:?}\n", self.status(number));
        }
        let outputs = fs::read_dir(self.path.join("slurm")).into_iter().flatten().flatten();
        for path in
            outputs.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "out"))
        {
            text += &format!("--- {}\n{}\n", path.display(), fs::read_to_string(&path).unwrap_or_default());
        }
        text + &self.cluster.logs()
    }

    fn counts(&self) -> BTreeMap<String, u64> {
        let output = self.unbraid("status", &["--format", "json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let counts = json["counts"].as_object().unwrap();
        counts.iter().map(|(stage, count)| (stage.clone(), count.as_u64().unwrap())).collect()
    }

    fn slurm(&self, program: &str, arguments: &[&str]) {
        let output = self.cluster.slurm(program, arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {message}\n{}", self.story());
    }
}

fn kill(signal: &str, pid: u32) {
    let killed = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

/// The process that started another.
fn parent(pid: u32) -> u32 {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    line.trim().parse().unwrap()
}

#[test]
fn a_disturbed_study_on_a_cluster_equals_an_undisturbed_one_here() {
    // Arrays of at most four tasks: six runs need two.
    let Some(cluster) = Cluster::start(4) else { return };
    let study = Study::new(&cluster, "it's a study");
    // Held back at first: each task is let go when its turn has come to be disturbed.
    let jobs = study.submit(&["--sbatch-option=--hold"], &["6 runs in 6 tasks"]);
    let [first, second] = jobs.as_slice() else { panic!("{jobs:?}") };
    let task = |number: usize| format!("{}_{}", if number < 3 { first } else { second }, number % 3);
    assert!(study.submit(&[], &["nothing to submit", "in the queue"]).is_empty());
    assert_eq!(study.counts()["queued"], 6);
    let release = |number: usize| study.slurm("scontrol", &["release", &task(number)]);

    // The process that trains a run is killed, as for want of memory.
    release(0);
    kill("KILL", study.wait_for_work(0));
    study.wait("run 0 to have failed", || (study.status(0)?.state == State::Failed).then_some(()));

    // Slurm finds that the time of a task will soon be over, and warns it: it saves the run and asks for another turn. The
    // run is held still until the warning has come.
    release(1);
    let process = study.wait_for_work(1);
    kill("STOP", process);
    study.slurm("scontrol", &["update", &format!("JobId={}", task(1)), "TimeLimit=2"]);
    let output = study.path.join(format!("slurm/{}.out", task(1)));
    study.wait("the warning", || {
        fs::read_to_string(&output).ok().filter(|text| text.contains("are saved and stopped"))
    });
    kill("CONT", process);
    study.wait("run 1 to be saved", || study.status(1)?.was_interrupted().then_some(()));
    study.wait_for_state(&task(1), "PENDING");
    study.slurm("scontrol", &["update", &format!("JobId={}", task(1)), "TimeLimit=60"]);

    // A task is cancelled, and stays so.
    release(2);
    study.wait_for_work(2);
    study.slurm("scancel", &[&task(2)]);
    study.wait("run 2 to be saved", || study.status(2)?.was_interrupted().then_some(()));
    study.wait_for_state(&task(2), "");

    // A task is requeued by somebody.
    release(3);
    study.wait_for_work(3);
    study.slurm("scontrol", &["requeue", &task(3)]);
    study.wait("run 3 to be saved", || study.status(3)?.was_interrupted().then_some(()));

    // The task itself is killed, and with it what the run needs to go on.
    release(4);
    kill("KILL", parent(study.wait_for_work(4)));
    study.wait_for_state(&task(4), "");

    release(5);
    study.wait_for_empty_queue();
    for (number, state) in [(1, State::Done), (3, State::Done), (5, State::Done), (0, State::Failed)] {
        assert_eq!(study.status(number).unwrap().state, state, "run {number}\n{}", study.story());
    }
    let counts = study.counts();
    assert_eq!((counts["done"], counts["failed"], counts["interrupted"]), (3, 1, 2), "{}", study.story());

    // The rest is submitted again; what has failed, only on request.
    assert_eq!(study.submit(&[], &["2 runs in 2 tasks; left out: 3 done, 1 failed"]).len(), 1);
    study.wait_for_empty_queue();
    let words = ["1 run in 1 task; left out: 5 done"];
    assert_eq!(study.submit(&["--retry-failed", "--runs-per-task", "4"], &words).len(), 1);
    study.wait_for_empty_queue();
    assert_eq!(study.counts()["done"], 6, "{}", study.story());
    assert!(study.submit(&[], &["nothing to submit; left out: 6 done"]).is_empty());

    let local = Study::new(&cluster, "local");
    check(&local.unbraid("run", &[]), 0, &[]);
    for number in 0..RUNS {
        assert_same(&study.run(number), &local.run(number));
    }
}
