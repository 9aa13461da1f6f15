//! Weights as safetensors files that PyTorch reads and writes.

use crate::error::{Error, Result};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorView};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use unbraid_data::files::{open_limited, read_limited};
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
    let damaged = |reason: String| Error::DamagedWeights { path: path.to_owned(), reason };
    // The bytes, and the values that they become.
    let limit = memory::limit() / 2;
    check_length(path, limit)
        .map_err(Error::io(path, "read it"))?
        .map_err(|error| damaged(error.to_string()))?;
    let bytes = read_limited(path, limit).map_err(Error::io(path, "read it"))?;
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

/// Smaller files are read as they are.
const SMALL: u64 = 16 << 20;

/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// Compares the length of a file with what its header says of its tensors, before it is read as a whole: a
/// sparse file of gigabytes takes no room on disk, but as much memory as it is long. What else may be wrong
/// with it is found on reading.
fn check_length(path: &Path, limit: u64) -> io::Result<Result<(), SafeTensorError>> {
    let mut file = open_limited(path, limit)?;
    let length = file.metadata()?.len();
    if length <= SMALL {
        return Ok(Ok(()));
    }
    let mut size = [0; 8];
    file.read_exact(&mut size)?;
    let size = u64::from_le_bytes(size);
    if size > LONGEST_HEADER {
        return Ok(Err(SafeTensorError::HeaderTooLarge));
    }
    let mut header = Vec::new();
    file.take(size).read_to_end(&mut header)?;
    Ok(match serde_json::from_slice::<Metadata>(&header) {
        Err(error) => Err(SafeTensorError::InvalidHeaderDeserialization(error)),
        Ok(header) if 8 + size + header.data_len() as u64 != length => {
            Err(SafeTensorError::MetadataIncompleteBuffer)
        }
        Ok(_) => Ok(()),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    /// Zeros that take no room on disk.
    fn lengthen(path: &Path, length: u64) {
        File::options().write(true).open(path).unwrap().set_len(length).unwrap();
    }

    #[test]
    fn a_file_that_is_longer_than_its_tensors_is_refused_by_its_header() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.safetensors");
        let values = Values::Floats(vec![1.0, 2.0]);
        let state = [StateTensor { name: "a".to_owned(), shape: vec![2], values }];
        fs::write(&path, write_state(&state, "note").unwrap()).unwrap();
        assert_eq!(read_state(&path).unwrap().1.as_deref(), Some("note"));
        let refusal = |length: u64| {
            lengthen(&path, length);
            check_length(&path, u64::MAX).unwrap().unwrap_err().to_string()
        };
        // It is read to the end only if it is small.
        lengthen(&path, SMALL);
        assert!(check_length(&path, u64::MAX).unwrap().is_ok());
        assert_eq!(refusal(1 << 40), SafeTensorError::MetadataIncompleteBuffer.to_string());
        fs::write(&path, "").unwrap();
        assert!(refusal(1 << 40).contains("EOF while parsing"));
        fs::write(&path, [0xff; 8]).unwrap();
        assert_eq!(refusal(1 << 40), SafeTensorError::HeaderTooLarge.to_string());
        assert!(read_state(&path).is_err());
    }
}
