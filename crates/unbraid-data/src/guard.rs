//! Calls of the ONNX runtime on files from strangers, which must not end this process.
//!
//! tract checks what it reads, and its errors are ours to report. Some of its operators still index and unwrap what a graph
//! that breaks the format's rules can make empty, and there are hundreds of them: more than `graph` can check in advance.
//! A panic of theirs is therefore caught as the last resort, and becomes the same kind of message.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use tract_onnx::prelude::TractResult;

thread_local! {
    /// Whether this thread is in a call whose panic is reported as an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What the runtime gives, or what it says is wrong.
pub(super) fn guarded<T>(work: impl FnOnce() -> TractResult<T>) -> Result<T, String> {
    silence();
    IS_GUARDED.set(true);
    // What is left half-done is dropped: nothing of it is used after a panic.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("{error:#}")),
        Err(payload) => Err(words_of(payload.as_ref())),
    }
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
        let found = guarded(|| Ok(empty[place]));
        assert_eq!(found.unwrap_err(), "index out of bounds: the len is 0 but the index is 2");
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        assert!(!IS_GUARDED.get());
    }
}
