//! What can go wrong with data, in words that name the file, what was found and what was expected.

use std::path::{Path, PathBuf};

/// Result of everything in this crate that can fail.
pub type Result<T, E = DataError> = std::result::Result<T, E>;

/// An error with data: a file that cannot be read, a file whose content is not what it should be, or a request that
/// makes no sense.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused to open, read or write a file.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was attempted, as a verb phrase: "open", "read the labels".
        action: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file was read, but its content does not fit.
    #[error("{}: {subject}: found {found}, expected {expected}", path.display())]
    Content {
        /// The file or directory.
        path: PathBuf,
        /// Which part of it: "array `imgs`", "header".
        subject: String,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
    },
    /// No data set has this name.
    #[error("unknown data set `{name}`{}", hint(suggestion.as_deref()))]
    UnknownName {
        /// The name that was asked for.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// A data set has no such option.
    #[error("data set `{set}` has no option `{option}`{}", hint(suggestion.as_deref()))]
    UnknownOption {
        /// The data set.
        set: String,
        /// The option that was given.
        option: String,
        /// The nearest option that exists, or the list of all.
        suggestion: Option<String>,
    },
    /// An option or argument has a value that cannot be right.
    #[error("{subject}: found {found}, expected {expected}")]
    Value {
        /// The option or argument.
        subject: String,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|text| format!("\nhint: {text}")).unwrap_or_default()
}

impl DataError {
    /// Turns an I/O error into one that names the file and the attempt; made for `map_err`.
    pub fn io<'a>(path: &'a Path, action: &'a str) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |source| Self::Io { path: path.to_owned(), action: action.to_owned(), source }
    }

    /// The content of a file does not fit.
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
        }
    }

    /// An option or argument cannot be right.
    pub fn value(subject: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::Value { subject: subject.into(), found: found.to_string(), expected: expected.into() }
    }
}
