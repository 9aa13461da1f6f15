//! `metrics.jsonl`: writing its rows, finding the last one, and the order of their keys.

use crate::train::Row;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use unbraid_data::files::open_regular;
use unbraid_data::memory::Bytes;

/// One JSON object per line, with keys in a fixed order. Rust prints the shortest decimal that parses to the same
/// double, so equal runs give equal bytes.
pub(super) fn line(row: &Row, images_per_second: f64) -> String {
    let mut line = format!("{{\"step\":{}", row.step);
    for (key, value) in &row.values {
        let _ = write!(line, ",{}:{}", quoted(key), number(*value));
    }
    let _ = writeln!(line, ",\"images_per_second\":{}}}", number((images_per_second * 10.0).round() / 10.0));
    line
}

fn quoted(key: &str) -> serde_json::Value {
    serde_json::Value::from(key)
}

fn number(value: f64) -> serde_json::Value {
    serde_json::Value::from(value)
}

/// Far more than the row of any run; a file without line breaks would otherwise be read as a whole.
const LONGEST_ROW: u64 = 1 << 24;

/// The last row of a file: every key with its number, or NaN if it has none. `None` if there is no file or no complete
/// row; a row that is still being written does not count. Only the end of the file is read.
///
/// # Errors
/// If the file cannot be read, or its last row is not a JSON object of numbers.
pub fn last_row(path: &Path) -> io::Result<Option<BTreeMap<String, f64>>> {
    let mut file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    // A row is about a kilobyte.
    let mut wanted = 8192;
    loop {
        let start = length.saturating_sub(wanted);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.by_ref().take(wanted).read_to_end(&mut bytes)?;
        if let Some(row) = last_line(&bytes, start == 0) {
            let row: BTreeMap<String, Option<f64>> = serde_json::from_slice(row)?;
            return Ok(Some(row.into_iter().map(|(key, value)| (key, value.unwrap_or(f64::NAN))).collect()));
        }
        if start == 0 {
            return Ok(None);
        }
        if wanted > LONGEST_ROW {
            let message = format!("found no row in its last {}, expected rows of a kilobyte", Bytes(wanted));
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        wanted *= 4;
    }
}

/// The last complete line, if its beginning is in `bytes`.
fn last_line(bytes: &[u8], from_the_beginning: bool) -> Option<&[u8]> {
    let is_end = |byte: &u8| *byte == b'\n';
    let line = &bytes[..bytes.iter().rposition(is_end)?];
    match line.iter().rposition(is_end) {
        Some(before) => Some(&line[before + 1..]),
        None => from_the_beginning.then_some(line),
    }
}

/// The sort key of a loss (without `train/`): the total first, then its parts, then schedules, then units by number.
pub fn loss_rank(key: &str) -> (usize, usize, String) {
    let place = ["loss", "reconstruction", "kl"].iter().position(|first| *first == key);
    let group = match place {
        Some(place) => place,
        None if unit_of_loss(key).is_none() => 3 + usize::from(key.starts_with("schedule/")),
        None => 5 + usize::from(key.starts_with("kl_categorical/")),
    };
    let number = key.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    (group, number, key.to_owned())
}

/// The unit that a loss belongs to: `3` for `kl_unit/3`, `c0` for `kl_categorical/0`.
pub fn unit_of_loss(key: &str) -> Option<String> {
    let categorical = key.strip_prefix("kl_categorical/").map(|unit| format!("c{unit}"));
    key.strip_prefix("kl_unit/").map(str::to_owned).or(categorical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_json_object() {
        let values = vec![("train/loss".to_owned(), 12.5), ("train/kl_unit/0".to_owned(), 0.1)];
        let line = line(&Row { step: 100, steps: 100, values }, 1234.56);
        assert_eq!(
            line,
            "{\"step\":100,\"train/loss\":12.5,\"train/kl_unit/0\":0.1,\"images_per_second\":1234.6}\n"
        );
    }

    #[test]
    fn the_last_whole_row_is_found_from_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("metrics.jsonl");
        assert_eq!(last_row(&path).unwrap(), None);
        let mut text = String::new();
        for (content, expected) in [
            ("", None),
            ("{\"step\":1", None),
            (",\"train/loss\":2.5}\n", Some((1.0, 2.5))),
            ("{\"step\":2,\"train/loss\":1.5}\n{\"step\":3,", Some((2.0, 1.5))),
        ] {
            text.push_str(content);
            std::fs::write(&path, &text).unwrap();
            let found = last_row(&path).unwrap().map(|row| (row["step"], row["train/loss"]));
            assert_eq!(found, expected, "{text}");
        }
        // Rows longer than the first read, and a value that is not a number.
        let row = |step: u64| {
            let units: String = (0..3000).map(|unit| format!(",\"train/kl_unit/{unit}\":0.5")).collect();
            format!("{{\"step\":{step},\"train/loss\":null{units}}}\n")
        };
        std::fs::write(&path, format!("{}{}", row(7), row(8))).unwrap();
        let found = last_row(&path).unwrap().unwrap();
        assert!(found["step"] == 8.0 && found["train/loss"].is_nan() && found.len() == 3002);
        std::fs::write(&path, "{\"step\":1}\nnonsense\n").unwrap();
        assert_eq!(last_row(&path).unwrap_err().to_string(), "expected ident at line 1 column 2");
        // Sparse: a terabyte that takes no room.
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(
            last_row(&path).unwrap_err().to_string(),
            "found no row in its last 32.0 MiB, expected rows of a kilobyte"
        );
    }
}
