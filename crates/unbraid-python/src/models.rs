//! Models of other programs as runs, and runs for other programs.

use crate::datasets::PyDataset;
use crate::errors::{Raise, wrong_type, wrong_value};
use crate::run::PyRun;
use crate::values::{assignments, type_name};
use crate::work::{self, Failure, Stop, Stoppable};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::{Path, PathBuf};
use unbraid::data::{DataError, DataSpec};
use unbraid::export::{onnx, weights};
use unbraid::files::Existing;
use unbraid::import::Import;
use unbraid::run::{Run, Start};
use unbraid_report::write_hub_directory;

/// Makes a run of published weights, as `unbraid import` does; returns the `Run`.
///
/// Nothing in a file is executed: a pickle that asks for a function that is not on a short list is refused.
///
/// Parameters
/// ----------
/// path : path
///     A directory of disentangling-vae or joint-vae with model.pt and specs.json, or a file of weights: a
///     state dict of PyTorch, or safetensors.
/// out : path
///     The run directory to write.
/// data : str, path or Dataset, optional
///     The data that the model was trained on; a path is that of the data set which specs.json names.
/// mapping : path, optional
///     A TOML file with the configuration and the names of the tensors.
/// set : dict, optional
///     Any keys of the configuration.
/// overwrite : bool
///     Whether to replace the run in `out`.
#[pyfunction]
#[pyo3(signature = (path, *, out, data=None, mapping=None, set=None, overwrite=false))]
pub(crate) fn import_model<'py>(
    py: Python<'py>,
    path: PathBuf,
    out: PathBuf,
    data: Option<&Bound<'py, PyAny>>,
    mapping: Option<PathBuf>,
    set: Option<&Bound<'py, PyDict>>,
    overwrite: bool,
) -> PyResult<PyRun> {
    let mut import = Import::new(path);
    if let Some(data) = data {
        import = import.data(spec(data)?);
    }
    if let Some(mapping) = mapping {
        import = import.mapping(mapping);
    }
    for assignment in assignments(set)? {
        import = import.set(assignment);
    }
    let start = if overwrite { Start::Overwrite } else { Start::Fresh };
    work::run(py, |stop: &Stop| import.write(out, start, &Stoppable(stop))).map(PyRun::new)
}

/// A data set by name, path, or as it was loaded.
fn spec(data: &Bound<'_, PyAny>) -> PyResult<DataSpec> {
    if let Ok(text) = data.cast::<PyString>() {
        return text.to_cow()?.parse().map_err(|error: DataError| error.raise());
    }
    if data.hasattr("__fspath__")? {
        return Ok(DataSpec::at(data.extract::<PathBuf>()?));
    }
    match data.cast::<PyDataset>() {
        Ok(loaded) => Ok(loaded.get().spec().clone()),
        Err(_) => {
            let expected = "the name or path of a data set, or a loaded one";
            Err(wrong_type("data", type_name(data), expected))
        }
    }
}

/// What a run can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Onnx,
    Safetensors,
    Hub,
}

impl Format {
    fn of_word(word: &str) -> PyResult<Self> {
        match word {
            "onnx" => Ok(Self::Onnx),
            "safetensors" => Ok(Self::Safetensors),
            "hub" => Ok(Self::Hub),
            _ => Err(wrong_value("format", format!("{word:?}"), "onnx, safetensors or hub")),
        }
    }
}

/// Writes a run as [`PyRun`]'s `export` is asked to, and returns the files.
pub(crate) fn export(
    py: Python<'_>,
    run: &Run,
    (format, path): (&str, &Path),
    licence: Option<&str>,
    overwrite: bool,
) -> PyResult<Vec<PathBuf>> {
    let format = Format::of_word(format)?;
    if licence.is_some() && format != Format::Hub {
        return Err(wrong_value("licence", "it without a model card", "it only with the format hub"));
    }
    let existing = Existing::from_flag(overwrite);
    work::run(py, |stop: &Stop| -> Result<Vec<PathBuf>, Failure> {
        std::fs::create_dir_all(path).map_err(unbraid::Error::io(path, "create the directory"))?;
        Ok(match format {
            Format::Onnx => onnx::write(run, path, existing)?,
            Format::Safetensors => weights::write(run, path, existing)?,
            Format::Hub => write_hub_directory(run, path, licence, existing, &Stoppable(stop))?,
        })
    })
}
