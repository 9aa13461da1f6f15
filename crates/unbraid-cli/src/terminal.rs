//! What a person sees while waiting: bars on a terminal, plain lines elsewhere; always on standard error.

use crate::run::Watcher;
use crate::train::Row;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use unbraid_data::progress::Progress;

/// Work that is over sooner than this many items needs no line of its own in a log.
const QUIET_BELOW: u64 = 1000;

/// Shows the progress of reading data.
#[derive(Debug, Default)]
pub struct TerminalProgress {
    bar: Mutex<Option<ProgressBar>>,
    quiet: bool,
}

impl TerminalProgress {
    /// Shows progress unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { bar: Mutex::new(None), quiet }
    }

    fn with_bar(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        // A poisoned lock means that a worker panicked; the bar is then of no interest any more.
        if let Ok(mut bar) = self.bar.lock() {
            act(&mut bar);
        }
    }
}

impl Progress for TerminalProgress {
    fn start(&self, what: &str, total: u64) {
        if self.quiet {
            return;
        }
        if !std::io::stderr().is_terminal() {
            if total >= QUIET_BELOW {
                log_line(&format!("{what}: {total}"));
            }
            return;
        }
        let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta:>4}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸ ");
        let bar = ProgressBar::new(total).with_style(style).with_message(what.to_owned());
        self.with_bar(|slot| *slot = Some(bar));
    }

    fn advance(&self, items: u64) {
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.inc(items);
            }
        });
    }

    fn finish(&self) {
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
    }

    fn note(&self, message: &str) {
        if self.quiet {
            return;
        }
        self.with_bar(|slot| match slot {
            Some(bar) => bar.suspend(|| log_line(message)),
            None => log_line(message),
        });
    }
}

/// One line on standard error. That nobody reads it is no reason to fail.
pub fn log_line(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Shows the progress of training: a bar with rate, loss and time left on a terminal, a line now and then elsewhere.
#[derive(Debug)]
pub struct TrainingDisplay {
    bar: ProgressBar,
    quiet: bool,
    last_line: Mutex<Option<Instant>>,
}

/// Lines in a log are at least this far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl TrainingDisplay {
    /// Shows progress unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { bar: ProgressBar::hidden(), quiet, last_line: Mutex::new(None) }
    }

    fn on_terminal(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }
}

impl Watcher for TrainingDisplay {
    fn begin(&self, step: u64, steps: u64) {
        if !self.on_terminal() {
            return;
        }
        let style = ProgressStyle::with_template(
            "step {human_pos}/{human_len} {wide_bar} {msg}  {rate} steps/s  {eta:>4} left",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
            // A bar that cannot be drawn is no reason to stop training.
            let _ = write!(text, "{:.1}", state.per_sec());
        })
        .progress_chars("━╸ ");
        self.bar.set_style(style);
        self.bar.set_length(steps);
        self.bar.set_position(step);
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.bar.reset_eta();
    }

    fn step(&self, step: u64, loss: f64) {
        if self.on_terminal() {
            self.bar.set_message(format!("loss {loss:.1}"));
            self.bar.set_position(step);
        }
    }

    fn row(&self, row: &Row, images_per_second: f64) {
        if self.quiet || self.on_terminal() {
            return;
        }
        let Ok(mut last) = self.last_line.lock() else { return };
        if last.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
            *last = Some(Instant::now());
            let value = |key: &str| row.get(key).unwrap_or(f64::NAN);
            log_line(&format!(
                "step {}: loss {:.3}, reconstruction {:.3}, kl {:.3}, {images_per_second:.0} images/s",
                row.step,
                value("train/loss"),
                value("train/reconstruction"),
                value("train/kl"),
            ));
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
