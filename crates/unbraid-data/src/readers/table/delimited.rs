//! CSV and its relatives: a header, and rows with commas, semicolons or tabs between their cells.

use super::cells::{Cell, Cells};
use super::{Choice, Content};
use crate::error::{DataError, Result};
use crate::files::open_regular;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Bytes of a table in memory for each of its file: a number of one digit and its comma become eight bytes,
/// once by column and once by row...
const EXPANSION: u64 = 8;
/// ...and a label of one letter becomes a string with memory of its own.
const EXPANSION_OF_LABELS: u64 = 24;

/// The separators, the likeliest first.
const SEPARATORS: [u8; 3] = *b",;\t";

/// A header is no longer than this.
const LONGEST_HEADER: u64 = 16 << 20;

pub(super) fn read(path: &Path, choice: &Choice, has_header: bool) -> Result<Content> {
    let file = open_regular(path).map_err(DataError::io(path, "open"))?;
    let length = file.metadata().map_err(DataError::io(path, "read its size"))?.len();
    let expansion = if choice.factors.is_some() { EXPANSION_OF_LABELS } else { EXPANSION };
    DataError::check_memory(path, "table", length.saturating_mul(expansion))?;
    let mut first = Vec::new();
    let mut start = BufReader::new(file).take(LONGEST_HEADER);
    start.read_until(b'\n', &mut first).map_err(DataError::io(path, "read"))?;
    // What was read of it is read again, from the start.
    let file = start.into_inner().into_inner();
    let rest = std::io::Seek::rewind(&mut &file).map(|()| BufReader::new(file));
    let rest = rest.map_err(DataError::io(path, "read"))?;
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator(&first)).has_headers(has_header).from_reader(rest);
    let malformed = |error: csv::Error| malformed(path, error);
    let names: Vec<String> = if has_header {
        let header = reader.headers().map_err(malformed)?;
        // Spreadsheets begin a file with a mark of its encoding.
        header.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect()
    } else {
        (0..reader.headers().map_err(malformed)?.len()).map(|place| format!("x{place}")).collect()
    };
    let mut cells = Cells::new(path, &names, choice)?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(malformed)? {
        cells.push(|place| record.get(place).map_or(Cell::Missing, Cell::Text))?;
    }
    Ok(Content { cells, factors: None })
}

/// The separator that the first line has most of.
fn separator(line: &[u8]) -> u8 {
    let count = |separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    // The first of several maxima.
    SEPARATORS.into_iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

fn malformed(path: &Path, error: csv::Error) -> DataError {
    let line = error.position().map_or_else(|| "CSV".to_owned(), |place| format!("line {}", place.line()));
    let (found, expected) = match error.into_kind() {
        csv::ErrorKind::Io(error) => return DataError::io(path, "read")(error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let cells = if len == 1 { "cell" } else { "cells" };
            (format!("a row of {len} {cells}"), format!("{expected_len}, as in the first line"))
        }
        csv::ErrorKind::Utf8 { err, .. } => {
            (format!("bytes in cell {} that are not UTF-8", err.field() + 1), "text in UTF-8".to_owned())
        }
        // csv may come to know other errors.
        other => (format!("{other:?}"), "rows of equal length".to_owned()),
    };
    DataError::content(path, line, found, expected)
}

#[cfg(test)]
mod tests {
    use super::separator;

    #[test]
    fn the_separator_is_told_from_the_first_line() {
        for (line, expected) in [("a,b", b','), ("a;b;c", b';'), ("a\tb", b'\t'), ("a", b','), ("", b',')] {
            assert_eq!(separator(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(separator(b"a, b;c,d"), b',');
    }
}
