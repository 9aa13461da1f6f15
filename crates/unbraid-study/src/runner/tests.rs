//! The runner with shell scripts in place of the program that trains.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::plan::Plan;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use unbraid::data::progress::Silent;
use unbraid::error_chain;
use unbraid::run::StopSignal;

struct Bench {
    _directory: tempfile::TempDir,
    study: StudyDirectory,
    plan: Plan,
}

impl Bench {
    /// A study of runs that differ in their seed, with the configuration of each where a script finds it.
    fn new(seeds: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let text = format!(
            "base = \"shapes/beta-vae\"\nseeds = {seeds}\n[set]\n\"evaluation.after_training\" = false\n"
        );
        let study = StudyDirectory::create(directory.path(), &text).unwrap();
        let plan = Plan::of(&study).unwrap();
        let configurations = directory.path().join("configurations");
        fs::create_dir(&configurations).unwrap();
        for entry in &plan.manifest.entries {
            fs::write(configurations.join(&entry.name), entry.configuration.to_toml()).unwrap();
        }
        Self { _directory: directory, study, plan }
    }

    fn runner(&self, script: &str) -> Runner<'_> {
        Runner::new(&self.study, WorkerCommand::new("sh", ["-c", script, "worker"])).jobs(2)
    }

    fn status(&self, number: usize) -> RunStatus {
        RunStatus::read(&self.study, &self.plan.manifest.entries[number])
    }

    fn leases(&self) -> usize {
        fs::read_dir(self.study.leases()).unwrap().count()
    }
}

/// Ends in another way for each seed.
const FOUR_ENDS: &str = r#"
    read -r configuration
    mkdir -p "$1"
    case "$configuration $1" in
        "{"*seed=0-*)
            cp "$1/../../configurations/${1##*/}" "$1/config.toml"
            echo '{"state":"done","step":9,"steps":9,"heartbeat":0,"pid":1,"error":null}' > "$1/status.json" ;;
        "{"*seed=1-*) echo "error: the disk is full" >&2; exit 1 ;;
        "{"*seed=2-*) exit 143 ;;
    esac
"#;

#[derive(Default)]
struct Recorder {
    ended: Vec<String>,
    messages: Vec<String>,
    most_running: usize,
    finished: bool,
}

impl StudyObserver for Recorder {
    fn is_watching(&self) -> bool {
        true
    }

