//! The heartbeat of a process that runs a study: a thread that renews its leases.

use super::{Lease, Renewal};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the thread and its owner share.
#[derive(Debug, Default)]
struct Shared {
    /// Leases by the numbers of their runs.
    leases: BTreeMap<usize, Renewed>,
    /// Leases that could not be renewed, one error for each.
    errors: Vec<Error>,
}

#[derive(Debug)]
struct Renewed {
    lease: Lease,
    is_lost: bool,
    /// Whether the last renewal failed, which is reported once.
    is_failing: bool,
}

/// Renews leases until it is dropped, and releases them then.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    shared: Arc<Mutex<Shared>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts to renew leases, once every `interval`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn start(interval: Duration) -> Result<Self> {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (stop, stopped) = mpsc::channel();
        let theirs = Arc::clone(&shared);
        let renew = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                lock(&theirs).renew();
            }
        };
        let thread = std::thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(renew)
            .map_err(Error::StartThread)?;
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Renews a lease from now on.
    pub(crate) fn keep(&self, number: usize, lease: Lease) {
        lock(&self.shared).leases.insert(number, Renewed { lease, is_lost: false, is_failing: false });
    }

    /// Releases a lease.
    pub(crate) fn release(&self, number: usize) {
        lock(&self.shared).leases.remove(&number);
    }

    /// The runs that other processes have taken over.
    pub(crate) fn lost(&self) -> Vec<usize> {
        let shared = lock(&self.shared);
        shared.leases.iter().filter(|(_, renewed)| renewed.is_lost).map(|(number, _)| *number).collect()
    }

    /// The errors in renewing leases since the last call.
    pub(crate) fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut lock(&self.shared).errors)
    }
}

impl Shared {
    fn renew(&mut self) {
        for renewed in self.leases.values_mut() {
            match renewed.lease.renew() {
                Renewal::Renewed => renewed.is_failing = false,
                Renewal::Lost => renewed.is_lost = true,
                Renewal::Failed(error) => {
                    if !std::mem::replace(&mut renewed.is_failing, true) {
                        self.errors.push(error);
                    }
                }
            }
        }
    }
}

/// A panic elsewhere does not make the leases wrong.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
