//! Room in memory for pictures that are decoded side by side: a folder of large ones on a machine with many
//! cores must not take all of it.

use crate::memory;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How much is taken.
static TAKEN: Mutex<u64> = Mutex::new(0);
static GIVEN_BACK: Condvar = Condvar::new();

/// Bytes that are taken until this is dropped.
#[derive(Debug)]
pub(super) struct Room(u64);

/// Waits until this many bytes are free among a quarter of what this process may take. A picture that needs
/// more than that is decoded when it is alone. Who has room must not wait for more.
pub(super) fn take(bytes: u64) -> Room {
    let most = memory::limit() / 4;
    let mut taken = taken();
    while *taken > 0 && taken.saturating_add(bytes) > most {
        taken = GIVEN_BACK.wait(taken).unwrap_or_else(PoisonError::into_inner);
    }
    *taken = taken.saturating_add(bytes);
    Room(bytes)
}

/// A number is whole whatever happened to the thread that held it.
fn taken() -> MutexGuard<'static, u64> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut taken = taken();
        *taken = taken.saturating_sub(self.0);
        GIVEN_BACK.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn those_that_do_not_fit_together_wait_for_each_other() {
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        // Two of them are more than there is; each alone is given room, though it is more than there is, too.
        let bytes = memory::limit() / 2;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let room = take(bytes);
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(room);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
}
