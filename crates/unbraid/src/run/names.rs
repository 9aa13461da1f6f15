//! `units.toml`: the names that people give to latent units (dimensions).

use super::trained::Run;
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use crate::model::{Layout, Unit};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use toml::{Table, Value};
use unbraid_data::DataError;
use unbraid_data::files::{LONGEST_TEXT, read_text};

/// Longer names do not fit beside a slider or a row of images.
const MOST_CHARACTERS: usize = 40;

const EXPECTED: &str =
    "1 to 40 characters, among them a letter, without = or line breaks, that are not the number of a unit";

/// The names of latent units, each of which belongs to one unit.
///
/// ```
/// use unbraid::model::Unit;
/// use unbraid::run::UnitNames;
///
/// let mut names = UnitNames::default();
/// names.set(Unit::Continuous(3), "azimuth")?;
/// assert_eq!(names.find("azimuth"), Some(Unit::Continuous(3)));
/// assert_eq!(names.label(Unit::Continuous(3)), "azimuth (3)");
/// assert_eq!(names.label(Unit::Continuous(4)), "unit 4");
/// # Ok::<(), unbraid::run::NameError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitNames {
    continuous: BTreeMap<usize, String>,
    categorical: BTreeMap<usize, String>,
}

impl UnitNames {
    /// Reads a file; where there is none, no unit has a name.
    ///
    /// # Errors
    /// If it is not a file of names, or names a unit that `layout` does not have.
    pub fn read(path: &Path, layout: &Layout) -> Result<Self> {
        let text = match read_text(path, LONGEST_TEXT) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Error::io(path, "read it")(error)),
        };
        let table: Table = text.parse().map_err(|source| Error::Malformed {
            path: path.to_owned(),
            expected: "TOML",
            source: Box::new(source),
        })?;
        let refuse = |place: &str, found: String, expected: String| -> Error {
            DataError::content(path, place, found, expected).into()
        };
        let mut names = Self::default();
        for (kind, units) in &table {
            let (of_kind, count): (fn(usize) -> Unit, usize) = match kind.as_str() {
                "continuous" => (Unit::Continuous, layout.continuous()),
                "categorical" => (Unit::Categorical, layout.categorical().len()),
                _ => {
                    let expected = "[continuous] and [categorical]".to_owned();
                    return Err(refuse("names", format!("`{kind}`"), expected));
                }
            };
            let Value::Table(units) = units else {
                return Err(refuse(kind, units.to_string(), "a table of names".to_owned()));
            };
            for (number, name) in units {
                let place = format!("{kind}.{number}");
                let unit = match number.parse::<usize>() {
                    Ok(number) if number < count => of_kind(number),
                    _ => {
                        let expected = format!("one of the {count} {kind} units");
                        return Err(refuse(&place, format!("unit `{number}`"), expected));
                    }
                };
                let Value::String(name) = name else {
                    return Err(refuse(&place, name.to_string(), "a name in quotes".to_owned()));
                };
                names.set(unit, name).map_err(|error| refuse(&place, error.found(name), error.expected()))?;
            }
        }
        Ok(names)
    }

    /// As the text of `units.toml`.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("# Names of latent units; `unbraid name` changes them.\n");
        for (kind, names) in [("continuous", &self.continuous), ("categorical", &self.categorical)] {
            if names.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n[{kind}]");
            for (number, name) in names {
                let _ = writeln!(text, "{number} = {}", Value::from(name.as_str()));
            }
        }
        text
    }

    /// Writes `units.toml`, in place of an earlier one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result {
        files::write(path, Existing::Replace, |file| file.write_all(self.to_toml().as_bytes()))
    }

    /// Gives a unit a name, in place of its earlier one.
    ///
    /// # Errors
    /// If it is no name, the number of a unit, or that of another unit already.
    pub fn set(&mut self, unit: Unit, name: &str) -> Result<(), NameError> {
        let name = name.trim();
        let fits = (1..=MOST_CHARACTERS).contains(&name.chars().count())
            && name.chars().any(char::is_alphabetic)
            && !name.chars().any(|character| character == '=' || character.is_control())
            && name.parse::<Unit>().is_err();
        if !fits {
            return Err(NameError::NoName);
        }
        match self.find(name) {
            Some(other) if other != unit => return Err(NameError::Taken(other)),
            Some(_) | None => {}
        }
        match unit {
            Unit::Continuous(number) => self.continuous.insert(number, name.to_owned()),
            Unit::Categorical(number) => self.categorical.insert(number, name.to_owned()),
        };
        Ok(())
    }

    /// Takes the name of a unit away.
    pub fn remove(&mut self, unit: Unit) {
        match unit {
            Unit::Continuous(number) => self.continuous.remove(&number),
            Unit::Categorical(number) => self.categorical.remove(&number),
        };
    }

    /// The name of a unit.
    pub fn get(&self, unit: Unit) -> Option<&str> {
        match unit {
            Unit::Continuous(number) => self.continuous.get(&number),
            Unit::Categorical(number) => self.categorical.get(&number),
        }
        .map(String::as_str)
    }

    /// The unit of this name.
    pub fn find(&self, name: &str) -> Option<Unit> {
        self.iter().find(|(_, known)| *known == name).map(|(unit, _)| unit)
    }

    /// All units that have a name, with it.
    pub fn iter(&self) -> impl Iterator<Item = (Unit, &str)> {
        let continuous = self.continuous.iter().map(|(&unit, name)| (Unit::Continuous(unit), name.as_str()));
        let categorical =
            self.categorical.iter().map(|(&unit, name)| (Unit::Categorical(unit), name.as_str()));
        continuous.chain(categorical)
    }

    /// What a unit is called in figures: its name with its number, or `unit 3`.
    pub fn label(&self, unit: Unit) -> String {
        self.get(unit).map_or_else(|| unit.label(), |name| format!("{name} ({unit})"))
    }
}

