//! Files that only grow: `run.log`, `metrics.jsonl` and the events of TensorBoard.

use crate::failure::{Failure, Outcome};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is appended to, and that a resumed run cuts back to where its checkpoint was.
#[derive(Debug)]
pub(super) struct GrowingFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl GrowingFile {
    /// Opens or creates the file, and keeps its first `keep` bytes, or all of it.
    pub(super) fn open(path: &Path, keep: Option<u64>) -> Outcome<Self> {
        let failed = |action: &str, error: &dyn std::fmt::Display| {
            Failure::run(format!("{}: cannot {action}: {error}", path.display()))
        };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| failed("open", &error))?;
        let found = file.metadata().map_err(|error| failed("read", &error))?.len();
        let length = keep.unwrap_or(found);
        if length > found {
            return Err(Failure::input(format!(
                "{}: found {found} bytes, expected at least the {length} that its checkpoint knows",
                path.display()
            )));
        }
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(length)))
            .map_err(|error| failed("cut back", &error))?;
        Ok(Self { path: path.to_owned(), file, length })
    }

    /// Appends in one write, so that a reader sees whole lines.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Outcome {
        self.file.write_all(bytes).map_err(|error| self.failed(&error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Waits until everything is on disk.
    pub(super) fn sync(&self) -> Outcome {
        self.file.sync_data().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::run(format!("cannot write {}: {error}", self.path.display()))
    }
}
