//! New values for latent units: `3=1.5`, `3=+1`, `category.0=4`, `azimuth-=1.5`.

use crate::error::{Error, Result};
use crate::model::Unit;
use crate::run::Run;
use ndarray::Array2;
use std::str::FromStr;

/// An assignment to one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Assignment {
    /// Sets a continuous unit to a value.
    Value {
        /// The unit.
        unit: usize,
        /// Its value.
        value: f32,
    },
    /// Changes a continuous unit by an amount.
    Change {
        /// The unit.
        unit: usize,
        /// What is added to its value.
        by: f32,
    },
    /// Sets a categorical unit to a class.
    Class {
        /// The unit.
        unit: usize,
        /// Its class.
        class: usize,
    },
}

impl Assignment {
    fn new(unit: Unit, value: &str) -> Result<Self, String> {
        match unit {
            Unit::Continuous(unit) => {
                let (number, is_change) = match value.strip_prefix('+') {
                    Some(change) => (change, true),
                    None => (value, false),
                };
                match number.parse::<f32>() {
                    Ok(by) if by.is_finite() && is_change => Ok(Self::Change { unit, by }),
                    Ok(value) if value.is_finite() => Ok(Self::Value { unit, value }),
                    _ => Err(format!("found the value `{value}` for unit {unit}, expected a number")),
                }
            }
            Unit::Categorical(unit) => match value.parse() {
                Ok(class) if !value.starts_with('+') => Ok(Self::Class { unit, class }),
                _ => Err(format!(
                    "found the value `{value}` for unit category.{unit}, expected the number of a class"
                )),
            },
        }
    }
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let NamedAssignment { unit, value } = text.parse()?;
        Self::new(unit.parse()?, &value)
    }
}

/// An assignment as it was written, to a unit by its number or by a name that only a run knows:
/// `azimuth=1.5`. A value with a plus sign is a change, as in `3=+1` or `3+=1`, and `3-=1` one downwards; a
/// minus sign alone belongs to the value. [`Run::assignment`] gives it a meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAssignment {
    /// The number or name of the unit.
    pub unit: String,
    /// Its value, with a plus sign if it is a change, or its class.
    pub value: String,
}

impl FromStr for NamedAssignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("found `{text}`, expected UNIT=VALUE, as in 3=1.5 or category.0=4");
        let (unit, value) = text.split_once('=').ok_or_else(form)?;
        let value = value.trim();
        Ok(match (unit.strip_suffix('+'), unit.strip_suffix('-')) {
            (Some(unit), _) => Self { unit: unit.trim().to_owned(), value: format!("+{value}") },
            (_, Some(unit)) => Self { unit: unit.trim().to_owned(), value: format!("+-{value}") },
            (None, None) => Self { unit: unit.to_owned(), value: value.to_owned() },
        })
    }
}

impl Run {
    /// What an assignment means for the units of this run.
    ///
    /// # Errors
    /// If there is no such unit, or it cannot have this value.
    pub fn assignment(&self, written: &NamedAssignment) -> Result<Assignment> {
        let unit = self.find_unit(&written.unit)?;
        Assignment::new(unit, &written.value).map_err(|_| {
            let expected = match unit {
                Unit::Continuous(_) => "a number",
                Unit::Categorical(_) => "the number of a class",
            };
            let found = format!("the value `{}` for {}", written.value, self.unit_label(unit));
            Error::argument("assignment", found, expected)
        })
    }
}

/// Sets or changes units in every row of latent values; later assignments override earlier ones.
///
/// # Errors
/// If the run has no such unit or class.
pub fn assign(run: &Run, rows: &mut Array2<f32>, assignments: &[Assignment]) -> Result {
    for &assignment in assignments {
        match assignment {
            Assignment::Value { unit, value } => {
                run.check_unit(Unit::Continuous(unit))?;
                rows.column_mut(unit).fill(value);
            }
            Assignment::Change { unit, by } => {
                run.check_unit(Unit::Continuous(unit))?;
                rows.column_mut(unit).mapv_inplace(|value| value + by);
            }
            Assignment::Class { unit, class } => {
                run.check_class(unit, class)?;
                *rows = run.layout().in_class(rows, unit, class);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_read() {
        assert_eq!("3=1.5".parse(), Ok(Assignment::Value { unit: 3, value: 1.5 }));
        assert_eq!("0=-2".parse(), Ok(Assignment::Value { unit: 0, value: -2.0 }));
        assert_eq!("category.1=4".parse(), Ok(Assignment::Class { unit: 1, class: 4 }));
        // A plus sign makes it a change; a minus sign alone belongs to the value.
        for (text, by) in [("3=+1.5", 1.5), ("3+=1.5", 1.5), ("3-=1.5", -1.5), ("3 -= 1.5", -1.5)] {
            assert_eq!(text.parse(), Ok(Assignment::Change { unit: 3, by }), "{text}");
        }
        for (text, message) in [
            ("3", "found `3`, expected UNIT=VALUE, as in 3=1.5 or category.0=4"),
            ("3=x", "found the value `x` for unit 3, expected a number"),
            ("3=inf", "found the value `inf` for unit 3, expected a number"),
            ("3+=x", "found the value `+x` for unit 3, expected a number"),
            ("3-=-1", "found the value `+--1` for unit 3, expected a number"),
            ("category.0=+1", "found the value `+1` for unit category.0, expected the number of a class"),
            ("category.0=1.5", "found the value `1.5` for unit category.0, expected the number of a class"),
            ("category.0=-1", "found the value `-1` for unit category.0, expected the number of a class"),
            (
                "z=1",
                "found `z`, expected the number of a unit, as in 3, or category.0 for a categorical unit",
            ),
        ] {
            assert_eq!(text.parse::<Assignment>().unwrap_err(), message);
        }
    }
}
