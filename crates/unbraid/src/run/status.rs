//! `status.json`: the progress of a run, for people and schedulers.

use super::clock;
use super::signal::Signal;
use crate::error::Result;
use crate::files::{self, Existing};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;
use unbraid_data::files::{LONGEST_TEXT, read_text};

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Not started.
    Queued,
    /// Training, if the heartbeat is recent.
    Running,
    /// All steps are done.
    Done,
    /// Stopped on request; it can be resumed. `error` has the reason.
    Interrupted,
    /// Stopped by an error, which is in `error`.
    Failed,
}

impl State {
    /// All states.
    pub const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Done, Self::Interrupted, Self::Failed];

    /// Its name in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    /// The state with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// The beginning of the error of an interrupted run. Older files have the state `failed` with such an error.
const INTERRUPTED_BY: &str = "interrupted by ";

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its state.
    pub state: State,
    /// Steps done.
    pub step: u64,
    /// Total number of steps.
    pub steps: u64,
    /// When this was written, in seconds since 1970 (UTC).
    pub heartbeat: f64,
    /// The process that wrote it.
    pub pid: u32,
    /// Why it stopped.
    pub error: Option<String>,
}

impl Status {
    /// For this process, now.
    pub fn now(state: State, step: u64, steps: u64) -> Self {
        Self { state, step, steps, heartbeat: clock::now(), pid: std::process::id(), error: None }
    }

    /// For a run that this process stopped after a checkpoint.
    pub(super) fn interrupted(signal: Signal, step: u64, steps: u64) -> Self {
        let error = format!("{INTERRUPTED_BY}{} after step {step}", signal.name());
        Self::now(State::Interrupted, step, steps).with_error(error)
    }

    /// The same with the reason why it stopped.
    #[must_use]
    pub fn with_error(mut self, error: impl Into<String>) -> Self {
        self.error = Some(error.into());
        self
    }

    /// The status in a file; `None` if there is none.
    pub fn read(path: &Path) -> Option<Self> {
        let status: Self = serde_json::from_str(&read_text(path, LONGEST_TEXT).ok()?).ok()?;
        let was_interrupted = status.state == State::Failed
            && status.error.as_ref().is_some_and(|error| error.starts_with(INTERRUPTED_BY));
        Some(if was_interrupted { Self { state: State::Interrupted, ..status } } else { status })
    }

    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result {
        files::write(path, Existing::Replace, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_runs_of_earlier_versions_are_recognised() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("status.json");
        let read = |error: &str| {
            let text = format!(
                r#"{{"state": "failed", "step": 3, "steps": 9, "heartbeat": 1.5, "pid": 7, "error": "{error}"}}"#
            );
            std::fs::write(&path, text).unwrap();
            Status::read(&path).unwrap().state
        };
        assert_eq!(read("interrupted by SIGTERM after step 3"), State::Interrupted);
        assert_eq!(read("the disk is full"), State::Failed);
        Status::interrupted(Signal::Interrupt, 4, 9).write(&path).unwrap();
        let status = Status::read(&path).unwrap();
        assert_eq!(status.state, State::Interrupted);
        assert_eq!(status.error.as_deref(), Some("interrupted by SIGINT after step 4"));
    }

    #[test]
    fn words_are_those_of_the_file() {
        for state in State::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.word());
            assert_eq!(State::from_word(state.word()), Some(state));
        }
    }
}
