//! One array of an archive, or of a file: its elements as a stream, as bytes, numbers or text.

use super::elements::{float, integer, text};
use super::open_file;
use crate::error::{DataError, Result};
use crate::formats::npy::Header;
use crate::memory;
use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Arrays are streamed in pieces of this many bytes (a multiple of every element size).
const PIECE: usize = 1 << 20;

/// An array of an archive: its header has been read, its elements have not.
pub struct ArrayReader<'a> {
    path: PathBuf,
    name: String,
    header: Header,
    elements: Box<dyn Read + 'a>,
    place: Place<'a>,
    /// Bytes of memory that it has asked for.
    asked: Cell<u64>,
}

/// How an array is stored in its archive.
pub(super) struct Place<'a> {
    /// Where it begins, if it is not compressed.
    pub(super) stored_at: Option<u64>,
    /// Its bytes, if it is compressed.
    pub(super) compressed: Option<u64>,
    /// What all arrays of the archive have asked for.
    pub(super) taken: Option<&'a Cell<u64>>,
}

impl ArrayReader<'static> {
    /// Opens a single array, an `.npy` file, and reads its header.
    ///
    /// # Errors
    /// If the file is missing or its header is damaged.
    pub fn of_file(path: &Path) -> Result<Self> {
        let file = BufReader::with_capacity(1 << 16, open_file(path)?);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::new(path, &name, Box::new(file), Place { stored_at: None, compressed: None, taken: None })
    }
}

impl<'a> ArrayReader<'a> {
    pub(super) fn new(
        path: &Path,
        name: &str,
        mut elements: Box<dyn Read + 'a>,
        place: Place<'a>,
    ) -> Result<Self> {
        let header = Header::read(&mut elements).map_err(|error| {
            DataError::content(path, format!("array `{name}`"), "a damaged header", "a NumPy array")
                .caused_by(error)
        })?;
        let asked = Cell::new(0);
        let reader = Self { path: path.to_owned(), name: name.to_owned(), header, elements, place, asked };
        if reader.header.bytes().is_none() {
            return Err(reader
                .refuse(format!("shape {:?}", reader.header.shape), "a shape whose size does not overflow"));
        }
        Ok(reader)
    }

    /// The element type and the shape.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// An error about this array.
    pub fn refuse(&self, found: impl Into<String>, expected: impl Into<String>) -> DataError {
        DataError::content(&self.path, format!("array `{}`", self.name), found, expected)
    }

    /// Makes errors about this array after `self` has been consumed.
    pub(crate) fn refusal(&self) -> impl Fn(String, &str) -> DataError + use<> {
        let (path, subject) = (self.path.clone(), format!("array `{}`", self.name));
        move |found, expected| DataError::content(&path, subject.clone(), found, expected)
    }

