//! Running a study on this machine: as many processes as there are cores, one for each run, until nothing is left to do.
//!
//! Nothing is remembered that is not in the files: which runs are done is in their directories, who is at work in the
//! claims. So any number of these may work on one study, here and on other machines, and each may be killed at any time.

use super::claim::{Attempt, Claims};
use super::directory::StudyDirectory;
use super::heart::Heart;
use super::manifest::Entry;
use super::standing::{Stage, Standing};
use super::view::{AtWork, Counts, View};
use super::worker::{Ending, Worker};
use crate::failure::{Failure, Outcome};
use crate::run::{Interrupt, Noted, RunDirectory, Start, State, Status, signal_name};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often we look whether a process has ended or a signal has come.
const TICK: Duration = Duration::from_millis(50);

/// How often the view changes, and how often we look at runs in the hands of others.
const LOOK: Duration = Duration::from_secs(1);

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Processes at a time.
    pub jobs: usize,
    /// Whether to try runs again that have failed before.
    pub retry_failed: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Tally<'a> {
    /// Runs that are done, whoever did them.
    pub done: usize,
    /// Those that were finished here.
    pub finished_here: usize,
    /// Those that failed, now or before, and why.
    pub failed: Vec<(&'a Entry, String)>,
    /// Those whose process was asked to end, by us or by somebody else; they can go on.
    pub interrupted: Vec<&'a Entry>,
    /// The signal that ended it all.
    pub signal: Option<u8>,
    /// What kept us from claiming more runs.
    pub broken: Option<Failure>,
}

/// A run that may have to be trained.
#[derive(Debug)]
struct Candidate<'a> {
    entry: &'a Entry,
    /// The failure that is to be tried again. Another one is somebody's who tried in the meantime.
    failure: Option<Status>,
}

struct Runner<'a> {
    study: &'a StudyDirectory,
    options: Options,
    claims: Claims,
    heart: Heart,
    view: View,
    counts: Counts,
    waiting: VecDeque<Candidate<'a>>,
    elsewhere: Vec<Candidate<'a>>,
    workers: Vec<Worker<'a>>,
    tally: Tally<'a>,
    /// Whether a signal has come that another like it would add something to.
    insisted: bool,
    looked: Instant,
}

/// Trains and scores these runs of a study, those that are not done yet, and waits for those that others are at work on.
///
/// # Errors
/// If the system refuses what every run needs. What happens to single runs is in the tally.
pub fn run<'a>(
    study: &'a StudyDirectory,
    entries: &[&'a Entry],
    options: Options,
    interrupt: &Interrupt,
) -> Outcome<Tally<'a>> {
    let claims = Claims::of(study);
    claims.sweep();
    let standings: Vec<Standing> = entries.par_iter().map(|entry| Standing::of(study, entry)).collect();
    let heart = Heart::start(claims.beat())?;
    let mut runner = Runner {
        study,
        options,
        claims,
        heart,
        view: View::new(),
        counts: Counts { all: entries.len(), ..Counts::default() },
        waiting: VecDeque::new(),
        elsewhere: Vec::new(),
        workers: Vec::new(),
        tally: Tally::default(),
        insisted: false,
        looked: Instant::now(),
    };
    for (entry, standing) in entries.iter().zip(standings) {
        runner.sort_in(entry, standing);
    }
    interrupt.save_first();
    runner.work(interrupt);
    interrupt.end_at_once();
    runner.view.close();
    Ok(runner.tally)
}

impl<'a> Runner<'a> {
    /// Puts a run where it belongs in the beginning.
    fn sort_in(&mut self, entry: &'a Entry, standing: Standing) {
        match standing.stage {
            Stage::Done => self.count_done(),
            Stage::Failed if !self.options.retry_failed => self.count_failed(entry, &standing),
            Stage::Failed => self.waiting.push_back(Candidate { entry, failure: standing.status }),
            _ => self.waiting.push_back(Candidate { entry, failure: None }),
        }
    }

    fn work(&mut self, interrupt: &Interrupt) {
        self.show();
        loop {
            if let Some(noted) = interrupt.take_signal() {
                self.stop(noted);
            }
            self.collect();
            self.begin();
            let may_begin = self.may_begin();
            let nothing_left = self.waiting.is_empty() && self.elsewhere.is_empty();
            if self.workers.is_empty() && (nothing_left || !may_begin) {
                return;
            }
            if self.looked.elapsed() >= LOOK {
                self.looked = Instant::now();
                self.show();
                // With nothing else to do: are they done, failed or abandoned by now?
                if self.waiting.is_empty() && self.workers.len() < self.options.jobs {
                    self.waiting.extend(self.elsewhere.drain(..));
                }
            }
            std::thread::sleep(TICK);
        }
    }

    fn may_begin(&self) -> bool {
        self.tally.signal.is_none() && self.tally.broken.is_none()
    }

    /// Begins as many runs as there is room for.
    fn begin(&mut self) {
        while self.may_begin() && self.workers.len() < self.options.jobs {
            let Some(candidate) = self.waiting.pop_front() else { return };
            if let Err(failure) = self.consider(candidate) {
                if !self.workers.is_empty() {
                    self.view.say(&format!("error: {failure}\nonly what is at work goes on"));
                }
                self.tally.broken = Some(failure);
            }
        }
    }

