//! How a study reports its progress while it runs or is submitted; this crate itself never prints.

use crate::error::Error;
use crate::manifest::Entry;
use crate::slurm::JobArray;
use std::fmt;
use std::time::Duration;
use unbraid::data::progress::Silent;
use unbraid::error_chain;
use unbraid::run::Signal;

/// Receives the events of a study that runs or is submitted. Every method has a default that does nothing;
/// [`Silent`] ignores them all.
pub trait StudyObserver {
    /// Whether anybody watches the progress of single runs. If not, their status files are not read, and
    /// [`StudyObserver::progress`] gets no runs.
    fn is_watching(&self) -> bool {
        false
    }

    /// How far everything is; called about once a second.
    fn progress(&mut self, _counts: &Counts, _running: &[InProgress<'_>]) {}

    /// The process of a run has ended.
    fn run_ended(&mut self, _counts: &Counts, _ended: &EndedRun<'_>) {}

    /// Something happened that a person should read.
    fn message(&mut self, _message: &Message<'_>) {}

    /// The runner is done: nothing more is reported.
    fn finished(&mut self) {}

    /// A job array was submitted; `job` is its number.
    fn array_submitted(&mut self, _job: &str, _array: &JobArray) {}
}

impl StudyObserver for Silent {}

/// How many runs there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that were asked for.
    pub all: usize,
    /// Of these, done.
    pub done: usize,
    /// In progress here.
    pub running: usize,
    /// In progress in other processes.
    pub elsewhere: usize,
    /// Failed.
    pub failed: usize,
    /// Asked to stop.
    pub interrupted: usize,
}

impl Counts {
    /// Not started.
    pub fn pending(&self) -> usize {
        self.all.saturating_sub(self.ended() + self.running + self.elsewhere)
    }

    /// Ended, one way or another.
    pub fn ended(&self) -> usize {
        self.done + self.failed + self.interrupted
    }
}

/// A run in progress.
#[derive(Clone, Copy, Debug)]
pub struct InProgress<'a> {
    /// Which.
    pub entry: &'a Entry,
    /// Steps done.
    pub step: u64,
    /// Steps in all; 0 while that is unknown.
    pub steps: u64,
}

/// A run whose process has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedRun<'a> {
    /// Which.
    pub entry: &'a Entry,
    /// How.
    pub end: RunEnd<'a>,
    /// How long its process took.
    pub elapsed: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd<'a> {
    /// It is trained, and scored if its configuration asks for it.
    Done,
    /// It was asked to stop, and can be resumed.
    Interrupted,
    /// It failed, with this error.
    Failed(&'a str),
}

/// Something that a person should read; displayed, it is one or two lines of text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// Another process has taken over a run that was in progress here.
    TakenOver {
        /// The run.
        entry: &'a Entry,
    },
    /// A lease could not be renewed; if that happens again, another process will take the run over.
    LeaseNotRenewed {
        /// Why.
        error: &'a Error,
    },
    /// No more runs are started, because every one needs what the system refused.
    NoMoreRuns {
        /// Why.
        error: &'a Error,
    },
    /// The study was asked to stop while runs are in progress.
    Stopping {
        /// By what.
        signal: Signal,
    },
    /// What sbatch said of a job that it took.
    Sbatch(&'a str),
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenOver { entry } => {
                write!(f, "{} {}: another process has taken over", entry.number, entry.name)
            }
            Self::LeaseNotRenewed { error } => write!(f, "warning: {}", error_chain(*error)),
            Self::NoMoreRuns { error } => {
                write!(f, "error: {}\nno more runs are started; those in progress go on", error_chain(*error))
            }
            Self::Stopping { signal } => write!(
                f,
                "{}: runs in progress are saved and stopped; a second signal ends them at once",
                signal.name()
            ),
            Self::Sbatch(text) => f.write_str(text),
        }
    }
}
