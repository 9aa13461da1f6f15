//! Running a study on this machine: a process for each run, several at a time, until nothing is left to do.
//!
//! All state is in files: which runs are done is in their directories, who works on them in the leases. So any number
//! of runners may work on one study, here and on other machines, and each may be killed at any time.

mod observer;
mod signals;
mod worker;

pub use observer::{Counts, EndedRun, InProgress, Message, RunEnd, StudyObserver};
pub use signals::{StopRequest, StopRequests};
pub use worker::WorkerCommand;

use crate::directory::{StudyDirectory, refuse_link};
use crate::error::{Error, Result};
use crate::lease::{Attempt, Heartbeat, Leases};
use crate::manifest::{Entry, read_config};
use crate::run_status::{RunStatus, Stage};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};
use unbraid::run::{NeverStop, RunDirectory, Signal, Start, State, Status};
use worker::{Worker, WorkerExit};

/// How often to look whether a process has ended or a signal has come.
const TICK: Duration = Duration::from_millis(50);

/// How often to report progress, and to look at runs in progress elsewhere.
const REPORT: Duration = Duration::from_secs(1);

/// Trains and scores runs of a study, each in a process of its own.
///
/// Runs that are done are skipped, and interrupted ones resumed. Any number of runners may work on the same
/// study, also on several machines that share its directory: no run is done twice.
///
/// ```no_run
/// use std::path::Path;
/// use unbraid::data::progress::Silent;
/// use unbraid_study::{Runner, StudyDirectory, WorkerCommand};
///
/// let study = StudyDirectory::open(Path::new("studies/beta"))?;
/// let manifest = study.read_manifest()?;
/// let worker = WorkerCommand::new("unbraid", ["study", "work", "--threads", "1"]);
/// let tally = Runner::new(&study, worker).jobs(2).run(&manifest.entries, &mut Silent)?;
/// println!("{} of {} runs are done", tally.done, manifest.entries.len());
/// # Ok::<(), unbraid_study::Error>(())
/// ```
pub struct Runner<'a> {
    study: &'a StudyDirectory,
    worker: WorkerCommand,
    jobs: usize,
    retry_failed: bool,
    stop: &'a dyn StopRequests,
}

impl fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("study", &self.study)
            .field("worker", &self.worker)
            .field("jobs", &self.jobs)
            .field("retry_failed", &self.retry_failed)
            .finish_non_exhaustive()
    }
}

impl<'a> Runner<'a> {
    /// Trains runs of this study with this program, as many at a time as there are cores.
    pub fn new(study: &'a StudyDirectory, worker: WorkerCommand) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Self { study, worker, jobs, retry_failed: false, stop: &NeverStop }
    }

    /// The number of processes at a time.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Whether to try runs again that have failed before. Off by default.
    #[must_use]
    pub fn retry_failed(mut self, retry_failed: bool) -> Self {
        self.retry_failed = retry_failed;
        self
    }

    /// Saves and stops when these signals arrive.
    #[must_use]
    pub fn stop_on(mut self, stop: &'a dyn StopRequests) -> Self {
        self.stop = stop;
        self
    }

    /// Trains and scores those of these runs that are not done yet, and waits for those that other processes work on.
    ///
    /// # Errors
    /// If the system refuses what every run needs, or a directory to be written is a symbolic link. What
    /// happens to single runs is in the tally.
    pub fn run<'e>(
        self,
        entries: impl IntoIterator<Item = &'e Entry>,
        observer: &mut dyn StudyObserver,
    ) -> Result<Tally<'e>> {
        let entries: Vec<&Entry> = entries.into_iter().collect();
        self.study.check_links()?;
        let leases = Leases::of(self.study);
        leases.remove_stale();
        let statuses: Vec<RunStatus> =
            entries.par_iter().map(|entry| RunStatus::read(self.study, entry)).collect();
        for (entry, status) in entries.iter().zip(&statuses) {
            // One that is done is only read.
            if status.stage != Stage::Done {
                refuse_link(self.study.run(entry).root().to_owned())?;
            }
        }
        let heartbeat = Heartbeat::start(leases.heartbeat_interval())?;
        let mut execution = Execution {
            counts: Counts { all: entries.len(), ..Counts::default() },
            stop: self.stop,
            runner: self,
            observer,
            leases,
            heartbeat,
            waiting: VecDeque::new(),
            elsewhere: Vec::new(),
            workers: Vec::new(),
            tally: Tally::default(),
            insisted: false,
            reported: Instant::now(),
        };
        for (entry, status) in entries.into_iter().zip(statuses) {
            execution.sort_in(entry, status);
        }
        execution.stop.defer();
        execution.work();
        execution.stop.resume_default();
        execution.observer.finished();
        Ok(execution.tally)
    }
}

