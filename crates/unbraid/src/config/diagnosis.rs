//! A precise diagnosis of a configuration that cannot be deserialised.

use super::Config;
use super::suggestion::{A_WORD, place_of, with_suggestion};
use crate::error::Result;
use toml::{Table, Value};
use unbraid_data::one_line;

/// Why these merged layers are not a configuration, with the full key.
///
/// serde buffers enums that are tagged by `name`, so that errors inside them name the table but not the key.
pub(super) fn diagnose(merged: &Table, error: &toml::de::Error) -> String {
    let message = with_suggestion(error.message());
    let Some(place) = place_of(error) else {
        return deeper_key(merged, error)
            .map_or(message, |(word, key)| format!("unknown key `{word}`\nhint: did you mean `{key}`?"));
    };
    let Some(table) = table_at(merged, &place) else { return of_value(merged, &place, &message) };
    // The unknown or missing key or word, if the error is about one.
    let word = error.message().split('`').nth(1).unwrap_or_default();
    let is = |kind: &str| error.message().starts_with(kind);
    if is("unknown field") {
        return match sub_table_with(table, word).filter(|_| !table.contains_key(word)) {
            Some(key) => format!("{place}.{}: {message}", one_line(&key)),
            None => format!("{place}: {message}{}", method_hint(table, &place)),
        };
    }
    let key = if is("unknown variant") {
        key_of_word(table, word)
    } else if is("missing field") {
        sub_table_without(merged, &place, word, error)
    } else {
        culprit(merged, &place, error)
    };
    let Some(key) = key else { return format!("{place}: {message}") };
    of_value(merged, &format!("{place}.{key}"), &message)
}

/// What is wrong with the value at `place`: what it is, if `message` only says what was expected.
fn of_value(merged: &Table, place: &str, message: &str) -> String {
    let key = one_line(place);
    let value = match value_at(merged, place) {
        Some(value) if message.starts_with("expected ") => one_line(&value.to_string()).into_owned(),
        _ => return format!("{key}: {message}"),
    };
    let words = if message == A_WORD { words_at(merged, place) } else { None };
    format!("{key}: found {value}, {}", words.unwrap_or_else(|| message.to_owned()))
}

/// The words that may stand at `place`, which serde lists where it finds another.
fn words_at(merged: &Table, place: &str) -> Option<String> {
    let (parent, key) = place.rsplit_once('.').unwrap_or(("", place));
    let mut edited = merged.clone();
    let table = parent
        .split('.')
        .filter(|key| !key.is_empty())
        .try_fold(&mut edited, |table, key| table.get_mut(key)?.as_table_mut())?;
    table.insert(key.to_owned(), Value::String(String::new()));
    let result: Result<Config, _> = Value::Table(edited).try_into();
    let error = result.err()?;
    let words: Vec<&str> =
        error.message().strip_prefix("unknown variant ``")?.split('`').skip(1).step_by(2).collect();
    Some(match words[..] {
        [first, second] => format!("expected {first} or {second}"),
        _ => format!("expected one of {}", words.join(", ")),
    })
}

/// The tables in which to look for a key that was given without its table: `beta` for `objective.beta`.
const TABLES: [&str; 7] = [
    "objective",
    "training",
    "optimizer",
    "model",
    "model.latents",
    "model.likelihood",
    "model.architecture",
];

