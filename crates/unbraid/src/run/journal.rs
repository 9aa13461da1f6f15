//! The record of a run on disk, written while it trains.

use super::checkpoint::{self, LogPosition};
use super::clock;
use super::log::{GrowingFile, Keep};
use super::meta::Meta;
use super::metrics;
use super::paths::RunPaths;
use super::signal::{Signal, StopSignal};
use super::status::{State, Status};
use super::tensorboard;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::error_chain;
use crate::observer::Observer;
use crate::train::{Journal, Row, Trainer};
use std::time::{Duration, Instant};

/// The interval at which `status.json` is updated as a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Writes the files of a run while it trains.
pub(super) struct FileJournal<'a> {
    paths: &'a RunPaths,
    observer: &'a dyn Observer,
    stop: &'a dyn StopSignal,
    config: &'a Config,
    step: u64,
    steps: u64,
    metrics: GrowingFile,
    rows: u64,
    events: GrowingFile,
    log: GrowingFile,
    /// Start time and number of steps of the row in progress, for its rate.
    timed: (Instant, u64),
    heartbeat: Instant,
    last_row: Option<Row>,
}

impl std::fmt::Debug for FileJournal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileJournal")
            .field("paths", &self.paths)
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}

impl<'a> FileJournal<'a> {
    /// Opens the files of a run that has done `step` of `steps` steps, truncated to `position`.
    ///
    /// # Errors
    /// If one cannot be opened, or is shorter than `position`.
    pub(super) fn open(
        paths: &'a RunPaths,
        config: &'a Config,
        (step, steps): (u64, u64),
        position: LogPosition,
        observer: &'a dyn Observer,
        stop: &'a dyn StopSignal,
    ) -> Result<Self> {
        let mut events =
            GrowingFile::open(&paths.tensorboard().join(tensorboard::FILE), Keep::Bytes(position.events))?;
        if position.events == 0 {
            events.append(&tensorboard::opening())?;
        }
        checkpoint::tidy(paths, step, config.training.keep_checkpoints);
        let mut journal = Self {
            paths,
            observer,
            stop,
            config,
            step,
            steps,
            metrics: GrowingFile::open(&paths.metrics(), Keep::Lines(position.rows))?,
            rows: position.rows,
            events,
            log: GrowingFile::open(&paths.log(), Keep::All)?,
            timed: (Instant::now(), 0),
            heartbeat: Instant::now(),
            last_row: None,
        };
        journal.write_status(State::Running, None)?;
        journal.note(&format!("training from step {step} to {steps}"))?;
        Ok(journal)
    }

    /// The newest row that was written since the journal was opened.
    pub(super) fn last_row(&self) -> Option<&Row> {
        self.last_row.as_ref()
    }

    /// Records that all steps are done.
    ///
    /// # Errors
    /// If this cannot be written.
    pub(super) fn complete(&mut self) -> Result {
        self.observer.training_stopped();
        // The last row may be younger than the last checkpoint.
        self.metrics.sync()?;
        self.events.sync()?;
        self.note("done")?;
        if let Some(meta) = Meta::read(&self.paths.meta()) {
            meta.finished_now().write(&self.paths.meta())?;
        }
        self.write_status(State::Done, None)
    }

    /// Records that training stopped on request after writing a checkpoint; returns the error to report.
    pub(super) fn interrupted(&mut self) -> Error {
        self.observer.training_stopped();
        let signal = self.stop.received().unwrap_or(Signal::Terminate);
        let status = Status::interrupted(signal, self.step, self.steps);
        let message = status.error.clone().unwrap_or_default();
        let recorded = self.note(&message).and_then(|()| status.write(&self.paths.status()));
        if let Err(error) = recorded {
            return error;
        }
        Error::Interrupted { path: self.paths.root().to_owned(), step: self.step, signal }
    }

    /// Records that training failed, and why; returns the error to report.
    pub(super) fn failed(&mut self, error: Error) -> Error {
        self.observer.training_stopped();
        let error = match error {
            Error::LossNotFinite { step, term, value, .. } => {
                Error::LossNotFinite { step, term, value, checkpoint: checkpoint::last_good(self.paths) }
            }
            other => other,
        };
        let message = error_chain(&error);
        // If it cannot be recorded, it is at least returned.
        let _ = self.note(&format!("failed: {message}"));
        let _ = self.write_status(State::Failed, Some(&message));
        error
    }

    fn note(&mut self, message: &str) -> Result {
        self.log.append(format!("{} {message}\n", clock::timestamp()).as_bytes())
    }

    fn write_status(&mut self, state: State, error: Option<&str>) -> Result {
        self.heartbeat = Instant::now();
        let status = Status::now(state, self.step, self.steps);
        let status = error.map_or(status.clone(), |error| status.with_error(error));
        status.write(&self.paths.status())
    }
}

impl Journal for FileJournal<'_> {
    fn step(&mut self, step: u64, loss: f64) -> Result {
        self.step = step;
        self.timed.1 += 1;
        self.observer.step(step, loss);
        if self.heartbeat.elapsed() >= HEARTBEAT {
            self.write_status(State::Running, None)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row) -> Result {
        let (since, steps) = std::mem::replace(&mut self.timed, (Instant::now(), 0));
        let rate =
            (steps * self.config.training.batch_size as u64) as f64 / since.elapsed().as_secs_f64().max(1e-9);
        self.metrics.append(metrics::line(row, rate).as_bytes())?;
        self.rows += 1;
        self.events.append(&tensorboard::scalars(row))?;
        self.observer.row(row, rate);
        self.last_row = Some(row.clone());
        Ok(())
    }

    fn checkpoint(&mut self, trainer: &Trainer<'_>, snapshot: bool) -> Result {
        // The checkpoint records the length of these files, so they must be on disk before it.
        self.metrics.sync()?;
        self.events.sync()?;
        let position = LogPosition { rows: self.rows, events: self.events.length() };
        let keep = self.config.training.keep_checkpoints;
        checkpoint::save(self.paths, trainer, self.config, position, snapshot.then_some(keep))?;
        self.note(&format!("checkpoint of step {}", trainer.steps_done()))
    }

    fn best(&mut self, trainer: &Trainer<'_>) -> Result {
        if !self.config.training.keep_best {
            return Ok(());
        }
        checkpoint::save_best(self.paths, trainer, self.config)?;
        self.note(&format!("best held-out loss so far at step {}", trainer.steps_done()))
    }

    fn should_stop(&self) -> bool {
        self.stop.received().is_some()
    }
}
