//! Hyper-parameters that may change during a run.

use super::check::{finite, not_negative};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A weight or a capacity as a function of the step: a constant, or a linear ramp.
///
/// ```toml
/// beta = 4.0
/// beta = { from = 0.0, to = 4.0, start = 0, end = 10000 }
/// beta = { name = "linear", from = 0.0, to = 4.0, end = 10000 }
/// beta = { name = "constant", value = 4.0 }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "toml::Value")]
pub enum Schedule {
    /// A constant.
    Constant(f64),
    /// `from` until step `start`, `to` from step `end` on, and linear in between.
    Linear(Linear),
}

/// A linear ramp between two constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// The value until `start`.
    pub from: f64,
    /// The value from `end` on.
    pub to: f64,
    /// The step at which the ramp starts.
    #[serde(default)]
    pub start: u64,
    /// The step at which the ramp ends.
    pub end: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    value: f64,
}

impl Schedule {
    /// The value after `step` steps; the first update uses that of step 0.
    pub fn at(&self, step: u64) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Linear(Linear { from, to, start, end }) => {
                if step >= end {
                    return to;
                }
                let way = step.saturating_sub(start) as f64 / (end - start) as f64;
                from + (to - from) * way
            }
        }
    }

    /// Whether it is constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// The steps at which its slope changes.
    pub(super) fn turns(&self) -> [u64; 2] {
        match *self {
            Self::Constant(_) => [0, 0],
            Self::Linear(Linear { start, end, .. }) => [start, end],
        }
    }

    /// Refuses negative and infinite values, and a ramp that ends before it starts.
    pub(super) fn check(&self, key: &str) -> Result {
        self.check_values(key, not_negative)
    }

    /// The same, with negative values allowed.
    pub(super) fn check_any_sign(&self, key: &str) -> Result {
        self.check_values(key, finite)
    }

    fn check_values(&self, key: &str, check: impl Fn(&str, f64) -> Result) -> Result {
        match *self {
            Self::Constant(value) => check(key, value),
            Self::Linear(Linear { from, to, start, end }) => {
                check(&format!("{key}.from"), from)?;
                check(&format!("{key}.to"), to)?;
                if end <= start {
                    let expected = format!("a step after start = {start}");
                    return Err(Error::value(format!("{key}.end"), end, expected));
                }
                Ok(())
            }
        }
    }
}

impl From<f64> for Schedule {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

impl TryFrom<toml::Value> for Schedule {
    type Error = String;

    fn try_from(value: toml::Value) -> std::result::Result<Self, String> {
        let mut table = match value {
            toml::Value::Float(value) => return Ok(Self::Constant(value)),
            toml::Value::Integer(value) => return Ok(Self::Constant(value as f64)),
            toml::Value::Table(table) => table,
            other => {
                return Err(format!(
                    "found {other}, expected a number or {{ from = 0.0, to = 1.0, start = 0, end = 10000 }}"
                ));
            }
        };
        let name = table.remove("name");
        let unwrapped = |error: toml::de::Error| error.message().to_owned();
        match name.as_ref().map(|name| name.as_str().unwrap_or_default()) {
            None | Some("linear") => {
                toml::Value::Table(table).try_into().map(Self::Linear).map_err(unwrapped)
            }
            Some("constant") => {
                let constant: Constant = toml::Value::Table(table).try_into().map_err(unwrapped)?;
                Ok(Self::Constant(constant.value))
            }
            Some(other) => Err(format!("unknown variant `{other}`, expected `linear` or `constant`")),
        }
    }
}

impl From<Schedule> for toml::Value {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Constant(value) => Self::Float(value),
            Schedule::Linear(line) => {
                Self::try_from(line).expect("a line holds nothing that TOML cannot say")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ObjectiveConfig, Source};

    fn beta(assignment: &str) -> std::result::Result<Schedule, String> {
        let source = Source {
            preset: Some("shapes/beta-vae".to_owned()),
            assignments: vec![format!("objective.beta={assignment}")],
            ..Source::default()
        };
        match source.resolve().map_err(|error| error.to_string())?.objective {
            ObjectiveConfig::BetaVae { beta, .. } => Ok(beta),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_has_two_plateaus() {
        let line = beta("{ from = 1.0, to = 3, start = 10, end = 20 }").unwrap();
        for (step, value) in [(0, 1.0), (10, 1.0), (15, 2.0), (19, 2.8), (20, 3.0), (u64::MAX, 3.0)] {
            assert!((line.at(step) - value).abs() < 1e-12, "{step}: {}", line.at(step));
        }
    }

    #[test]
    fn schedules_can_be_named() {
        let line = Schedule::Linear(Linear { from: 0.0, to: 3.0, start: 0, end: 20 });
        assert_eq!(beta("{ name = \"linear\", from = 0, to = 3, end = 20 }").unwrap(), line);
        assert_eq!(beta("{ name = \"constant\", value = 2 }").unwrap(), Schedule::Constant(2.0));
        assert_eq!(beta("7").unwrap(), Schedule::Constant(7.0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, message) in [
            (
                "much",
                "objective.beta: found \"much\", expected a number or { from = 0.0, to = 1.0, start = 0, end = 10000 }",
            ),
            (
                "{ from = 0, to = 1, start = 5, end = 5 }",
                "objective.beta.end: found 5, expected a step after start = 5",
            ),
            (
                "{ from = -1, to = 1, end = 5 }",
                "objective.beta.from: found -1, expected a finite number, 0 or more",
            ),
            (
                "{ from = 0, to = inf, end = 5 }",
                "objective.beta.to: found inf, expected a finite number, 0 or more",
            ),
            (
                "{ form = 0, to = 1, end = 5 }",
                "objective.beta: unknown key `form`\nhint: did you mean `from`?",
            ),
            ("{ from = 0, to = 1 }", "objective.beta: missing key `end`"),
            (
                "{ name = \"linaer\", from = 0, to = 1, end = 5 }",
                "objective.beta.name: unknown value `linaer`\nhint: did you mean `linear`?",
            ),
            (
                "{ from = 0, to = 1, end = -5 }",
                "objective.beta: found -5, expected a whole number, 0 or more",
            ),
        ] {
            assert_eq!(beta(text).unwrap_err(), format!("configuration: {message}"), "{text}");
        }
    }
}
