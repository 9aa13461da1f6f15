//! New values for latent units: `3=1.5`, `category.0=4`.

use crate::error::Result;
use crate::model::Unit;
use crate::run::Run;
use ndarray::Array2;
use std::str::FromStr;

/// What one unit is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Assignment {
    /// A continuous unit takes a value.
    Value {
        /// The unit.
        unit: usize,
        /// Its value.
        value: f32,
    },
    /// A categorical unit is in a class.
    Class {
        /// The unit.
        unit: usize,
        /// Its class.
        class: usize,
    },
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("found `{text}`, expected UNIT=VALUE, as in 3=1.5 or category.0=4");
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let value = value.trim();
        match name.parse::<Unit>()? {
            Unit::Continuous(unit) => match value.parse::<f32>() {
                Ok(value) if value.is_finite() => Ok(Self::Value { unit, value }),
                _ => Err(format!("found the value `{value}` for unit {unit}, expected a number")),
            },
            Unit::Categorical(unit) => match value.parse() {
                Ok(class) => Ok(Self::Class { unit, class }),
                Err(_) => Err(format!("found `{value}` for category.{unit}, expected the number of a class")),
            },
        }
    }
}

/// Sets units in every row of latent values; later assignments win.
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
        for (text, word) in [
            ("3", "UNIT=VALUE"),
            ("3=x", "a number"),
            ("3=inf", "a number"),
            ("category.0=1.5", "a class"),
            ("category.0=-1", "a class"),
            ("z=1", "the number of a unit"),
        ] {
            let error = text.parse::<Assignment>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