/// What has become of the runs.
#[derive(Debug, Default)]
pub struct Tally<'a> {
    /// Runs that are done, here or by another process.
    pub done: usize,
    /// Those that were finished here.
    pub finished_here: usize,
    /// Those that failed, now or before, and why.
    pub failed: Vec<(&'a Entry, String)>,
    /// Those whose process was asked to stop, by this runner or by somebody else; they can be resumed.
    pub interrupted: Vec<&'a Entry>,
    /// The signal that stopped the study.
    pub signal: Option<Signal>,
    /// What kept it from starting more runs.
    pub broken: Option<Error>,
}

/// A run that may have to be trained.
#[derive(Debug)]
struct Candidate<'a> {
    entry: &'a Entry,
    /// The failure that is to be tried again. Another one is that of a process that has tried in the meantime.
    failure: Option<Status>,
}

/// A runner in progress. `'e` are the runs, `'a` is everything else.
struct Execution<'a, 'e> {
    runner: Runner<'a>,
    stop: &'a dyn StopRequests,
    observer: &'a mut dyn StudyObserver,
    leases: Leases,
    heartbeat: Heartbeat,
    counts: Counts,
    waiting: VecDeque<Candidate<'e>>,
    elsewhere: Vec<Candidate<'e>>,
    workers: Vec<Worker<'e>>,
    tally: Tally<'e>,
    /// Whether a request to stop has come after which another one would change something.
    insisted: bool,
    reported: Instant,
}

