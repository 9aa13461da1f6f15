//! Training from Python: on a named data set, a path, a loaded data set or arrays.

use crate::datasets::PyDataset;
use crate::errors::{Raise, wrong_type, wrong_value};
use crate::factors::{Factors, table};
use crate::images::{self, ImageArray, Images};
use crate::numbers::optional;
use crate::progress::{self, Reporter};
use crate::run::PyRun;
use crate::values::{self, to_json, to_toml, type_name};
use crate::work::{self, Stop};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;
use std::sync::Arc;
use unbraid::config::Source;
use unbraid::data::{DataSet, DataSpec};
use unbraid::metrics::interruptible;
use unbraid::run::Start;
use unbraid::{Config, Device, Run, Session};
use unbraid_report::HtmlReport;

/// What to train on.
enum Data<'py> {
    /// What the configuration says, or this.
    Spec(Option<DataSpec>),
    Loaded(DataSpec, Arc<dyn DataSet>),
    Array(ImageArray<'py>),
}

impl<'py> Data<'py> {
    fn new(object: Option<&Bound<'py, PyAny>>, layout: Option<&str>) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::Spec(None)) };
        if let Ok(text) = object.cast::<PyString>() {
            let spec = text.to_cow()?.parse().map_err(|error: unbraid::data::DataError| error.raise())?;
            return Ok(Self::Spec(Some(spec)));
        }
        if object.hasattr("__fspath__")? {
            return Ok(Self::Spec(Some(DataSpec::at(object.extract::<PathBuf>()?))));
        }
        if let Ok(loaded) = object.cast::<PyDataset>() {
            let loaded = loaded.get();
            return Ok(Self::Loaded(loaded.spec().clone(), loaded.data()));
        }
        if object.cast::<PyUntypedArray>().is_ok() || object.hasattr("__array__")? {
            return ImageArray::new("data", object, layout, None).map(Self::Array);
        }
        let expected = "the name or path of a data set, a loaded one, or an array of images";
        Err(wrong_type("data", type_name(object), expected))
    }

    fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }
}

