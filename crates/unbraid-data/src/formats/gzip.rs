//! Files that may be gzip-compressed, which is decided by their first bytes, not by their names.

use super::npz::open_file;
use crate::error::{DataError, Result};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Opens a file, and decompresses it while reading if it is compressed.
///
/// # Errors
/// If the file is missing, empty, a directory, or cannot be read.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
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

/// The error for a stream that could not be read. `refuse` makes it from what was found: an early end, which needs no
/// cause, or damaged data, whose cause is `error`. `place` is appended to that, such as " after 7 bytes".
pub(crate) fn unreadable(
    error: io::Error,
    place: &str,
    refuse: impl FnOnce(String) -> DataError,
) -> DataError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        refuse(format!("an early end{place}"))
    } else {
        refuse(format!("damaged data{place}")).caused_by(error)
    }
}
