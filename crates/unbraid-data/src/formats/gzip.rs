//! Files that may be gzip-compressed, which is decided by their first bytes, not by their names.

use super::npz::open_file;
use crate::error::{DataError, Result};
use crate::memory::{self, Bytes};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Opens a file, and decompresses it while reading if it is compressed. Data that becomes very much more than
/// it was ends with an error.
///
/// # Errors
/// If the file is missing, empty, a directory, or cannot be read.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    Ok(open_limited(path)?.0)
}

/// As [`open`]; the second result is what the data may become, with which a header can be compared before the
/// data is read.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_limited(path: &Path) -> Result<(Box<dyn Read + Send>, Expansion)> {
    let mut file = open_file(path)?;
    let mut start = [0; 2];
    let compressed = match file.read_exact(&mut start) {
        Ok(()) => start == MAGIC,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(DataError::io(path, "read")(error)),
    };
    file.rewind().map_err(DataError::io(path, "read"))?;
    let length = file.metadata().map_err(DataError::io(path, "read its size"))?.len();
    let file = BufReader::with_capacity(1 << 16, file);
    if !compressed {
        return Ok((Box::new(file), Expansion { length, limit: u64::MAX }));
    }
    let expansion = Expansion { length, limit: memory::largest_expansion(length) };
    Ok((Box::new(Expanded { inner: MultiGzDecoder::new(file), expansion, left: expansion.limit }), expansion))
}

/// How much a file may become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    /// Bytes of the file.
    length: u64,
    /// Bytes that they may become.
    limit: u64,
}

impl Expansion {
    /// Compares what a header promises.
    ///
    /// # Errors
    /// If it is more than the file may become.
    pub(crate) fn check(self, path: &Path, promised: u64) -> Result<()> {
        let Self { length, limit } = self;
        if promised <= limit {
            return Ok(());
        }
        let subject = format!("data of {} compressed", Bytes(length));
        Err(DataError::TooLarge { path: path.to_owned(), subject, needed: promised, limit })
    }
}

/// Decompressed data up to a limit.
struct Expanded<R> {
    inner: R,
    expansion: Expansion,
    left: u64,
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let (length, limit) = (Bytes(self.expansion.length), Bytes(self.expansion.limit));
            let message =
                format!("found more than {limit} in {length} of compressed data, expected at most that");
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        })?;
        Ok(count)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_becomes_too_much_ends_with_an_error() {
        let expanded = |limit: u64| {
            let expansion = Expansion { length: 5, limit };
            let mut reader = Expanded { inner: io::repeat(7).take(100), expansion, left: limit };
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map(|_| bytes).map_err(|error| error.to_string())
        };
        assert_eq!(expanded(100), Ok(vec![7; 100]));
        let message = "found more than 99 bytes in 5 bytes of compressed data, expected at most that";
        assert_eq!(expanded(99), Err(message.to_owned()));
        let expansion = Expansion { length: 5, limit: 100 };
        assert!(expansion.check(Path::new("a"), 100).is_ok());
        let message = "a: data of 5 bytes compressed: found 101 bytes in memory, expected at most 100 bytes";
        assert_eq!(expansion.check(Path::new("a"), 101).unwrap_err().to_string(), message);
    }
}
