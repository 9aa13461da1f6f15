//! The specification of a data set: a name, a path, or both, and options.

use crate::error::{DataError, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The value of an option, with the types of TOML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, a text, true or false, or a table")]
pub enum OptionValue {
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(String),
    /// Values by their names, as `attributes` has them.
    Table(BTreeMap<String, OptionValue>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "\"{value}\""),
            Self::Table(table) => {
                let values: Vec<String> =
                    table.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "{{ {} }}", values.join(", "))
            }
        }
    }
}

impl OptionValue {
    /// Parses a value from the command line, where text needs no quotes.
    fn parse(text: &str) -> Self {
        if let Ok(value) = text.parse() {
            Self::Boolean(value)
        } else if let Ok(value) = text.parse() {
            Self::Integer(value)
        } else if let Ok(value) = text.parse() {
            Self::Float(value)
        } else {
            let unquoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            Self::Text(unquoted.unwrap_or(text).to_owned())
        }
    }

    /// The path that an option holds: its text, or `path` in its table.
    pub fn as_path(&self) -> Option<&str> {
        match self {
            Self::Text(path) => Some(path),
            Self::Table(table) => table.get(TABLE_PATH)?.as_path(),
            Self::Boolean(_) | Self::Integer(_) | Self::Float(_) => None,
        }
    }

    /// As [`OptionValue::as_path`], to change it.
    pub fn as_path_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Text(path) => Some(path),
            Self::Table(table) => table.get_mut(TABLE_PATH)?.as_path_mut(),
            Self::Boolean(_) | Self::Integer(_) | Self::Float(_) => None,
        }
    }
}

/// What a bare text stands for where an option may be a table: `attributes = "a.csv"` is `attributes.path = "a.csv"`.
pub(crate) const TABLE_PATH: &str = "path";

/// Sets an option or, if its name has dots, a value in its table. The name of the last value may have dots itself.
fn put(options: &mut BTreeMap<String, OptionValue>, name: &str, value: OptionValue) {
    fn put_at(
        table: &mut BTreeMap<String, OptionValue>,
        mut names: std::str::SplitN<'_, char>,
        value: OptionValue,
    ) {
        let Some(name) = names.next() else { return };
        if names.clone().next().is_none() {
            match (table.get_mut(name), value) {
                (Some(OptionValue::Table(table)), value @ OptionValue::Text(_)) => {
                    table.insert(TABLE_PATH.to_owned(), value);
                }
                (_, value) => drop(table.insert(name.to_owned(), value)),
            }
            return;
        }
        let entry = table.entry(name.to_owned()).or_insert_with(|| OptionValue::Table(BTreeMap::new()));
        if !matches!(entry, OptionValue::Table(_)) {
            *entry = OptionValue::Table(BTreeMap::from([(TABLE_PATH.to_owned(), entry.clone())]));
        }
        if let OptionValue::Table(table) = entry {
            put_at(table, names, value);
        }
    }
    put_at(options, name.splitn(3, '.'), value);
}

/// `option=value`, or a line of it for each value in a table.
fn assignments(name: &str, value: &OptionValue, into: &mut Vec<String>) {
    match value {
        OptionValue::Table(table) => {
            for (key, value) in table {
                assignments(&format!("{name}.{key}"), value, into);
            }
        }
        value => into.push(format!("{name}={value}")),
    }
}

/// Specifies a data set, as the `[data]` table of a configuration or one argument on the command line does.
///
/// ```
/// use unbraid_data::DataSpec;
///
/// let spec: DataSpec = "shapes(orientations=10, positions=16)".parse()?;
/// assert_eq!(spec.name.as_deref(), Some("shapes"));
/// assert_eq!(spec.to_string(), "shapes(orientations=10, positions=16)");
/// let spec: DataSpec = "photos/holiday.npz".parse()?;
/// assert_eq!(spec.path.as_deref(), Some("photos/holiday.npz".as_ref()));
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataSpec {
    /// The name of the data set; without it, the type is inferred from the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file or directory, for data sets that are read from files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The options; [`registry`](crate::registry) lists those of each data set.
    #[serde(flatten)]
    pub options: BTreeMap<String, OptionValue>,
}

impl DataSpec {
    /// A data set with this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// A data set at this path, whose type is inferred.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// Sets the path.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets an option, or with a dotted name such as `attributes.kinds.weight` a value in it. The value is
    /// parsed as on the command line.
    #[must_use]
    pub fn with(mut self, option: &str, value: impl ToString) -> Self {
        put(&mut self.options, option, OptionValue::parse(&value.to_string()));
        self
    }
}

impl std::str::FromStr for DataSpec {
    type Err = DataError;

    /// Parses `NAME`, `NAME(option=value, ...)` or a path. Text that contains anything but ASCII letters, digits, `-`
    /// and `_`, such as a `/` or a file extension, is a path, and so is a word that names no data set but a file or
    /// folder in the working directory.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse_in(text, Path::new(""))
    }
}

