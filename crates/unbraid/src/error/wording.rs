//! Parts of messages that depend on what was found, and the message of a whole chain.

use crate::model::Unit;
use std::path::Path;
use unbraid_data::one_line;

pub(super) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|text| format!("\nhint: {text}")).unwrap_or_default()
}

pub(super) fn kept_checkpoints(step: Option<u64>, kept: &[u64], stopped: Option<&str>) -> String {
    match (step, kept) {
        (None, _) => stopped.map_or_else(
            || "the run has not written its first checkpoint yet (training.checkpoint_every)".to_owned(),
            |why| one_line(why).into_owned(),
        ),
        (Some(_), []) => "the run kept only the last one".to_owned(),
        (Some(_), kept) => {
            let kept: Vec<String> = kept.iter().map(u64::to_string).collect();
            format!("the run kept those of steps {}", kept.join(", "))
        }
    }
}

pub(super) fn units_of(unit: Unit, count: usize, run: &Path) -> String {
    let (run, kind, number) = (run.display(), unit.kind(), |number| unit.with_number(number));
    match count {
        0 => format!("{run} has no {kind} units"),
        1 => format!("{run} has one {kind} unit, {}", number(0)),
        _ => format!("{run} has {count} {kind} units, {} to {}", number(0), number(count - 1)),
    }
}

pub(super) fn names_of(names: &[String], run: &Path) -> String {
    match names {
        [] => format!("; no unit of {} has one yet", run.display()),
        names => format!("; those of {} are {}", run.display(), names.join(", ")),
    }
}

/// The message of an error and of everything that caused it, as the command prints it.
///
/// ```
/// use unbraid::{Run, error_chain};
///
/// let error = Run::open("no/such/run").unwrap_err();
/// assert_eq!(error_chain(&error), "no/such/run: not a run: no such directory");
/// ```
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn units_are_counted_in_the_message() {
        let error = |unit, count| Error::NoSuchUnit { unit, count, run: "r".into() }.to_string();
        assert_eq!(
            error(Unit::Continuous(12), 10),
            "unit 12: no such unit; r has 10 continuous units, 0 to 9"
        );
        assert_eq!(
            error(Unit::Categorical(1), 1),
            "unit category.1: no such unit; r has one categorical unit, category.0"
        );
        assert_eq!(
            error(Unit::Categorical(0), 0),
            "unit category.0: no such unit; r has no categorical units"
        );
    }
}
