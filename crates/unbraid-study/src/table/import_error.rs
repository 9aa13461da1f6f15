//! What can be wrong with a table from elsewhere.

use unbraid::data::memory::{self, Bytes};

/// What is wrong with a table from elsewhere.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is no CSV.
    #[error(transparent)]
    Csv(csv::Error),
    /// A row is longer or shorter than the header.
    #[error("line {line}: found a row of length {found}, expected {expected}, the length of the header")]
    RowLength {
        /// The line, from 1.
        line: u64,
        /// The length of the row.
        found: u64,
        /// The length of the header.
        expected: u64,
    },
    /// It is empty.
    #[error("found an empty file, expected a line with the names of the columns")]
    Empty,
    /// It has a header only.
    #[error("found no rows below the header, expected at least one")]
    NoRows,
    /// It has far more columns than any table of results.
    #[error("line 1: found {found} columns, expected at most {most}")]
    TooManyColumns {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Its rows do not fit into memory.
    #[error("found rows that need more than {} in memory, expected fewer", Bytes(.0.limit))]
    TooLarge(memory::TooLarge),
    /// Two columns mean the same.
    #[error("line 1: found the columns `{first}` and `{second}`, expected only one of them")]
    SameMeaning {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// No column names the method.
    #[error("line 1: found the columns {}, expected a column `method` or `model`", listed(columns))]
    NoMethodColumn {
        /// The columns that are there.
        columns: Vec<String>,
    },
    /// No column holds a result.
    #[error(
        "line 1: found the columns {}, expected at least one score or loss, such as `mig` or `train/reconstruction`",
        listed(columns)
    )]
    NoResultColumn {
        /// The columns that are there.
        columns: Vec<String>,
    },
    /// A column summarises several runs, and none says how many.
    #[error(
        "line 1: found the column `{column}`, expected the number of runs as well, in a column `runs` or `n_seeds`"
    )]
    NoRunsColumn {
        /// The column.
        column: String,
    },
    /// A row has no method.
    #[error("line {line}: found no method, expected one in every row")]
    NoMethod {
        /// The line.
        line: u64,
    },
    /// Two rows have the same name.
    #[error("line {line}: found the name `{name}` again, expected a different one in every row")]
    RepeatedName {
        /// The line of the second.
        line: u64,
        /// The name.
        name: String,
    },
    /// A field does not hold what its column does.
    #[error("line {line}, column `{column}`: found `{found}`, expected {expected}")]
    Field {
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// Its text.
        found: String,
        /// What the column holds.
        expected: &'static str,
    },
}

impl From<csv::Error> for ImportError {
    fn from(error: csv::Error) -> Self {
        match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => Self::RowLength {
                line: pos.as_ref().map_or(0, csv::Position::line),
                found: *len,
                expected: *expected_len,
            },
            _ => Self::Csv(error),
        }
    }
}

fn listed(columns: &[String]) -> String {
    columns.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