    /// The offset of the first element in the file, if the array is stored uncompressed.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn stored_offset(&self) -> Result<Option<u64>> {
        let Some(start) = self.place.stored_at else { return Ok(None) };
        // The length of the header was not kept, so the header is read again.
        let mut file = open_file(&self.path)?;
        file.seek(SeekFrom::Start(start)).map_err(DataError::io(&self.path, "seek"))?;
        Header::read(&mut file).map_err(DataError::io(&self.path, "read a header"))?;
        file.stream_position().map(Some).map_err(DataError::io(&self.path, "seek"))
    }

    /// Checks the number of axes.
    ///
    /// # Errors
    /// If the number differs.
    pub fn expect_axes(&self, axes: usize) -> Result<()> {
        if self.header.shape.len() == axes {
            return Ok(());
        }
        Err(self.refuse(format!("shape {:?}", self.header.shape), format!("{axes} axes")))
    }

    /// Checks the exact shape.
    ///
    /// # Errors
    /// If the shape differs.
    pub fn expect_shape(&self, shape: &[usize]) -> Result<()> {
        if self.header.shape == shape {
            return Ok(());
        }
        Err(self.refuse(format!("shape {:?}", self.header.shape), format!("shape {shape:?}")))
    }

    /// Checks that the elements are unsigned bytes in C order.
    ///
    /// # Errors
    /// If they are not.
    pub(crate) fn expect_bytes(&self) -> Result<()> {
        if !matches!((self.header.element.kind, self.header.element.bytes), ('u' | 'b', 1)) {
            return Err(self.refuse(self.header.element.to_string(), "uint8"));
        }
        self.expect_c_order()
    }

    fn expect_c_order(&self) -> Result<()> {
        if self.header.fortran_order && self.header.shape.len() > 1 {
            return Err(self.refuse("Fortran order", "C order; save it with numpy.ascontiguousarray"));
        }
        Ok(())
    }

    /// Streams the raw elements in order, in pieces, and checks that the array is complete.
    ///
    /// # Errors
    /// If the file ends early, the checksum is wrong, or `take` fails.
    pub fn stream(mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let total = self.header.bytes().unwrap_or(usize::MAX);
        let mut piece = vec![0; PIECE.min(total)];
        let mut done = 0;
        while done < total {
            let wanted = (total - done).min(piece.len());
            let part = &mut piece[..wanted];
            if let Err(error) = self.elements.read_exact(part) {
                return Err(self.ended_early(error, done, total));
            }
            take(part)?;
            done += wanted;
        }
        // Reading to the end makes the archive verify its checksum.
        match self.elements.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.refuse("more bytes than its shape needs", format!("{total} bytes"))),
            Err(error) => Err(self.refuse("damaged data", "intact data").caused_by(error)),
        }
    }

    fn ended_early(&self, error: io::Error, done: usize, total: usize) -> DataError {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            let found = format!("an early end before byte {}", total.min(done + PIECE));
            return self.refuse(found, format!("{total} bytes"));
        }
        self.refuse(format!("damaged data after about {done} bytes"), format!("{total} intact bytes"))
            .caused_by(error)
    }

    /// Checks that the whole array fits into memory with this many bytes for each element.
    fn check_memory(&self, bytes_each: usize) -> Result<()> {
        let count = self.header.len().unwrap_or(usize::MAX) as u64;
        let needed = count.saturating_mul(bytes_each as u64);
        let subject = || format!("array `{}`", self.name);
        let before = self.place.taken.map_or(0, Cell::get);
        // What is asked for twice is read once.
        let more = needed.saturating_sub(self.asked.get());
        let sum = if before > self.asked.get() { " with those before it" } else { "" };
        DataError::check_memory(&self.path, format!("{}{sum}", subject()), before.saturating_add(more))?;
        self.asked.update(|asked| asked + more);
        if let Some(taken) = self.place.taken {
            taken.set(before + more);
        }
        let Some(compressed) = self.place.compressed else { return Ok(()) };
        let limit = memory::largest_expansion(compressed);
        if needed <= limit {
            return Ok(());
        }
        let subject = format!("{} of {} compressed", subject(), memory::Bytes(compressed));
        Err(DataError::TooLarge { path: self.path.clone(), subject, needed, limit })
    }

    /// All elements as bytes.
    ///
    /// # Errors
    /// As [`ArrayReader::stream`], and if they do not fit into memory.
    pub fn bytes(self) -> Result<Vec<u8>> {
        self.check_memory(self.header.element.bytes)?;
        let total = self.header.bytes().unwrap_or(0);
        let mut bytes = Vec::new();
        self.stream(|piece| {
            make_room(&mut bytes, total);
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// All elements as integers. Floats are accepted if they are whole numbers.
    ///
    /// # Errors
    /// If the elements are not numbers, or one is not a whole number, and as [`ArrayReader::bytes`].
    pub fn integers(self) -> Result<Vec<i64>> {
        self.expect_c_order()?;
        self.check_memory(size_of::<i64>())?;
        let total = self.header.len().unwrap_or(0);
        let element = self.header.element;
        let refuse = self.refusal();
        let not_whole = |found: String| refuse(found, "whole numbers that fit 64 bits");
        let mut integers = Vec::new();
        match element.kind {
            'i' | 'u' | 'b' if matches!(element.bytes, 1 | 2 | 4 | 8) => self.stream(|piece| {
                make_room(&mut integers, total);
                for value in piece.chunks_exact(element.bytes) {
                    let value = integer(value, element);
                    let value =
                        value.ok_or_else(|| not_whole("an unsigned integer of 2^63 or more".to_owned()))?;
                    integers.push(value);
                }
                Ok(())
            })?,
            'f' => {
                // The standard library collects values of the same size in their place.
                let whole = self.floats()?.into_iter().map(|value| {
                    // Beyond 2^53 every float is whole, but most integers are not floats.
                    if value.fract() != 0.0 || value.abs() > 9_007_199_254_740_992.0 || value.is_nan() {
                        return Err(not_whole(value.to_string()));
                    }
                    Ok(value as i64)
                });
                integers = whole.collect::<Result<Vec<i64>>>()?;
            }
            _ => return Err(self.refuse(element.to_string(), "integers")),
        }
        Ok(integers)
    }

    /// All elements as floats.
    ///
    /// # Errors
    /// If the elements are not numbers, and as [`ArrayReader::bytes`].
    pub fn floats(self) -> Result<Vec<f64>> {
        self.expect_c_order()?;
        self.check_memory(size_of::<f64>())?;
        let total = self.header.len().unwrap_or(0);
        let element = self.header.element;
        let mut floats = Vec::new();
        match (element.kind, element.bytes) {
            ('f', 2 | 4 | 8) => self.stream(|piece| {
                make_room(&mut floats, total);
                floats.extend(piece.chunks_exact(element.bytes).map(|value| float(value, element)));
                Ok(())
            })?,
            ('i' | 'u' | 'b', _) => floats = self.integers()?.into_iter().map(|value| value as f64).collect(),
            _ => return Err(self.refuse(element.to_string(), "floats or integers")),
        }
        Ok(floats)
    }

    /// All elements as text, from NumPy's unicode or byte strings.
    ///
    /// # Errors
    /// If the elements are not strings, and as [`ArrayReader::bytes`].
    pub fn strings(self) -> Result<Vec<String>> {
        self.expect_c_order()?;
        let element = self.header.element;
        if !matches!(element.kind, 'U' | 'S') || element.bytes == 0 {
            return Err(self.refuse(element.to_string(), "strings (NumPy kind U or S, not empty)"));
        }
        // The bytes, and a string with memory of its own for each element.
        self.check_memory(element.bytes.saturating_mul(2).saturating_add(2 * size_of::<String>()))?;
        let bytes = self.bytes()?;
        Ok(bytes.chunks_exact(element.bytes).map(|value| text(value, element)).collect())
    }
}

/// Reserves all that is missing once a tenth has arrived: growing step by step would need twice the memory at
/// the end, and a header is not trusted before.
fn make_room<T>(values: &mut Vec<T>, total: usize) {
    if values.len() >= total / 10 && values.capacity() < total {
        values.reserve_exact(total - values.len());
    }
}

#[cfg(test)]
mod tests;
