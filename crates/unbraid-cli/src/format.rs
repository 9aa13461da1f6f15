//! How results are printed.

use crate::error::Outcome;
use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use std::borrow::Cow;
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
    /// JSON
    Json,
}

/// A text in which control characters are written out, as in `\u{1b}`, except for line breaks and tabs: names come from
/// files, and a terminal must not take them for commands. Marks that change the direction of writing count as well.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let written = |c: char| if is_harmful(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(written).collect())
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    out.write_all(without_controls(text).as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// A value as JSON for people, with a line break at its end.
pub(crate) fn pretty_json(value: &impl Serialize) -> Outcome<String> {
    let json = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    Ok(format!("{json}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_commands() {
        assert_eq!(without_controls("a\n\tb é"), "a\n\tb é");
        assert_eq!(without_controls("\u{1b}[2Jx\r\u{9b}\u{202e}"), "\\u{1b}[2Jx\\u{d}\\u{9b}\\u{202e}");
    }
}