/// Trains a model, scores it and draws its page; returns the trained `Run`.
///
/// Ctrl-C saves a checkpoint and raises `KeyboardInterrupt`; with `resume=True` training goes on from there.
///
/// Parameters
/// ----------
/// data : str, path, Dataset or array
///     The name of a data set, the path of a file or folder, a loaded data set, or images: uint8, or float32
///     from 0 to 1.
/// factors : array, optional
///     The factors of an array of images, [images, factors], by which the run is then scored.
/// factor_names, factor_kinds : list of str, optional
///     Their names and kinds: categorical, ordered or angle.
/// layout : str, optional
///     The axes of an array, where they are ambiguous: NHWC, NCHW or NHW.
/// out : path, optional
///     The run directory; by default a new one in `runs`.
/// objective : str, optional
///     The method, one of `unbraid objectives`.
/// n_units, steps, epochs, batch_size, seed : int, optional
///     Continuous latent units, training steps or passes over the data, images of a step, the seed.
/// preset, config : str and path, optional
///     A preset by its name, and a configuration file.
/// set : dict, optional
///     Any keys of the configuration: `{"model.architecture": "conv"}`.
/// resume, overwrite : bool
///     Whether to go on with the run in `out`, or to replace it.
/// evaluate, report : bool
///     Whether to score the run and to draw its page at the end.
/// device : str
///     Where to compute.
/// progress : bool or callable
///     Whether to show progress, or a function of `(stage, done, total, values)`, called a few times a second.
/// **options
///     Options of the objective: `beta=6`.
#[pyfunction]
#[pyo3(signature = (
    data=None, *, factors=None, factor_names=None, factor_kinds=None, layout=None, out=None, objective=None,
    n_units=None, steps=None, epochs=None, batch_size=None, seed=None, preset=None, config=None, set=None,
    resume=false, overwrite=false, evaluate=true, report=true, device="cpu", progress=None, **options
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn train<'py>(
    py: Python<'py>,
    data: Option<&Bound<'py, PyAny>>,
    factors: Option<&Bound<'py, PyAny>>,
    factor_names: Option<Vec<String>>,
    factor_kinds: Option<Vec<String>>,
    layout: Option<&str>,
    out: Option<PathBuf>,
    objective: Option<&str>,
    #[pyo3(from_py_with = optional::n_units)] n_units: Option<u64>,
    #[pyo3(from_py_with = optional::steps)] steps: Option<u64>,
    #[pyo3(from_py_with = optional::epochs)] epochs: Option<u64>,
    #[pyo3(from_py_with = optional::batch_size)] batch_size: Option<u64>,
    #[pyo3(from_py_with = optional::seed)] seed: Option<u64>,
    preset: Option<String>,
    config: Option<PathBuf>,
    set: Option<&Bound<'py, PyDict>>,
    resume: bool,
    overwrite: bool,
    evaluate: bool,
    report: bool,
    device: &str,
    progress: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<PyRun> {
    let data = Data::new(data, layout)?;
    if !data.is_array() && (factors.is_some() || layout.is_some()) {
        let argument = if factors.is_some() { "factors" } else { "layout" };
        return Err(wrong_type(argument, "it beside a named data set", "it only beside an array of images"));
    }
    let start = match (resume, overwrite) {
        (true, true) => return Err(wrong_value("overwrite", "it together with resume", "one of them")),
        (true, false) => Start::Resume,
        (false, true) => Start::Overwrite,
        (false, false) => Start::Fresh,
    };
    if out.is_none() && (resume || overwrite) {
        return Err(wrong_type("out", "None", "the directory of the run to resume or overwrite"));
    }
    let device: Device = device.parse().map_err(|error: unbraid::Error| error.raise())?;
    let numbers = [
        ("model.latents.continuous", n_units),
        ("training.steps", steps),
        ("training.epochs", epochs),
        ("training.batch_size", batch_size),
        ("seed", seed),
    ];
    let mut assignments = Vec::new();
    if let Some(name) = objective {
        assignments.push(format!("objective.name={name}"));
    }
    assignments.extend(numbers.iter().filter_map(|(key, value)| value.map(|value| format!("{key}={value}"))));
    for (key, value) in options.into_iter().flatten() {
        let key: String = key.extract()?;
        let value = to_toml(&key, &to_json(&key, &value)?)?;
        assignments.push(format!("objective.{key}={value}"));
    }
    assignments.extend(values::assignments(set)?);
    let source = Source {
        preset,
        file: config,
        data: match &data {
            Data::Spec(spec) => spec.clone(),
            Data::Loaded(spec, _) => Some(spec.clone()),
            // The preset that suits arrays in a file suits arrays in memory.
            Data::Array(_) => Some(DataSpec::named("npz")),
        },
        assignments,
    };
    let factors = factors.map(|factors| Factors::new("factors", factors)).transpose()?;
    let table = match (factors, &data) {
        (Some(factors), Data::Array(array)) if factors.rows() != array.len() => {
            let expected = format!("{}, one for each image", array.len());
            return Err(wrong_value("factors", format!("{} rows", factors.rows()), expected));
        }
        (Some(factors), _) => Some(table(factors, factor_names, factor_kinds.as_deref())?),
        (None, _) => None,
    };
    let shown =
        progress::function(progress.unwrap_or(&pyo3::types::PyBool::new(py, true).to_owned().into_any()))?;
    let borrowed = match &data {
        Data::Array(array) => Some(array.images(py, "data")?.with_factors(table)),
        Data::Spec(_) | Data::Loaded(..) => None,
    };
    let loaded = match &data {
        Data::Loaded(_, loaded) => Some(Arc::clone(loaded)),
        Data::Spec(_) | Data::Array(_) => None,
    };
    // What is captured below must not hold on to Python.
    let is_only_resumed = resume && source.is_empty();
    let run = work::run(py, |stop: &Stop| {
        let borrowed = borrowed.map(|images| images.stopped_by(stop));
        // Scores fit learners for seconds, without anything to save: they are to end within one.
        interruptible(stop.request_flag(), || -> unbraid::Result<Run> {
            let config = if is_only_resumed { None } else { Some(resolve(&source, borrowed.as_ref())?) };
            let reporter = Reporter::new(shown, stop);
            let mut session = match (config, &out) {
                (Some(config), Some(out)) => Session::new(config).out(out),
                (Some(config), None) => Session::new(config),
                (None, Some(out)) => Session::resume(out),
                (None, None) => unreachable!("a run to be resumed has a directory"),
            };
            session = session.start(start).device(device).evaluation(evaluate).stop_on(stop);
            if let Some(images) = &borrowed {
                session = session.data(images);
            }
            if let Some(loaded) = &loaded {
                session = session.data(loaded.as_ref());
            }
            if report {
                session = session.report(&HtmlReport);
            }
            session.execute(&reporter)
        })
    })?;
    Ok(PyRun::new(run))
}

/// The configuration. That of arrays names them, but nothing can open them again.
fn resolve(source: &Source, images: Option<&Images<'_>>) -> unbraid::Result<Config> {
    let mut config = source.resolve()?;
    if images.is_some() {
        config.data = DataSpec::named(images::NAME);
    }
    Ok(config)
}
