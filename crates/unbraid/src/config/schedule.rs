//! Hyper-parameters that may change during a run.

use super::check::{finite, not_negative, positive};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A weight or a capacity as a function of the step: a constant, or a ramp.
///
/// ```toml
/// beta = 4.0
/// beta = { from = 0.0, to = 4.0, start = 0, end = 10000 }
/// beta = { name = "linear", from = 0.0, to = 4.0, end = 10000 }
/// beta = { name = "geometric", from = 60.0, to = 0.5, end = 10000 }
/// beta = { name = "constant", value = 4.0 }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "toml::Value")]
pub enum Schedule {
    /// A constant.
    Constant(f64),
    /// `from` until step `start`, `to` from step `end` on, and linear in between.
    Linear(Ramp),
    /// The same with a constant ratio between one step and the next, `from (to / from)^t`, so that each halving or doubling
    /// takes the same number of steps.
    Geometric(Ramp),
}

/// A ramp between two constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
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
            Self::Linear(ramp) => ramp.between(step, |from, to, way| from + (to - from) * way),
            Self::Geometric(ramp) => ramp.between(step, |from, to, way| from * (to / from).powf(way)),
        }
    }

    /// Whether it is constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// The steps at which a ramp starts and ends: its values lie between those at these two.
    pub(super) fn turns(&self) -> [u64; 2] {
        match *self {
            Self::Constant(_) => [0, 0],
            Self::Linear(Ramp { start, end, .. }) | Self::Geometric(Ramp { start, end, .. }) => [start, end],
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
            Self::Linear(ramp) => ramp.check(key, check),
            // No constant ratio leads to zero, or from one sign to the other.
            Self::Geometric(ramp) => ramp.check(key, positive),
        }
    }
}

impl Ramp {
    /// `from` until `start`, `to` from `end` on, and in between what `value` makes of both and of the share of the way.
    fn between(&self, step: u64, value: impl FnOnce(f64, f64, f64) -> f64) -> f64 {
        if step >= self.end {
            return self.to;
        }
        let way = step.saturating_sub(self.start) as f64 / (self.end - self.start) as f64;
        value(self.from, self.to, way)
    }

    fn check(&self, key: &str, check: impl Fn(&str, f64) -> Result) -> Result {
        check(&format!("{key}.from"), self.from)?;
        check(&format!("{key}.to"), self.to)?;
        if self.end <= self.start {
            let expected = format!("a step after start = {}", self.start);
            return Err(Error::value(format!("{key}.end"), self.end, expected));
        }
        Ok(())
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
            Some("geometric") => toml::Value::Table(table).try_into().map(Self::Geometric).map_err(unwrapped),
            Some("constant") => {
                let constant: Constant = toml::Value::Table(table).try_into().map_err(unwrapped)?;
                Ok(Self::Constant(constant.value))
            }
            Some(other) => {
                Err(format!("unknown variant `{other}`, expected one of `linear`, `geometric`, `constant`"))
            }
        }
    }
}

impl From<Schedule> for toml::Value {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Constant(value) => Self::Float(value),
            Schedule::Linear(ramp) => table(ramp).into(),
            Schedule::Geometric(ramp) => {
                let mut table = table(ramp);
                table.insert("name".to_owned(), "geometric".into());
                table.into()
            }
        }
    }
}

fn table(ramp: Ramp) -> toml::Table {
    toml::Table::try_from(ramp).expect("a ramp holds nothing that TOML cannot say")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ObjectiveConfig, Source};

    fn beta(assignment: &str) -> std::result::Result<Schedule, String> {
        beta_over("shapes/beta-vae", &[assignment])
    }

    /// The last of some values that are set one after the other.
    fn beta_over(preset: &str, values: &[&str]) -> std::result::Result<Schedule, String> {
        let assignments = values.iter().map(|value| format!("objective.beta={value}")).collect();
        let source = Source { preset: Some(preset.to_owned()), assignments, ..Source::default() };
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

    /// Halves four times, the same number of steps each.
    #[test]
    fn a_geometric_ramp_has_a_constant_ratio() {
        let ramp = beta("{ name = \"geometric\", from = 8, to = 0.5, start = 10, end = 50 }").unwrap();
        for (step, value) in
            [(0, 8.0), (10, 8.0), (20, 4.0), (25, 8_f64.sqrt()), (40, 1.0), (50, 0.5), (u64::MAX, 0.5)]
        {
            assert!((ramp.at(step) - value).abs() < 1e-12, "{step}: {}", ramp.at(step));
        }
        // As it is written, so it is read.
        assert_eq!(Schedule::try_from(toml::Value::from(ramp)).unwrap(), ramp);
    }

    #[test]
    fn schedules_can_be_named() {
        let ramp = |start| Ramp { from: 8.0, to: 0.5, start, end: 20 };
        let all = [
            ("{ name = \"linear\", from = 8, to = 0.5, start = 3, end = 20 }", Schedule::Linear(ramp(3))),
            (
                "{ name = \"geometric\", from = 8, to = 0.5, start = 5, end = 20 }",
                Schedule::Geometric(ramp(5)),
            ),
            ("{ name = \"geometric\", from = 8, to = 0.5, end = 20 }", Schedule::Geometric(ramp(0))),
            ("{ from = 8, to = 0.5, end = 20 }", Schedule::Linear(ramp(0))),
            ("{ name = \"constant\", value = 2 }", Schedule::Constant(2.0)),
            ("7", Schedule::Constant(7.0)),
        ];
        for (text, expected) in all {
            // Over a number, over a ramp, and over each of the others.
            assert_eq!(beta(text).unwrap(), expected);
            assert_eq!(beta_over("default", &[text]).unwrap(), expected);
            for (earlier, _) in all {
                assert_eq!(beta_over("default", &[earlier, text]).unwrap(), expected, "{earlier}");
            }
        }
    }

    /// A part of a schedule changes that part.
    #[test]
    fn a_ramp_can_change_its_course_and_a_constant_its_value() {
        let (linear, constant) = ("{ from = 8, to = 2, end = 20 }", "{ name = \"constant\", value = 2 }");
        let geometric = Schedule::Geometric(Ramp { from: 8.0, to: 2.0, start: 0, end: 20 });
        let found = |values: &[&str]| beta_over("default", values);
        assert_eq!(found(&[linear, "{ name = \"geometric\" }"]).unwrap(), geometric);
        assert_eq!(found(&[constant, "{ value = 3 }"]).unwrap(), Schedule::Constant(3.0));
        assert_eq!(
            found(&[linear, "{ name = \"constant\" }"]).unwrap_err(),
            "configuration: objective.beta: missing key `value`"
        );
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
                "{ name = \"geometric\", from = 60, to = 0, end = 5 }",
                "objective.beta.to: found 0, expected a finite number above 0",
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
