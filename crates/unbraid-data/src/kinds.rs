//! Kinds of factors, as stated in the options of a data set.

use crate::error::{DataError, Result};
use crate::factors::FactorKind;
use crate::request::Request;
use crate::table::FactorTable;

/// The options of data sets that do not know the kinds of their factors.
pub(crate) const CATEGORICAL: (&str, &str) =
    ("categorical", "factors whose values have no order, joined by `+`: shape+colour");
pub(crate) const ORDERED: (&str, &str) = ("ordered", "factors whose values are numbers, joined by `+`");
pub(crate) const ANGLES: (&str, &str) =
    ("angles", "factors whose last value is next to the first, joined by `+`");

/// Sets the kinds that a request states; the other factors keep theirs.
///
/// # Errors
/// If there is no factor of a name, or a factor gets two kinds.
pub(crate) fn apply(request: &Request<'_>, table: &mut Option<FactorTable>) -> Result<()> {
    let mut stated: Vec<&str> = Vec::new();
    let options =
        [(CATEGORICAL, FactorKind::Categorical), (ORDERED, FactorKind::Ordered), (ANGLES, FactorKind::Angle)];
    for ((option, _), kind) in options {
        let Some(names) = request.text(option)? else { continue };
        for name in names.split('+').map(str::trim) {
            let refuse = |expected: String| {
                let subject = format!("option `{option}` of data set `{}`", request.name());
                Err(DataError::value(subject, format!("\"{name}\""), expected))
            };
            let Some(table) = table else {
                return refuse("no kinds: the data set has no factors".to_owned());
            };
            let Some(position) = table.space().position(name) else {
                let names: Vec<&str> = table.space().factors().iter().map(|f| f.name.as_str()).collect();
                return refuse(format!("one of {}", names.join(", ")));
            };
            if stated.contains(&name) {
                return refuse("one kind for each factor".to_owned());
            }
            stated.push(name);
            table.set_kind(position, kind);
        }
    }
    Ok(())
}
