//! Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends at once.

use crate::failure::{Failure, Outcome};
use signal_hook::consts::{SIGINT, SIGTERM};
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

impl Interrupt {
    /// Listens for SIGINT and SIGTERM from now on. A second one ends the process with the code a shell expects, 128 plus
    /// the signal's number.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn listen() -> Outcome<Self> {
        let interrupt = Self::default();
        let again = &interrupt.at_once;
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds `again` unset, then sets it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(again))
                .and_then(|_| flag::register(signal, Arc::clone(again)))
                .and_then(|_| {
                    flag::register_usize(
                        signal,
                        Arc::clone(&interrupt.signal),
                        signal.unsigned_abs() as usize,
                    )
                })
                .map_err(|error| Failure::run(format!("cannot listen for signals: {error}")))?;
        }
        Ok(interrupt)
    }

    /// From now on the first signal ends the process: there is nothing left to save.
    pub fn end_at_once(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }

    /// The number of the signal that came, if one did.
    pub fn signal(&self) -> Option<u8> {
        u8::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}

/// The name of a signal that [`Interrupt`] listens for.
pub(super) fn name(signal: u8) -> &'static str {
    if i32::from(signal) == SIGINT { "SIGINT" } else { "SIGTERM" }
}
