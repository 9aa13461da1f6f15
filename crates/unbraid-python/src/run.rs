//! A trained run: images to latent units and back.

mod history;
mod inference;

use crate::errors::{Raise, wrong_type, wrong_value};
use crate::images::ImageArray;
use crate::models;
use crate::numbers::{self, check_images};
use crate::scores;
use crate::values::{from_json, to_json, type_name};
use crate::work::{self, Stop};
use history::history;
use inference::{decode, encode, latent_rows, rows_of_table};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use unbraid::inference::{NamedAssignment, assign};
use unbraid::model::{Posteriors, Unit, Values};
use unbraid::run::OpenOptions;

/// A trained model: `Run("runs/a")` opens a run directory with its last weights.
///
/// Images are arrays [n, height, width, channels], or [n, channels, height, width], or [n, height, width], or
/// single ones; uint8, or float32 from 0 to 1. `layout` says which axes are which where that is ambiguous.
/// Several threads may use one run.
///
/// Parameters
/// ----------
/// path : path
///     The run directory.
/// step : int, optional
///     The training step of the weights, one that was saved; by default the last.
/// device : str
///     Where to compute.
#[pyclass(frozen, module = "unbraid", name = "Run")]
pub(crate) struct PyRun {
    // A name given to a unit replaces it.
    run: RwLock<Arc<unbraid::Run>>,
}

/// A mean and a log-variance for each image and unit.
type Moments<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>);

impl PyRun {
    pub(crate) fn new(run: unbraid::Run) -> Self {
        Self { run: RwLock::new(Arc::new(run)) }
    }

    fn run(&self) -> Arc<unbraid::Run> {
        Arc::clone(&self.run.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is known of the latent units of images.
    fn posteriors(
        &self,
        py: Python<'_>,
        argument: &'static str,
        images: &Bound<'_, PyAny>,
        layout: Option<&str>,
    ) -> PyResult<Posteriors> {
        let run = self.run();
        if let Some(features) = run.features() {
            return encode(py, &run, &rows_of_table(argument, images, features)?);
        }
        let array = ImageArray::new(argument, images, layout, Some(run.image_shape()))?;
        encode(py, &run, &array.images(py, argument)?)
    }

    /// The images of so many rows of latent values, or the rows of a table; `argument` has said how many.
    fn decoded<'py>(
        &self,
        py: Python<'py>,
        (argument, count): (&str, usize),
        rows: impl FnOnce(&unbraid::Run) -> unbraid::Result<Array2<f32>> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let run = self.run();
        check_images(argument, count, run.image_shape())?;
        if run.features().is_some() {
            let vectors = work::run_briefly(py, || run.decode_rows(&rows(&run)?))?;
            return Ok(vectors.into_pyarray(py).into_any());
        }
        let images = work::run(py, |stop: &Stop| decode(&run, &rows(&run)?, stop))?;
        Ok(images.into_pyarray(py).into_any())
    }

    fn unit(&self, unit: &Bound<'_, PyAny>) -> PyResult<Unit> {
        let run = self.run();
        let key = unit_key("unit", unit)?
            .ok_or_else(|| wrong_type("unit", type_name(unit), "the number or the name of a unit"))?;
        run.find_unit(&key).map_err(Raise::raise)
    }
}

/// How a unit is asked for, by its number or its name; `None` if it is neither.
fn unit_key(argument: &str, unit: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(match to_json(argument, unit)? {
        Value::Number(number) if number.is_i64() => Some(number.to_string()),
        Value::String(name) => Some(name),
        _ => None,
    })
}

#[pymethods]
impl PyRun {
    #[new]
    #[pyo3(signature = (path, *, step=None, device="cpu"))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        #[pyo3(from_py_with = numbers::optional::step)] step: Option<u64>,
        device: &str,
    ) -> PyResult<Self> {
        let device = device.parse().map_err(|error: unbraid::Error| error.raise())?;
        let options = OpenOptions { step, device, prior: None };
        work::run_briefly(py, || unbraid::Run::open_with(path, options)).map(Self::new)
    }

