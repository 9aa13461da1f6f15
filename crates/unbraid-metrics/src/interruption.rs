//! Scores that can be stopped while they are computed: some of them fit learners for seconds.

use rayon::ThreadPoolBuilder;
use std::cell::OnceCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The request to stop that the work of this thread heeds.
    static REQUEST: OnceCell<Arc<AtomicBool>> = const { OnceCell::new() };
}

/// The payload with which [`interruptible`] work unwinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Does some work on threads of its own, as many as the current ones, and ends it soon after `request` becomes true: learners
/// look at it before each of their steps, which take milliseconds. The work then unwinds with the payload [`Interrupted`],
/// without the message of a panic; catch it with [`std::panic::catch_unwind`].
///
/// Work that was done when the request came gives its result. Without threads of its own, if the system has no more of them,
/// it goes on to its end.
///
/// ```
/// use std::panic::catch_unwind;
/// use std::sync::{Arc, atomic::AtomicBool};
/// use ndarray::array;
/// use unbraid_metrics::learners::{BoostingParameters, GradientBoosting};
/// use unbraid_metrics::{Classes, Interrupted, interruptible};
///
/// let fit = || {
///     let classes = Classes::new(array![0, 0, 1, 1].view());
///     GradientBoosting::fit(array![[0.0], [0.1], [0.9], [1.0]].view(), &classes, &BoostingParameters::default())
/// };
/// assert!(interruptible(&Arc::new(AtomicBool::new(false)), fit).is_ok());
/// let stopped = catch_unwind(|| interruptible(&Arc::new(AtomicBool::new(true)), fit));
/// assert!(stopped.unwrap_err().is::<Interrupted>());
/// ```
pub fn interruptible<T: Send>(request: &Arc<AtomicBool>, work: impl FnOnce() -> T + Send) -> T {
    let request = Arc::clone(request);
    let pool = ThreadPoolBuilder::new()
        .num_threads(rayon::current_num_threads())
        .thread_name(|number| format!("unbraid {number}"))
        .start_handler(move |_| REQUEST.with(|own| drop(own.set(Arc::clone(&request)))))
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Ends the work of this thread if that is requested.
pub(crate) fn check() {
    if REQUEST.with(|own| own.get().is_some_and(|request| request.load(Ordering::Relaxed))) {
        resume_unwind(Box::new(Interrupted));
    }
}
