//! Long work: on threads of our own, without the global interpreter lock, ended by Ctrl-C, and never with a panic.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use unbraid::data::progress::Progress;
use unbraid::metrics::Interrupted;
use unbraid::run::{Signal, StopSignal};
use unbraid_study::{StopRequest, StopRequests};

use crate::errors::wrong_value;
use crate::numbers;

/// How often Python is asked whether Ctrl-C was pressed.
const TICK: Duration = Duration::from_millis(100);

/// How long work that can be left alone has to end after a request to stop.
const PATIENCE: Duration = Duration::from_millis(500);

/// More threads than any machine has: a typo.
const MOST_THREADS: usize = 1024;

/// The threads of a process.
struct Pool {
    /// A child of `fork` has the memory of its parent, but none of its threads.
    process: u32,
    threads: ThreadPool,
}

static POOL: Mutex<Option<Arc<Pool>>> = Mutex::new(None);

/// The number of threads that a new pool has; 0 for one per core.
static THREADS: Mutex<usize> = Mutex::new(0);

fn pool() -> PyResult<Arc<Pool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some(pool) if pool.process == std::process::id() => return Ok(Arc::clone(pool)),
        // Those threads are another process's: they cannot be joined.
        Some(foreign) => std::mem::forget(Arc::clone(foreign)),
        None => {}
    }
    let count = match *THREADS.lock().unwrap_or_else(PoisonError::into_inner) {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    };
    let threads = ThreadPoolBuilder::new()
        .num_threads(count)
        .thread_name(|number| format!("unbraid {number}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start {count} threads: {error}")))?;
    let new = Arc::new(Pool { process: std::process::id(), threads });
    *pool = Some(Arc::clone(&new));
    Ok(new)
}

/// Sets the number of threads that unbraid computes on. No result depends on it.
#[pyfunction]
pub(crate) fn set_num_threads(#[pyo3(from_py_with = numbers::threads)] threads: usize) -> PyResult<()> {
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(wrong_value("threads", threads, format!("1 to {MOST_THREADS}")));
    }
    *THREADS.lock().unwrap_or_else(PoisonError::into_inner) = threads;
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = None;
    Ok(())
}

/// The number of threads that unbraid computes on.
#[pyfunction]
pub(crate) fn get_num_threads() -> PyResult<usize> {
    Ok(pool()?.threads.current_num_threads())
}

/// A request to stop: Ctrl-C, or an exception from a callback.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    /// Shared with learners, which heed it (`unbraid::metrics::interruptible`).
    requested: Arc<AtomicBool>,
    /// Whether a request has been handed to a study's runner, which takes each one once.
    taken: AtomicBool,
    /// The exception to raise in the end.
    exception: Mutex<Option<PyErr>>,
}

/// The payload with which work unwinds that has nothing to save.
struct Abandoned;

impl Stop {
    /// Asks the work to stop, and says with which exception.
    pub(crate) fn request(&self, exception: PyErr) {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
        self.requested.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// The request, for work that looks at it in its own loops.
    pub(crate) fn request_flag(&self) -> &Arc<AtomicBool> {
        &self.requested
    }

    /// Ends the work here if a stop is requested: for work that has nothing to save.
    pub(crate) fn check(&self) {
        if self.is_requested() {
            // Unlike `panic!`, this says nothing to anybody but `run`.
            resume_unwind(Box::new(Abandoned));
        }
    }

    fn take_exception(&self) -> Option<PyErr> {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl StopSignal for Stop {
    fn received(&self) -> Option<Signal> {
        self.is_requested().then_some(Signal::Interrupt)
    }
}

impl StopRequests for Stop {
    fn take(&self) -> Option<StopRequest> {
        let is_new = self.is_requested() && !self.taken.swap(true, Ordering::SeqCst);
        is_new.then_some(StopRequest { signal: Signal::Interrupt, insists: false })
    }
}

/// Progress that nobody sees, but at which work without anything to save can be stopped.
pub(crate) struct Stoppable<'a>(pub(crate) &'a Stop);

impl Progress for Stoppable<'_> {
    fn start(&self, _what: &str, _total: u64) {
        self.0.check();
    }

    fn advance(&self, _items: u64) {
        self.0.check();
    }

    fn finish(&self) {}

    fn note(&self, _message: &str) {}
}

/// Does some work on our threads while other Python threads go on. After Ctrl-C it is asked to stop, and
/// `KeyboardInterrupt` is raised once it has ended.
pub(crate) fn run<T: Send, E: Into<Failure> + Send>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool()?;
    let stop = Stop::default();
    let ended = {
        let stop = &stop;
        py.detach(|| {
            // A function of Python that our work calls may call us again. This thread is then one of ours,
            // and must not wait for another to become free.
            if pool.threads.current_thread_index().is_some() {
                return Some(catch_unwind(AssertUnwindSafe(|| work(stop))));
            }
            let (sender, receiver) = mpsc::channel();
            pool.threads.in_place_scope(|scope| {
                scope.spawn(move |_| {
                    let ended = catch_unwind(AssertUnwindSafe(|| work(stop)));
                    // Whoever waits for it is below.
                    let _ = sender.send(ended);
                });
                wait(&receiver, stop, None)
            })
        })
    };
    result(ended, stop.take_exception())
}

