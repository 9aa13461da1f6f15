//! What can go wrong with a score, in words that name the array, what was found and what was expected.

/// Result of everything in this crate that can fail.
pub type Result<T, E = MetricsError> = std::result::Result<T, E>;

/// An error with the input of a score. Scores have no other way to fail: given arrays that pass the checks they always
/// give a finite number.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// An array has the wrong number of rows or columns, or does not fit another one.
    #[error("{array}: found {found}, expected {expected}")]
    Shape {
        /// The array: "codes_train".
        array: String,
        /// Its shape or length, in words.
        found: String,
        /// The shapes that are allowed, in words.
        expected: String,
    },
    /// An array holds a number that no score can be computed from.
    #[error("{array}: found {value} in row {row}, column {column}, expected {expected}")]
    Entry {
        /// The array: "codes_train".
        array: String,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The offending number as text, so that NaN and infinities are shown as such.
        value: String,
        /// The numbers that are allowed, in words.
        expected: String,
    },
    /// No factor takes more than one value, so there is nothing to predict or to share information with.
    #[error("{array}: every factor takes a single value, expected at least one factor that varies")]
    NothingVaries {
        /// The array: "factors_train".
        array: String,
    },
    /// A parameter has a value that cannot be right.
    #[error("parameter `{name}`: found {found}, expected {expected}")]
    Parameter {
        /// The parameter, as it is spelled in the parameter struct.
        name: String,
        /// Its value.
        found: String,
        /// The values that are allowed, in words.
        expected: String,
    },
    /// A score needs an array that was not given.
    #[error("metric `{metric}` needs {needs}, which the codes do not have")]
    Missing {
        /// The name of the metric in the registry.
        metric: String,
        /// What is missing, in words.
        needs: String,
    },
    /// No metric has this name.
    #[error("unknown metric `{name}`{}", hint(suggestion.as_deref()))]
    UnknownMetric {
        /// The name that was asked for.
        name: String,
        /// The nearest name that exists, or the list of all.
        suggestion: Option<String>,
    },
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|text| format!("\nhint: {text}")).unwrap_or_default()
}

impl MetricsError {
    /// An array whose shape does not fit.
    pub fn shape(array: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Shape { array: array.into(), found: found.into(), expected: expected.into() }
    }

    /// A parameter that cannot be right.
    pub fn parameter(name: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::Parameter { name: name.into(), found: found.to_string(), expected: expected.into() }
    }
}
