//! What can be wrong with a table from elsewhere.

/// What is wrong with a table from elsewhere.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is no CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// It is empty.
    #[error("found an empty file, expected a line with the names of the columns")]
    Empty,
    /// It has a header only.
    #[error("found no rows under the header, expected at least one")]
    NoRows,
    /// Two columns mean the same.
    #[error("line 1: the columns `{first}` and `{second}` mean the same")]
    SameMeaning {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// No column names the method.
    #[error("line 1: found the columns {}, expected one that is called `method` or `model`", listed(columns))]
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
        "line 1: found the column `{column}`, expected also how many runs it is of, in a column called `runs` or `n_seeds`"
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
    #[error("line {line}: found the name `{name}` twice")]
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

fn listed(columns: &[String]) -> String {
    columns.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
