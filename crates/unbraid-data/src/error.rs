//! The crate's error type. A message names the file or option, what was found and what was expected; the cause, where
//! there is one, is only in `source`.

use crate::memory::{self, Bytes};
use std::borrow::Cow;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The result of every fallible function in this crate.
pub type Result<T, E = DataError> = std::result::Result<T, E>;

/// A file that cannot be read or written, a file with unexpected content, or a request that cannot be met.
///
/// Messages do not repeat their cause. Print the whole chain, as anyhow's `{:#}` does, to see both:
///
/// ```
/// use std::error::Error;
/// use unbraid_data::progress::Silent;
/// use unbraid_data::{DataSpec, open};
///
/// let error = open(&DataSpec::at("no/such.npz"), &Silent).unwrap_err();
/// assert_eq!(error.to_string(), "no/such.npz: cannot open");
/// assert!(error.source().is_some()); // No such file or directory
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused to open, read or write a file.
    #[error("{}: cannot {action}", shown(path))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was attempted, as a verb phrase: "open", "read the labels".
        action: String,
        /// The reason given by the operating system.
        source: std::io::Error,
    },
    /// The output of a conversion could not be written.
    #[error("cannot write the converted data set")]
    Write {
        /// The reason given by the writer.
        source: std::io::Error,
    },
    /// A file was read, but its content is not as expected.
    #[error("{}: {}: found {}, expected {expected}", shown(path), one_line(subject), one_line(found))]
    Content {
        /// The file or directory.
        path: PathBuf,
        /// Which part of it: "array `imgs`", "header".
        subject: String,
        /// What it contains.
        found: String,
        /// What it should contain.
        expected: String,
        /// The error of the decoder, where one failed.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// Reading a file would take more memory than one request may.
    #[error(
        "{}: {}: found {} in memory, expected at most {}",
        shown(path), one_line(subject), Bytes(*needed), Bytes(*limit)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Which part of it.
        subject: String,
        /// Bytes that it would take.
        needed: u64,
        /// Bytes that it may take.
        limit: u64,
    },
    /// No data set has this name.
    #[error("unknown data set `{}`\nhint: {}", one_line(name), name_hint(*suggestion, known))]
    UnknownName {
        /// The name in the request.
        name: String,
        /// The most similar name that exists.
        suggestion: Option<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A data set has no such option.
    #[error(
        "data set `{data_set}` has no option `{}`\nhint: {}",
        one_line(option), option_hint(*suggestion, known)
    )]
    UnknownOption {
        /// The data set.
        data_set: String,
        /// The option in the request.
        option: String,
        /// The most similar option that exists.
        suggestion: Option<&'static str>,
        /// All options of the data set.
        known: Vec<&'static str>,
    },
    /// A data set that is read from files has no path.
    #[error("path of data set `{data_set}`: found none, expected {expected}")]
    NoPath {
        /// The data set.
        data_set: String,
        /// What its path should be.
        expected: String,
    },
    /// An option or argument has an invalid value.
    #[error("{}: found {}, expected {expected}", one_line(subject), one_line(found))]
    Value {
        /// The option or argument.
        subject: String,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
}

/// A text of a stranger as part of a message: its line breaks are written out, so that it cannot add lines of
/// its own, such as a hint. Other control characters are for whoever prints the message to write out.
///
/// ```
/// use unbraid_data::one_line;
///
/// assert_eq!(one_line("beta\nhint: rm -r ."), "beta\\nhint: rm -r .");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        text.replace('\n', "\\n").replace('\r', "\\r").into()
    } else {
        text.into()
    }
}

