//! `status.json`: where a run stands, for people and for schedulers.

use super::clock;
use crate::failure::Outcome;
use crate::files::{self, Existing};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Not begun.
    Queued,
    /// At work, if the heartbeat is recent.
    Running,
    /// All steps are done.
    Done,
    /// Stopped before the end; `error` says why.
    Failed,
}

impl State {
    /// The word for it, as in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// The state that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Queued, Self::Running, Self::Done, Self::Failed].into_iter().find(|state| state.word() == word)
    }
}

/// How the error of a run begins that was asked to stop and can go on.
const INTERRUPTED: &str = "interrupted by ";

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its state.
    pub state: State,
    /// Steps done.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// When this was written, in seconds since 1970 (UTC).
    pub heartbeat: f64,
    /// The process at work.
    pub pid: u32,
    /// Why it failed.
    pub error: Option<String>,
}

impl Status {
    /// Of this process, now.
    pub fn now(state: State, step: u64, steps: u64) -> Self {
        Self { state, step, steps, heartbeat: clock::now(), pid: std::process::id(), error: None }
    }

    /// The same with the reason of a failure.
    pub fn with_error(mut self, error: impl Into<String>) -> Self {
        self.error = Some(error.into());
        self
    }

    /// The same for a run that a signal stopped after its checkpoint.
    pub(super) fn interrupted(self, signal: &str) -> Self {
        let error = format!("{INTERRUPTED}{signal} after step {}", self.step);
        self.with_error(error)
    }

    /// Whether the run did not fail but was asked to stop, and can go on.
    pub fn was_interrupted(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.starts_with(INTERRUPTED))
    }

    /// What `path` says; `None` if it is missing or no status.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    }

    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Outcome {
        files::write(path, Existing::Replace, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }
}
