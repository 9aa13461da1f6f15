//! NumPy's `.npz`: a zip archive of `.npy` arrays.
//!
//! Arrays are read as streams, so that 3 GB of pixels can be packed while they are decompressed. Beyond a buffer of
//! 1 MiB, memory grows with the bytes that arrive, not with the size that a header claims. What is wanted as a whole must
//! fit into memory ([`memory::limit`]), and compressed data may not pretend to be very much more than it is.

mod elements;

use super::npy::Header;
use crate::error::{DataError, Result};
use crate::files::open_regular;
use crate::memory;
use elements::{float, integer, text};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

/// Arrays are streamed in pieces of this many bytes (a multiple of every element size).
const PIECE: usize = 1 << 20;

/// An open `.npz` file.
///
/// ```
/// use std::fs::File;
/// use unbraid_data::formats::npz::Npz;
/// use unbraid_data::formats::npz_writer::NpzWriter;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("numbers.npz");
///
/// let mut archive = NpzWriter::new(File::create(&path)?);
/// archive.floats("numbers", &[2, 2], [0.5, 1.0, 1.5, 2.0].into_iter())?;
/// archive.finish()?;
///
/// let mut archive = Npz::open(&path)?;
/// let numbers = archive.array("numbers")?;
/// assert_eq!(numbers.header().shape, [2, 2]);
/// assert_eq!(numbers.floats()?, [0.5, 1.0, 1.5, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Npz {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// Bytes of the file.
    length: u64,
    /// Bytes of memory that its arrays have asked for so far: each may fit where all of them do not.
    taken: Cell<u64>,
}

impl Npz {
    /// Opens an archive and reads its list of arrays.
    ///
    /// # Errors
    /// If the file is missing, a directory, or not a zip archive.
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_file(path)?;
        let length = file.metadata().map_err(DataError::io(path, "read its size"))?.len();
        let archive =
            ZipArchive::new(BufReader::with_capacity(1 << 16, file)).map_err(|error| match error {
                ZipError::Io(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
                    DataError::io(path, "read the list of arrays")(source)
                }
                error => {
                    DataError::content(path, "file", "damaged or unknown data", "a whole .npz (zip) archive")
                        .caused_by(error)
                }
            })?;
        Ok(Self { path: path.to_owned(), archive, length, taken: Cell::new(0) })
    }

    /// The names of the arrays, without the extension `.npy`.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .archive
            .file_names()
            .filter_map(|name| name.ok().map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned()))
            .collect();
        names.sort();
        names
    }

    /// The names of the arrays for a message, in which they must not fill pages or break lines: the first twenty, with what
    /// is not printable written out.
    pub fn listed_names(&self) -> String {
        listed(&self.names())
    }

    /// Whether there is an array with this name.
    pub fn contains(&self, name: &str) -> bool {
        self.archive.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// Opens one array and reads its header.
    ///
    /// # Errors
    /// If there is no such array or its header is damaged.
    pub fn array(&mut self, name: &str) -> Result<ArrayReader<'_>> {
        if !self.contains(name) {
            let found = match self.names().as_slice() {
                [] => "no arrays".to_owned(),
                names => format!("only {}", listed(names)),
            };
            return Err(DataError::content(&self.path, "archive", found, format!("an array `{name}`")));
        }
        let entry = self.archive.by_name(&format!("{name}.npy")).map_err(|error| {
            let refusal =
                DataError::content(&self.path, format!("array `{name}`"), "damaged data", "a readable entry");
            match error {
                // Its message repeats its own cause.
                ZipError::Io(cause) => refusal.caused_by(cause),
                cause => refusal.caused_by(cause),
            }
        })?;
        // An entry that is not compressed can be read in place later.
        let is_stored = entry.compression() == zip::CompressionMethod::Stored;
        let stored_at = is_stored.then(|| entry.data_start()).flatten();
        // The list of arrays may claim any size.
        let compressed = (!is_stored).then(|| entry.compressed_size().min(self.length));
        let place = Place { stored_at, compressed, taken: Some(&self.taken) };
        ArrayReader::new(&self.path, name, Box::new(entry), place)
    }
}

/// Names in a message: few of many, and none that breaks a line.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| shortened(name)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// A name of at most 100 characters, with what is not printable written out.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 100;
    let mut characters = name.escape_debug();
    let shown: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() { format!("{shown}...") } else { shown }
}