    fn progress(&mut self, counts: &Counts, running: &[InProgress<'_>]) {
        assert_eq!(counts.running, running.len());
        self.most_running = self.most_running.max(running.len());
    }

    fn run_ended(&mut self, counts: &Counts, ended: &EndedRun<'_>) {
        assert!(counts.ended() <= counts.all && !self.finished);
        self.ended.push(format!("{} {:?}", ended.entry.number, ended.end));
    }

    fn message(&mut self, message: &Message<'_>) {
        self.messages.push(message.to_string());
    }

    fn finished(&mut self) {
        self.finished = true;
    }
}

const INCOMPLETE: &str = "its process ended without an error, but the run is not complete";

#[test]
fn every_way_that_a_run_ends_is_counted_and_recorded() {
    let bench = Bench::new(4);
    let entries = &bench.plan.manifest.entries;
    let mut observer = Recorder::default();
    let tally = bench.runner(FOUR_ENDS).run(entries, &mut observer).unwrap();
    assert_eq!((tally.done, tally.finished_here, tally.signal), (1, 1, None));
    assert!(tally.broken.is_none());
    let mut failed: Vec<_> =
        tally.failed.iter().map(|(entry, error)| (entry.number, error.as_str())).collect();
    failed.sort_unstable();
    assert_eq!(failed, [(1, "the disk is full"), (3, INCOMPLETE)]);
    assert_eq!(tally.interrupted.iter().map(|entry| entry.number).collect::<Vec<_>>(), [2]);
    observer.ended.sort_unstable();
    let expected = ["0 Done", "1 Failed(\"the disk is full\")", "2 Interrupted"].map(str::to_owned);
    assert_eq!(observer.ended[..3], expected);
    assert_eq!(observer.ended[3], format!("3 Failed({INCOMPLETE:?})"));
    assert_eq!((observer.messages.len(), observer.finished), (0, true));

    let stages = [0, 1, 2, 3].map(|number| bench.status(number).stage);
    assert_eq!(stages, [Stage::Done, Stage::Failed, Stage::Pending, Stage::Failed]);
    assert_eq!(bench.status(1).error(), Some("the disk is full"));
    assert_eq!(bench.leases(), 0);
    assert!(!bench.study.log(&entries[0]).exists(), "it printed nothing");
    assert_eq!(fs::read_to_string(bench.study.log(&entries[1])).unwrap(), "error: the disk is full\n");
}

#[test]
fn failed_runs_are_tried_again_on_request_only() {
    let bench = Bench::new(2);
    let entries = &bench.plan.manifest.entries;
    bench.runner(FOUR_ENDS).run(entries, &mut Silent).unwrap();
    let all_done = FOUR_ENDS.replace("seed=0-", "");
    let tally = bench.runner(&all_done).run(entries, &mut Silent).unwrap();
    assert_eq!((tally.done, tally.finished_here, tally.failed.len()), (1, 0, 1));
    let tally = bench.runner(&all_done).retry_failed(true).run(entries, &mut Silent).unwrap();
    assert_eq!((tally.done, tally.finished_here, tally.failed.len()), (2, 1, 0));
}

/// Nothing at first, then a request at each of the later looks.
struct Requests {
    looks: AtomicUsize,
    quiet: usize,
}

impl Requests {
    fn after(quiet: usize) -> Self {
        Self { looks: AtomicUsize::new(0), quiet }
    }
}

impl StopSignal for Requests {
    fn received(&self) -> Option<Signal> {
        None
    }
}

impl StopRequests for Requests {
    fn take(&self) -> Option<StopRequest> {
        let looks = self.looks.fetch_add(1, Ordering::SeqCst);
        let request = StopRequest { signal: Signal::Terminate, insists: true };
        (looks >= self.quiet).then_some(request)
    }
}

/// The first request closes the pipe; a run that has not begun is left alone.
#[test]
fn a_request_to_stop_reaches_the_runs_in_progress() {
    let bench = Bench::new(2);
    let requests = Requests::after(1);
    let mut observer = Recorder::default();
    // Requests go on until the process is killed, which it is only if the pipe does not stop it first.
    let script = "read -r configuration; cat; exit 143";
    let tally = bench
        .runner(script)
        .jobs(1)
        .stop_on(&requests)
        .run(&bench.plan.manifest.entries, &mut observer)
        .unwrap();
    assert_eq!((tally.done, tally.signal, tally.interrupted.len()), (0, Some(Signal::Terminate), 1));
    assert!(tally.failed.is_empty());
    assert_eq!(
        observer.messages,
        ["SIGTERM: runs in progress are saved and stopped; a second signal ends them at once"]
    );
    assert_eq!(bench.leases(), 0);
}

#[test]
fn a_second_request_kills_runs_that_do_not_stop() {
    let bench = Bench::new(1);
    let requests = Requests::after(1);
    let entries = &bench.plan.manifest.entries;
    let tally = bench.runner("exec sleep 600").stop_on(&requests).run(entries, &mut Silent).unwrap();
    assert_eq!((tally.signal, tally.interrupted.len()), (Some(Signal::Terminate), 1));
    assert!(tally.failed.is_empty());
}

#[test]
fn a_program_that_cannot_be_started_breaks_the_study_but_no_run() {
    let bench = Bench::new(1);
    let worker = WorkerCommand::new("/no/such/program", ["x"]);
    let entries = &bench.plan.manifest.entries;
    let tally = Runner::new(&bench.study, worker).run(entries, &mut Silent).unwrap();
    let broken = tally.broken.unwrap();
    assert_eq!(broken.kind(), unbraid::ErrorKind::Failure);
    assert_eq!(error_chain(&broken), "cannot start /no/such/program: No such file or directory (os error 2)");
    assert_eq!((tally.failed.len(), bench.status(0).stage, bench.leases()), (0, Stage::Pending, 0));
}