impl DataSpec {
    /// As [`str::parse`], with relative paths in `directory`.
    ///
    /// # Errors
    /// If a parenthesis is not closed or has anything but `option=value` in it.
    pub fn parse_in(text: &str, directory: &Path) -> Result<Self> {
        let text = text.trim();
        let malformed = |expected: &str| DataError::value("data set", format!("`{text}`"), expected);
        if text.is_empty() {
            return Err(malformed("the name or the path of a data set"));
        }
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        let Some((name, arguments)) = text.split_once('(').filter(|(name, _)| is_name(name)) else {
            let is_path = || crate::registry::entry(text).is_err() && directory.join(text).exists();
            return Ok(if !is_name(text) || is_path() { Self::at(text) } else { Self::named(text) });
        };
        let arguments = arguments.strip_suffix(')').ok_or_else(|| malformed("a closing parenthesis"))?;
        let mut spec = Self::named(name);
        for argument in arguments.split(',').map(str::trim).filter(|argument| !argument.is_empty()) {
            let (option, value) =
                argument.split_once('=').ok_or_else(|| malformed("`option=value` inside the parentheses"))?;
            let (option, value) = (option.trim(), OptionValue::parse(value.trim()));
            match (option, value) {
                ("path", OptionValue::Text(path)) => spec.path = Some(path.into()),
                (option, value) => put(&mut spec.options, option, value),
            }
        }
        Ok(spec)
    }
}

impl fmt::Display for DataSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        let Some(name) = &self.name else {
            return write!(f, "{}", path.unwrap_or_default());
        };
        let path = path.map(|path| format!("path={path}"));
        let mut arguments: Vec<String> = path.into_iter().collect();
        for (option, value) in &self.options {
            assignments(option, value, &mut arguments);
        }
        if arguments.is_empty() { write!(f, "{name}") } else { write!(f, "{name}({})", arguments.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_typed_as_toml_would() {
        let spec: DataSpec = r#"x(a=1, b=0.5, c=true, d=word, e="two words")"#.parse().unwrap();
        assert_eq!(spec.options["a"], OptionValue::Integer(1));
        assert_eq!(spec.options["b"], OptionValue::Float(0.5));
        assert_eq!(spec.options["c"], OptionValue::Boolean(true));
        assert_eq!(spec.options["d"], OptionValue::Text("word".into()));
        assert_eq!(spec.options["e"], OptionValue::Text("two words".into()));
    }

    #[test]
    fn a_path_is_distinguished_from_a_name() {
        for path in ["./mnist", "a/b", "file.npz", "C:\\data", "odd name", "folder (copy)/x"] {
            assert_eq!(path.parse::<DataSpec>().unwrap(), DataSpec::at(path), "{path}");
        }
        assert_eq!("fashion-mnist".parse::<DataSpec>().unwrap(), DataSpec::named("fashion-mnist"));
        // Tests run in the directory of the crate, which has a folder of this name.
        assert_eq!("src".parse::<DataSpec>().unwrap(), DataSpec::at("src"));
        assert_eq!("no-such-folder".parse::<DataSpec>().unwrap(), DataSpec::named("no-such-folder"));
        let directory = tempfile::tempdir().unwrap();
        for name in ["photos", "mnist"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        let parse = |text: &str| DataSpec::parse_in(text, directory.path()).unwrap();
        assert_eq!(parse("photos"), DataSpec::at("photos"));
        assert_eq!(parse("mnist"), DataSpec::named("mnist"), "the name of a data set comes first");
    }

    #[test]
    fn a_path_can_be_an_argument() {
        let spec: DataSpec = "mnist(path=../data, split=test)".parse().unwrap();
        assert_eq!(spec, DataSpec::named("mnist").with_path("../data").with("split", "test"));
        assert_eq!(spec.to_string().parse::<DataSpec>().unwrap(), spec);
    }

    #[test]
    fn a_dotted_name_is_a_value_in_a_table() {
        let text = "folder(path=photos, attributes.kinds.eye.colour=\"categorical\", attributes.kinds.weight=\"number\", \
                    attributes.path=\"a.csv\")";
        let spec: DataSpec = text.parse().unwrap();
        let text_of = |word: &str| OptionValue::Text(word.to_owned());
        let table = |values: [(&str, OptionValue); 2]| {
            OptionValue::Table(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        };
        let kinds = table([("weight", text_of("number")), ("eye.colour", text_of("categorical"))]);
        assert_eq!(spec.options["attributes"], table([("path", text_of("a.csv")), ("kinds", kinds)]));
        assert_eq!(spec.to_string(), text);
        // A bare text is the path, in any order.
        let kinds = ["attributes.kinds.weight=number", "attributes.kinds.eye.colour=categorical"].join(", ");
        for text in [
            format!("folder(path=photos, attributes=a.csv, {kinds})"),
            format!("folder(path=photos, {kinds}, attributes=a.csv)"),
        ] {
            assert_eq!(text.parse::<DataSpec>().unwrap(), spec, "{text}");
        }
        assert_eq!(spec.options["attributes"].as_path(), Some("a.csv"));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<DataSpec>();
        }
    }

    #[test]
    fn an_incomplete_specification_is_refused() {
        for (text, expected) in [
            ("shapes(orientations=10", "a closing parenthesis"),
            ("shapes(orientations)", "`option=value` inside the parentheses"),
            ("", "the name or the path of a data set"),
        ] {
            let error = text.parse::<DataSpec>().unwrap_err();
            assert_eq!(error.to_string(), format!("data set: found `{text}`, expected {expected}"));
        }
    }
}