/// Why a unit cannot have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty, too long, has no letter, or has a character that no name may have.
    #[error("expected {EXPECTED}")]
    NoName,
    /// Another unit has it.
    #[error("it is the name of unit {0}")]
    Taken(Unit),
}

impl NameError {
    fn found(self, name: &str) -> String {
        match self {
            Self::NoName => format!("`{}`", name.escape_debug()),
            Self::Taken(other) => format!("`{name}`, the name of unit {other}"),
        }
    }

    fn expected(self) -> String {
        match self {
            Self::NoName => EXPECTED.to_owned(),
            Self::Taken(_) => "a name of its own".to_owned(),
        }
    }

    /// As an error about the argument `name` of a function.
    fn of_argument(self, name: &str) -> Error {
        Error::argument("name", self.found(name), self.expected())
    }
}

impl Run {
    /// A unit by its number, as `3` or `category.0`, or by its name.
    ///
    /// # Errors
    /// If the run has no such unit.
    pub fn find_unit(&self, text: &str) -> Result<Unit> {
        let text = text.trim();
        if let Some(unit) = self.names().find(text) {
            return Ok(unit);
        }
        let Ok(unit) = text.parse::<Unit>() else {
            let names = self.names().iter().map(|(_, name)| name.to_owned()).collect();
            return Err(Error::UnknownUnit { text: text.to_owned(), names, run: self.path().to_owned() });
        };
        self.check_unit(unit)?;
        Ok(unit)
    }

    /// The number of a categorical unit by this number, with or without `category.` in front, or by its name.
    ///
    /// # Errors
    /// If the run has no such categorical unit.
    pub fn find_categorical_unit(&self, text: &str) -> Result<usize> {
        let number = text.trim().parse().map(Unit::Categorical);
        let unit = match number {
            Ok(unit) => {
                self.check_unit(unit)?;
                unit
            }
            Err(_) => self.find_unit(text)?,
        };
        match unit {
            Unit::Categorical(number) => Ok(number),
            Unit::Continuous(_) => Err(Error::argument("unit", self.unit_label(unit), "a categorical unit")),
        }
    }

    /// What a unit is called in figures and tables: its name with its number, as `azimuth (3)`, or `unit 3`.
    pub fn unit_label(&self, unit: Unit) -> String {
        self.names().label(unit)
    }

