//! A row of `metrics.jsonl`.

use crate::train::Row;
use std::fmt::Write;

/// One JSON object on one line, keys in a fixed order. Rust prints the shortest decimal that reads back as the same
/// double, so equal runs are equal bytes.
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
}
