//! Why a score could not be computed.

use crate::metric::Requirement;
use crate::options::in_words;

/// The result of every function of this crate that can fail.
pub type Result<T, E = MetricsError> = std::result::Result<T, E>;

/// Why a score could not be computed, or a metric could not be found or registered.
///
/// Built-in scores fail only because of their input: with arrays that pass the checks and parameters in range they give finite
/// numbers, or NaN for a number that is undefined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// An array is too small.
    #[error("{array}: found {}, expected at least {least}", counted(*found, what))]
    TooFew {
        /// The array: `codes_train`.
        array: &'static str,
        /// What there are too few of, in the singular: `row`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be at least.
        least: usize,
    },
    /// An array is too large.
    #[error("{array}: found {}, expected at most {most}", counted(*found, what))]
    TooMany {
        /// The array: `features`.
        array: &'static str,
        /// What there are too many of, in the singular: `row`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be at most.
        most: usize,
    },
    /// An array does not fit another one.
    #[error("{array}: found {}, expected {expected}, the number of {other}", counted(*found, what))]
    Mismatch {
        /// The array: `factors_train`.
        array: &'static str,
        /// What there is a wrong number of, in the singular: `row`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
        /// What it must match: `rows of codes_train`.
        other: &'static str,
    },
    /// An array contains an invalid number.
    #[error("{array}: found {value} in row {row}, column {column}, expected {expected}")]
    Entry {
        /// The array: `codes_train`.
        array: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The number.
        value: f64,
        /// The numbers that are allowed, in words.
        expected: &'static str,
    },
    /// No factor takes more than one value, so there is nothing to predict.
    #[error("{array}: every factor takes a single value, expected at least one factor that varies")]
    NothingVaries {
        /// The array: `factors_train`.
        array: &'static str,
    },
    /// A parameter is out of range.
    #[error("parameter `{name}`: found {found}, expected {expected}")]
    Parameter {
        /// The parameter, as it is spelled in the parameter struct.
        name: String,
        /// Its value.
        found: String,
        /// The values that are allowed, in words.
        expected: String,
    },
    /// The codes lack something that was asked of them.
    #[error("the codes have no {missing}")]
    Missing {
        /// What they lack.
        missing: Requirement,
    },
    /// A metric that was requested by name needs something that the codes lack.
    #[error("metric `{metric}` needs {missing}, which the codes do not have")]
    Unmet {
        /// The metric.
        metric: String,
        /// What the codes lack.
        missing: Requirement,
    },
    /// No metric has this name.
    #[error("unknown metric `{}`\nhint: {}", name.escape_debug(), hint(nearest.as_deref(), known))]
    UnknownMetric {
        /// The name that was requested.
        name: String,
        /// The most similar name that exists, if any is similar.
        nearest: Option<String>,
        /// All names that exist.
        known: Vec<String>,
    },
    /// An option of a metric cannot be set.
    #[error(transparent)]
    Option(Box<OptionError>),
    /// A metric cannot be registered, because one of its names or keys is taken.
    #[error("metric `{metric}`: `{taken}` already belongs to the metric `{owner}`")]
    AlreadyRegistered {
        /// The metric that was to be registered.
        metric: String,
        /// Its name, alias or key that is taken.
        taken: String,
        /// The metric that has it.
        owner: String,
    },
    /// A metric cannot be registered, because its description lists no number.
    #[error("metric `{metric}`: found no number in its description, expected at least one")]
    NoNumbers {
        /// The metric.
        metric: String,
    },
    /// A metric that is not built in failed.
    #[error("metric `{metric}` failed")]
    Failed {
        /// The metric.
        metric: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why an option of a metric cannot be set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// An option of a metric has an invalid value.
    #[error("{metric}.{option}: found {found}, expected {expected}{}", did_you_mean(nearest.as_deref()))]
    Value {
        /// The metric.
        metric: String,
        /// The option.
        option: String,
        /// The value, as JSON.
        found: String,
        /// The values that are allowed, in words.
        expected: String,
        /// The word that was meant, if one is similar.
        nearest: Option<String>,
    },
    /// A metric has no such option.
    #[error(
        "{metric}.{}: unknown option of the metric `{metric}`\nhint: {}",
        name.escape_debug(), option_hint(nearest.as_deref(), known)
    )]
    Unknown {
        /// The metric.
        metric: String,
        /// The option that was asked for.
        name: String,
        /// The most similar one that exists, if any is similar.
        nearest: Option<String>,
        /// All options of the metric.
        known: Vec<String>,
    },
    /// A metric has such an option only if another one has another value.
    #[error(
        "{metric}.{name}: found with {option} = \"{found}\", expected only with {option} = {}",
        quoted(expected)
    )]
    OtherWord {
        /// The metric.
        metric: String,
        /// The option that was asked for.
        name: String,
        /// The option that it depends on.
        option: String,
        /// The value of that option.
        found: String,
        /// The values that allow it.
        expected: Vec<String>,
    },
}

impl From<OptionError> for MetricsError {
    fn from(error: OptionError) -> Self {
        Self::Option(Box::new(error))
    }
}

impl MetricsError {
    /// A parameter that is out of range.
    pub fn parameter(name: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::Parameter { name: name.into(), found: found.to_string(), expected: expected.into() }
    }

    /// The failure of a metric of your own, with its cause.
    pub fn failed(
        metric: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { metric: metric.into(), source: source.into() }
    }
}

/// `"boosting" or "forest"`.
fn quoted(words: &[String]) -> String {
    in_words(&words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>())
}

/// `1 row`, `2 rows`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn hint(nearest: Option<&str>, known: &[String]) -> String {
    nearest.map_or_else(
        || format!("there are {}", known.join(", ")),
        |nearest| format!("did you mean `{nearest}`?"),
    )
}

fn option_hint(nearest: Option<&str>, known: &[String]) -> String {
    if known.is_empty() { "it has no options".to_owned() } else { hint(nearest, known) }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("\nhint: did you mean `{nearest}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn a_cause_is_in_the_chain_and_not_in_the_message() {
        let error = MetricsError::failed("mine", "the model is gone");
        assert_eq!(error.to_string(), "metric `mine` failed");
        assert_eq!(error.source().unwrap().to_string(), "the model is gone");
    }

    #[test]
    fn counts_have_a_singular() {
        let found = |found| MetricsError::TooFew { array: "codes", what: "row", found, least: 2 }.to_string();
        assert_eq!(found(0), "codes: found 0 rows, expected at least 2");
        assert_eq!(found(1), "codes: found 1 row, expected at least 2");
    }
}