    /// Changes the names of some units: pairs of a unit, by number or earlier name, and its new name; an empty one
    /// removes the name. Writes `units.toml` unless something is wrong. Names that were given since the run
    /// was opened stay.
    ///
    /// # Errors
    /// If a unit does not exist, a name is wrong or taken, or the file cannot be read or written.
    pub fn rename_units<'a>(&mut self, changes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result {
        // Other threads may name units of the same directory: nobody writes between reading the file and writing it.
        static RENAMING: Mutex<()> = Mutex::new(());
        let _guard = RENAMING.lock().unwrap_or_else(PoisonError::into_inner);
        self.set_names(UnitNames::read(&self.paths().units(), self.layout())?);
        let mut names = self.names().clone();
        let changes = changes
            .into_iter()
            .map(|(unit, name)| Ok((self.find_unit(unit)?, name)))
            .collect::<Result<Vec<_>>>()?;
        for (place, (unit, _)) in changes.iter().enumerate() {
            if changes[..place].iter().any(|(earlier, _)| earlier == unit) {
                return Err(Error::argument("name", format!("two for {}", self.unit_label(*unit)), "one"));
            }
        }
        // The old names are removed first, so that two units can exchange theirs.
        changes.iter().for_each(|(unit, _)| names.remove(*unit));
        for (unit, name) in changes {
            if !name.trim().is_empty() {
                names.set(unit, name).map_err(|error| error.of_argument(name))?;
            }
        }
        names.save(&self.paths().units())?;
        self.set_names(names);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("units.toml");
        let layout = Layout::with_units(4, &[3]);
        assert_eq!(UnitNames::read(&path, &layout).unwrap(), UnitNames::default());
        let mut names = UnitNames::default();
        names.set(Unit::Continuous(3), " azimuth ").unwrap();
        names.set(Unit::Continuous(0), "colour \"warm\"").unwrap();
        names.set(Unit::Categorical(0), "Größe").unwrap();
        names.save(&path).unwrap();
        assert_eq!(UnitNames::read(&path, &layout).unwrap(), names);
        assert_eq!(
            names.to_toml(),
            "# Names of latent units; `unbraid name` changes them.\n\n[continuous]\n0 = 'colour \"warm\"'\n\
             3 = \"azimuth\"\n\n[categorical]\n0 = \"Größe\"\n"
        );
        assert_eq!(names.label(Unit::Categorical(0)), "Größe (category.0)");
        names.remove(Unit::Continuous(3));
        assert_eq!((names.get(Unit::Continuous(3)), names.find("azimuth")), (None, None));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let mut names = UnitNames::default();
        names.set(Unit::Continuous(1), "x").unwrap();
        for name in ["", "  ", "3", "-1.5", "category.0", "a=b", "a\nb", &"n".repeat(41)] {
            assert_eq!(names.set(Unit::Continuous(0), name), Err(NameError::NoName), "{name}");
        }
        assert_eq!(names.set(Unit::Continuous(0), "x"), Err(NameError::Taken(Unit::Continuous(1))));
        assert_eq!(names.set(Unit::Continuous(1), "x"), Ok(()));
    }

    #[test]
    fn damaged_files_are_refused_in_one_message() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("units.toml");
        let layout = Layout::with_units(2, &[]);
        for (text, message) in [
            ("[units]\n0 = \"a\"", "names: found `units`, expected [continuous] and [categorical]"),
            ("continuous = 3", "continuous: found 3, expected a table of names"),
            (
                "[continuous]\n2 = \"a\"",
                "continuous.2: found unit `2`, expected one of the 2 continuous units",
            ),
            (
                "[categorical]\n0 = \"a\"",
                "categorical.0: found unit `0`, expected one of the 0 categorical units",
            ),
            ("[continuous]\n0 = 1", "continuous.0: found 1, expected a name in quotes"),
            ("[continuous]\n0 = \"7\"", &format!("continuous.0: found `7`, expected {EXPECTED}")),
            (
                "[continuous]\n0 = \"a\"\n1 = \"a\"",
                "continuous.1: found `a`, the name of unit 0, expected a name of its own",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = UnitNames::read(&path, &layout).unwrap_err();
            assert_eq!(crate::error_chain(&error), format!("{}: {message}", path.display()));
        }
        std::fs::write(&path, "[continuous").unwrap();
        let error = UnitNames::read(&path, &layout).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: expected TOML", path.display()));
    }
}