/// A path for a message: a file in a folder of a stranger may have any name.
fn shown(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

fn name_hint(suggestion: Option<&str>, known: &[&str]) -> String {
    match suggestion {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known names are {}, and there is no file or folder of this name", known.join(", ")),
    }
}

fn option_hint(suggestion: Option<&str>, known: &[&str]) -> String {
    match suggestion {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("its options are {}", known.join(", ")),
    }
}

impl DataError {
    /// Wraps an I/O error with the file and the attempted action, for use with `map_err`.
    ///
    /// ```
    /// use std::path::Path;
    /// use unbraid_data::DataError;
    ///
    /// let path = Path::new("no/such.csv");
    /// let error = std::fs::read(path).map_err(DataError::io(path, "read the labels")).unwrap_err();
    /// assert_eq!(error.to_string(), "no/such.csv: cannot read the labels");
    /// ```
    pub fn io<'a>(path: &'a Path, action: &'a str) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |source| Self::Io { path: path.to_owned(), action: action.to_owned(), source }
    }

    /// A file with unexpected content.
    pub fn content(
        path: &Path,
        subject: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Content {
            path: path.to_owned(),
            subject: subject.into(),
            found: found.into(),
            expected: expected.into(),
            source: None,
        }
    }

    /// Compares the memory that a part of a file takes with the [limit](memory::limit).
    ///
    /// # Errors
    /// [`DataError::TooLarge`].
    pub fn check_memory(path: &Path, subject: impl Into<String>, needed: u64) -> Result<()> {
        memory::check(needed).map_err(|memory::TooLarge { needed, limit }| Self::TooLarge {
            path: path.to_owned(),
            subject: subject.into(),
            needed,
            limit,
        })
    }

    /// An option or argument with an invalid value.
    pub fn value(subject: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::Value { subject: subject.into(), found: found.to_string(), expected: expected.into() }
    }

    /// Adds the error of a decoder as the source of a [`DataError::Content`]; leaves every other error unchanged.
    #[must_use]
    pub fn caused_by(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match self {
            Self::Content { path, subject, found, expected, source: _ } => {
                Self::Content { path, subject, found, expected, source: Some(cause.into()) }
            }
            Self::Io { .. }
            | Self::Write { .. }
            | Self::TooLarge { .. }
            | Self::UnknownName { .. }
            | Self::UnknownOption { .. }
            | Self::NoPath { .. }
            | Self::Value { .. } => self,
        }
    }
}

/// An error and its causes on one line, as anyhow's `{:#}` prints them.
#[cfg(test)]
pub(crate) fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_cause_is_printed_once() {
        let path = Path::new("a.npz");
        let error = DataError::io(path, "open")(io::Error::other("disk on fire"));
        assert_eq!(error.to_string(), "a.npz: cannot open");
        assert_eq!(chain(&error), "a.npz: cannot open: disk on fire");
        let error = DataError::content(path, "file", "damaged data", "a zip archive").caused_by("bad magic");
        assert_eq!(error.to_string(), "a.npz: file: found damaged data, expected a zip archive");
        assert_eq!(chain(&error), "a.npz: file: found damaged data, expected a zip archive: bad magic");
    }

    #[test]
    fn texts_of_strangers_add_no_lines() {
        let path = Path::new("a\nhint: b.png");
        let broken = DataError::content(path, "column `c\r\nd`", "`e\nf`", "a number");
        assert_eq!(
            broken.to_string(),
            "a\\nhint: b.png: column `c\\r\\nd`: found `e\\nf`, expected a number"
        );
        let value = DataError::value("data.x\ny", "z\n", "1");
        assert_eq!(value.to_string(), "data.x\\ny: found z\\n, expected 1");
        let unknown = crate::DataSpec::named("shapes\nhint: none");
        let unknown = crate::registry::check(&unknown).unwrap_err().to_string();
        assert!(unknown.starts_with("unknown data set `shapes\\nhint: none`\nhint: "), "{unknown}");
        let spec = crate::DataSpec::named("shapes").with("posi\ntions", 4_usize);
        assert_eq!(
            crate::registry::check(&spec).unwrap_err().to_string(),
            "data set `shapes` has no option `posi\\ntions`\nhint: did you mean `positions`?"
        );
    }
}