    /// The run directory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.run().path().to_owned()
    }

    /// Training steps of the weights.
    #[getter]
    fn step(&self) -> u64 {
        self.run().step()
    }

    /// Height, width and channels of its images.
    #[getter]
    fn image_shape(&self) -> (usize, usize, usize) {
        let shape = self.run().image_shape();
        (shape.height, shape.width, shape.channels)
    }

    /// The number of continuous latent units.
    #[getter]
    fn n_units(&self) -> usize {
        self.run().units()
    }

    /// The number of classes of each categorical latent unit.
    #[getter]
    fn categorical_units(&self) -> Vec<usize> {
        self.run().categorical_units().to_vec()
    }

    /// The names given to latent units, by their numbers (`"category.0"` for a categorical one).
    #[getter]
    fn unit_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = PyDict::new(py);
        for (unit, name) in self.run().names().iter() {
            match unit {
                Unit::Continuous(number) => names.set_item(number, name)?,
                Unit::Categorical(number) => names.set_item(format!("category.{number}"), name)?,
            }
        }
        Ok(names)
    }

    /// The configuration as `config.toml` has it, in nested dicts: `run.config["objective"]["beta"]`.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.run().config().to_toml();
        let config: Value =
            toml::from_str(&text).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        from_json(py, &config)
    }

    /// The scores in the run directory; `None` if the run has not been scored.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let run = self.run();
        let Some(mut stored) = run.scores().map_err(Raise::raise)? else { return Ok(None) };
        stored.report.notes = stored.about.notes;
        stored.report.factors = stored.about.factors;
        scores::to_python(py, &stored.report).map(Some)
    }

    /// The losses of training from `metrics.jsonl`: an array for each key, NaN where a row does not have it.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let path = self.run().paths().metrics();
        let columns = py.detach(|| history(&path))?;
        let table = PyDict::new(py);
        for (key, values) in columns {
            table.set_item(key, PyArray1::from_vec(py, values))?;
        }
        Ok(table)
    }

    /// Encodes images to the means and log-variances of q(z|x), each `[images, units]`.
    #[pyo3(signature = (images, *, layout=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        layout: Option<&str>,
    ) -> PyResult<Moments<'py>> {
        let posteriors = self.posteriors(py, "images", images, layout)?;
        Ok((posteriors.mean.into_pyarray(py), posteriors.log_variance.into_pyarray(py)))
    }

    /// The probabilities of the classes of all categorical units, `[images, classes]`, unit by unit.
    #[pyo3(signature = (images, *, layout=None))]
    fn categories<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        layout: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(self.posteriors(py, "images", images, layout)?.probabilities.into_pyarray(py))
    }

    /// Encodes images to latent values as `decode` takes them: means, then a one-hot row for each categorical unit.
    #[pyo3(signature = (images, *, layout=None))]
    fn latents<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        layout: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let posteriors = self.posteriors(py, "images", images, layout)?;
        Ok(self.run().latents_of(&posteriors).into_pyarray(py))
    }

    /// Decodes latent values `[n, units]` to images `[n, height, width, channels]`, floats from 0 to 1; a run
    /// that was trained on a table gives rows `[n, columns]` in the units of the table.
    fn decode<'py>(&self, py: Python<'py>, latents: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let latents = latent_rows(latents, self.run().layout().width())?;
        self.decoded(py, ("latents", latents.nrows()), move |_| Ok(latents))
    }

    /// Encodes images and decodes their means.
    #[pyo3(signature = (images, *, layout=None))]
    fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        layout: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let posteriors = self.posteriors(py, "images", images, layout)?;
        let count = posteriors.mean.nrows();
        self.decoded(py, ("images", count), move |run| Ok(run.latents_of(&posteriors)))
    }

    /// Decodes an image with one unit set to each of several values, `[values, height, width, channels]`.
    ///
    /// Without an image, starts from the middle of the prior. Without values, takes `steps` values over
    /// `range`, by default the unit's prior without its tails; a categorical unit takes all of its classes.
    #[pyo3(signature = (image=None, *, unit, values=None, range=None, steps=11, layout=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn traverse<'py>(
        &self,
        py: Python<'py>,
        image: Option<&Bound<'py, PyAny>>,
        unit: &Bound<'py, PyAny>,
        values: Option<Vec<f64>>,
        range: Option<(f64, f64)>,
        #[pyo3(from_py_with = numbers::steps)] steps: usize,
        layout: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let unit = self.unit(unit)?;
        let run = self.run();
        if steps == 0 {
            return Err(wrong_value("steps", steps, "1 or more"));
        }
        let start = match image {
            Some(image) => {
                let posteriors = self.posteriors(py, "image", image, layout)?;
                if posteriors.mean.nrows() != 1 {
                    return Err(wrong_value("image", format!("{} images", posteriors.mean.nrows()), "one"));
                }
                run.latents_of(&posteriors)
            }
            None => run.middle(),
        };
        let count = match (unit, &values) {
            (Unit::Continuous(_), None) => ("steps", steps),
            (Unit::Continuous(_), Some(values)) => ("values", values.len()),
            (Unit::Categorical(number), _) => ("unit", run.categorical_units()[number]),
        };
        self.decoded(py, count, move |run| match (unit, values) {
            (Unit::Continuous(number), Some(values)) => {
                Ok(run.layout().traversal(&start.row(0), number, &values))
            }
            (Unit::Continuous(_) | Unit::Categorical(_), _) => {
                Ok(run.traversal(&start.row(0), unit, range, steps)?.latents)
            }
        })
    }

    /// Images decoded from samples of the prior, `[n, height, width, channels]`.
    #[pyo3(signature = (n, *, seed=0))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::n)] n: usize,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.decoded(py, ("n", n), move |run| Ok(run.draw_latents(n, seed)))
    }

    /// Encodes images, sets units (`{3: 1.5, "azimuth": -1}`) and decodes the result.
    #[pyo3(signature = (images, units, *, layout=None))]
    fn edit<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        units: &Bound<'py, PyDict>,
        layout: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let run = self.run();
        let mut assignments = Vec::new();
        for (unit, value) in units {
            let unit = unit_key("units", &unit)?
                .ok_or_else(|| wrong_type("units", format!("the key {unit}"), "numbers or names of units"))?;
            let value = match to_json("units", &value)? {
                Value::Number(number) => number.to_string(),
                _ => return Err(wrong_type("units", format!("the value {value}"), "numbers")),
            };
            let written = NamedAssignment { unit, value };
            assignments.push(run.assignment(&written).map_err(Raise::raise)?);
        }
        let posteriors = self.posteriors(py, "images", images, layout)?;
        self.decoded(py, ("images", posteriors.mean.nrows()), move |run| {
            let mut latents = run.latents_of(&posteriors);
            assign(run, &mut latents, &assignments)?;
            Ok(latents)
        })
    }

    /// Gives latent units names, which then stand for their numbers: `run.name_units({3: "azimuth"})`.
    fn name_units(&self, py: Python<'_>, names: &Bound<'_, PyDict>) -> PyResult<()> {
        let changes: Vec<(String, String)> = names
            .iter()
            .map(|(unit, name)| {
                let name = name.extract().map_err(|_| wrong_type("names", &name, "words"))?;
                let unit = unit_key("names", &unit)?
                    .ok_or_else(|| wrong_type("names", &unit, "numbers or names of units"))?;
                Ok((unit, name))
            })
            .collect::<PyResult<_>>()?;
        work::run_briefly(py, || -> unbraid::Result {
            // Held while the file is written: of two threads, the second starts from the names that the first
            // has given.
            let mut current = self.run.write().unwrap_or_else(PoisonError::into_inner);
            let mut renamed = unbraid::Run::clone(&current);
            renamed.rename_units(changes.iter().map(|(unit, name)| (unit.as_str(), name.as_str())))?;
            *current = Arc::new(renamed);
            Ok(())
        })
    }

    /// The weights as arrays with PyTorch's names and layouts, for `torch.nn.Module.load_state_dict`.
    fn state_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = self.run();
        let state = work::run_briefly(py, || Ok::<_, unbraid::Error>(run.network().state()))?;
        let table = PyDict::new(py);
        for tensor in state {
            let array = match tensor.values {
                Values::Floats(values) => PyArray1::from_vec(py, values).reshape(tensor.shape)?.into_any(),
                Values::Doubles(values) => PyArray1::from_vec(py, values).reshape(tensor.shape)?.into_any(),
                Values::Integers(values) => PyArray1::from_vec(py, values).reshape(tensor.shape)?.into_any(),
            };
            table.set_item(tensor.name, array)?;
        }
        Ok(table)
    }

    /// Writes the run for other programs into a directory, created if it does not exist, and returns the files.
    ///
    /// `"onnx"`: encoder.onnx and decoder.onnx; `"safetensors"`: model.safetensors and config.json; `"hub"`:
    /// everything that a model hub shows, with `licence` in the header of the card.
    #[pyo3(signature = (format, path, *, licence=None, overwrite=false))]
    fn export(
        &self,
        py: Python<'_>,
        format: &str,
        path: PathBuf,
        licence: Option<&str>,
        overwrite: bool,
    ) -> PyResult<Vec<PathBuf>> {
        models::export(py, &self.run(), (format, &path), licence, overwrite)
    }

    /// The page of the run, if it has one.
    fn _page(&self) -> PyResult<Option<String>> {
        let page = self.run().paths().report();
        if !page.is_file() {
            return Ok(None);
        }
        std::fs::read_to_string(&page)
            .map(Some)
            .map_err(|error| PyOSError::new_err(format!("{}: cannot read it: {error}", page.display())))
    }

    /// What a notebook shows: the page, with which the model can be moved.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let html = slf.py().import("unbraid._display")?.call_method1("run_html", (slf,))?;
        Ok(html.unbind())
    }

    fn __repr__(&self) -> String {
        let run = self.run();
        format!(
            "<unbraid.Run {:?}: {} at step {}, {} units>",
            run.path(),
            run.config().objective.name(),
            run.step(),
            run.units()
        )
    }
}
