//! Ctrl-C, SIGTERM, SIGHUP when the terminal closes, and SIGUSR1, with which schedulers announce the end: a
//! signal ends the process at once while there is nothing to save, and asks for an orderly end while there
//! is.

use crate::error::{Outcome, after};
use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use unbraid::run::{Signal, StopSignal};
use unbraid_study::{StopRequest, StopRequests};

/// Remembers that a signal came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends the process.
    at_once: Arc<AtomicBool>,
}

/// Every signal, and the one that it counts as.
const SIGNALS: [(i32, Signal); 4] = [
    (SIGINT, Signal::Interrupt),
    (SIGTERM, Signal::Terminate),
    (SIGHUP, Signal::Terminate),
    (SIGUSR1, Signal::Terminate),
];

impl Interrupt {
    /// Listens from now on. Until [`StopSignal::defer`], a signal ends the process with the code a shell expects,
    /// 128 plus its number; after that, the second one does.
    ///
    /// # Errors
    /// If the system does not let us.
    pub(crate) fn listen() -> Outcome<Self> {
        Self::register(true)
    }

    /// The same, except that after [`StopSignal::defer`] no number of signals ends the process: for those who are
    /// asked to end by several at a time, and for those who count.
    ///
    /// # Errors
    /// If the system does not let us.
    pub(crate) fn listen_patiently() -> Outcome<Self> {
        Self::register(false)
    }

    fn register(second_ends: bool) -> Outcome<Self> {
        let interrupt = Self::default();
        interrupt.resume_default();
        for (signal, counts_as) in SIGNALS.into_iter().filter(|(signal, _)| !is_ignored(*signal)) {
            let (at_once, noted) = (&interrupt.at_once, &interrupt.signal);
            // In this order: the first signal to be saved for finds `at_once` unset, then sets it.
            flag::register_conditional_shutdown(signal, i32::from(after(counts_as)), Arc::clone(at_once))
                .and_then(|id| if second_ends { flag::register(signal, Arc::clone(at_once)) } else { Ok(id) })
                .and_then(|_| flag::register_usize(signal, Arc::clone(noted), signal.unsigned_abs() as usize))
                .context("cannot listen for signals")?;
        }
        Ok(interrupt)
    }

    /// As if SIGTERM had come.
    pub(crate) fn stop(&self) {
        // The order matters: whoever calls `resume_default` and then asks for a signal either finds this one,
        // or we find that there is nothing left to save.
        self.signal.store(SIGTERM.unsigned_abs() as usize, Ordering::SeqCst);
        if self.at_once.load(Ordering::SeqCst) {
            std::process::exit(i32::from(after(Signal::Terminate)));
        }
    }
}

impl StopSignal for Interrupt {
    fn received(&self) -> Option<Signal> {
        noted(self.signal.load(Ordering::SeqCst)).map(|request| request.signal)
    }

    fn defer(&self) {
        self.at_once.store(false, Ordering::SeqCst);
    }

    fn resume_default(&self) {
        self.at_once.store(true, Ordering::SeqCst);
    }
}

impl StopRequests for Interrupt {
    fn take(&self) -> Option<StopRequest> {
        noted(self.signal.swap(0, Ordering::SeqCst))
    }
}

/// Whether whoever started us wants a signal to be ignored, as `nohup` does with SIGHUP. Where the system
/// does not tell, SIGHUP is left as it is.
fn is_ignored(signal: i32) -> bool {
    if signal != SIGHUP {
        return false;
    }
    let status = std::fs::read_to_string("/proc/self/status");
    status.ok().and_then(|status| ignored_in(&status, signal)).unwrap_or(true)
}

/// `SigIgn:\t0000000000000001`: a bit for each signal, the first for signal 1.
fn ignored_in(status: &str, signal: i32) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> (signal - 1) & 1 == 1)
}

fn noted(number: usize) -> Option<StopRequest> {
    let known = |(signal, _): &&(i32, Signal)| signal.unsigned_abs() as usize == number;
    let (signal, counts_as) = SIGNALS.iter().find(known)?;
    // A scheduler's warning may come on top of the SIGTERM that it sends to every process of a job.
    Some(StopRequest { signal: *counts_as, insists: *signal != SIGUSR1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_are_ignored_are_found() {
        let status = "Name:\tunbraid\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
        assert_eq!(ignored_in(status, SIGHUP), Some(true));
        assert_eq!(ignored_in(status, SIGINT), Some(false));
        assert_eq!(ignored_in("Name:\tunbraid\n", SIGHUP), None);
    }

    #[test]
    fn a_signal_is_noted_until_it_is_taken() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.received(), None);
        interrupt.stop();
        assert_eq!(interrupt.received(), Some(Signal::Terminate));
        assert_eq!(interrupt.take(), Some(StopRequest { signal: Signal::Terminate, insists: true }));
        assert_eq!(interrupt.take(), None);
        // SIGUSR1.
        assert_eq!(noted(10), Some(StopRequest { signal: Signal::Terminate, insists: false }));
    }
}
