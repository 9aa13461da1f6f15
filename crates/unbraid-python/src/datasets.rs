//! Data sets with known factors.

use crate::errors::{Raise, wrong_type, wrong_value};
use crate::factors::{integers, whole_numbers};
use crate::numbers::{self, check_images};
use crate::progress::{self, Reporter};
use crate::values::to_json;
use crate::work::{self, Stop};
use ndarray::{Array2, Array4};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray4};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use unbraid::data::random::Stream;
use unbraid::data::sampling::{Interventions, uniform};
use unbraid::data::{DataError, DataSet, DataSpec, OptionValue, open, registry};

/// Images and their factors of variation. `unbraid.datasets.load` opens one.
#[pyclass(frozen, module = "unbraid.datasets", name = "Dataset")]
pub(crate) struct PyDataset {
    spec: DataSpec,
    data: Arc<dyn DataSet>,
}

/// The images that are read between two looks for Ctrl-C.
const PART: usize = 1024;

/// Images, and factor vectors.
type Sampled<'py> = (Bound<'py, PyArray4<f32>>, Bound<'py, PyArray2<i64>>);

impl PyDataset {
    pub(crate) fn spec(&self) -> &DataSpec {
        &self.spec
    }

    pub(crate) fn data(&self) -> Arc<dyn DataSet> {
        Arc::clone(&self.data)
    }

    fn images<'py>(
        &self,
        py: Python<'py>,
        indices: &[usize],
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray4<f32>>> {
        let data = &self.data;
        let shape = data.shape();
        check_images("indices", indices.len(), shape)?;
        let images = work::run(py, |stop: &Stop| -> Result<Array4<f32>, DataError> {
            let mut pixels = vec![0.0; indices.len() * shape.values()];
            let noise = Stream::new(seed, "noise of images");
            // Part by part, so that Ctrl-C need not wait for all of them.
            let parts = indices.chunks(PART).zip(pixels.chunks_mut(PART * shape.values()));
            for (place, (part, pixels)) in parts.enumerate() {
                stop.check();
                data.write_batch_parallel(part, noise.at(place as u64), pixels)?;
            }
            let axes = (indices.len(), shape.height, shape.width, shape.channels);
            Ok(Array4::from_shape_vec(axes, pixels).expect("one value for each pixel"))
        })?;
        Ok(images.into_pyarray(py))
    }

    fn factors_of<'py>(&self, py: Python<'py>, indices: &[usize]) -> Bound<'py, PyArray2<i64>> {
        let count = self.data.factors().map_or(0, unbraid::data::FactorSpace::len);
        let mut values = vec![0; count];
        let mut factors = Array2::zeros((indices.len(), count));
        for (mut row, &index) in factors.rows_mut().into_iter().zip(indices) {
            self.data.factors_of(index, &mut values);
            row.iter_mut().zip(&values).for_each(|(target, value)| *target = i64::from(*value));
        }
        factors.into_pyarray(py)
    }

    /// The factor that an argument names, or says the number of.
    fn factor(&self, argument: &str, factor: &Bound<'_, PyAny>) -> PyResult<usize> {
        let Some(space) = self.data.factors() else {
            return Err(wrong_value(argument, "data without factors", "data with factors"));
        };
        let position = match to_json(argument, factor)? {
            Value::String(name) => space.position(&name),
            Value::Number(number) => {
                number.as_u64().map(|number| number as usize).filter(|number| *number < space.len())
            }
            _ => return Err(wrong_type(argument, factor, "the name or the number of a factor")),
        };
        let names =
            || space.factors().iter().map(|factor| factor.name.as_str()).collect::<Vec<_>>().join(", ");
        position.ok_or_else(|| wrong_value(argument, factor, format!("one of {}", names())))
    }
}

#[pymethods]
impl PyDataset {
    fn __len__(&self) -> usize {
        self.data.len()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.data.name()
    }

