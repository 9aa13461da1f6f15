//! HDF5: arrays by name, in slices of whole rows.
//!
//! The format itself is read by `hdf5-reader`. It bounds what a damaged file can make it allocate, and this module adds
//! two fences. A panic inside it becomes an error: the format is large, and a parser that indexes once too often must
//! not take a program down. And an array that the file is too small to hold, however well compressed, is refused before
//! it is read, as missing parts of an array count as zeros and would be made up without end.

use super::npz::open_file;
use crate::error::{DataError, Result};
use hdf5_reader::{Dataset, Datatype, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Largest slice that is held in memory at once.
const LARGEST_SLICE: usize = 256 << 20;
/// h5py chooses chunks of at most 1 MiB; others choose larger ones.
const LARGEST_CHUNK: usize = 64 << 20;
/// Deflate, the filter in use, makes data at most 1032 times smaller.
const LARGEST_RATIO: u64 = 1100;

/// An open file.
pub struct File {
    path: PathBuf,
    file: Hdf5File,
    bytes: u64,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", &self.path).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl File {
    /// Opens a file.
    ///
    /// # Errors
    /// If the file is missing, a directory, or not HDF5.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = open_file(path)?.metadata().map_err(DataError::io(path, "read its size"))?.len();
        let options = OpenOptions::default()
            // Every chunk is read once, so keeping them would only cost memory.
            .with_chunk_cache_bytes(0)
            .with_max_chunk_bytes(LARGEST_CHUNK)
            .with_max_read_bytes(LARGEST_SLICE);
        let file = guarded(|| Hdf5File::open_with_options(path, options))
            .map_err(|found| DataError::content(path, "file", found, "an HDF5 file"))?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    /// Opens the array with this name.
    ///
    /// # Errors
    /// If there is none, or its description is damaged or larger than the file can be.
    pub fn array(&self, name: &str) -> Result<Array> {
        let refuse = |found, expected: &str| {
            DataError::content(&self.path, format!("array `{name}`"), found, expected)
        };
        let dataset =
            guarded(|| self.file.dataset(name)).map_err(|found| refuse(found, "a readable array"))?;
        let shape: Option<Vec<usize>> = dataset.shape().iter().map(|&axis| axis.try_into().ok()).collect();
        let element = Element::of(dataset.dtype());
        let sized = shape.and_then(|shape| {
            let bytes = shape.iter().try_fold(element.bytes(), |bytes, &axis| bytes.checked_mul(axis))?;
            (bytes as u64 / LARGEST_RATIO <= self.bytes).then_some(shape)
        });
        let shape = sized.ok_or_else(|| {
            let expected = format!("no more than a file of {} bytes can hold", self.bytes);
            refuse(format!("shape {:?}", dataset.shape()), &expected)
        })?;
        Ok(Array { path: self.path.clone(), name: name.to_owned(), dataset, shape, element })
    }
}

/// The types of elements that data sets have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Unsigned bytes.
    Byte,
    /// Floats of 64 bits.
    Double,
    /// Anything else.
    Other,
}

impl Element {
    fn of(datatype: &Datatype) -> Self {
        match datatype {
            Datatype::FixedPoint { size: 1, signed: false, .. } => Self::Byte,
            Datatype::FloatingPoint { size: 8, .. } => Self::Double,
            _ => Self::Other,
        }
    }

    fn bytes(self) -> usize {
        if self == Self::Double { 8 } else { 1 }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Byte => "uint8",
            Self::Double => "float64",
            Self::Other => "elements that are neither uint8 nor float64",
        })
    }
}

/// An array whose elements are still to be read.
pub struct Array {
    path: PathBuf,
    name: String,
    dataset: Dataset,
    shape: Vec<usize>,
    element: Element,
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array")
            .field("path", &self.path)
            .field("name", &self.name)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Array {
    /// The length of each axis; the last index is the fastest.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// An error about this array.
    pub fn refuse(&self, found: impl Into<String>, expected: impl Into<String>) -> DataError {
        DataError::content(&self.path, format!("array `{}`", self.name), found, expected)
    }

    /// Checks the type, that there is at least one row, and the lengths of all axes after the first.
    ///
    /// # Errors
    /// If they are others.
    pub fn expect(&self, element: Element, inner: &[usize]) -> Result<()> {
        if self.element != element {
            return Err(self.refuse(self.element.to_string(), element.to_string()));
        }
        match self.shape.split_first() {
            Some((&rows, found)) if rows > 0 && found == inner => Ok(()),
            _ => {
                let expected: String = inner.iter().map(|length| format!(", {length}")).collect();
                Err(self.refuse(format!("shape {:?}", self.shape), format!("shape [n{expected}]")))
            }
        }
    }

    /// Streams an array of bytes, in order, in pieces of whole rows.
    ///
    /// # Errors
    /// If the file is damaged, or `take` refuses a piece.
    ///
    /// # Panics
    /// If the elements are no bytes; see [`Array::expect`].
    pub fn stream(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        assert_eq!(self.element, Element::Byte, "elements are checked before they are read");
        let rows = self.shape[0];
        let step = self.rows_per_slice();
        for first in (0..rows).step_by(step) {
            let mut selection = SliceInfo::all(self.shape.len());
            let end = (first + step).min(rows);
            selection.selections[0] = SliceInfoElem::Slice { start: first as u64, end: end as u64, step: 1 };
            let slice = guarded(|| self.dataset.read_slice_parallel::<u8>(&selection)).map_err(|found| {
                self.refuse(format!("{found}, in rows {first} to {end}"), "readable elements")
            })?;
            match slice.as_slice() {
                Some(bytes) => take(bytes)?,
                None => take(&slice.iter().copied().collect::<Vec<u8>>())?,
            }
        }
        Ok(())
    }

    /// As many rows as a chunk has, so that each is decoded once, or a few times that, within what memory allows.
    fn rows_per_slice(&self) -> usize {
        let row = self.shape[1..].iter().product::<usize>().max(1);
        let chunk =
            self.dataset.chunks().and_then(|chunk| chunk.first().copied()).unwrap_or(1).max(1) as usize;
        let most = (LARGEST_SLICE / row).max(1);
        // 16 MiB keep every core busy.
        let enough = ((16 << 20) / row).max(1);
        chunk.saturating_mul(enough.div_ceil(chunk)).min(most)
    }

    /// All elements of an array of floats.
    ///
    /// # Errors
    /// If the file is damaged, or the array is larger than 256 MiB.
    ///
    /// # Panics
    /// If the elements are no floats; see [`Array::expect`].
    pub fn floats(&self) -> Result<Vec<f64>> {
        assert_eq!(self.element, Element::Double, "elements are checked before they are read");
        let array = guarded(|| self.dataset.read_array::<f64>())
            .map_err(|found| self.refuse(found, "readable elements"))?;
        Ok(array.iter().copied().collect())
    }
}

/// Calls into `hdf5-reader`; an error, or a panic, is returned as what was found.
fn guarded<T>(call: impl FnOnce() -> hdf5_reader::error::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("data so damaged that its parser gave up".to_owned()),
    }
}
