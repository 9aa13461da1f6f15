//! The path and the options that a reader is called with: typed access, with errors that name the option.

use crate::attributes_option::AttributesOption;
use crate::error::{DataError, Result};
use crate::progress::Progress;
use crate::registry::Entry;
use crate::spec::{DataSpec, OptionValue};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

/// A request to open a data set, as its reader sees it.
pub(crate) struct Request<'a> {
    entry: &'static Entry,
    spec: &'a DataSpec,
    /// Receives progress.
    pub(crate) progress: &'a dyn Progress,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("set", &self.entry.name)
            .field("spec", self.spec)
            .finish_non_exhaustive()
    }
}

impl<'a> Request<'a> {
    pub(crate) fn new(entry: &'static Entry, spec: &'a DataSpec, progress: &'a dyn Progress) -> Self {
        Self { entry, spec, progress }
    }

    /// The name of the data set.
    pub(crate) fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The path.
    ///
    /// # Errors
    /// If the specification has none.
    pub(crate) fn path(&self) -> Result<&'a Path> {
        self.spec.path.as_deref().ok_or_else(|| {
            let expected = self.entry.path.unwrap_or("a path").to_owned();
            DataError::NoPath { data_set: self.entry.name.to_owned(), expected }
        })
    }

    fn refuse<T>(&self, option: &str, found: impl ToString, expected: impl Into<String>) -> Result<T> {
        Err(DataError::value(format!("option `{option}` of data set `{}`", self.entry.name), found, expected))
    }

    fn get(&self, option: &str) -> Option<&'a OptionValue> {
        debug_assert!(
            self.entry.options.iter().chain(crate::split::SPLIT_OPTIONS).any(|known| known.name == option),
            "`{option}` is missing in the registry's list for `{}`",
            self.entry.name
        );
        self.spec.options.get(option)
    }

    /// A whole number within a range.
    ///
    /// # Errors
    /// If the value is anything else.
    pub(crate) fn integer(
        &self,
        option: &str,
        range: RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize> {
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        match self.get(option) {
            None => Ok(default),
            Some(OptionValue::Integer(value)) => match usize::try_from(*value) {
                Ok(number) if range.contains(&number) => Ok(number),
                _ => self.refuse(option, value, expected()),
            },
            Some(other) => self.refuse(option, other, expected()),
        }
    }

    /// A whole number within a range, if the option is given.
    ///
    /// # Errors
    /// If the value is anything else.
    pub(crate) fn optional_integer(
        &self,
        option: &str,
        range: RangeInclusive<usize>,
    ) -> Result<Option<usize>> {
        self.get(option).map(|_| self.integer(option, range, 0)).transpose()
    }

    /// Whether the data set has an option of this name at all.
    pub(crate) fn has_option(&self, option: &str) -> bool {
        self.entry.has_option(option)
    }

    /// The value of an option as it was given.
    pub(crate) fn value(&self, option: &str) -> Option<&'a OptionValue> {
        self.get(option)
    }

    /// A number strictly between 0 and 1.
    ///
    /// # Errors
    /// If the value is anything else.
    pub(crate) fn fraction(&self, option: &str, default: f64) -> Result<f64> {
        match self.get(option) {
            None => Ok(default),
            Some(OptionValue::Float(value)) if *value > 0.0 && *value < 1.0 => Ok(*value),
            Some(other) => self.refuse(option, other, "a number between 0 and 1"),
        }
    }

    /// A truth value.
    ///
    /// # Errors
    /// If the value is anything else.
    pub(crate) fn boolean(&self, option: &str, default: bool) -> Result<bool> {
        match self.get(option) {
            None => Ok(default),
            Some(OptionValue::Boolean(value)) => Ok(*value),
            Some(other) => self.refuse(option, other, "true or false"),
        }
    }

    /// A text, if the option is given.
    ///
    /// # Errors
    /// If the value is anything else.
    pub(crate) fn text(&self, option: &str) -> Result<Option<&'a str>> {
        match self.get(option) {
            None => Ok(None),
            Some(OptionValue::Text(text)) => Ok(Some(text)),
            Some(other) => self.refuse(option, other, "text"),
        }
    }

    /// The table of attributes and the kinds of its columns; nothing if the data set has no such option.
    ///
    /// # Errors
    /// If the option is neither a text nor such a table.
    pub(crate) fn attributes(&self) -> Result<AttributesOption<'a>> {
        let value = if self.has_option("attributes") { self.get("attributes") } else { None };
        AttributesOption::read(self.entry.name, value)
    }

    /// One of a few words, each with its meaning; the first is the default.
    ///
    /// # Errors
    /// If the value is anything else.
    pub(crate) fn choice<T: Copy>(&self, option: &str, choices: &[(&str, T)]) -> Result<T> {
        let Some(value) = self.get(option) else { return Ok(choices[0].1) };
        let chosen =
            choices.iter().find(|(word, _)| matches!(value, OptionValue::Text(text) if text == word));
        chosen.map_or_else(
            || {
                let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                self.refuse(option, value, format!("one of {}", words.join(", ")))
            },
            |&(_, choice)| Ok(choice),
        )
    }
}
