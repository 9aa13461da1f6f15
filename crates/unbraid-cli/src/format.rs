//! How results are printed.

use crate::error::Outcome;
use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

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

/// A count of things: `1 run`, `2 runs`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
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

/// Standard output for a table of any length: as it is for a file or a program, and without control characters for a
/// terminal.
pub(crate) fn table_output() -> Box<dyn Write> {
    let out = BufWriter::new(std::io::stdout());
    if std::io::stdout().is_terminal() { Box::new(Lines { out, line: Vec::new() }) } else { Box::new(out) }
}

/// Passes lines on [`without_controls`], each when it is complete.
struct Lines<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Lines<W> {
    fn pass_on(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.out.write_all(without_controls(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.pass_on()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.out.flush()
    }
}

/// A value as JSON for people, with a line break at its end.
pub(crate) fn pretty_json(value: &impl Serialize) -> Outcome<String> {
    let json = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    Ok(format!("{json}\n"))
}

/// CSV, from a function that writes its records.
pub(crate) fn csv_of(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> Outcome<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    write(&mut table)?;
    let bytes = table.into_inner().map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Breaks a text between words into lines of `width`, all but the first indented.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    wrapped_after(text, width, width, indent)
}

/// As [`wrapped`], with another width of the first line.
pub(crate) fn wrapped_after(text: &str, first: usize, width: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    let mut limit = first;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > limit {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = 0;
            limit = width;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

/// A number with some decimals and a real minus sign.
pub(crate) fn decimals(value: f64, count: usize) -> String {
    format!("{value:.count$}").replace('-', "−")
}

/// A duration: `40 s`, `3 min`, `2.5 h`, `4.2 days`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 10.0 => format!("{seconds:.1} s"),
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.1} h", seconds / 3600.0),
        seconds => format!("{:.1} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_commands() {
        assert_eq!(without_controls("a\n\tb é"), "a\n\tb é");
        assert_eq!(without_controls("\u{1b}[2Jx\r\u{9b}\u{202e}"), "\\u{1b}[2Jx\\u{d}\\u{9b}\\u{202e}");
    }

    #[test]
    fn sentences_are_broken_between_words() {
        assert_eq!(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrapped("one", 1, 2), "one");
        assert_eq!(wrapped_after("one two three four", 7, 5, 2), "one two\n  three\n  four");
    }

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        for (seconds, words) in
            [(0.04, "0.0 s"), (40.0, "40 s"), (180.0, "3 min"), (9000.0, "2.5 h"), (362_880.0, "4.2 days")]
        {
            assert_eq!(duration(seconds), words);
        }
    }

    /// In pieces of one byte, which divide letters.
    #[test]
    fn nor_does_it_get_them_in_pieces() {
        let mut lines = Lines { out: Vec::new(), line: Vec::new() };
        for byte in "name,é\na\u{1b}[2J,\u{9b}\nlast".bytes() {
            lines.write_all(&[byte]).unwrap();
        }
        assert_eq!(String::from_utf8_lossy(&lines.out), "name,é\na\\u{1b}[2J,\\u{9b}\n");
        lines.flush().unwrap();
        assert!(lines.out.ends_with(b"\nlast"));
    }
}
