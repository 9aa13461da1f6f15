//! `specs.json`, in which published models say how they were trained.

use super::refusal::{Refusal, listed, quoted};
use crate::error::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use unbraid_data::files::{LONGEST_TEXT, read_text};

/// The content of the file.
#[derive(Debug)]
pub(super) struct Specs {
    path: PathBuf,
    keys: Map<String, Value>,
}

impl Specs {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or is not an object.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Self::of_text(path, &read_text(path, LONGEST_TEXT).map_err(Error::io(path, "read it"))?)
    }

    /// As [`Specs::read`], of the file's text; its path is for messages.
    pub(super) fn of_text(path: &Path, text: &str) -> Result<Self> {
        let keys = serde_json::from_str(text).map_err(|source| Error::Malformed {
            path: path.to_owned(),
            expected: "a JSON object with the settings of a published model",
            source: Box::new(source),
        })?;
        Ok(Self { path: path.to_owned(), keys })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is such a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.keys.get(key).filter(|value| !value.is_null())
    }

    /// The keys for a message.
    pub(super) fn listed(&self) -> String {
        listed(self.keys.keys().map(String::as_str))
    }

    /// The error of a key.
    pub(super) fn refuse(&self, key: &str, expected: &str) -> Error {
        let found = match self.get(key) {
            None => format!("no `{key}`"),
            Some(Value::String(text)) => format!("`{key}`: `{}`", quoted(text)),
            Some(value) => format!("`{key}`: {}", quoted(&value.to_string())),
        };
        Refusal::new(found, expected).of(&self.path)
    }

    /// A finite number.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|value| value.as_f64().ok_or_else(|| self.refuse(key, "a number"))).transpose()
    }

    /// A whole number; programs that continued a training wrote a list, of which the last counts.
    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>> {
        self.get(key)
            .map(|value| whole(last(value)).ok_or_else(|| self.refuse(key, "a whole number, 0 or more")))
            .transpose()
    }

    /// As [`Specs::number`], or the last of a list of them.
    pub(super) fn last_number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key)
            .map(|value| last(value).as_f64().ok_or_else(|| self.refuse(key, "a number")))
            .transpose()
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>> {
        self.get(key).map(|value| value.as_str().ok_or_else(|| self.refuse(key, "a text"))).transpose()
    }

    /// Whole numbers.
    pub(super) fn wholes(&self, key: &str, value: &Value, expected: &str) -> Result<Vec<usize>> {
        let number = |value: &Value| whole(value).and_then(|number| usize::try_from(number).ok());
        let numbers = value.as_array().and_then(|values| values.iter().map(number).collect());
        numbers.ok_or_else(|| self.refuse(key, expected))
    }

    /// The value of a key that must be there.
    pub(super) fn need(&self, key: &str, expected: &str) -> Result<&Value> {
        self.get(key).ok_or_else(|| self.refuse(key, expected))
    }

    /// A list of numbers of this length, if it is there.
    pub(super) fn numbers<const N: usize>(&self, key: &str, expected: &str) -> Result<Option<[f64; N]>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let numbers: Option<Vec<f64>> =
            value.as_array().and_then(|values| values.iter().map(Value::as_f64).collect());
        let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
        numbers.map(Some).ok_or_else(|| self.refuse(key, expected))
    }
}

fn last(value: &Value) -> &Value {
    value.as_array().and_then(|values| values.last()).unwrap_or(value)
}

fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number));
    value.as_u64().or_else(|| float().map(|number| number as u64))
}

/// A schedule from one value to another at a step, or a constant if it ends at once.
pub(super) fn ramp(from: f64, to: f64, end: u64) -> Value {
    if end == 0 || from == to { json!(to) } else { json!({ "from": from, "to": to, "end": end }) }
}
