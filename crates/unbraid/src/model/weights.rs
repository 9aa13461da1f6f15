//! Weights as safetensors files that PyTorch reads and writes.

use crate::error::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;
use std::path::Path;
use unbraid_data::files::read_limited;
use unbraid_data::memory;

/// One tensor of a state dict.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTensor {
    /// Its PyTorch name.
    pub name: String,
    /// Its dimensions; none for a single number.
    pub shape: Vec<usize>,
    /// Its values, in order.
    pub values: Values,
}

/// The values of a [`StateTensor`].
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Weights and statistics, in single precision.
    Floats(Vec<f32>),
    /// Sums that must not lose a bit when a run is resumed.
    Doubles(Vec<f64>),
    /// Counters.
    Integers(Vec<i64>),
}

impl StateTensor {
    /// A tensor in single precision.
    pub fn floats(name: impl Into<String>, shape: Vec<usize>, values: Vec<f32>) -> Self {
        Self { name: name.into(), shape, values: Values::Floats(values) }
    }
}

impl Values {
    /// The values if they are in single precision; otherwise an empty slice.
    pub fn as_floats(&self) -> &[f32] {
        match self {
            Self::Floats(values) => values,
            Self::Doubles(_) | Self::Integers(_) => &[],
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            Self::Floats(_) => Dtype::F32,
            Self::Doubles(_) => Dtype::F64,
            Self::Integers(_) => Dtype::I64,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Floats(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Doubles(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Integers(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    fn from_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
        fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
            bytes.as_chunks::<N>().0.iter().copied()
        }
        match dtype {
            Dtype::F32 => Some(Self::Floats(words(bytes).map(f32::from_le_bytes).collect())),
            Dtype::F64 => Some(Self::Doubles(words(bytes).map(f64::from_le_bytes).collect())),
            Dtype::I64 => Some(Self::Integers(words(bytes).map(i64::from_le_bytes).collect())),
            _ => None,
        }
    }
}

/// The only key of a file's metadata. The format stores metadata in an unordered map; with a single key, equal states
/// give equal bytes.
const METADATA: &str = "unbraid";

/// A state dict as the bytes of a safetensors file, with a note of unbraid in its metadata.
///
/// # Errors
/// If two tensors have the same name.
pub fn write_state(state: &[StateTensor], note: &str) -> Result<Vec<u8>> {
    let bytes: Vec<Vec<u8>> = state.iter().map(|tensor| tensor.values.to_bytes()).collect();
    let failed = |error: safetensors::SafeTensorError| Error::DamagedWeights {
        path: "weights".into(),
        reason: error.to_string(),
    };
    let views: Vec<(&str, TensorView<'_>)> = state
        .iter()
        .zip(&bytes)
        .map(|(tensor, bytes)| {
            let view = TensorView::new(tensor.values.dtype(), tensor.shape.clone(), bytes)?;
            Ok((tensor.name.as_str(), view))
        })
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let metadata = HashMap::from([(METADATA.to_owned(), note.to_owned())]);
    safetensors::serialize(views, Some(metadata)).map_err(failed)
}

/// The state dict of a safetensors file, and the note if there is one.
///
/// # Errors
/// If the file cannot be read, is damaged, or has a number type that no model here uses.
pub fn read_state(path: &Path) -> Result<(Vec<StateTensor>, Option<String>)> {
    // The bytes, and the values that they become.
    let bytes = read_limited(path, memory::limit() / 2).map_err(Error::io(path, "read it"))?;
    let damaged = |reason: String| Error::DamagedWeights { path: path.to_owned(), reason };
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| damaged(error.to_string()))?;
    let note = header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA).cloned());
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(error.to_string()))?;
    let mut state = Vec::new();
    for (name, view) in tensors.iter() {
        let values = Values::from_bytes(view.dtype(), view.data()).ok_or_else(|| {
            damaged(format!("`{name}` is of type {:?}, expected F32, F64 or I64", view.dtype()))
        })?;
        state.push(StateTensor { name: name.to_owned(), shape: view.shape().to_vec(), values });
    }
    Ok((state, note))
}

fn describe(tensor: &StateTensor) -> String {
    format!("{:?} {:?}", tensor.values.dtype(), tensor.shape)
}

/// Checks that `state` has tensors of these names and shapes, in single precision.
///
/// # Errors
/// [`Error::TensorMismatch`] on the first that is missing or different.
pub(crate) fn check_shapes(expected: &[(String, Vec<usize>)], state: &[StateTensor]) -> Result {
    let found: HashMap<&str, &StateTensor> =
        state.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    for (name, shape) in expected {
        let tensor = found.get(name.as_str());
        if tensor.is_some_and(|tensor| tensor.shape == *shape && tensor.values.dtype() == Dtype::F32) {
            continue;
        }
        return Err(Error::TensorMismatch {
            tensor: name.clone(),
            found: tensor.map_or_else(|| "nothing".to_owned(), |tensor| describe(tensor)),
            expected: format!("{:?} {shape:?}", Dtype::F32),
        });
    }
    Ok(())
}

/// The values of `state` in the order of `expected`.
///
/// # Errors
/// Unless both have the same names, shapes and types.
pub fn matched(expected: &[StateTensor], state: Vec<StateTensor>) -> Result<Vec<Values>> {
    let mut found: HashMap<String, StateTensor> =
        state.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
    let mut ordered = Vec::with_capacity(expected.len());
    for wanted in expected {
        let mismatch = |found: String| Error::TensorMismatch {
            tensor: wanted.name.clone(),
            found,
            expected: describe(wanted),
        };
        let tensor = found.remove(&wanted.name).ok_or_else(|| mismatch("nothing".to_owned()))?;
        if tensor.shape != wanted.shape || tensor.values.dtype() != wanted.values.dtype() {
            return Err(mismatch(describe(&tensor)));
        }
        ordered.push(tensor.values);
    }
    match found.values().min_by(|left, right| left.name.cmp(&right.name)) {
        None => Ok(ordered),
        Some(left_over) => Err(Error::TensorMismatch {
            tensor: left_over.name.clone(),
            found: describe(left_over),
            expected: "nothing".to_owned(),
        }),
    }
}