/// Opens a file that must be neither a directory nor empty.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    let file = open_regular(path).map_err(DataError::io(path, "open"))?;
    let metadata = file.metadata().map_err(DataError::io(path, "read its size"))?;
    if metadata.is_dir() {
        return Err(DataError::content(path, "path", "a directory", "a file"));
    }
    if metadata.len() == 0 {
        return Err(DataError::content(path, "file", "0 bytes", "data"));
    }
    Ok(file)
}

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
struct Place<'a> {
    /// Where it begins, if it is not compressed.
    stored_at: Option<u64>,
    /// Its bytes, if it is compressed.
    compressed: Option<u64>,
    /// What all arrays of the archive have asked for.
    taken: Option<&'a Cell<u64>>,
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
    fn new(path: &Path, name: &str, mut elements: Box<dyn Read + 'a>, place: Place<'a>) -> Result<Self> {
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

/// Reserves all that is missing once a tenth has arrived: growing step by step would need twice the memory at the end, and
/// a header is not trusted before.
fn make_room<T>(values: &mut Vec<T>, total: usize) {
    if values.len() >= total / 10 && values.capacity() < total {
        values.reserve_exact(total - values.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::npy::ElementType;

    #[test]
    fn a_list_of_names_is_short_and_one_line() {
        let names = |count: usize| -> Vec<String> { (0..count).map(|number| format!("a{number}")).collect() };
        assert_eq!(listed(&names(3)), "a0, a1, a2");
        assert_eq!(listed(&names(60_000)), format!("{} and 59980 more", names(20).join(", ")));
        assert_eq!(listed(&["a\nhint: \u{1b}[2J".to_owned()]), "a\\nhint: \\u{1b}[2J");
        assert_eq!(listed(&["x".repeat(5000)]), format!("{}...", "x".repeat(100)));
    }

    /// Four megabytes that claim to be a thousand times as much.
    #[test]
    fn an_array_that_becomes_far_more_than_it_is_is_refused_before_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bomb.npz");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(true);
        zip.start_file("codes.npy", options).unwrap();
        let header =
            Header { element: ElementType::little('f', 4), fortran_order: false, shape: vec![200 << 20, 1] };
        header.write(&mut zip).unwrap();
        io::Write::write_all(&mut zip, &[0; 4096]).unwrap();
        zip.finish().unwrap();
        let mut npz = Npz::open(&path).unwrap();
        let array = npz.array("codes").unwrap();
        let compressed = array.place.compressed.unwrap();
        assert!(compressed < 1000, "{compressed}");
        let expected = format!(
            "{}: array `codes` of {compressed} bytes compressed: found 1.6 GiB in memory, expected at most 1.0 GiB",
            path.display()
        );
        assert_eq!(array.floats().unwrap_err().to_string(), expected);
        // Integers, bytes and text are no other way round it.
        let found = npz.array("codes").unwrap().integers().unwrap_err().to_string();
        assert_eq!(found, expected);
    }

    /// An archive of compressed arrays that consist of their headers.
    fn promises(path: &Path, arrays: &[(&str, ElementType, &[usize])]) {
        let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(true);
        for &(name, element, shape) in arrays {
            zip.start_file(format!("{name}.npy"), options).unwrap();
            Header { element, fortran_order: false, shape: shape.to_vec() }.write(&mut zip).unwrap();
        }
        zip.finish().unwrap();
    }

    /// A string of one byte is 24 more in memory, and so much again where its text is.
    #[test]
    fn short_strings_are_counted_by_what_they_become() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.npz");
        promises(&path, &[("names", ElementType::little('S', 1), &[1 << 25])]);
        let mut npz = Npz::open(&path).unwrap();
        let error = npz.array("names").unwrap().strings().unwrap_err().to_string();
        assert!(error.ends_with("found 1.6 GiB in memory, expected at most 1.0 GiB"), "{error}");
        // As bytes they are as many as there are, and end early.
        let error = npz.array("names").unwrap().bytes().unwrap_err().to_string();
        assert!(error.ends_with("expected 33554432 bytes"), "{error}");
    }

    /// What the central directory of a zip archive says of an entry is as good as its word.
    #[test]
    fn a_claimed_compressed_size_is_at_most_that_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("claim.npz");
        promises(&path, &[("codes", ElementType::little('f', 8), &[1 << 28])]);
        let mut bytes = std::fs::read(&path).unwrap();
        // In the central directory, `PK\x01\x02`, the compressed size is at byte 20.
        let entry = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        bytes[entry + 20..entry + 24].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let mut npz = Npz::open(&path).unwrap();
        let array = npz.array("codes").unwrap();
        assert_eq!(array.place.compressed, Some(bytes.len() as u64));
        assert!(matches!(array.floats(), Err(DataError::TooLarge { limit: memory::LARGEST_EXPANSION, .. })));
    }

    #[test]
    fn arrays_that_fit_one_by_one_must_fit_together() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("several.npz");
        let element = ElementType::little('u', 1);
        promises(&path, &[("a", element, &[1 << 20]), ("b", element, &[1 << 20])]);
        let mut npz = Npz::open(&path).unwrap();
        let ask = |npz: &mut Npz, name: &str| {
            let array = npz.array(name).unwrap();
            // Twice, as readers of other types do.
            array.check_memory(8).and_then(|()| array.check_memory(4)).map_err(|error| error.to_string())
        };
        assert_eq!(ask(&mut npz, "a"), Ok(()));
        assert_eq!(npz.taken.get(), 8 << 20);
        npz.taken.set(memory::limit() - (8 << 20));
        assert_eq!(ask(&mut npz, "a"), Ok(()));
        let error = ask(&mut npz, "b").unwrap_err();
        assert!(error.contains("array `b` with those before it: found "), "{error}");
    }
}
