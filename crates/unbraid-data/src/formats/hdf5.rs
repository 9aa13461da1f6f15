//! HDF5: arrays by name, in slices of whole rows.
//!
//! The format is read by `hdf5-reader`, which limits how much a damaged file can make it allocate: 64 MiB per chunk and
//! 256 MiB per slice, as configured here. This module adds two safeguards. A panic in the parser becomes an
//! error. And an array that could not fit the file, however well compressed, is refused before it is read, as
//! HDF5 fills the missing parts of an array with zeros.

use super::npz::open_file;
use crate::error::{DataError, Result};
use crate::guard;
use hdf5_reader::{Dataset, DatasetChunk, Datatype, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem};
use rayon::prelude::*;
use std::fmt;
use std::path::{Path, PathBuf};

/// The largest slice that is held in memory.
const LARGEST_SLICE: usize = 256 << 20;
/// h5py chooses chunks of at most 1 MiB; others choose larger ones.
const LARGEST_CHUNK: usize = 64 << 20;
/// Rows assembled at a time: enough for every core.
const ROWS_PER_PIECE: usize = 256;
/// Deflate, the filter in use, compresses by a factor of at most 1032.
const LARGEST_RATIO: u64 = 1100;

/// An open file.
pub(crate) struct File {
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
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let bytes = open_file(path)?.metadata().map_err(DataError::io(path, "read its size"))?.len();
        let options = OpenOptions::default()
            // Every chunk is read once, so caching them would only cost memory.
            .with_chunk_cache_bytes(0)
            .with_max_chunk_bytes(LARGEST_CHUNK)
            .with_max_read_bytes(LARGEST_SLICE);
        let file = guarded(|| Hdf5File::open_with_options(path, options)).map_err(|cause| {
            DataError::content(path, "file", "damaged or unknown data", "an HDF5 file").caused_by(cause)
        })?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    /// Opens the array with this name.
    ///
    /// # Errors
    /// If it is missing or damaged, or cannot fit the file.
    pub(crate) fn array(&self, name: &str) -> Result<Array> {
        let refuse = |found: String, expected: &str| {
            DataError::content(&self.path, format!("array `{name}`"), found, expected)
        };
        let dataset = guarded(|| self.file.dataset(name)).map_err(|cause| {
            refuse("a missing or damaged array".to_owned(), "a readable array").caused_by(cause)
        })?;
        let shape: Option<Vec<usize>> = dataset.shape().iter().map(|&axis| axis.try_into().ok()).collect();
        let element = Element::of(dataset.dtype());
        let sized = shape.and_then(|shape| {
            let bytes = shape.iter().try_fold(element.bytes(), |bytes, &axis| bytes.checked_mul(axis))?;
            (bytes as u64 / LARGEST_RATIO <= self.bytes).then_some(shape)
        });
        let shape = sized.ok_or_else(|| {
            let expected = format!("an array that fits a file of {} bytes", self.bytes);
            refuse(format!("shape {:?}", dataset.shape()), &expected)
        })?;
        Ok(Array { path: self.path.clone(), name: name.to_owned(), dataset, shape, element })
    }
}

