//! A configuration as text: one TOML table for each section, with nested tables inline.

use super::Config;
use std::collections::BTreeMap;
use std::fmt::Write;
use toml::{Table, Value};

/// Components that are written as a bare word if they have no options.
const WORDS: [&str; 3] = ["architecture", "likelihood", "posterior"];

impl Config {
    /// The canonical text; parsing it gives the same configuration.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let table = table(self);
        let (sections, keys): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
        for (key, value) in keys {
            let _ = writeln!(text, "{key} = {value}");
        }
        for (name, section) in sections {
            let _ = writeln!(text, "\n[{name}]");
            let mut keys: Vec<_> = section.as_table().into_iter().flatten().collect();
            keys.sort_by_key(|(key, _)| *key != "name");
            for (key, value) in keys {
                let _ = writeln!(text, "{} = {}", quoted_if_needed(key), shortened(key, value));
            }
        }
        text
    }
}

/// Every value by its dotted key, as TOML.
pub(super) fn flattened(config: &Config) -> BTreeMap<String, String> {
    values(config).into_iter().map(|(key, value)| (key, value.to_string())).collect()
}

/// Every value by its dotted key, text without quotes.
pub(super) fn flattened_plainly(config: &Config) -> BTreeMap<String, String> {
    let plain = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    values(config).into_iter().map(|(key, value)| (key, plain(value))).collect()
}

fn values(config: &Config) -> BTreeMap<String, Value> {
    fn walk(prefix: &str, table: &Table, into: &mut BTreeMap<String, Value>) {
        for (key, value) in table {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match value {
                Value::Table(inner) => walk(&path, inner, into),
                Value::Array(items)
                    if !items.is_empty() && items.iter().all(|item| name_of(item).is_some()) =>
                {
                    for item in items {
                        let path = format!("{path}.{}", name_of(item).unwrap_or_default());
                        walk(&path, item.as_table().unwrap_or(&Table::new()), into);
                    }
                }
                value => drop(into.insert(path, value.clone())),
            }
        }
    }
    let mut values = BTreeMap::new();
    walk("", &table(config), &mut values);
    values
}

/// The name of a table in a list of them, as the terms of a composed objective.
fn name_of(item: &Value) -> Option<&str> {
    item.as_table()?.get("name")?.as_str()
}

fn table(config: &Config) -> Table {
    Table::try_from(config).expect("a configuration holds nothing that TOML cannot say")
}

fn shortened(key: &str, value: &Value) -> String {
    match value.as_table() {
        Some(table) if WORDS.contains(&key) && table.len() == 1 => {
            table.get("name").unwrap_or(value).to_string()
        }
        _ => value.to_string(),
    }
}

fn quoted_if_needed(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { key.to_owned() } else { Value::from(key).to_string() }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, PRESETS, Source};

    #[test]
    fn every_preset_survives_being_written_and_read() {
        for preset in PRESETS {
            let config = Source { preset: Some(preset.name.into()), ..Source::default() }.resolve().unwrap();
            let read: Config = Source::parse(&config.to_toml(), "text").unwrap();
            assert_eq!(read, config, "{}\n{}", preset.name, config.to_toml());
        }
    }

    #[test]
    fn differences_name_the_keys() {
        let source =
            |set: &str| Source { assignments: vec![set.into()], ..Source::default() }.resolve().unwrap();
        let (left, right) = (source("objective.beta=4"), source("objective.beta=6"));
        assert_eq!(left.differences(&right), ["objective.beta: 4.0 and 6.0"]);
        assert_ne!(left.fingerprint(), right.fingerprint());
        assert!(left.differences(&left).is_empty());
    }
}
