//! Arrays of Python as what a run encodes and decodes.

use crate::errors::{wrong_type, wrong_value};
use crate::factors::doubles;
use crate::work::{self, Stop, Stoppable};
use ndarray::{Array2, Array4, Axis, Ix2};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, Features, Fingerprint, ImageShape, StoredVectors};
use unbraid::model::Posteriors;

/// What is known of the latent units of all images of some data.
pub(super) fn encode(py: Python<'_>, run: &unbraid::Run, data: &dyn DataSet) -> PyResult<Posteriors> {
    work::run(py, |stop: &Stop| {
        let indices: Vec<usize> = (0..data.len()).collect();
        run.encode_data(data, &indices, Stream::new(0, "input images"), &Stoppable(stop))
    })
}

/// Rows of a table as a run knows it, or a single one. In double precision: values may be large compared with
/// their spread.
pub(super) fn rows_of_table(
    argument: &'static str,
    rows: &Bound<'_, PyAny>,
    features: &Features,
) -> PyResult<StoredVectors> {
    let numpy = rows.py().import("numpy")?;
    let values = doubles(argument, &numpy.call_method1("atleast_2d", (rows,))?)?;
    if values.ncols() != features.len() || values.is_empty() {
        let found = format!("shape {:?}", values.shape());
        return Err(wrong_value(argument, found, format!("(n, {}), the columns of the run", features.len())));
    }
    if let Some(value) = values.iter().find(|value| !value.is_finite()) {
        return Err(wrong_value(argument, value, "finite numbers"));
    }
    let columns = features.names().map(str::to_owned).collect();
    // Nobody asks for the hash of rows that are only encoded.
    let fingerprint = Fingerprint::Recipe(String::new());
    Ok(StoredVectors::new(argument, columns, values.iter().copied().collect(), None, fingerprint))
}

/// The images of latent values, part by part, so that Ctrl-C need not wait for all of them. An image depends on its row
/// alone.
pub(super) fn decode(run: &unbraid::Run, rows: &Array2<f32>, stop: &Stop) -> unbraid::Result<Array4<f32>> {
    // Two batches of inference for each thread.
    let part = 128 * rayon::current_num_threads();
    if rows.nrows() <= part {
        return run.decode(rows);
    }
    let ImageShape { height, width, channels } = run.image_shape();
    let mut images = Array4::zeros((rows.nrows(), height, width, channels));
    let parts = rows.axis_chunks_iter(Axis(0), part).zip(images.axis_chunks_iter_mut(Axis(0), part));
    for (rows, mut images) in parts {
        stop.check();
        images.assign(&run.decode(&rows)?);
    }
    Ok(images)
}

/// Latent values: one row of this width, or several.
pub(super) fn latent_rows(latents: &Bound<'_, PyAny>, width: usize) -> PyResult<Array2<f32>> {
    let numpy = latents.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (latents,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind, 'f' | 'i' | 'u') {
        let found = format!("dtype {}", array.getattr("dtype")?);
        return Err(wrong_type("latents", found, "float32 or float64"));
    }
    let array = numpy.call_method1("asarray", (array, "float32"))?;
    let array = array.cast::<PyArrayDyn<f32>>().map_err(PyErr::from)?.readonly();
    let view = array.as_array();
    let rows = match view.ndim() {
        1 => view.insert_axis(Axis(0)).into_dimensionality::<Ix2>(),
        _ => view.into_dimensionality::<Ix2>(),
    };
    match rows {
        Ok(rows) if rows.ncols() == width => Ok(rows.to_owned()),
        Ok(_) | Err(_) => {
            let expected =
                format!("(n, {width}), a column for each unit, and for each class of a categorical one");
            Err(wrong_value("latents", format!("shape {:?}", array.shape()), expected))
        }
    }
}