    /// Height, width and channels of every image.
    #[getter]
    fn image_shape(&self) -> (usize, usize, usize) {
        let shape = self.data.shape();
        (shape.height, shape.width, shape.channels)
    }

    /// The names of the factors.
    #[getter]
    fn factor_names(&self) -> Vec<String> {
        self.data
            .factors()
            .map_or_else(Vec::new, |space| space.factors().iter().map(|factor| factor.name.clone()).collect())
    }

    /// The number of values of each factor.
    #[getter]
    fn factor_sizes(&self) -> Vec<usize> {
        self.data
            .factors()
            .map_or_else(Vec::new, |space| space.factors().iter().map(|factor| factor.size).collect())
    }

    /// The kind of each factor: categorical, ordered or angle.
    #[getter]
    fn factor_kinds(&self) -> Vec<&'static str> {
        self.data
            .factors()
            .map_or_else(Vec::new, |space| space.factors().iter().map(|factor| factor.kind.name()).collect())
    }

    /// The factors of all images, `[images, factors]`.
    #[getter]
    fn factors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        self.factors_of(py, &(0..self.data.len()).collect::<Vec<_>>())
    }

    /// All images, read when they are indexed: `data.images[:100]` is an array of floats from 0 to 1.
    #[getter]
    #[pyo3(name = "images")]
    fn all_images<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("unbraid._images")?.getattr("Images")?.call1((slf,))
    }

    /// Reads images by their numbers, `[n, height, width, channels]`, floats from 0 to 1.
    fn read<'py>(&self, py: Python<'py>, indices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray4<f32>>> {
        let len = self.data.len();
        let index = |index: &i64| {
            usize::try_from(*index).ok().filter(|index| *index < len).ok_or_else(|| {
                PyIndexError::new_err(format!("indices: found {index}, expected 0 to {}", len - 1))
            })
        };
        let indices: Vec<usize> =
            whole_numbers("indices", indices)?.iter().map(index).collect::<PyResult<_>>()?;
        self.images(py, &indices, 0)
    }

    /// Images drawn at random, and their factors. With `fixed`, all share one value of that factor, itself
    /// drawn at random.
    #[pyo3(signature = (n, *, fixed=None, seed=0))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::n)] n: usize,
        fixed: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Sampled<'py>> {
        check_images("n", n, self.data.shape())?;
        let mut indices = vec![0; n];
        let mut generator = Stream::new(seed, "sample of a data set").at(0).generator();
        match fixed {
            None => uniform(self.data.len(), &mut generator, &mut indices),
            Some(factor) => {
                let factor = self.factor("fixed", factor)?;
                let interventions = Interventions::new(self.data.as_ref()).map_err(Raise::raise)?;
                interventions.fixed(factor, &mut generator, &mut indices);
            }
        }
        Ok((self.images(py, &indices, seed)?, self.factors_of(py, &indices)))
    }

    /// Pairs of images that share the value of one factor: two results as of `sample`.
    #[pyo3(signature = (n, factor, *, seed=0))]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::n)] n: usize,
        factor: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<(Sampled<'py>, Sampled<'py>)> {
        check_images("n", n.saturating_mul(2), self.data.shape())?;
        let factor = self.factor("factor", factor)?;
        let (mut first, mut second) = (vec![0; n], vec![0; n]);
        let mut generator = Stream::new(seed, "sample of a data set").at(0).generator();
        let interventions = Interventions::new(self.data.as_ref()).map_err(Raise::raise)?;
        interventions.pairs(factor, &mut generator, &mut first, &mut second);
        Ok((
            (self.images(py, &first, seed)?, self.factors_of(py, &first)),
            (self.images(py, &second, seed)?, self.factors_of(py, &second)),
        ))
    }

    /// The numbers of the images with these factor vectors `[n, factors]`, of a data set that has every
    /// combination once.
    fn index_of<'py>(
        &self,
        py: Python<'py>,
        factors: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let vectors = integers("factors", factors)?;
        let missing = |row: &dyn std::fmt::Debug| {
            let expected =
                format!("values below {:?} of a data set that is a full grid", self.factor_sizes());
            wrong_value("factors", format!("{row:?}"), expected)
        };
        let mut indices = Vec::with_capacity(vectors.nrows());
        for row in vectors.rows() {
            let values: Option<Vec<u32>> = row.iter().map(|value| u32::try_from(*value).ok()).collect();
            let index = values.and_then(|values| self.data.index_of(&values));
            indices.push(index.ok_or_else(|| missing(&row.to_vec()))? as i64);
        }
        Ok(PyArray1::from_vec(py, indices))
    }

    fn __repr__(&self) -> String {
        format!(
            "<unbraid.datasets.Dataset {}: {} images of {}>",
            self.spec,
            self.data.len(),
            self.data.shape()
        )
    }
}

