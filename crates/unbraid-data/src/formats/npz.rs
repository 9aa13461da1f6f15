//! NumPy's `.npz`: a zip archive of `.npy` arrays.
//!
//! Arrays are read as streams, so that 3 GB of pixels can be packed while they are decompressed. Beyond a buffer of
//! 1 MiB, memory grows with the bytes that arrive, not with the size that a header claims. What is wanted as
//! a whole must fit into memory ([`memory::limit`](crate::memory::limit)), and compressed data may not
//! pretend to be very much more than it is.

mod array;
mod elements;

use crate::error::{DataError, Result};
use crate::files::open_regular;
use array::Place;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

pub use array::ArrayReader;

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
                error => match other_kind(path) {
                    Some(kind) => DataError::content(path, "file", kind, "an .npz archive"),
                    None => {
                        let expected = "a whole .npz (zip) archive";
                        DataError::content(path, "file", "damaged or unknown data", expected).caused_by(error)
                    }
                },
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

    /// The names of the arrays for a message, in which they must not fill pages or break lines: the first
    /// twenty, with what is not printable written out.
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

/// What a file that is no archive calls itself, if that is something that programs save arrays as.
fn other_kind(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "npy" => Some("a single array (.npy)"),
        "csv" => Some("a table (.csv)"),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_is_short_and_one_line() {
        let names = |count: usize| -> Vec<String> { (0..count).map(|number| format!("a{number}")).collect() };
        assert_eq!(listed(&names(3)), "a0, a1, a2");
        assert_eq!(listed(&names(60_000)), format!("{} and 59980 more", names(20).join(", ")));
        assert_eq!(listed(&["a\nhint: \u{1b}[2J".to_owned()]), "a\\nhint: \\u{1b}[2J");
        assert_eq!(listed(&["x".repeat(5000)]), format!("{}...", "x".repeat(100)));
    }
}
