//! Factors from labels: the columns of attribute tables, the names of folders.

use crate::error::Result;
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::table::FactorTable;
use std::collections::BTreeSet;

/// The name of a factor, and its label for each image.
pub(crate) type Column = (String, Vec<String>);

/// What programs write in place of a label that is not there. `none` and `-` are not among them: of glasses
/// or a sign, they are labels like any other.
const NO_LABEL: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

/// Whether the cell of a table has no label.
pub(crate) fn is_missing(cell: &str) -> bool {
    NO_LABEL.iter().any(|word| cell.trim().eq_ignore_ascii_case(word))
}

/// A table with one factor per column, whose values are the distinct labels: in numerical order if all are numbers, in
/// alphabetical order otherwise. More than two numbers are ordered, all other labels are categories.
pub(crate) fn table_of_labels(columns: Vec<Column>) -> Result<FactorTable> {
    let mut factors = Vec::with_capacity(columns.len());
    let mut numbered: Vec<Vec<u32>> = Vec::with_capacity(columns.len());
    for (name, labels) in columns {
        let distinct: BTreeSet<&String> = labels.iter().collect();
        let mut distinct: Vec<&String> = distinct.into_iter().collect();
        let numbers: Option<Vec<f64>> = distinct.iter().map(|label| label.trim().parse().ok()).collect();
        let mut kind = FactorKind::Categorical;
        if numbers.is_some_and(|numbers| numbers.iter().all(|number| !number.is_nan())) {
            kind = FactorKind::guess(distinct.len());
            distinct.sort_by(|left, right| {
                let number = |label: &str| label.trim().parse().unwrap_or(f64::INFINITY);
                number(left).total_cmp(&number(right)).then_with(|| left.cmp(right))
            });
        }
        let position: std::collections::HashMap<&String, u32> =
            distinct.iter().enumerate().map(|(i, &label)| (label, i as u32)).collect();
        numbered.push(labels.iter().map(|label| position[label]).collect());
        factors.push(Factor::labelled(name, distinct.into_iter().cloned()).of_kind(kind));
    }
    let len = numbered.first().map_or(0, Vec::len);
    let rows = (0..len).flat_map(|row| numbered.iter().map(move |column| column[row])).collect();
    FactorTable::from_rows(FactorSpace::new(factors), rows)
}
