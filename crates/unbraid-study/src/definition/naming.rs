//! Names of runs: for people to read, safe in every file system, and the same however the study grows.

use std::collections::BTreeMap;
use toml::Value;
use unbraid::data::DataSpec;

/// Digits of the hash at the end of a name.
const DIGITS: usize = 8;

/// Longest parts of a name, in characters: the method, a value, all settings together. With seed and hash, a name stays
/// below a hundred.
const METHOD: usize = 24;
const VALUE: usize = 20;
const SETTINGS: usize = 48;

/// Words that need the one before them to be understood: `capacity.to`.
const NOT_ALONE: [&str; 7] = ["name", "from", "to", "start", "end", "value", "path"];

/// The name of a run: method, what is varied, seed, and the beginning of the hash, which alone makes it unique.
pub(super) fn run_name(method: &str, settings: &[(String, String)], seed: u64, hash: &str) -> String {
    let settings: Vec<String> =
        settings.iter().map(|(key, value)| format!("{key}={}", safe(value, VALUE))).collect();
    let settings = safe(&settings.join("-"), SETTINGS);
    let method =
        Some(safe(method, METHOD)).filter(|method| !method.is_empty()).unwrap_or_else(|| "run".to_owned());
    let gap = if settings.is_empty() { "" } else { "-" };
    format!("{method}{gap}{settings}-seed={seed}-{}", ending(hash))
}

/// What the name of every run with this hash ends with.
fn ending(hash: &str) -> &str {
    &hash[..hash.len().min(DIGITS)]
}

/// The shortest endings of dotted keys that tell them apart.
pub(super) fn short_keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let ending = |key: &'a str, parts: usize| {
        let start = key.rmatch_indices('.').nth(parts - 1).map_or(0, |(index, _)| index + 1);
        &key[start..]
    };
    let mut parts: BTreeMap<&str, usize> =
        keys.into_iter().map(|key| (key, if NOT_ALONE.contains(&ending(key, 1)) { 2 } else { 1 })).collect();
    loop {
        let short: BTreeMap<&str, &str> =
            parts.iter().map(|(key, parts)| (*key, ending(key, *parts))).collect();
        let shared = |key: &str| short.values().filter(|other| **other == short[key]).count() > 1;
        let clashing: Vec<&str> =
            short.keys().copied().filter(|key| shared(key) && short[key] != *key).collect();
        if clashing.is_empty() {
            return short.into_iter().map(|(key, short)| (key, short.to_owned())).collect();
        }
        for key in clashing {
            parts.entry(key).and_modify(|parts| *parts += 1);
        }
    }
}

/// A value in few characters: `4.0` is `4`, `[2, 2]` is `2_2`, of a table the values.
pub(super) fn short_value(value: &Value) -> String {
    let joined = |values: Vec<String>| values.join("_");
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        Value::Array(values) => joined(values.iter().map(short_value).collect()),
        Value::Table(table) => joined(table.values().map(short_value).collect()),
        other => other.to_string(),
    }
}

/// A data set in few words: its name and options, or the name of its file; not where its files are.
pub(crate) fn data_label(data: &DataSpec) -> String {
    let stem = || data.path.as_ref().and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let mut label = data.clone();
    label.path = None;
    label.options.retain(|option, _| !matches!(option.as_str(), "picture" | "attributes" | "partition"));
    match &label.name {
        Some(_) => label.to_string(),
        None => stem().unwrap_or_else(|| data.to_string()),
    }
}

/// Letters, digits and a few signs, at most `longest` of them; everything else becomes `_`.
fn safe(text: &str, longest: usize) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        let plain = character.is_ascii_alphanumeric() || "-=._+".contains(character);
        let character = if plain { character } else { '_' };
        if character != '_' || !safe.ends_with('_') {
            safe.push(character);
        }
    }
    safe.truncate(longest);
    // A name that begins with a dot is hidden, and one that begins with a dash looks like an option.
    safe.trim_matches(['_', '-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809";

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_name_says_what_the_run_is() {
        assert_eq!(
            run_name("beta-vae", &pairs(&[("beta", "4")]), 0, HASH),
            "beta-vae-beta=4-seed=0-1a2b3c4d"
        );
        assert_eq!(run_name("vae", &[], 12, HASH), "vae-seed=12-1a2b3c4d");
    }

    #[test]
    fn a_name_is_safe_and_short_whatever_it_is_made_of() {
        let long = "/../\u{3b2} VAE, \"quoted\" ".repeat(20);
        let name = run_name(&long, &pairs(&[(&long, &long), ("-rm", "..")]), u64::MAX, HASH);
        assert!(name.len() <= 110, "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-=._+".contains(c)), "{name}");
        assert!(!name.starts_with(['.', '-', '_']) && name.ends_with("-1a2b3c4d"), "{name}");
        let name = run_name("\u{3b2}", &[], 0, HASH);
        assert!(name.starts_with("run-seed=0"), "{name}");
    }

    #[test]
    fn keys_are_as_short_as_they_can_be() {
        let short = |keys: &[&str]| short_keys(keys.iter().copied()).into_values().collect::<Vec<_>>();
        assert_eq!(short(&["objective.beta", "training.steps"]), ["beta", "steps"]);
        assert_eq!(short(&["objective.capacity.to"]), ["capacity.to"]);
        assert_eq!(short(&["a.b.x", "a.c.x", "y"]), ["b.x", "c.x", "y"]);
        assert_eq!(short(&["x", "a.x"]), ["a.x", "x"]);
        assert_eq!(short(&["data", "data.name"]), ["data", "data.name"]);
        assert_eq!(short(&["to", "a.to"]), ["a.to", "to"]);
    }

    #[test]
    fn values_are_the_same_however_they_are_written() {
        let value = |text: &str| short_value(&format!("v = {text}").parse::<toml::Table>().unwrap()["v"]);
        for (text, expected) in
            [("4", "4"), ("4.0", "4"), ("0.50", "0.5"), ("[2, 2]", "2_2"), ("{ to = 5.0, end = 9 }", "9_5")]
        {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn a_data_set_is_called_by_its_name_not_its_place() {
        for (spec, expected) in [
            (
                "shapes(positions=8, variant=scream, picture=/a/b.png)",
                "shapes(positions=8, variant=\"scream\")",
            ),
            ("smallnorb(path=/a/b)", "smallnorb"),
            ("/a/photos.npz", "photos"),
        ] {
            assert_eq!(data_label(&spec.parse().unwrap()), expected);
        }
    }
}