/// As [`run`], for work that owns all it needs and may take long to notice a request to stop. It gets a
/// moment; then the exception is raised while the work goes on to where it notices, and what it has computed
/// is dropped.
pub(crate) fn run_detached<T: Send + 'static, E: Into<Failure> + Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, E> + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let stop = Arc::new(Stop::default());
    let ended = py.detach(|| {
        if pool.threads.current_thread_index().is_some() {
            return Some(catch_unwind(AssertUnwindSafe(|| work(&stop))));
        }
        let (sender, receiver) = mpsc::channel();
        let own = Arc::clone(&stop);
        pool.threads.spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| work(&own)));
            // Perhaps nobody waits for it any more.
            let _ = sender.send(ended);
        });
        wait(&receiver, &stop, Some(PATIENCE))
    });
    result(ended, stop.take_exception())
}

/// How some work ended: with a result, or with a panic.
type Ended<T, E> = std::thread::Result<Result<T, E>>;

/// Waits for the end of some work, and watches for Ctrl-C. `None` if it ended without a word, or did not end within
/// `patience` after a request to stop.
fn wait<T, E>(
    receiver: &mpsc::Receiver<Ended<T, E>>,
    stop: &Stop,
    patience: Option<Duration>,
) -> Option<Ended<T, E>> {
    let mut requested: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(ended) => return Some(ended),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(exception) = check_signals() {
                    stop.request(exception);
                }
            }
        }
        if stop.is_requested() {
            let since = requested.get_or_insert_with(Instant::now);
            if patience.is_some_and(|patience| since.elapsed() >= patience) {
                return None;
            }
        }
    }
}

/// What some work gives to Python: its value, or an exception, that of a request to stop before all others.
fn result<T, E: Into<Failure>>(ended: Option<Ended<T, E>>, exception: Option<PyErr>) -> PyResult<T> {
    match ended {
        Some(Ok(Ok(value))) => exception.map_or(Ok(value), Err),
        Some(Ok(Err(failure))) => Err(exception.unwrap_or_else(|| failure.into().0)),
        Some(Err(payload)) if payload.is::<Abandoned>() || payload.is::<Interrupted>() => {
            Err(exception.unwrap_or_else(|| PyKeyboardInterrupt::new_err("interrupted")))
        }
        Some(Err(payload)) => Err(exception.unwrap_or_else(|| of_panic(payload.as_ref()))),
        None => Err(exception.unwrap_or_else(|| PyRuntimeError::new_err("a thread ended without a result"))),
    }
}

/// The exception that a signal has raised in Python, as Ctrl-C does.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is not general enough")]
fn check_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// As [`run`], for work that is over before anybody could press Ctrl-C.
pub(crate) fn run_briefly<T: Send, E: Into<Failure> + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    run(py, |_| work())
}

/// Why work failed.
pub(crate) struct Failure(pub(crate) PyErr);

impl<E: crate::errors::Raise> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.raise())
    }
}

fn of_panic(payload: &(dyn Any + Send)) -> PyErr {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    PyRuntimeError::new_err(format!("internal error of unbraid, please report it: {message}"))
}
