//! A study on a real Slurm cluster, started on this host for the test: submitted in two arrays, disturbed in
//! every way a cluster has, submitted again, and in the end equal to the study that was run here. Without
//! Slurm, the test says that it skips; `cargo xtask test` installs it where it may.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster;
#[path = "../support/mod.rs"]
mod support;

use cluster::{Cluster, PATIENCE};
use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::check;
use support::sameness::assert_same_studies;
use support::study::{Bench, signal};
use unbraid::run::{State, Status};

const RUNS: usize = 6;

/// Seconds of work: a run that has been seen at work is still at work a moment later.
const LENGTH: &str = "training={ batch_size = 8, steps = 1500, log_every = 20, checkpoint_every = 500 }";

/// A study and the cluster that it is submitted to.
struct Trial<'a> {
    cluster: &'a Cluster,
    bench: Bench,
}

impl Trial<'_> {
    fn status(&self, number: usize) -> Option<Status> {
        Status::read(&self.bench.run(number).join("status.json"))
    }

    fn unbraid(&self, verb: &str, more: &[&str]) -> Output {
        self.cluster.member(self.bench.command(verb, more)).output().unwrap()
    }

    /// Submits, and gives the jobs.
    fn submit(&self, more: &[&str], words: &[&str]) -> Vec<String> {
        let output = self.unbraid("submit", &[&["--mem", "100M"], more].concat());
        check(&output, words);
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
            let has_begun = !self.bench.text(number, "metrics.jsonl").is_empty();
            (status.state == State::Running && has_begun).then_some(status.pid)
        })
    }

    fn wait_for_empty_queue(&self) {
        self.wait("an empty queue", || self.cluster.queue().is_empty().then_some(()));
    }

    /// Waits until a run has written a checkpoint because it was asked to end; its diary remembers that.
    fn wait_for_save(&self, number: usize) {
        self.wait(&format!("run {number} to be saved"), || {
            self.bench.text(number, "run.log").contains("interrupted by SIGTERM").then_some(())
        });
    }

    /// Waits until squeue shows a task no more.
    fn wait_for_end(&self, task: &str) {
        self.wait(&format!("the end of {task}"), || {
            self.cluster.queue().iter().all(|(job, _)| job != task).then_some(())
        });
    }

    /// Everything that helps to see what went wrong.
    fn story(&self) -> String {
        let mut text = format!("queue: {:?}\n", self.cluster.queue());
        for number in 0..RUNS {
            text += &format!("run {number}: {:?}\n", self.status(number));
        }
        let files = fs::read_dir(self.bench.study.slurm()).into_iter().flatten().flatten();
        for path in
            files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "out"))
        {
            text += &format!("--- {}\n{}\n", path.display(), fs::read_to_string(&path).unwrap_or_default());
        }
        text + &self.cluster.logs()
    }

    /// How many runs are at a stage, as `unbraid study status` says.
    fn count(&self, stage: &str) -> u64 {
        let output = self.unbraid("status", &["--format", "json"]);
        check(&output, &[]);
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        status["counts"][stage].as_u64().unwrap()
    }

    fn slurm(&self, program: &str, arguments: &[&str]) {
        let output = self.cluster.slurm(program, arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {message}\n{}", self.story());
    }
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
    let runs = [[LENGTH].as_slice(); RUNS];
    let bench = support::Bench::new();
    let path = bench.path("it's a \"study\" 100% $HOME");
    let study = Trial { cluster: &cluster, bench: Bench::at(bench, &path, &runs) };
    // Held back at first: each task is let go when its turn has come to be disturbed.
    let jobs = study.submit(&["--sbatch-option=--hold"], &["6 runs in 6 tasks"]);
    let [first, second] = jobs.as_slice() else { panic!("{jobs:?}") };
    let task = |number: usize| format!("{}_{}", if number < 3 { first } else { second }, number % 3);
    assert!(study.submit(&[], &["nothing to submit", "queued"]).is_empty());
    assert_eq!(study.count("queued"), 6);
    let release = |number: usize| study.slurm("scontrol", &["release", &task(number)]);

    // The process that trains a run is killed, as for want of memory.
    release(0);
    signal("KILL", &study.wait_for_work(0).to_string());
    study.wait("run 0 to have failed", || (study.status(0)?.state == State::Failed).then_some(()));

    // Slurm finds that the time of a task will soon be over, and warns it: it saves the run and asks for
    // another turn. The run is held still until the warning has come.
    release(1);
    let process = study.wait_for_work(1);
    signal("STOP", &process.to_string());
    study.slurm("scontrol", &["update", &format!("JobId={}", task(1)), "TimeLimit=2"]);
    let output = path.join(format!("slurm/{}.out", task(1)));
    study.wait("the warning", || {
        fs::read_to_string(&output).ok().filter(|text| text.contains("are saved and stopped"))
    });
    signal("CONT", &process.to_string());
    study.wait_for_save(1);
    // More time for its next turn. While it is on its way back into the queue, Slurm refuses to change it.
    let more = ["update", &format!("JobId={}", task(1)), "TimeLimit=60"];
    study.wait("more time", || cluster.slurm("scontrol", &more).status.success().then_some(()));

    // A task is cancelled, and stays so.
    release(2);
    study.wait_for_work(2);
    study.slurm("scancel", &[&task(2)]);
    study.wait_for_save(2);
    study.wait_for_end(&task(2));

    // A task is requeued by somebody.
    release(3);
    study.wait_for_work(3);
    study.slurm("scontrol", &["requeue", &task(3)]);
    study.wait_for_save(3);

    // The task itself is killed, and with it what the run needs to go on.
    release(4);
    signal("KILL", &parent(study.wait_for_work(4)).to_string());
    study.wait_for_end(&task(4));

    release(5);
    study.wait_for_empty_queue();
    for (number, state) in [(1, State::Done), (3, State::Done), (5, State::Done), (0, State::Failed)] {
        assert_eq!(study.status(number).unwrap().state, state, "run {number}\n{}", study.story());
    }
    let counts = ["done", "failed", "interrupted"].map(|stage| study.count(stage));
    assert_eq!(counts, [3, 1, 2], "{}", study.story());

    // The rest is submitted again; what has failed, only on request.
    assert_eq!(study.submit(&[], &["2 runs in 2 tasks; left out: 3 done, 1 failed"]).len(), 1);
    study.wait_for_empty_queue();
    let words = ["1 run in 1 task; left out: 5 done"];
    assert_eq!(study.submit(&["--retry-failed", "--runs-per-task", "4"], &words).len(), 1);
    study.wait_for_empty_queue();
    assert_eq!(study.count("done"), 6, "{}", study.story());
    assert!(study.submit(&[], &["nothing to submit; left out: 6 done"]).is_empty());

    let local = Bench::new(RUNS, &[LENGTH]);
    local.succeed(&[], &[]);
    assert_same_studies(&local, &study.bench);
}
