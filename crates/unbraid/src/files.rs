//! Writing files so that no reader ever sees half of one, and nothing is replaced by accident.

use crate::failure::{Failure, Outcome};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Whether a file that is already there may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and fail.
    Keep,
    /// Replace it, once the new one is complete.
    Replace,
}

impl Existing {
    /// From a `--overwrite` flag.
    pub fn from_flag(overwrite: bool) -> Self {
        if overwrite { Self::Replace } else { Self::Keep }
    }
}

/// Checks early that an output could be written, before hours of work go into its content.
///
/// # Errors
/// If the file exists and is to be kept, is a directory, or its directory is missing.
pub fn check_output(path: &Path, existing: Existing) -> Outcome {
    if path.is_dir() {
        return Err(Failure::input(format!(
            "{}: found a directory, expected a file to write",
            path.display()
        )));
    }
    if existing == Existing::Keep && path.exists() {
        return Err(Failure::input(format!(
            "{}: the file exists\nhint: --overwrite replaces it",
            path.display()
        )));
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        return Err(Failure::input(format!("{}: its directory does not exist", path.display())));
    }
    Ok(())
}

/// The same, and that a file can be made where it is to be.
///
/// # Errors
/// As [`check_output`], and if the system refuses a new file beside it.
pub fn probe_output(path: &Path, existing: Existing) -> Outcome {
    check_output(path, existing)?;
    let temporary = temporary_beside(path);
    let made = File::create(&temporary).and_then(|_| fs::remove_file(&temporary));
    made.map_err(|error| Failure::input(format!("{}: cannot be written: {error}", path.display())))
}

/// Why a file did not come to its end.
#[derive(Debug)]
pub enum Broken {
    /// It could not be written.
    Write(io::Error),
    /// What was to be written could not be made.
    Content(Failure),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Content(failure)
    }
}

/// The writer of CSV only fails where writing does: every record has as many fields as the first.
impl From<csv::Error> for Broken {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::Write(error),
            other => Self::Content(Failure::run(format!("cannot write CSV: {other:?}"))),
        }
    }
}

/// For what goes to standard output.
impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Write(error) => error.into(),
            Broken::Content(failure) => failure,
        }
    }
}

/// As [`write()`], for content that is made on the way and may fail for reasons of its own.
///
/// # Errors
/// As [`write()`], and what `content` fails with.
pub fn write_made(
    path: &Path,
    existing: Existing,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<(), Broken>,
) -> Outcome {
    let mut failed = None;
    let written = write(path, existing, |file| {
        content(file).map_err(|broken| match broken {
            Broken::Write(error) => error,
            Broken::Content(failure) => {
                failed = Some(failure);
                io::Error::other("its content could not be made")
            }
        })
    });
    failed.map_or(written, Err)
}

/// Writes a file under a temporary name beside it, flushes it to disk, and renames it.
///
/// # Errors
/// If anything cannot be written; the file that was there before is then still there, and nothing else is left behind.
pub fn write(
    path: &Path,
    existing: Existing,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Outcome {
    check_output(path, existing)?;
    write_through_temporary(path, content).map_err(|error| {
        Failure::Run(anyhow::Error::from(error).context(format!("cannot write {}", path.display())))
    })
}

fn write_through_temporary(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let written = (|| {
        let mut file = BufWriter::with_capacity(1 << 16, File::create(&temporary)?);
        content(&mut file)?;
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}{PARTIAL}", std::process::id()));
    directory_of(path).join(name)
}

/// How the name of a file that is being written ends.
const PARTIAL: &str = ".partial";

/// Whether a file of this name is one that [`write()`] had not finished when its process was killed.
pub fn is_leftover(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(PARTIAL))
}

/// Removes such files from a directory that nobody else is writing to. Those that cannot be removed do no harm.
pub fn remove_leftovers(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_leftover(&entry.file_name())) {
        let _ = fs::remove_file(entry.path());
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Prints to standard output; a reader that has gone away ends the command quietly.
///
/// # Errors
/// If standard output cannot be written.
pub fn print(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let failed = write(&path, Existing::Replace, |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        for name in [temporary_beside(&path), path.clone(), directory.path().join(".hidden")] {
            fs::write(name, "x").unwrap();
        }
        remove_leftovers(directory.path());
        let mut left: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".hidden", "a.txt"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write(&path, Existing::Keep, |file| file.write_all(b"one")).unwrap();
        let refused = write(&path, Existing::Keep, |file| file.write_all(b"two"));
        assert!(matches!(refused, Err(Failure::Input(_))));
        write(&path, Existing::Replace, |file| file.write_all(b"three")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    }
}
