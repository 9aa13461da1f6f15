//! Threads that stay awake between the parallel parts of a training step.

use std::cell::Cell;
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon::Yield;

/// How long a thread looks for tasks in vain before it may fall asleep: longer than most parts of a step that one thread
/// computes alone, and nothing compared with a step that has hardly any other.
const PATIENCE: Duration = Duration::from_micros(300);

/// Pauses of the processor between two looks, about a microsecond.
const PAUSES: usize = 32;

/// Looks between two readings of the clock.
const LOOKS: usize = 16;

/// Calls `work`, during which the other threads of the current pool look for its tasks instead of falling asleep at once.
///
/// A thread of rayon that finds nothing to do falls asleep after some ten microseconds, and waking it takes longer than many
/// of the tasks between two layers: on a virtual machine with two cores, a step had forty such pauses and took 5 % longer. A
/// thread that has found nothing for 300 microseconds may sleep until the next call. Outside of a pool, and in one of a single
/// thread, this only calls `work`.
///
/// ```
/// use rayon::prelude::*;
/// use unbraid_kernels::with_threads_awake;
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let sum: u64 = pool.install(|| with_threads_awake(|| (0..10_u64).into_par_iter().sum()));
/// assert_eq!(sum, 45);
/// ```
pub fn with_threads_awake<T>(work: impl FnOnce() -> T) -> T {
    if rayon::current_thread_index().is_none() || rayon::current_num_threads() < 2 {
        return work();
    }
    let end = End::default();
    rayon::spawn_broadcast({
        let ended = Arc::clone(&end.0);
        move |_| look_for_tasks(&ended)
    });
    let _taking_part = TakingPart::begin();
    work()
}

/// Whether the threads of the pool have only the tasks of this one to do: within [`with_threads_awake`].
pub(crate) fn threads_are_awake() -> bool {
    IS_TAKING_PART.get()
}

/// Set when the work has ended, also by a panic.
#[derive(Default)]
struct End(Arc<AtomicBool>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

thread_local! {
    static IS_TAKING_PART: Cell<bool> = const { Cell::new(false) };
}

/// That this thread computes, or looks for, tasks of some work. While it waits for a task of its own, rayon may hand it the
/// call to look for those of other work; it must not get caught in that, nor go from one call into another.
struct TakingPart;

impl TakingPart {
    /// `None` if it takes part already.
    fn begin() -> Option<Self> {
        (!IS_TAKING_PART.replace(true)).then(|| Self)
    }
}

impl Drop for TakingPart {
    fn drop(&mut self) {
        IS_TAKING_PART.set(false);
    }
}

/// Executes tasks of the pool until `ended`, or until there have been none for some time.
fn look_for_tasks(ended: &AtomicBool) {
    let Some(_taking_part) = TakingPart::begin() else { return };
    let mut last_task = Instant::now();
    let mut looks = 0;
    while !ended.load(Ordering::Acquire) {
        if rayon::yield_now() == Some(Yield::Executed) {
            (last_task, looks) = (Instant::now(), 0);
            continue;
        }
        (0..PAUSES).for_each(|_| hint::spin_loop());
        looks += 1;
        if looks % LOOKS == 0 {
            if last_task.elapsed() > PATIENCE {
                break;
            }
            // Where there are more threads than cores, somebody else may have work to do.
            thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads")
    }

    #[test]
    fn tasks_are_done_on_any_number_of_threads() {
        let sums = || -> Vec<u64> {
            let sum = |step: u64| (0..100).into_par_iter().map(|value: u64| value + step).sum();
            (0..200).map(|step| with_threads_awake(|| sum(step))).collect()
        };
        let expected: Vec<u64> = (0..200).map(|step| 4950 + 100 * step).collect();
        assert_eq!(sums(), expected, "outside of a pool");
        for threads in [1, 2, 3, 8] {
            assert_eq!(pool(threads).install(sums), expected, "{threads} threads");
        }
    }

    /// The caller waits for a task that only another thread can have taken, at a time when that thread has had nothing to do.
    #[test]
    fn another_thread_takes_a_task() {
        let taken = AtomicBool::new(false);
        let wait = || {
            while !taken.load(Ordering::Acquire) {
                hint::spin_loop();
            }
            rayon::current_thread_index()
        };
        let take = || {
            taken.store(true, Ordering::Release);
            rayon::current_thread_index()
        };
        let (caller, other) = pool(2).install(|| with_threads_awake(|| rayon::join(wait, take)));
        assert_ne!(caller, other);
    }

    /// A task that another thread takes runs within its search for tasks, once that has begun. The search may begin late, so
    /// this is tried until it has been seen.
    #[test]
    fn another_thread_is_looking() {
        let seen = || {
            let taken = AtomicBool::new(false);
            let wait = || {
                while !taken.load(Ordering::Acquire) {
                    hint::spin_loop();
                }
            };
            let take = || {
                let looks = threads_are_awake();
                taken.store(true, Ordering::Release);
                looks
            };
            rayon::join(wait, take).1
        };
        let pool = pool(2);
        assert!(pool.install(|| (0..10_000).any(|_| with_threads_awake(seen))));
        assert!(!pool.install(|| (0..100).any(|_| seen())), "without");
    }

    #[test]
    fn a_search_ends() {
        let search = |ended| {
            let started = Instant::now();
            look_for_tasks(&AtomicBool::new(ended));
            started.elapsed()
        };
        pool(2).install(|| {
            assert!(search(false) > PATIENCE, "as long as there may be tasks");
            assert!(!threads_are_awake(), "and is over");
            let within = TakingPart::begin();
            look_for_tasks(&AtomicBool::new(false));
            assert!(within.is_some() && threads_are_awake(), "one within another returns");
        });
    }

    #[test]
    fn a_panic_goes_to_the_caller() {
        let pool = pool(2);
        let panicking = || pool.install(|| with_threads_awake(|| panic!("expected")));
        let panicked = catch_unwind(AssertUnwindSafe(panicking));
        assert!(panicked.is_err());
        assert_eq!(pool.install(|| with_threads_awake(|| 1)), 1, "the pool is as before");
        assert!(!pool.broadcast(|_| threads_are_awake()).contains(&true), "nobody goes on looking");
    }
}
