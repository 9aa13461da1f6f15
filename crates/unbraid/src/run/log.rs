//! Append-only files: `run.log`, `metrics.jsonl` and TensorBoard's event file.

use crate::error::{Error, Result};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use unbraid_data::files::open_own;

/// A file that is appended to, and truncated to the state of the checkpoint when a run is resumed.
#[derive(Debug)]
pub(super) struct GrowingFile {
    path: PathBuf,
    file: File,
    length: u64,
}

/// How much of an existing file is kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep {
    All,
    Bytes(u64),
    Lines(u64),
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all of it"),
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Self::Lines(lines) => write!(f, "{lines} lines"),
        }
    }
}

impl GrowingFile {
    /// Opens or creates the file, and truncates it to what is kept.
    pub(super) fn open(path: &Path, keep: Keep) -> Result<Self> {
        let mut file = open_own(path).map_err(Error::write(path))?;
        let found = file.metadata().map_err(Error::io(path, "read its size"))?.len();
        let length = match keep {
            Keep::All => Some(found),
            Keep::Bytes(bytes) => Some(bytes).filter(|bytes| *bytes <= found),
            Keep::Lines(lines) => end_of_lines(&file, lines).map_err(Error::io(path, "read it"))?,
        };
        let length = length.ok_or_else(|| Error::LogTooShort {
            path: path.to_owned(),
            found,
            expected: keep.to_string(),
        })?;
        file.set_len(length).and_then(|()| file.seek(SeekFrom::Start(length))).map_err(Error::write(path))?;
        Ok(Self { path: path.to_owned(), file, length })
    }

    /// Appends in one write, so that a reader sees complete lines.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result {
        self.file.write_all(bytes).map_err(Error::write(&self.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Waits until everything is on disk.
    pub(super) fn sync(&self) -> Result {
        self.file.sync_data().map_err(Error::write(&self.path))
    }
}

/// Where the first `lines` lines end; `None` if there are fewer. Reads in pieces, since the file may be of any length.
fn end_of_lines(file: &File, lines: u64) -> io::Result<Option<u64>> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut left, mut place) = (lines, 0);
    while left > 0 {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Ok(None);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        left -= u64::from(end.is_some());
        let taken = end.map_or(piece.len(), |end| end + 1);
        place += taken as u64;
        reader.consume(taken);
    }
    Ok(Some(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_back_to_what_its_checkpoint_knows_and_goes_on_from_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        for (keep, left) in [
            (Keep::All, "one\ntwo\nthr!"),
            (Keep::Lines(2), "one\ntwo\n!"),
            (Keep::Lines(0), "!"),
            (Keep::Bytes(5), "one\nt!"),
        ] {
            std::fs::write(&path, "one\ntwo\nthr").unwrap();
            let mut file = GrowingFile::open(&path, keep).unwrap();
            file.append(b"!").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), left, "{keep:?}");
            assert_eq!(file.length(), left.len() as u64);
        }
        // A link to a file elsewhere, as a run directory of a stranger may have it.
        #[cfg(unix)]
        {
            let link = directory.path().join("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            let before = std::fs::read(&path).unwrap();
            let error = GrowingFile::open(&link, Keep::Lines(0)).unwrap_err();
            let expected =
                format!("cannot write {}: found a symbolic link, expected a regular file", link.display());
            assert_eq!(crate::error_chain(&error), expected);
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
        for keep in [Keep::Lines(9), Keep::Bytes(99)] {
            assert!(matches!(GrowingFile::open(&path, keep), Err(Error::LogTooShort { .. })));
        }
    }
}
