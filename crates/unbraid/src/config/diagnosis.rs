//! What is wrong with a configuration that has the wrong shape, more precisely than its first error says.

use super::Config;
use super::suggestion::{explain, place_of};
use crate::error::Result;
use toml::{Table, Value};

/// Why these merged layers are no configuration, in words that name the whole key.
///
/// An enumeration that is read by its `name` is buffered, and errors inside it know the table but not the key.
pub(super) fn diagnose(merged: &Table, error: &toml::de::Error) -> String {
    let message = explain(error);
    let Some(place) = place_of(error) else { return message };
    if error.message().starts_with("unknown field") {
        return match method(merged).filter(|_| place == "objective") {
            Some(name) => {
                format!("{message}\nhint: the method is `{name}`; objective.name=... chooses another")
            }
            None => message,
        };
    }
    // Whatever is not about a key or a word that should or should not be there is about a value.
    let is_of_value = !["unknown", "missing"].iter().any(|kind| error.message().starts_with(kind));
    match culprit(merged, &place, &error.to_string()).filter(|_| is_of_value) {
        Some(key) => message.replacen(&place, &format!("{place}.{key}"), 1),
        None => message,
    }
}

fn method(merged: &Table) -> Option<&str> {
    merged.get("objective")?.get("name")?.as_str()
}

/// The key of the table at `place` without which there would be another error, or none.
fn culprit(merged: &Table, place: &str, error: &str) -> Option<String> {
    let keys: Vec<String> = table_at(&mut merged.clone(), place)?.keys().cloned().collect();
    keys.into_iter().find(|key| {
        let mut without = merged.clone();
        table_at(&mut without, place).and_then(|table| table.remove(key));
        let result: Result<Config, _> = Value::Table(without).try_into();
        result.err().is_none_or(|other| other.to_string() != error)
    })
}

fn table_at<'a>(table: &'a mut Table, place: &str) -> Option<&'a mut Table> {
    place.split('.').try_fold(table, |table, key| table.get_mut(key)?.as_table_mut())
}