/// An unknown top-level key, and the key of a table that was probably meant, if there is one.
fn deeper_key(merged: &Table, error: &toml::de::Error) -> Option<(String, String)> {
    let word = error.message().strip_prefix("unknown field `")?.split('`').next()?;
    let value = merged.get(word)?;
    let fits = |table: &str| {
        // Which keys such a table has depends on its name.
        if ["objective", "model.likelihood", "model.architecture"].contains(&table)
            && table_at(merged, table).is_none_or(|table| !table.contains_key("name"))
        {
            return false;
        }
        let mut moved = merged.clone();
        moved.remove(word);
        let target = table.split('.').try_fold(&mut moved, |table, key| {
            table.entry(key).or_insert_with(|| Value::Table(Table::new())).as_table_mut()
        });
        let Some(target) = target else { return false };
        target.insert(word.to_owned(), value.clone());
        let result: Result<Config, _> = Value::Table(moved).try_into();
        // An error about its value still means that the key exists.
        result.err().is_none_or(|other| !other.message().starts_with(&format!("unknown field `{word}`")))
    };
    let of_data = || {
        let name = merged.get("data")?.get("name")?.as_str()?;
        let entry = unbraid_data::registry::entry(name).ok()?;
        entry.has_option(word).then_some("data")
    };
    let table = TABLES.into_iter().find(|table| fits(table)).or_else(of_data)?;
    let word = one_line(word);
    Some((word.to_string(), format!("{table}.{word}")))
}

fn method_hint(table: &Table, place: &str) -> String {
    match table.get("name").and_then(Value::as_str).filter(|_| place == "objective") {
        Some(name) => {
            format!("\nhint: the method is `{}`; objective.name=... chooses another", one_line(name))
        }
        None => String::new(),
    }
}

/// The key of a table inside `table` that has the key `word`.
fn sub_table_with(table: &Table, word: &str) -> Option<String> {
    let has_word = |value: &Value| value.as_table().is_some_and(|inner| inner.contains_key(word));
    table.iter().find(|(_, value)| has_word(value)).map(|(key, _)| key.clone())
}

/// The key whose value is `word`, or a table of that name.
fn key_of_word(table: &Table, word: &str) -> Option<String> {
    table.iter().find_map(|(key, value)| match value {
        Value::String(text) if text == word => Some(key.clone()),
        Value::Table(inner) => key_of_word(inner, word).map(|rest| format!("{key}.{rest}")),
        _ => None,
    })
}

/// The key of a table inside the one at `place` that lacks the key `word`: adding it changes or removes the error.
fn sub_table_without(merged: &Table, place: &str, word: &str, error: &toml::de::Error) -> Option<String> {
    let mut keys = table_at(merged, place)?.iter().filter(|(_, value)| value.is_table()).map(|(key, _)| key);
    let completes = |key: &str| {
        changes(merged, &format!("{place}.{key}"), error, |table| {
            table.insert(word.to_owned(), Value::Integer(0));
        })
    };
    keys.find(|key| completes(key)).cloned()
}

/// The first key of the table at `place` whose removal changes or removes the error. The `name` comes last, since
/// without it there is always another error.
fn culprit(merged: &Table, place: &str, error: &toml::de::Error) -> Option<String> {
    let mut keys: Vec<String> = table_at(merged, place)?.keys().cloned().collect();
    keys.sort_by_key(|key| key == "name");
    keys.into_iter().find(|key| {
        changes(merged, place, error, |table| {
            table.remove(key);
        })
    })
}

/// Whether an edit of the table at `place` changes or removes the error.
fn changes(merged: &Table, place: &str, error: &toml::de::Error, edit: impl FnOnce(&mut Table)) -> bool {
    let mut edited = merged.clone();
    let table = place.split('.').try_fold(&mut edited, |table, key| table.get_mut(key)?.as_table_mut());
    if let Some(table) = table {
        edit(table);
    }
    let result: Result<Config, _> = Value::Table(edited).try_into();
    result.err().is_none_or(|other| other.to_string() != error.to_string())
}

fn table_at<'a>(table: &'a Table, place: &str) -> Option<&'a Table> {
    place.split('.').try_fold(table, |table, key| table.get(key)?.as_table())
}

fn value_at<'a>(table: &'a Table, place: &str) -> Option<&'a Value> {
    match place.split_once('.') {
        None => table.get(place),
        Some((key, rest)) => value_at(table.get(key)?.as_table()?, rest),
    }
}
