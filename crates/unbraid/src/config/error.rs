//! What can be wrong with a configuration, in words that name the key, what was found and what was expected.

use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A configuration file cannot be read.
    #[error("{}: cannot read the configuration: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// The file.
        origin: String,
        /// What the parser says, with line and column.
        message: String,
    },
    /// `--set` got something other than `key=value`.
    #[error("--set {found}: expected key=value, such as objective.beta=6")]
    Assignment {
        /// What was given.
        found: String,
    },
    /// No preset has this name.
    #[error("unknown preset `{name}`\nhint: {hint}")]
    UnknownPreset {
        /// What was asked for.
        name: String,
        /// The nearest name, or how to list them.
        hint: String,
    },
    /// There is no such key, or a value is of the wrong kind.
    #[error("configuration: {message}")]
    Shape {
        /// The key and what is wrong with it.
        message: String,
    },
    /// A value that cannot be right.
    #[error("configuration: {key}: found {found}, expected {expected}")]
    Value {
        /// The key, such as `objective.beta`.
        key: String,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
}

impl ConfigError {
    /// A value that cannot be right.
    pub fn value(key: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::Value { key: key.into(), found: found.to_string(), expected: expected.into() }
    }
}

/// The candidate that `word` is most likely a misspelling of.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.5)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// What is wrong with a table, by its key, with a did-you-mean.
pub(crate) fn explain(error: &toml::de::Error) -> String {
    let message = with_suggestion(error.message());
    place_of(error).map_or_else(|| message.clone(), |place| format!("{place}: {message}"))
}

/// The key of the table or value that an error is about, as far as it is known.
pub(super) fn place_of(error: &toml::de::Error) -> Option<String> {
    // The whole text goes on with lines that say where: in `section.key`.
    let text = error.to_string();
    let place = text.lines().find_map(|line| line.trim().strip_prefix("in `")?.strip_suffix('`'));
    place.map(str::to_owned)
}

/// Adds a did-you-mean to serde's message on an unknown field or variant.
///
/// serde writes ``unknown field `found`, expected one of `a`, `b` `` and gives the candidates in no other form.
fn with_suggestion(message: &str) -> String {
    let kind = ["unknown field", "unknown variant"].into_iter().find(|kind| message.starts_with(kind));
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (Some(kind), Some(found)) = (kind, quoted.next()) else {
        return message.to_owned();
    };
    let what = if kind == "unknown field" { "unknown key" } else { "unknown word" };
    let candidates: Vec<&str> = quoted.collect();
    let hint = match nearest(found, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "there are no options here".to_owned(),
        None => format!("expected one of {}", candidates.join(", ")),
    };
    format!("{what} `{found}`\nhint: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_suggested() {
        assert_eq!(
            with_suggestion("unknown field `bta`, expected `beta`"),
            "unknown key `bta`\nhint: did you mean `beta`?"
        );
        assert_eq!(
            with_suggestion("unknown variant `zzz`, expected `conv` or `dlib`"),
            "unknown word `zzz`\nhint: expected one of conv, dlib"
        );
        assert_eq!(
            with_suggestion("unknown field `beta`, there are no fields"),
            "unknown key `beta`\nhint: there are no options here"
        );
        assert_eq!(with_suggestion("invalid type: string"), "invalid type: string");
    }
}
