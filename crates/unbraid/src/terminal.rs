//! What a person sees while waiting: bars on a terminal, plain lines elsewhere; always on standard error.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
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
