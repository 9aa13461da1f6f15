//! Atomic writes: no reader ever sees half a file, and no file is replaced by accident.

use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;
use unbraid_data::files::{create_temporary, is_temporary, sync_directory, time_in};

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and fail.
    Keep,
    /// Replace it, once the new one is complete.
    Replace,
}

impl Existing {
    /// From an `overwrite` flag.
    pub fn from_flag(overwrite: bool) -> Self {
        if overwrite { Self::Replace } else { Self::Keep }
    }
}

/// Checks that an output file can be written, before hours are spent on computing its content.
///
/// # Errors
/// If the file exists and is to be kept, is a directory, or its directory is missing.
pub fn check_output(path: &Path, existing: Existing) -> Result {
    let path_buf = || path.to_owned();
    if path.is_dir() {
        return Err(Error::IsDirectory { path: path_buf() });
    }
    if existing == Existing::Keep && path.exists() {
        return Err(Error::FileExists { path: path_buf() });
    }
    if !directory_of(path).is_dir() {
        return Err(Error::NoDirectory { path: path_buf() });
    }
    Ok(())
}

/// As [`check_output`], and tries to create a file beside the output.
///
/// # Errors
/// As [`check_output`], and if the system refuses to create a file there.
pub fn probe_output(path: &Path, existing: Existing) -> Result {
    check_output(path, existing)?;
    let created = create_temporary(path).and_then(|(temporary, _)| fs::remove_file(temporary));
    created.map_err(Error::write(path))
}

/// Why the content of a file is not complete.
#[derive(Debug)]
pub enum ContentError<E> {
    /// It could not be written.
    Write(io::Error),
    /// It could not be computed.
    Compute(E),
}

impl<E> From<io::Error> for ContentError<E> {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// A CSV writer fails only if writing fails: all records have the same number of fields.
impl<E> From<csv::Error> for ContentError<E> {
    fn from(error: csv::Error) -> Self {
        Self::Write(match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("not a CSV record: {other:?}")),
        })
    }
}

/// As [`write()`], for content that is computed while it is written and may fail for other reasons.
///
/// # Errors
/// As [`write()`], and the error of `content`.
pub fn write_computed<E: From<Error>>(
    path: &Path,
    existing: Existing,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<(), ContentError<E>>,
) -> Result<(), E> {
    let mut failed = None;
    let written = write(path, existing, |file| {
        content(file).map_err(|error| match error {
            ContentError::Write(error) => error,
            ContentError::Compute(error) => {
                failed = Some(error);
                io::Error::other("the content could not be computed")
            }
        })
    });
    failed.map_or_else(|| written.map_err(E::from), Err)
}

/// Writes a file under a temporary name beside it, flushes it to disk, and renames it. A symbolic link in its place is
/// replaced, not followed.
///
/// # Errors
/// If anything cannot be written. The earlier file is then unchanged, and no temporary file is left behind.
pub fn write(
    path: &Path,
    existing: Existing,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result {
    check_output(path, existing)?;
    write_through_temporary(path, content).map_err(Error::write(path))
}

fn write_through_temporary(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let (temporary, file) = create_temporary(path)?;
    let written = (|| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        content(&mut file)?;
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)
    })();
    match written {
        Ok(()) => sync_directory(directory_of(path)),
        Err(_) => {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
    }
    written
}

/// Text in a CSV file for spreadsheets.
fn not_a_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

/// What text becomes in the cells of a CSV file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellText {
    /// It stays as it is.
    #[default]
    Plain,
    /// Never a formula for a spreadsheet, which takes what begins with `=`, `+`, `-` or `@` for one: such text gets an
    /// apostrophe in front, which is not shown. Numbers are left as they are.
    ForSpreadsheets,
}

impl CellText {
    /// The cell of a text.
    ///
    /// ```
    /// use unbraid::files::CellText;
    ///
    /// assert_eq!(CellText::ForSpreadsheets.of("=1+2"), "'=1+2");
    /// assert_eq!(CellText::ForSpreadsheets.of("0001.png"), "0001.png");
    /// assert_eq!(CellText::ForSpreadsheets.of("-0.5"), "-0.5");
    /// assert_eq!(CellText::Plain.of("=1+2"), "=1+2");
    /// ```
    pub fn of(self, text: &str) -> String {
        match self {
            Self::ForSpreadsheets if text.parse::<f64>().is_err() => not_a_formula(text.to_owned()),
            Self::ForSpreadsheets | Self::Plain => text.to_owned(),
        }
    }
}

/// Whether a file of this name is left over from a [`write()`] whose process was killed.
pub(crate) fn is_leftover(name: &OsStr) -> bool {
    is_temporary(name)
}

/// Removes such files from a directory that no other process is writing to. Those that cannot be removed do no harm.
pub(crate) fn remove_leftovers(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_leftover(&entry.file_name())) {
        let _ = fs::remove_file(entry.path());
    }
}

/// Removes such files from a directory that others may be writing to: those that have not changed for a minute.
pub fn remove_abandoned(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let left: Vec<_> = entries.filter(|entry| is_leftover(&entry.file_name())).collect();
    if left.is_empty() {
        return;
    }
    let now = time_in(directory);
    for entry in left {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > Duration::from_secs(60)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::error_chain;
    use std::io::Write;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let failed = write(&path, Existing::Replace, |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("the disk is full"))
        });
        let expected = format!("cannot write {}: the disk is full", path.display());
        assert_eq!(error_chain(&failed.unwrap_err()), expected);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        create_temporary(&path).unwrap();
        for name in [path.clone(), directory.path().join(".hidden")] {
            fs::write(name, "x").unwrap();
        }
        remove_leftovers(directory.path());
        let mut left: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".hidden", "a.txt"]);
    }

    #[test]
    fn what_may_still_be_written_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let (old, file) = create_temporary(&directory.path().join("a.svg")).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(90)).unwrap();
        let (new, _) = create_temporary(&directory.path().join("a.svg")).unwrap();
        remove_abandoned(directory.path());
        assert!(!old.exists() && new.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_what_it_points_to_stays() {
        let directory = tempfile::tempdir().unwrap();
        let (secret, path) = (directory.path().join("secret"), directory.path().join("a.txt"));
        fs::write(&secret, "precious").unwrap();
        std::os::unix::fs::symlink(&secret, &path).unwrap();
        write(&path, Existing::Replace, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "precious");
        assert!(!path.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write(&path, Existing::Keep, |file| file.write_all(b"one")).unwrap();
        let refused = write(&path, Existing::Keep, |file| file.write_all(b"two"));
        assert!(matches!(refused, Err(Error::FileExists { .. })));
        write(&path, Existing::Replace, |file| file.write_all(b"three")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    }

    #[test]
    fn only_text_that_begins_like_a_formula_gets_an_apostrophe() {
        // Some programs skip a tab or a carriage return, and see what follows.
        for start in ['=', '+', '-', '@', '\t', '\r'] {
            let text = format!("{start}A1");
            assert_eq!(CellText::ForSpreadsheets.of(&text), format!("'{text}"));
            assert_eq!(CellText::Plain.of(&text), text);
        }
        for text in ["-0.5", "+3", "-1e-3", "a=1", "a-b", ""] {
            assert_eq!(CellText::ForSpreadsheets.of(text), text);
        }
    }
}
