//! Calls of others' parsers on files from strangers, which must not end this process.
//!
//! hdf5-reader, parquet and tract check what they read, and their errors are ours to report. They still index
//! and unwrap what a file that breaks the rules of its format can make empty, in more places than could be
//! checked in advance. A panic of theirs is therefore caught as the last resort, and becomes the same kind of
//! message.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is in a call whose panic is reported as an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives, or the words of its panic, which standard error does not get. (It still gets those of a
/// panic in another thread that `work` waits for.)
///
/// # Errors
/// If it panics.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    silence();
    let before = IS_GUARDED.replace(true);
    // What is left half-done is dropped: nothing of it is used after a panic.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    done.map_err(|payload| words_of(payload.as_ref()))
}

/// Keeps the default report of a panic from standard error, in guarded calls only.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
}

fn words_of(payload: &(dyn Any + Send)) -> String {
    let words = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    words.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_words() {
        let empty: Vec<usize> = Vec::new();
        let place = empty.len() + 2;
        let found = guarded(|| empty[place]);
        assert_eq!(found.unwrap_err(), "index out of bounds: the len is 0 but the index is 2");
        assert_eq!(guarded(|| 1), Ok(1));
    }

    #[test]
    fn a_guard_within_another_leaves_it_in_place() {
        let inner_and_after = guarded(|| (guarded(|| IS_GUARDED.get()), IS_GUARDED.get()));
        assert_eq!(inner_and_after, Ok((Ok(true), true)));
        assert!(!IS_GUARDED.get());
    }
}
