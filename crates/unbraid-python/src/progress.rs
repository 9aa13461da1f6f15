//! Progress of a run for Python: a function is called a few times a second.

use crate::errors::wrong_type;
use crate::values::type_name;
use crate::work::Stop;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use unbraid::data::progress::Progress;
use unbraid::train::Row;
use unbraid::{Observer, TrainingStart};

/// The least time between two calls.
const INTERVAL: Duration = Duration::from_millis(200);

/// The function to call: `None` for `progress=False`, our own for `True`.
pub(crate) fn function(progress: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    if let Ok(shown) = progress.cast::<PyBool>() {
        if !shown.is_true() {
            return Ok(None);
        }
        return progress.py().import("unbraid._progress")?.call_method0("bar").map(|bar| Some(bar.unbind()));
    }
    if progress.is_callable() {
        return Ok(Some(progress.clone().unbind()));
    }
    Err(wrong_type("progress", type_name(progress), "True, False or a function"))
}

/// Hands the events of a run to a function of Python.
pub(crate) struct Reporter<'a> {
    function: Option<Py<PyAny>>,
    stop: &'a Stop,
    /// Whether there is something to save: a request to stop must then wait until training has seen it.
    is_training: AtomicBool,
    state: Mutex<State>,
}

struct State {
    stage: String,
    done: u64,
    total: u64,
    values: Vec<(String, f64)>,
    called: Option<Instant>,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(function: Option<Py<PyAny>>, stop: &'a Stop) -> Self {
        let state = State { stage: String::new(), done: 0, total: 0, values: Vec::new(), called: None };
        Self { function, stop, is_training: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// Changes the state, and calls the function if it is time or the stage begins or ends. An exception ends the work.
    fn update(&self, change: impl FnOnce(&mut State), is_due: bool) {
        if self.function.is_some() {
            let due = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                change(&mut state);
                let is_due = is_due || state.called.is_none_or(|called| called.elapsed() >= INTERVAL);
                if is_due {
                    state.called = Some(Instant::now());
                }
                is_due.then(|| (state.stage.clone(), state.done, state.total, state.values.clone()))
            };
            // Without the lock: the function may take its time, and other threads wait for it.
            if let Some((stage, done, total, values)) = due
                && let Err(exception) = self.call(&stage, done, total, &values)
            {
                self.stop.request(exception);
            }
        }
        if !self.is_training.load(Ordering::SeqCst) {
            self.stop.check();
        }
    }

    fn call(&self, stage: &str, done: u64, total: u64, values: &[(String, f64)]) -> PyResult<()> {
        let Some(function) = &self.function else { return Ok(()) };
        Python::attach(|py| {
            let table = PyDict::new(py);
            for (key, value) in values {
                table.set_item(key, value)?;
            }
            function.bind(py).call1((stage, done, total, table)).map(drop)
        })
    }
}

impl Progress for Reporter<'_> {
    fn start(&self, what: &str, total: u64) {
        let begin = |state: &mut State| {
            *state = State { stage: what.to_owned(), done: 0, total, values: Vec::new(), called: None };
        };
        self.update(begin, true);
    }

    fn advance(&self, items: u64) {
        self.update(|state| state.done += items, false);
    }

    fn finish(&self) {
        self.update(|state| state.done = state.total, true);
    }

    fn note(&self, message: &str) {
        let logged = Python::attach(|py| {
            let logger = py.import("logging")?.call_method1("getLogger", ("unbraid",))?;
            logger.call_method1("info", ("%s", message)).map(drop)
        });
        if let Err(exception) = logged {
            self.stop.request(exception);
        }
    }
}

impl Observer for Reporter<'_> {
    fn training_started(&self, training: &TrainingStart<'_>) {
        self.is_training.store(true, Ordering::SeqCst);
        let (done, total) = (training.step, training.steps);
        let begin = |state: &mut State| {
            *state = State { stage: "training".to_owned(), done, total, values: Vec::new(), called: None };
        };
        self.update(begin, true);
    }

    fn step(&self, step: u64, loss: f64) {
        let change = |state: &mut State| {
            state.done = step;
            set(&mut state.values, "loss", loss);
        };
        self.update(change, false);
    }

    fn row(&self, row: &Row, images_per_second: f64) {
        let change = |state: &mut State| {
            for (key, value) in &row.values {
                set(&mut state.values, key, *value);
            }
            set(&mut state.values, "images_per_second", images_per_second);
        };
        self.update(change, false);
    }

    fn training_stopped(&self) {
        // The next event ends the work if a stop is requested; this one is still part of training.
        self.update(|_| (), true);
        self.is_training.store(false, Ordering::SeqCst);
    }

    fn also_failed(&self, error: &(dyn std::error::Error + 'static)) {
        self.note(&unbraid::error_chain(error));
    }
}

fn set(values: &mut Vec<(String, f64)>, key: &str, value: f64) {
    match values.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => values.push((key.to_owned(), value)),
    }
}
