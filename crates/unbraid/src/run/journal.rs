//! The record of a run on disk.

use super::checkpoint::{self, Position};
use super::clock;
use super::directory::RunDirectory;
use super::interrupt::{self, Interrupt};
use super::log::{GrowingFile, Keep};
use super::meta::Meta;
use super::metrics;
use super::status::{State, Status};
use super::tensorboard;
use crate::config::Config;
use crate::failure::{Failure, Outcome};
use crate::train::{Journal, Row, TrainError, Trainer};
use std::time::{Duration, Instant};

/// How often `status.json` shows that the run is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Somebody who looks on, such as a terminal.
pub trait Watcher {
    /// Training goes from `step` to `steps`.
    fn begin(&self, step: u64, steps: u64);
    /// A step is done.
    fn step(&self, step: u64, loss: f64);
    /// A row was logged.
    fn row(&self, row: &Row, images_per_second: f64);
    /// Training is over, one way or another.
    fn end(&self);
}

/// Writes the files of a run while it trains.
pub struct FileJournal<'a> {
    run: &'a RunDirectory,
    watcher: &'a dyn Watcher,
    interrupt: &'a Interrupt,
    fingerprint: String,
    batch_size: usize,
    keep: usize,
    step: u64,
    steps: u64,
    metrics: GrowingFile,
    rows: u64,
    events: GrowingFile,
    log: GrowingFile,
    /// Since when, and how many steps, for the rate of the row in progress.
    timed: (Instant, u64),
    heartbeat: Instant,
    last_row: Option<Row>,
}

impl std::fmt::Debug for FileJournal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileJournal")
            .field("run", &self.run)
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}

impl<'a> FileJournal<'a> {
    /// Opens the files of a run that stands at `step` of `steps`, cut back to `position`.
    ///
    /// # Errors
    /// If one cannot be opened, or is shorter than it was.
    pub fn open(
        run: &'a RunDirectory,
        config: &Config,
        (step, steps): (u64, u64),
        position: Position,
        watcher: &'a dyn Watcher,
        interrupt: &'a Interrupt,
    ) -> Outcome<Self> {
        let mut events =
            GrowingFile::open(&run.tensorboard().join(tensorboard::FILE), Keep::Bytes(position.events))?;
        if position.events == 0 {
            events.append(&tensorboard::opening())?;
        }
        checkpoint::tidy(run, step, config.training.keep_checkpoints);
        let mut journal = Self {
            run,
            watcher,
            interrupt,
            fingerprint: config.fingerprint(),
            batch_size: config.training.batch_size,
            keep: config.training.keep_checkpoints,
            step,
            steps,
            metrics: GrowingFile::open(&run.metrics(), Keep::Lines(position.rows))?,
            rows: position.rows,
            events,
            log: GrowingFile::open(&run.log(), Keep::All)?,
            timed: (Instant::now(), 0),
            heartbeat: Instant::now(),
            last_row: None,
        };
        journal.write_status(State::Running, None)?;
        journal.note(&format!("training from step {step} to {steps}"))?;
        watcher.begin(step, steps);
        Ok(journal)
    }

    /// The newest row that was written since the journal was opened.
    pub fn last_row(&self) -> Option<&Row> {
        self.last_row.as_ref()
    }

    /// Everything is done.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn complete(&mut self) -> Outcome {
        self.watcher.end();
        self.note("done")?;
        if let Some(meta) = Meta::read(&self.run.meta()) {
            meta.finished_now().write(&self.run.meta())?;
        }
        self.write_status(State::Done, None)
    }

    /// A signal came, and all is saved; gives the failure to report, with how to go on.
    pub fn interrupted(&mut self) -> Failure {
        self.watcher.end();
        let signal = self.interrupt.signal().unwrap_or(2);
        let status = Status::now(State::Failed, self.step, self.steps).interrupted(interrupt::name(signal));
        let message = status.error.clone().unwrap_or_default();
        let recorded = self.note(&message).and_then(|()| status.write(&self.run.status()));
        if let Err(failure) = recorded {
            return failure;
        }
        let path = self.run.path().display();
        Failure::Interrupted {
            signal,
            message: format!(
                "{message}; a checkpoint is written\nhint: unbraid train --resume --out {path} goes on"
            ),
        }
    }

    /// Training failed; records why and gives the failure to report.
    pub fn failed(&mut self, error: TrainError) -> Failure {
        self.watcher.end();
        let failure = match error {
            TrainError::NotFinite { step, term, value } => Failure::run(format!(
                "step {step}: the term `{term}` is {value}; training cannot go on\n\
                 hint: the last good checkpoint is {}; a smaller optimizer.learning_rate or \
                 optimizer.gradient_clip may help",
                checkpoint::last_good(self.run)
            )),
            TrainError::Data(error) => Failure::Run(error.into()),
            TrainError::Journal(failure) => failure,
        };
        let message = failure.to_string();
        // What cannot be recorded is at least reported.
        let _ = self.note(&format!("failed: {message}"));
        let _ = self.write_status(State::Failed, Some(&message));
        failure
    }

    fn note(&mut self, message: &str) -> Outcome {
        self.log.append(format!("{} {message}\n", clock::timestamp()).as_bytes())
    }

    fn write_status(&mut self, state: State, error: Option<&str>) -> Outcome {
        self.heartbeat = Instant::now();
        let status = Status::now(state, self.step, self.steps);
        let status = error.map_or(status.clone(), |error| status.with_error(error));
        status.write(&self.run.status())
    }
}

impl Journal for FileJournal<'_> {
    fn step(&mut self, step: u64, loss: f64) -> Outcome {
        self.step = step;
        self.timed.1 += 1;
        self.watcher.step(step, loss);
        if self.heartbeat.elapsed() >= HEARTBEAT {
            self.write_status(State::Running, None)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row) -> Outcome {
        let (since, steps) = std::mem::replace(&mut self.timed, (Instant::now(), 0));
        let rate = (steps * self.batch_size as u64) as f64 / since.elapsed().as_secs_f64().max(1e-9);
        self.metrics.append(metrics::line(row, rate).as_bytes())?;
        self.rows += 1;
        self.events.append(&tensorboard::scalars(row))?;
        self.watcher.row(row, rate);
        self.last_row = Some(row.clone());
        Ok(())
    }

    fn checkpoint(&mut self, trainer: &Trainer<'_>, snapshot: bool) -> Outcome {
        // The checkpoint says how long these files are, so that much must be on disk before it is.
        self.metrics.sync()?;
        self.events.sync()?;
        let position = Position { rows: self.rows, events: self.events.length() };
        checkpoint::save(self.run, trainer, &self.fingerprint, position, snapshot.then_some(self.keep))?;
        self.note(&format!("checkpoint of step {}", trainer.steps_done()))
    }

    fn should_stop(&self) -> bool {
        self.interrupt.signal().is_some()
    }
}
