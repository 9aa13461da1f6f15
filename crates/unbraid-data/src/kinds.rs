//! Kinds of factors, as stated in the options of a data set.

use crate::data_option::{DataOption, NAMES};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind};
use crate::request::Request;
use crate::table::FactorTable;

/// The options of data sets that do not know the kinds of their factors.
pub(crate) const CATEGORICAL: DataOption =
    DataOption::new("categorical", NAMES, "by their values", "factors whose values have no order");
pub(crate) const ORDERED: DataOption =
    DataOption::new("ordered", NAMES, "by their values", "factors whose values are numbers");
pub(crate) const ANGLES: DataOption =
    DataOption::new("angles", NAMES, "none", "factors whose last value is next to the first");

/// A kind as somebody states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// Any of the three kinds.
    Kind(FactorKind),
    /// `number`: ordered, and its labels must be numbers. Those of `ordered` may be words in alphabetical order.
    Number,
}

impl Stated {
    /// The words, for messages.
    pub(crate) const WORDS: &'static str = "categorical, ordered, number or angle";

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        match word {
            "number" => Some(Self::Number),
            word => FactorKind::from_name(word).map(Self::Kind),
        }
    }

    /// The kind.
    ///
    /// # Errors
    /// The label that is no number, if the factor has to have numbers.
    pub(crate) fn kind_of(self, factor: &Factor) -> std::result::Result<FactorKind, &str> {
        let is_number = |label: &&String| label.trim().parse::<f64>().is_ok_and(f64::is_finite);
        match (self, factor.labels.iter().find(|label| !is_number(label))) {
            (Self::Kind(kind), _) => Ok(kind),
            (Self::Number, None) => Ok(FactorKind::Ordered),
            (Self::Number, Some(label)) => Err(label),
        }
    }
}

/// Sets the kinds that a request states; the other factors keep theirs.
///
/// # Errors
/// If there is no factor of a name, a factor gets two kinds, or a number is none.
pub(crate) fn apply(request: &Request<'_>, table: &mut Option<FactorTable>) -> Result<()> {
    let mut stated: Vec<&str> = Vec::new();
    for (option, name, kind) in statements(request)? {
        let refuse = |found: String, expected: String| {
            let subject = format!("option `{option}` of data set `{}`", request.name());
            Err(DataError::value(subject, found, expected))
        };
        let quoted = format!("\"{name}\"");
        let Some(table) = table else {
            return refuse(quoted, "no kinds: the data set has no factors".to_owned());
        };
        let Some(position) = table.space().position(name) else {
            let names: Vec<&str> = table.space().factors().iter().map(|f| f.name.as_str()).collect();
            return refuse(quoted, format!("one of {}", names.join(", ")));
        };
        if stated.contains(&name) {
            return refuse(quoted, "one kind for each factor".to_owned());
        }
        stated.push(name);
        match kind.kind_of(&table.space().factors()[position]) {
            Ok(kind) => table.set_kind(position, kind),
            Err(label) => {
                let found = format!("number for \"{name}\"");
                return refuse(found, format!("another kind, since \"{label}\" is no number"));
            }
        }
    }
    Ok(())
}

/// Option, factor and kind of each statement.
fn statements<'a>(request: &Request<'a>) -> Result<Vec<(&'static str, &'a str, Stated)>> {
    let mut statements = Vec::new();
    let options =
        [(CATEGORICAL, FactorKind::Categorical), (ORDERED, FactorKind::Ordered), (ANGLES, FactorKind::Angle)];
    for (DataOption { name: option, .. }, kind) in options {
        if request.has_option(option)
            && let Some(names) = request.text(option)?
        {
            statements.extend(names.split('+').map(|name| (option, name.trim(), Stated::Kind(kind))));
        }
    }
    let attributes = request.attributes()?;
    statements.extend(attributes.kinds.into_iter().map(|(name, kind)| ("attributes.kinds", name, kind)));
    Ok(statements)
}