/// The element types that data sets use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
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

    /// Bytes of one element, at least.
    fn bytes(self) -> usize {
        match self {
            Self::Double => 8,
            Self::Byte | Self::Other => 1,
        }
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

/// An array whose elements have not been read yet.
pub(crate) struct Array {
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
    /// The length of each axis; the last index varies fastest.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// An error about this array.
    pub(crate) fn refuse(&self, found: impl Into<String>, expected: impl Into<String>) -> DataError {
        DataError::content(&self.path, format!("array `{}`", self.name), found, expected)
    }

    /// Checks the element type, that there is at least one row, and the lengths of all axes after the first.
    ///
    /// # Errors
    /// If they differ.
    pub(crate) fn expect(&self, element: Element, inner: &[usize]) -> Result<()> {
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
    /// If the elements are not bytes; see [`Array::expect`].
    pub(crate) fn stream(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        assert_eq!(self.element, Element::Byte, "elements are checked before they are read");
        let rows = self.shape[0];
        let mut first = self.stream_chunks(&mut take)?;
        let step = self.rows_per_slice();
        while first < rows {
            let mut selection = SliceInfo::all(self.shape.len());
            let end = (first + step).min(rows);
            selection.selections[0] = SliceInfoElem::Slice { start: first as u64, end: end as u64, step: 1 };
            let slice = guarded(|| self.dataset.read_slice_parallel::<u8>(&selection))
                .map_err(|cause| self.damaged_rows(cause, first, end))?;
            match slice.as_slice() {
                Some(bytes) => take(bytes)?,
                None => take(&slice.iter().copied().collect::<Vec<u8>>())?,
            }
            first = end;
        }
        Ok(())
    }

    fn damaged_rows(&self, cause: Cause, first: usize, end: usize) -> DataError {
        self.refuse(format!("damaged data in rows {first} to {end}"), "readable elements").caused_by(cause)
    }

    /// Streams the rows of an array that is stored in a complete grid of chunks, and returns how many; the caller reads
    /// the rest in slices.
    ///
    /// The chunks of Shapes3D hold thousands of images but few pixels of each, so that slices would write
    /// every pixel to a distant place of a large buffer. Decoding all chunks of the same images first, and
    /// then assembling each image from them, takes a tenth of the time.
    fn stream_chunks(&self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<usize> {
        let rows = self.shape[0];
        let Some(grid) = self.dataset.chunks().and_then(|chunk| Grid::new(&self.shape, &chunk)) else {
            return Ok(0);
        };
        let mut chunks = guarded(|| self.dataset.iter_chunks())
            .map_err(|cause| self.refuse("damaged data", "a readable chunk index").caused_by(cause))?;
        let row_bytes = self.shape[1..].iter().product::<usize>();
        let mut piece = vec![0; ROWS_PER_PIECE.min(rows) * row_bytes];
        for first in (0..rows).step_by(grid.chunk[0]) {
            let end = (first + grid.chunk[0]).min(rows);
            let mut decoded = Vec::with_capacity(grid.origins.len());
            for origin in &grid.origins {
                let chunk = match guarded(|| chunks.next().transpose()) {
                    Ok(Some(chunk)) => chunk,
                    Ok(None) => return Ok(first),
                    Err(cause) => return Err(self.damaged_rows(cause, first, end)),
                };
                let expected = [first, origin[0], origin[1], origin[2]];
                let is_expected =
                    expected.iter().zip(chunk.offsets()).all(|(&at, &found)| at as u64 == found);
                if !is_expected || chunk.bytes().len() != grid.chunk.iter().product::<usize>() {
                    return Ok(first);
                }
                decoded.push(chunk);
            }
            for start in (first..end).step_by(ROWS_PER_PIECE) {
                let part = &mut piece[..ROWS_PER_PIECE.min(end - start) * row_bytes];
                part.par_chunks_exact_mut(row_bytes).enumerate().for_each(|(i, row)| {
                    grid.gather(start - first + i, decoded.iter().map(DatasetChunk::bytes), row);
                });
                take(part)?;
            }
        }
        Ok(rows)
    }

    /// A multiple of the rows of a chunk, so that each chunk is decoded once, within the limit on memory.
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
    /// If the elements are not floats; see [`Array::expect`].
    pub(crate) fn floats(&self) -> Result<Vec<f64>> {
        assert_eq!(self.element, Element::Double, "elements are checked before they are read");
        let array = guarded(|| self.dataset.read_array::<f64>())
            .map_err(|cause| self.refuse("damaged data", "readable elements").caused_by(cause))?;
        Ok(array.iter().copied().collect())
    }
}

/// How an array of four axes is divided into chunks.
struct Grid {
    /// The lengths of the array's last three axes.
    inner: [usize; 3],
    /// The lengths of a chunk; chunks at the upper edges extend beyond the array.
    chunk: [usize; 4],
    /// The start of each chunk of the same rows along the last three axes, in the order of the chunk index.
    origins: Vec<[usize; 3]>,
}

impl Grid {
    /// `None` for other numbers of axes, and if the chunks of the same rows do not fit memory.
    fn new(shape: &[usize], chunk: &[u32]) -> Option<Self> {
        let &[_, inner @ ..] = <&[usize; 4]>::try_from(shape).ok()?;
        let chunk = <[u32; 4]>::try_from(chunk).ok()?.map(|length| length as usize);
        let counts: [usize; 3] = std::array::from_fn(|axis| inner[axis].div_ceil(chunk[axis + 1].max(1)));
        let bytes =
            counts.iter().chain(&chunk).try_fold(1_usize, |bytes, &length| bytes.checked_mul(length))?;
        if !(1..=LARGEST_SLICE).contains(&bytes) {
            return None;
        }
        let [rows, columns, depths] = counts;
        let origins = (0..rows * columns * depths).map(|at| {
            [at / depths / columns * chunk[1], at / depths % columns * chunk[2], at % depths * chunk[3]]
        });
        Some(Self { inner, chunk, origins: origins.collect() })
    }

    /// Assembles row `row` of these chunks.
    fn gather<'a>(&self, row: usize, chunks: impl Iterator<Item = &'a [u8]>, out: &mut [u8]) {
        let [_, columns, depths] = self.inner;
        let [_, height, width, depth] = self.chunk;
        for (origin, chunk) in self.origins.iter().zip(chunks) {
            let inside: [usize; 3] =
                std::array::from_fn(|axis| self.chunk[axis + 1].min(self.inner[axis] - origin[axis]));
            let chunk = &chunk[row * height * width * depth..][..height * width * depth];
            for (y, line) in chunk.chunks_exact(width * depth).take(inside[0]).enumerate() {
                let to = ((origin[0] + y) * columns + origin[1]) * depths + origin[2];
                let pixels = out[to..].chunks_mut(depths).zip(line.chunks_exact(depth));
                for (to, from) in pixels.take(inside[1]) {
                    to[..inside[2]].copy_from_slice(&from[..inside[2]]);
                }
            }
        }
    }
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Calls `hdf5-reader` and turns a panic into an error.
fn guarded<T>(call: impl FnOnce() -> hdf5_reader::error::Result<T>) -> Result<T, Cause> {
    match guard::guarded(call) {
        Ok(Ok(value)) => Ok(value),
        // Its message repeats its own cause.
        Ok(Err(hdf5_reader::error::Error::Io(cause))) => Err(cause.into()),
        Ok(Err(cause)) => Err(cause.into()),
        Err(_) => Err("the HDF5 parser panicked".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::io::Write;

    const LAYOUTS: [&str; 5] = ["contiguous", "image_chunks", "automatic_chunks", "odd_chunks", "growing"];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Most bytes of a small file are metadata; half of the changes go to its first 2 KB, where the
        /// arrays are described.
        #[test]
        fn mutated_files_never_panic(
            version in prop::sample::select(vec!["earliest", "latest"]),
            layout in prop::sample::select(LAYOUTS.to_vec()),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u8>()), 1..5),
        ) {
            let fixture = format!("tests/fixtures/shapes3d/{version}_{layout}.h5");
            let mut content = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)).unwrap();
            for (at, start, byte) in changes {
                let at = at.index(if start { 2048 } else { content.len() });
                content[at] = byte;
            }
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&content).unwrap();
            if let Ok(file) = File::open(file.path()) {
                for name in ["images", "labels"] {
                    let Ok(array) = file.array(name) else { continue };
                    // The ratio of sizes allows 80 MB here; readers check the shape first.
                    if array.shape().iter().product::<usize>() > 1 << 20 {
                        continue;
                    }
                    if array.expect(Element::Byte, &[64, 64, 3]).is_ok() {
                        let _ = array.stream(|_| Ok(()));
                    }
                    if array.expect(Element::Double, &[6]).is_ok() {
                        let _ = array.floats();
                    }
                }
            }
        }
    }
}
