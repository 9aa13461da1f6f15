//! Studies (hyper-parameter sweeps).

use crate::errors::{Raise, wrong_value};
use crate::numbers::optional;
use crate::progress;
use crate::values::from_json;
use crate::work::{self, Failure, Stop};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use unbraid_study::{
    Counts, Entry, Error, InProgress, Manifest, Plan, Results, Runner, StudyDirectory, StudyObserver,
    WorkerCommand,
};

/// A study (a hyper-parameter sweep): a directory with a `study.toml`.
///
/// Parameters
/// ----------
/// path : path
///     The directory, or its `study.toml`.
#[pyclass(frozen, module = "unbraid", name = "Study")]
pub(crate) struct PyStudy {
    study: StudyDirectory,
}

/// Failures that are told one by one.
const TOLD: usize = 10;

/// The planned runs; plans them if that has not been done.
fn manifest(study: &StudyDirectory) -> Result<Manifest, Error> {
    match study.read_manifest() {
        Err(Error::NotPlanned { .. }) => {
            let plan = Plan::of(study)?;
            plan.write(study, false)?;
            Ok(plan.manifest)
        }
        other => other,
    }
}

#[pymethods]
impl PyStudy {
    #[new]
    fn open(path: PathBuf) -> PyResult<Self> {
        Ok(Self { study: StudyDirectory::open(&path).map_err(Raise::raise)? })
    }

    /// The directory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.study.path().to_owned()
    }

    /// The number of runs.
    fn __len__(&self) -> PyResult<usize> {
        Ok(manifest(&self.study).map_err(Raise::raise)?.entries.len())
    }

    /// Trains and scores all runs that are not done, `jobs` at a time (default: one per core), each in a
    /// process of its own on one thread. Runs that were interrupted are resumed.
    #[pyo3(signature = (*, jobs=None, retry_failed=false, progress=None))]
    fn run<'py>(
        slf: Bound<'py, Self>,
        #[pyo3(from_py_with = optional::jobs)] jobs: Option<usize>,
        retry_failed: bool,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        if jobs == Some(0) {
            return Err(wrong_value("jobs", 0, "1 or more"));
        }
        let shown = match progress {
            Some(progress) => progress::function(progress)?,
            None => progress::function(&pyo3::types::PyBool::new(py, true).to_owned().into_any())?,
        };
        let python: PathBuf = py.import("sys")?.getattr("executable")?.extract()?;
        let study = &slf.get().study;
        work::run(py, |stop: &Stop| -> Result<(), Failure> {
            let manifest = manifest(study)?;
            let arguments = ["-m", "unbraid", "study", "work", "--threads", "1"];
            let mut runner = Runner::new(study, WorkerCommand::new(python, arguments))
                .retry_failed(retry_failed)
                .stop_on(stop);
            if let Some(jobs) = jobs {
                runner = runner.jobs(jobs);
            }
            let mut observer = Shown { function: shown, stop };
            let tally = runner.run(&manifest.entries, &mut observer)?;
            if let Some(broken) = tally.broken {
                return Err(broken.into());
            }
            if !tally.failed.is_empty() {
                return Err(Failure(failures(&tally.failed, manifest.entries.len())));
            }
            Ok(())
        })?;
        Ok(slf)
    }

    /// The results as a dict of columns, one entry for each run: ready for pandas or polars.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let study = &self.study;
        let table = work::run_briefly(py, || {
            let runs = manifest(study)?;
            Ok::<_, Error>(Results::of_runs(study, &runs).table)
        })?;
        let rows = &table.rows;
        let columns = PyDict::new(py);
        columns.set_item("number", rows.iter().map(|row| row.number).collect::<Vec<_>>())?;
        columns.set_item("name", rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>())?;
        columns.set_item("hash", rows.iter().map(|row| row.hash.as_deref()).collect::<Vec<_>>())?;
        columns.set_item("method", rows.iter().map(|row| row.method.as_str()).collect::<Vec<_>>())?;
        columns.set_item("data", rows.iter().map(|row| row.data.as_str()).collect::<Vec<_>>())?;
        columns.set_item("seed", rows.iter().map(|row| row.seed).collect::<Vec<_>>())?;
        columns.set_item("state", rows.iter().map(|row| row.state.word()).collect::<Vec<_>>())?;
        columns.set_item("step", rows.iter().map(|row| row.step).collect::<Vec<_>>())?;
        columns.set_item("seconds", rows.iter().map(|row| row.seconds).collect::<Vec<_>>())?;
        for (place, key) in table.setting_keys.iter().enumerate() {
            let values = rows.iter().map(|row| match &row.settings[place] {
                Some(value) => from_json(py, value),
                None => Ok(py.None().into_bound(py)),
            });
            columns.set_item(key, values.collect::<PyResult<Vec<_>>>()?)?;
        }
        for (place, key) in table.number_keys.iter().enumerate() {
            let values: Vec<f64> = rows.iter().map(|row| row.numbers[place]).collect();
            columns.set_item(key, PyArray1::from_vec(py, values))?;
        }
        Ok(columns)
    }

    fn __repr__(&self) -> String {
        format!("<unbraid.Study {:?}>", self.study.path())
    }
}

fn failures(failed: &[(&Entry, String)], runs: usize) -> PyErr {
    let lines: Vec<String> = failed
        .iter()
        .take(TOLD)
        .map(|(entry, error)| format!("{}: {}", entry.name, error.lines().next().unwrap_or_default()))
        .collect();
    let more = if failed.len() > TOLD { "\n..." } else { "" };
    PyRuntimeError::new_err(format!("{} of {runs} runs failed\n{}{more}", failed.len(), lines.join("\n")))
}

/// Calls a function of Python with the number of runs that have ended.
struct Shown<'a> {
    function: Option<Py<PyAny>>,
    stop: &'a Stop,
}

impl StudyObserver for Shown<'_> {
    fn progress(&mut self, counts: &Counts, _running: &[InProgress<'_>]) {
        let Some(function) = &self.function else { return };
        let called = Python::attach(|py| {
            let values = PyDict::new(py);
            values.set_item("running", counts.running)?;
            values.set_item("failed", counts.failed)?;
            function.bind(py).call1(("runs", counts.ended(), counts.all, values)).map(drop)
        });
        if let Err(exception) = called {
            self.stop.request(exception);
        }
    }
}
