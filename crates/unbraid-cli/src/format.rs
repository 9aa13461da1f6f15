//! How results are printed.

use crate::error::Outcome;
use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use std::io::Write;

/// A table, or the same for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For people
    Table,
    /// One JSON object
    Json,
    /// One row for each number
    Csv,
}

/// Text, or the same for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people
    #[value(alias = "table")]
    Text,
    /// One JSON object
    Json,
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// A value as JSON for people, with a line break at its end.
pub(crate) fn pretty_json(value: &impl Serialize) -> Outcome<String> {
    let json = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    Ok(format!("{json}\n"))
}