impl<'e> Execution<'_, 'e> {
    /// Counts a run that needs no work, and lets the others wait.
    fn sort_in(&mut self, entry: &'e Entry, status: RunStatus) {
        match status.stage {
            Stage::Done => self.count_done(),
            Stage::Failed if !self.runner.retry_failed => self.count_failed(entry, &status),
            Stage::Failed => self.waiting.push_back(Candidate { entry, failure: status.recorded }),
            Stage::Running | Stage::Interrupted | Stage::Queued | Stage::Pending => {
                self.waiting.push_back(Candidate { entry, failure: None });
            }
        }
    }

    fn work(&mut self) {
        self.report();
        loop {
            if let Some(request) = self.stop.take() {
                self.stop(request);
            }
            for error in self.heartbeat.take_errors() {
                self.observer.message(&Message::LeaseNotRenewed { error: &error });
            }
            self.collect();
            self.start_runs();
            let may_start = self.may_start();
            let nothing_left = self.waiting.is_empty() && self.elsewhere.is_empty();
            if self.workers.is_empty() && (nothing_left || !may_start) {
                return;
            }
            if self.reported.elapsed() >= REPORT {
                self.reported = Instant::now();
                self.report();
                // With nothing else to do: are they done, failed or abandoned by now?
                if self.waiting.is_empty() && self.workers.len() < self.runner.jobs {
                    self.waiting.extend(self.elsewhere.drain(..));
                }
            }
            std::thread::sleep(TICK);
        }
    }

    fn may_start(&self) -> bool {
        self.tally.signal.is_none() && self.tally.broken.is_none()
    }

    /// Starts as many runs as may run at a time.
    fn start_runs(&mut self) {
        while self.may_start() && self.workers.len() < self.runner.jobs {
            let Some(candidate) = self.waiting.pop_front() else { return };
            if let Err(error) = self.start(candidate) {
                if !self.workers.is_empty() {
                    self.observer.message(&Message::NoMoreRuns { error: &error });
                }
                self.tally.broken = Some(error);
            }
        }
    }

    /// Starts a run unless it is done, has failed or is in progress elsewhere.
    fn start(&mut self, candidate: Candidate<'e>) -> Result {
        let (study, entry) = (self.runner.study, candidate.entry);
        if self.is_settled(&candidate) {
            return Ok(());
        }
        let Attempt::Acquired(lease) = self.leases.acquire(&entry.name)? else {
            self.elsewhere.push(candidate);
            return Ok(());
        };
        // From here on no other process works on it, and what others have done is visible.
        if self.is_settled(&candidate) {
            return Ok(());
        }
        // By a process without a lease, such as one whose study was killed and that is about to notice.
        if RunDirectory::user(study.run(entry).root()).is_some() {
            self.elsewhere.push(candidate);
            return Ok(());
        }
        let worker = Worker::start(&self.runner.worker, study, entry)?;
        self.heartbeat.keep(entry.number, lease);
        self.workers.push(worker);
        Ok(())
    }

    /// Whether there is nothing to do for a run; it is counted then.
    fn is_settled(&mut self, candidate: &Candidate<'e>) -> bool {
        let status = RunStatus::read(self.runner.study, candidate.entry);
        match status.stage {
            Stage::Done => self.count_done(),
            Stage::Failed if status.recorded != candidate.failure => {
                self.count_failed(candidate.entry, &status);
            }
            Stage::Failed | Stage::Running | Stage::Interrupted | Stage::Queued | Stage::Pending => {
                return false;
            }
        }
        true
    }

    /// Sees what has become of the processes.
    fn collect(&mut self) {
        let lost = self.heartbeat.lost();
        let mut place = 0;
        while place < self.workers.len() {
            let worker = &mut self.workers[place];
            let is_lost = lost.contains(&worker.entry.number);
            if is_lost {
                worker.kill();
            }
            match worker.exit() {
                None => place += 1,
                Some(exit) => {
                    let worker = self.workers.swap_remove(place);
                    if is_lost {
                        self.give_up(&worker);
                    } else {
                        self.finish(&worker, exit);
                    }
                    self.heartbeat.release(worker.entry.number);
                }
            }
        }
    }

    /// Leaves a run to the process that has taken it over.
    fn give_up(&mut self, worker: &Worker<'e>) {
        let entry = worker.entry;
        self.observer.message(&Message::TakenOver { entry });
        self.elsewhere.push(Candidate { entry, failure: None });
    }

    /// Counts a run whose process has ended.
    fn finish(&mut self, worker: &Worker<'e>, exit: WorkerExit) {
        let (study, entry) = (self.runner.study, worker.entry);
        let exit = match exit {
            WorkerExit::Complete if RunStatus::read(study, entry).stage != Stage::Done => WorkerExit::Failed(
                "its process ended without an error, but the run is not complete".to_owned(),
            ),
            // That was us.
            WorkerExit::Failed(_) if worker.was_killed() => WorkerExit::Interrupted,
            WorkerExit::Complete | WorkerExit::Interrupted | WorkerExit::Failed(_) => exit,
        };
        let end = match &exit {
            WorkerExit::Complete => {
                self.count_done();
                self.tally.finished_here += 1;
                RunEnd::Done
            }
            WorkerExit::Interrupted => {
                self.counts.interrupted += 1;
                self.tally.interrupted.push(entry);
                RunEnd::Interrupted
            }
            WorkerExit::Failed(error) => {
                record_failure(study, entry, worker.pid(), error);
                self.counts.failed += 1;
                self.tally.failed.push((entry, error.clone()));
                RunEnd::Failed(error)
            }
        };
        self.observer.run_ended(&self.counts, &EndedRun { entry, end, elapsed: worker.started.elapsed() });
    }

    fn count_done(&mut self) {
        self.counts.done += 1;
        self.tally.done += 1;
    }

    fn count_failed(&mut self, entry: &'e Entry, status: &RunStatus) {
        self.counts.failed += 1;
        self.tally.failed.push((entry, status.error().unwrap_or("for an unknown reason").to_owned()));
    }

    /// The first time, processes are asked to save and stop; the second time that a request insists they are killed.
    fn stop(&mut self, StopRequest { signal, insists }: StopRequest) {
        let is_first = self.tally.signal.replace(signal).is_none();
        if insists && self.insisted {
            self.workers.iter_mut().for_each(Worker::kill);
        }
        self.insisted |= insists;
        if !is_first {
            return;
        }
        self.workers.iter_mut().for_each(Worker::stop);
        if !self.workers.is_empty() {
            self.observer.message(&Message::Stopping { signal });
        }
    }

    fn report(&mut self) {
        self.counts.running = self.workers.len();
        self.counts.elsewhere = self.elsewhere.len();
        let study = self.runner.study;
        let in_progress = |worker: &Worker<'e>| {
            let status = Status::read(&study.run(worker.entry).status());
            let (step, steps) = status.map_or((0, 0), |status| (status.step, status.steps));
            InProgress { entry: worker.entry, step, steps }
        };
        let watched = if self.observer.is_watching() { self.workers.as_slice() } else { &[] };
        let running: Vec<InProgress<'_>> = watched.iter().map(in_progress).collect();
        self.observer.progress(&self.counts, &running);
    }
}

/// Records in the directory of a run that its process, `pid`, failed, unless it did so itself. Where nothing
/// can be written, or the directory holds something else or is in use, the run is as it was, and will be
/// tried again.
fn record_failure(study: &StudyDirectory, entry: &Entry, pid: u32, error: &str) {
    let Ok((run, _)) = RunDirectory::acquire(study.run(entry).root(), Start::ResumeIfThere) else { return };
    let path = run.paths().status();
    let status = Status::read(&path);
    let has_stopped = |state: State| matches!(state, State::Failed | State::Interrupted);
    let said_so = status.as_ref().is_some_and(|status| status.pid == pid && has_stopped(status.state));
    let is_another =
        read_config(run.paths()).is_some_and(|found| !entry.is_run(run.paths(), &found, study.path()));
    if said_so || is_another {
        return;
    }
    let (step, steps) = status.map_or((0, 0), |status| (status.step, status.steps));
    let _ = Status::now(State::Failed, step, steps).with_error(error).write(&path);
}

#[cfg(all(test, unix))]
mod tests;
