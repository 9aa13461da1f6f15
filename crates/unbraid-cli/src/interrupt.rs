//! Ctrl-C, SIGTERM and SIGUSR1, with which schedulers announce the end: a signal ends the process at once while there is
//! nothing to save, and asks for an orderly end while there is.

use crate::failure::{Failure, Outcome};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Remembers that a signal came.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends the process.
    at_once: Arc<AtomicBool>,
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// What it counts as: SIGINT or SIGTERM.
    pub signal: u8,
    /// Whether a second one like it means "at once". SIGUSR1 does not: a scheduler's warning may come on top of the
    /// SIGTERM that it sends to every process of a job.
    pub insists: bool,
}

/// Every signal, and the one that it counts as.
const SIGNALS: [(i32, i32); 3] = [(SIGINT, SIGINT), (SIGTERM, SIGTERM), (SIGUSR1, SIGTERM)];

impl Interrupt {
    /// Listens from now on. Until [`Interrupt::save_first`], a signal ends the process with the code a shell expects,
    /// 128 plus its number; after that, the second one does.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn listen() -> Outcome<Self> {
        Self::register(true)
    }

    /// The same, except that after [`Interrupt::save_first`] no number of signals ends the process: for those who are
    /// asked to end by several at a time, and for those who count.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn listen_patiently() -> Outcome<Self> {
        Self::register(false)
    }

    fn register(second_ends: bool) -> Outcome<Self> {
        let interrupt = Self::default();
        interrupt.end_at_once();
        for (signal, counts_as) in SIGNALS {
            let (at_once, noted) = (&interrupt.at_once, &interrupt.signal);
            // In this order: the first signal to be saved for finds `at_once` unset, then sets it.
            flag::register_conditional_shutdown(signal, 128 + counts_as, Arc::clone(at_once))
                .and_then(|id| if second_ends { flag::register(signal, Arc::clone(at_once)) } else { Ok(id) })
                .and_then(|_| flag::register_usize(signal, Arc::clone(noted), signal.unsigned_abs() as usize))
                .map_err(|error| Failure::run(format!("cannot listen for signals: {error}")))?;
        }
        Ok(interrupt)
    }

    /// From now on there is something to save: a signal is noted.
    pub fn save_first(&self) {
        self.at_once.store(false, Ordering::SeqCst);
    }

    /// From now on the first signal ends the process: there is nothing left to save. One that came before is still to be
    /// asked for.
    pub fn end_at_once(&self) {
        self.at_once.store(true, Ordering::SeqCst);
    }

    /// As if SIGTERM had come.
    pub fn stop(&self) {
        // The order matters: whoever calls `end_at_once` and then asks for a signal either finds this one, or we find
        // that there is nothing left to save.
        self.signal.store(SIGTERM.unsigned_abs() as usize, Ordering::SeqCst);
        if self.at_once.load(Ordering::SeqCst) {
            std::process::exit(128 + SIGTERM);
        }
    }

    /// The number of the signal that came, if one did.
    pub fn signal(&self) -> Option<u8> {
        noted(self.signal.load(Ordering::SeqCst)).map(|noted| noted.signal)
    }

    /// The signal that came, if one did; forgets it.
    pub fn take_signal(&self) -> Option<Noted> {
        noted(self.signal.swap(0, Ordering::SeqCst))
    }
}

fn noted(number: usize) -> Option<Noted> {
    let known = |(signal, _): &&(i32, i32)| signal.unsigned_abs() as usize == number;
    let (signal, counts_as) = SIGNALS.iter().find(known)?;
    Some(Noted { signal: u8::try_from(*counts_as).ok()?, insists: *signal != SIGUSR1 })
}

/// The name of a signal that [`Interrupt`] notes.
pub(crate) fn name(signal: u8) -> &'static str {
    if i32::from(signal) == SIGINT { "SIGINT" } else { "SIGTERM" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_noted_until_it_is_taken() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.signal(), None);
        interrupt.stop();
        assert_eq!(interrupt.signal(), Some(15));
        assert_eq!(interrupt.take_signal(), Some(Noted { signal: 15, insists: true }));
        assert_eq!(interrupt.take_signal(), None);
        // SIGUSR1.
        assert_eq!(noted(10), Some(Noted { signal: 15, insists: false }));
    }
}
