//! Files that may or may not be gzip-compressed; what they are follows from their first bytes, not from their names.

use super::npz::open_file;
use crate::error::{DataError, Result};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Opens a file and inflates it on the way if it is compressed.
///
/// # Errors
/// If the file is missing, empty, a directory, or cannot be read.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    let mut file = open_file(path)?;
    let mut start = [0; 2];
    let compressed = match file.read_exact(&mut start) {
        Ok(()) => start == MAGIC,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(DataError::io(path, "read")(error)),
    };
    file.rewind().map_err(DataError::io(path, "read"))?;
    let file = BufReader::with_capacity(1 << 16, file);
    Ok(if compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// Why a stream could not be read, in words that fit after "found".
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "an early end".to_owned(),
        _ => error.to_string(),
    }
}
