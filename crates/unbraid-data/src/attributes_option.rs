//! The option `attributes`: the path of a table, and the kinds of its columns.

use crate::error::{DataError, Result};
use crate::kinds::Stated;
use crate::spec::{OptionValue, TABLE_PATH};

/// The key of the kinds.
const KINDS: &str = "kinds";

/// `attributes = "table.csv"`, or `attributes = { path = "table.csv", kinds = { weight = "number" } }`.
#[derive(Debug, Default)]
pub(crate) struct AttributesOption<'a> {
    /// The path of the table.
    pub(crate) path: Option<&'a str>,
    /// Columns and their kinds.
    pub(crate) kinds: Vec<(&'a str, Stated)>,
}

impl<'a> AttributesOption<'a> {
    /// Reads the option of the data set of this name.
    ///
    /// # Errors
    /// If it is neither a text nor a table of these keys, or a kind is unknown.
    pub(crate) fn read(data_set: &str, value: Option<&'a OptionValue>) -> Result<Self> {
        let refuse = |key: &str, found: &OptionValue, expected: &str| {
            Err(DataError::value(format!("option `{key}` of data set `{data_set}`"), found, expected))
        };
        let table = match value {
            None => return Ok(Self::default()),
            Some(OptionValue::Text(path)) => return Ok(Self { path: Some(path), kinds: Vec::new() }),
            Some(OptionValue::Table(table)) => table,
            Some(other) => return refuse("attributes", other, "text, or a table of `path` and `kinds`"),
        };
        let mut read = Self::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                (TABLE_PATH, OptionValue::Text(path)) => read.path = Some(path),
                (TABLE_PATH, other) => return refuse("attributes.path", other, "text"),
                (KINDS, OptionValue::Table(kinds)) => {
                    for (column, value) in kinds {
                        let stated = match value {
                            OptionValue::Text(word) => Stated::from_word(word),
                            _ => None,
                        };
                        let Some(kind) = stated else {
                            return refuse(&format!("attributes.kinds.{column}"), value, Stated::WORDS);
                        };
                        read.kinds.push((column, kind));
                    }
                }
                (KINDS, other) => {
                    return refuse("attributes.kinds", other, "a table such as { weight = \"number\" }");
                }
                (unknown, _) => {
                    return Err(DataError::UnknownOption {
                        data_set: data_set.to_owned(),
                        option: format!("attributes.{unknown}"),
                        suggestion: None,
                        known: vec!["attributes.path", "attributes.kinds"],
                    });
                }
            }
        }
        Ok(read)
    }
}
