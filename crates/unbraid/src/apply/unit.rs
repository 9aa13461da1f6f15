//! How a latent unit is named on the command line: `3`, or `category.0` for a categorical one.

use crate::failure::{Failure, Outcome};
use crate::report::latents::Unit;
use crate::run::Run;

/// What categorical units are called, before their number.
const CATEGORY: &str = "category.";

/// Reads a name.
///
/// # Errors
/// If it is neither of the two forms; in words.
pub fn parse(text: &str) -> Result<Unit, String> {
    let text = text.trim();
    let number = |digits: &str| digits.parse::<usize>().ok();
    let unit = match text.strip_prefix(CATEGORY) {
        Some(digits) => number(digits).map(Unit::Categorical),
        None => number(text).map(Unit::Continuous),
    };
    unit.ok_or_else(|| {
        format!(
            "found `{text}`, expected the number of a unit, as in 3, or category.0 for a categorical unit"
        )
    })
}

/// The name of a unit.
pub fn name(unit: Unit) -> String {
    match unit {
        Unit::Continuous(unit) => unit.to_string(),
        Unit::Categorical(unit) => format!("{CATEGORY}{unit}"),
    }
}

/// Makes sure that a run has a unit.
///
/// # Errors
/// If it does not; the message says how many there are.
pub fn check(run: &Run, unit: Unit) -> Outcome {
    let (number, count, kind) = match unit {
        Unit::Continuous(number) => (number, run.units(), "continuous"),
        Unit::Categorical(number) => (number, run.categorical_units().len(), "categorical"),
    };
    if number < count {
        return Ok(());
    }
    let named = |number: usize| match unit {
        Unit::Continuous(_) => name(Unit::Continuous(number)),
        Unit::Categorical(_) => name(Unit::Categorical(number)),
    };
    let there = match count {
        0 => "none".to_owned(),
        1 => format!("one, {}", named(0)),
        _ => format!("{count}, {} to {}", named(0), named(count - 1)),
    };
    Err(Failure::input(format!(
        "unit {}: no such unit; of {kind} units, {} has {there}",
        name(unit),
        run.path().display()
    )))
}

/// Makes sure that a categorical unit has a class.
///
/// # Errors
/// If the unit or the class does not exist.
pub fn check_class(run: &Run, unit: usize, class: usize) -> Outcome {
    check(run, Unit::Categorical(unit))?;
    let classes = run.categorical_units()[unit];
    if class < classes {
        return Ok(());
    }
    Err(Failure::input(format!(
        "class {class} of {CATEGORY}{unit}: no such class; it has {classes}, 0 to {}",
        classes - 1
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for unit in [Unit::Continuous(0), Unit::Continuous(31), Unit::Categorical(2)] {
            assert_eq!(parse(&name(unit)), Ok(unit));
        }
        for text in ["", "-1", "x", "category", "category.", "category.x", "1.5"] {
            assert!(parse(text).unwrap_err().contains(text), "{text}");
        }
    }
}
