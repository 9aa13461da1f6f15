//! The heart of a process that runs a study: a thread that renews its claims.

use super::claim::{Beat, Claim};
use crate::failure::{Failure, Outcome};
use crate::terminal::log_line;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Claims by the numbers of their runs.
type Kept = BTreeMap<usize, Beating>;

#[derive(Debug)]
struct Beating {
    claim: Claim,
    is_lost: bool,
    /// Whether it has been said that the claim cannot be renewed.
    is_weak: bool,
}

/// Renews claims until it is dropped, and gives them back then.
#[derive(Debug)]
pub struct Heart {
    kept: Arc<Mutex<Kept>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heart {
    /// Begins to beat, once every `interval`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(interval: Duration) -> Outcome<Self> {
        let kept = Arc::new(Mutex::new(Kept::new()));
        let (stop, stopped) = mpsc::channel();
        let theirs = Arc::clone(&kept);
        let beat = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                lock(&theirs).values_mut().for_each(Beating::beat);
            }
        };
        let thread = std::thread::Builder::new()
            .name("heart".to_owned())
            .spawn(beat)
            .map_err(|error| Failure::run(format!("cannot start a thread: {error}")))?;
        Ok(Self { kept, stop: Some(stop), thread: Some(thread) })
    }

    /// Renews a claim from now on.
    pub fn keep(&self, number: usize, claim: Claim) {
        lock(&self.kept).insert(number, Beating { claim, is_lost: false, is_weak: false });
    }

    /// Gives a claim back.
    pub fn release(&self, number: usize) {
        lock(&self.kept).remove(&number);
    }

    /// The runs that others have taken over.
    pub fn lost(&self) -> Vec<usize> {
        lock(&self.kept).iter().filter(|(_, beating)| beating.is_lost).map(|(number, _)| *number).collect()
    }
}

impl Beating {
    fn beat(&mut self) {
        match self.claim.beat() {
            Beat::Steady => self.is_weak = false,
            Beat::Lost => self.is_lost = true,
            Beat::Weak(failure) => {
                if !std::mem::replace(&mut self.is_weak, true) {
                    log_line(&format!("warning: {failure}"));
                }
            }
        }
    }
}

/// A panic elsewhere does not make the claims wrong.
fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Heart {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