    /// Begins a run unless it is done, has failed or is in other hands.
    fn consider(&mut self, candidate: Candidate<'a>) -> Outcome {
        let entry = candidate.entry;
        if self.is_settled(&candidate) {
            return Ok(());
        }
        let Attempt::Ours(claim) = self.claims.claim(&entry.name)? else {
            self.elsewhere.push(candidate);
            return Ok(());
        };
        // What others have done with it up to now can be seen, and from now on they keep away.
        if self.is_settled(&candidate) {
            return Ok(());
        }
        // By somebody without a claim, such as a process whose study was killed and who is about to notice.
        if RunDirectory::user(&self.study.run(entry)).is_some() {
            self.elsewhere.push(candidate);
            return Ok(());
        }
        let worker = Worker::start(self.study, entry)?;
        self.heart.keep(entry.number, claim);
        self.workers.push(worker);
        Ok(())
    }

    /// Whether there is nothing to do for a run; it is counted then.
    fn is_settled(&mut self, candidate: &Candidate<'a>) -> bool {
        let standing = Standing::of(self.study, candidate.entry);
        match standing.stage {
            Stage::Done => self.count_done(),
            Stage::Failed if standing.status != candidate.failure => {
                self.count_failed(candidate.entry, &standing);
            }
            _ => return false,
        }
        true
    }

    /// Sees what has become of the processes.
    fn collect(&mut self) {
        let lost = self.heart.lost();
        let mut place = 0;
        while place < self.workers.len() {
            let worker = &mut self.workers[place];
            let is_lost = lost.contains(&worker.entry.number);
            if is_lost {
                worker.kill();
            }
            match worker.ending() {
                None => place += 1,
                Some(ending) => {
                    let worker = self.workers.swap_remove(place);
                    self.finish(&worker, Some(ending).filter(|_| !is_lost));
                    self.heart.release(worker.entry.number);
                }
            }
        }
    }

    /// Counts a run whose process has ended; without an ending, because its claim was lost to another.
    fn finish(&mut self, worker: &Worker<'a>, ending: Option<Ending>) {
        let entry = worker.entry;
        let seconds = Some(worker.started.elapsed().as_secs_f64());
        let ending = match ending {
            None => {
                self.view.say(&format!("{} {}: others have taken over", entry.number, entry.name));
                self.elsewhere.push(Candidate { entry, failure: None });
                return;
            }
            Some(Ending::Complete) if Standing::of(self.study, entry).stage != Stage::Done => {
                Ending::Failed("its process ended without an error, but the run is not complete".to_owned())
            }
            // That was us.
            Some(Ending::Failed(_)) if worker.was_killed() => Ending::Interrupted,
            Some(ending) => ending,
        };
        match ending {
            Ending::Complete => {
                self.count_done();
                self.tally.finished_here += 1;
                self.view.ended(&self.counts, entry, "done", seconds);
            }
            Ending::Interrupted => {
                self.counts.interrupted += 1;
                self.tally.interrupted.push(entry);
                self.view.ended(&self.counts, entry, "stopped", seconds);
            }
            Ending::Failed(error) => {
                record_failure(self.study, entry, worker.pid(), &error);
                self.counts.failed += 1;
                self.view.ended(&self.counts, entry, "failed", seconds);
                self.view.say(&error);
                self.tally.failed.push((entry, error));
            }
        }
    }

    fn count_done(&mut self) {
        self.counts.done += 1;
        self.tally.done += 1;
    }

    fn count_failed(&mut self, entry: &'a Entry, standing: &Standing) {
        self.counts.failed += 1;
        self.tally.failed.push((entry, standing.error().unwrap_or("for an unknown reason").to_owned()));
    }

    /// The first time, processes are asked to save and end; the second time that somebody insists they are ended.
    fn stop(&mut self, Noted { signal, insists }: Noted) {
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
            self.view.say(&format!(
                "{}: runs at work are saved and stopped; once more ends them at once",
                signal_name(signal)
            ));
        }
    }

    fn show(&mut self) {
        self.counts.running = self.workers.len();
        self.counts.elsewhere = self.elsewhere.len();
        let study = self.study;
        let at_work = |worker: &Worker<'a>| {
            let status = Status::read(&study.run(worker.entry).join("status.json"));
            let (step, steps) = status.map_or((0, 0), |status| (status.step, status.steps));
            AtWork { entry: worker.entry, step, steps }
        };
        let at_work: Vec<AtWork<'_>> =
            if self.view.is_drawn() { self.workers.iter().map(at_work).collect() } else { Vec::new() };
        self.view.show(&self.counts, &at_work);
    }
}

/// Leaves word in the directory of a run that its process, `pid`, ended badly, unless it did so itself. Where nothing can
/// be written, or the directory holds something else or is in use, the run is as it was, and will be tried again.
fn record_failure(study: &StudyDirectory, entry: &Entry, pid: u32, error: &str) {
    let Ok((run, _)) = RunDirectory::take(&study.run(entry), Start::ResumeIfThere) else { return };
    let status = Status::read(&run.status());
    let said_so = status.as_ref().is_some_and(|status| status.pid == pid && status.state == State::Failed);
    let is_another = run.read_config().is_ok_and(|config| config.fingerprint() != entry.hash);
    if said_so || is_another {
        return;
    }
    let (step, steps) = status.map_or((0, 0), |status| (status.step, status.steps));
    let _ = Status::now(State::Failed, step, steps).with_error(error).write(&run.status());
}
