//! Why a file from elsewhere is not taken, before it is known which file it is.

use crate::error::Error;
use std::path::Path;

/// What was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) found: String,
    pub(super) expected: String,
}

impl Refusal {
    pub(super) fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { found: found.into(), expected: expected.into() }
    }

    /// The error that names the file.
    pub(super) fn of(self, path: &Path) -> Error {
        Error::Import { path: path.to_owned(), found: self.found, expected: self.expected }
    }
}

/// A text of a stranger for a message: on one line, and not longer than one.
pub(super) fn quoted(text: &str) -> String {
    shortened(text, 80)
}

/// A text of a stranger on one line, cut to so many characters.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    let mut shown: String = text.escape_debug().take(longest).collect();
    if text.escape_debug().nth(longest).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Some names for a message: the first few of them.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let mut names = names.into_iter();
    let mut shown: Vec<String> =
        names.by_ref().take(MOST).map(|name| format!("`{}`", quoted(name))).collect();
    let rest = names.count();
    if rest > 0 {
        shown.push(format!("{rest} more"));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