/// An option of a data set. A dictionary is a table: `attributes={"path": "table.csv", "kinds": {"weight": "number"}}`.
fn option_value(key: &str, value: Value) -> PyResult<OptionValue> {
    Ok(match value {
        Value::Bool(flag) => OptionValue::Boolean(flag),
        Value::String(text) => OptionValue::Text(text),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => OptionValue::Integer(whole),
            (None, Some(real)) => OptionValue::Float(real),
            (None, None) => return Err(wrong_value(key, number, "a smaller number")),
        },
        Value::Object(table) => {
            let values = table.into_iter().map(|(name, value)| {
                let value = option_value(&format!("{key}.{name}"), value)?;
                Ok((name, value))
            });
            OptionValue::Table(values.collect::<PyResult<_>>()?)
        }
        Value::Null | Value::Array(_) => {
            return Err(wrong_type(key, value, "a number, a word, True, False or a dictionary of these"));
        }
    })
}

/// Opens a data set by its name, or a file or folder by its path.
///
/// Parameters
/// ----------
/// name : str, optional
///     A name of `unbraid.datasets.names()`, with options in brackets if there are some: `"shapes(positions=8)"`.
/// path : path, optional
///     The file or folder. Without a name, the kind of data set is inferred from it.
/// progress : bool or callable, optional
///     Whether to show progress of opening it, as for `unbraid.train`.
/// **options
///     Options of the data set: `positions=8`.
#[pyfunction]
#[pyo3(signature = (name=None, *, path=None, progress=None, **options))]
pub(crate) fn load(
    py: Python<'_>,
    name: Option<&str>,
    path: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyDataset> {
    let mut spec = match (name, &path) {
        (Some(name), _) => name.parse::<DataSpec>().map_err(Raise::raise)?,
        (None, Some(_)) => DataSpec::default(),
        (None, None) => return Err(wrong_type("name", "None", "the name of a data set, or path=")),
    };
    if path.is_some() {
        spec.path = path;
    }
    for (key, value) in options.into_iter().flatten() {
        let key: String = key.extract()?;
        let value = option_value(&key, to_json(&key, &value)?)?;
        spec.options.insert(key, value);
    }
    let shown = match progress {
        Some(progress) => progress::function(progress)?,
        None => None,
    };
    let data = work::run(py, |stop: &Stop| open(&spec, &Reporter::new(shown, stop)))?;
    Ok(PyDataset { spec, data: Arc::from(data) })
}

/// The data sets that can be loaded: name, one line about it, what its path must be (`None` if it needs
/// none), and options.
#[pyfunction]
pub(crate) fn list_datasets(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in registry::ENTRIES {
        let about = PyDict::new(py);
        about.set_item("name", entry.name)?;
        about.set_item("summary", entry.summary)?;
        about.set_item("path", entry.path)?;
        let options = PyDict::new(py);
        for option in entry.options.iter().chain(entry.split_options()) {
            options.set_item(option.name, option.help())?;
        }
        about.set_item("options", options)?;
        list.append(about)?;
    }
    Ok(list)
}
