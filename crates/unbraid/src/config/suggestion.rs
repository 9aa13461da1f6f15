//! Messages about configurations: suggestions for misspelt words, and the key that an error concerns.

use unbraid_data::one_line;
pub use unbraid_metrics::nearest;

/// Describes what is wrong with a table, with its key and a did-you-mean.
pub fn explain(error: &toml::de::Error) -> String {
    let message = with_suggestion(error.message());
    place_of(error).map_or_else(|| message.clone(), |place| format!("{place}: {message}"))
}

/// The key of the table or value that an error concerns, as far as it is known.
pub(super) fn place_of(error: &toml::de::Error) -> Option<String> {
    // The full text of the error has a line with the place: in `section.key`.
    let text = error.to_string();
    let place = text.lines().find_map(|line| line.trim().strip_prefix("in `")?.strip_suffix('`'));
    place.map(str::to_owned)
}

/// Adds a did-you-mean to serde's message on an unknown field or variant.
///
/// serde writes ``unknown field `found`, expected one of `a`, `b` `` and provides the candidates in no other form.
pub(super) fn with_suggestion(message: &str) -> String {
    let kind = ["unknown field", "unknown variant"].into_iter().find(|kind| message.starts_with(kind));
    // serde quotes the word as it is.
    let message = if kind.is_some() { one_line(message) } else { message.into() };
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (Some(kind), Some(found)) = (kind, quoted.next()) else {
        return found_and_expected(&message)
            .unwrap_or_else(|| message.replacen("missing field", "missing key", 1));
    };
    let what = if kind == "unknown field" { "unknown key" } else { "unknown value" };
    let candidates: Vec<&str> = quoted.collect();
    let hint = match nearest(found, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "there are no options here".to_owned(),
        None => format!("expected one of {}", candidates.join(", ")),
    };
    format!("{what} `{found}`\nhint: {hint}")
}

/// What is said of a value that should be one of a few words.
pub(super) const A_WORD: &str = "expected a word";

/// Rewrites serde's message on a value of the wrong type without the names of Rust's types. Where serde does not say what it
/// found, neither does this.
fn found_and_expected(message: &str) -> Option<String> {
    if message == "invalid type: unit variant, expected string only"
        || message.ends_with(", expected string or map")
    {
        return Some(A_WORD.to_owned());
    }
    if message.starts_with("data did not match any variant of untagged enum ") {
        return Some("expected another kind of value".to_owned());
    }
    let rest =
        ["invalid type: ", "invalid value: "].into_iter().find_map(|kind| message.strip_prefix(kind))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let found = match (found.find(['`', '"']), found) {
        (Some(start), _) => found[start..].trim_matches('`'),
        (None, "map") => "a table",
        (None, "sequence") => "a list",
        (None, other) => other,
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "path string" => "a path",
        "variant identifier" => "a name",
        other if other.starts_with("internally tagged enum ") => "a name, or a table with a `name`",
        other if other.starts_with("enum ") => "a word",
        other if other == "a map" || other.starts_with("struct ") => "a table",
        other => other,
    };
    Some(format!("found {found}, expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_suggested() {
        assert_eq!(
            with_suggestion("unknown field `bta`, expected `beta`"),
            "unknown key `bta`\nhint: did you mean `beta`?"
        );
        assert_eq!(
            with_suggestion("unknown variant `zzz`, expected `conv` or `dlib`"),
            "unknown value `zzz`\nhint: expected one of conv, dlib"
        );
        assert_eq!(
            with_suggestion("unknown field `beta`, there are no fields"),
            "unknown key `beta`\nhint: there are no options here"
        );
        assert_eq!(with_suggestion("missing field `beta`"), "missing key `beta`");
        assert_eq!(
            with_suggestion("unknown field `x\ny`, expected `beta`"),
            "unknown key `x\\ny`\nhint: expected one of beta"
        );
    }

    #[test]
    fn values_of_the_wrong_type_are_told_without_names_of_types() {
        for (message, expected) in [
            ("invalid value: integer `-5`, expected u64", "found -5, expected a whole number, 0 or more"),
            (
                "invalid type: floating point `1.5`, expected usize",
                "found 1.5, expected a whole number, 0 or more",
            ),
            ("invalid type: string \"yes\", expected a boolean", "found \"yes\", expected true or false"),
            ("invalid type: sequence, expected f64", "found a list, expected a number"),
            ("invalid type: map, expected a string", "found a table, expected a string"),
            ("invalid type: integer `10`, expected struct LatentsConfig", "found 10, expected a table"),
            (
                "invalid type: integer `3`, expected internally tagged enum ObjectiveConfig",
                "found 3, expected a name, or a table with a `name`",
            ),
            ("invalid type: integer `3`, expected path string", "found 3, expected a path"),
            ("invalid type: unit variant, expected string only", "expected a word"),
            ("invalid type: integer `3`, expected string or map", "expected a word"),
            ("data did not match any variant of untagged enum OptionValue", "expected another kind of value"),
            ("anything else", "anything else"),
        ] {
            assert_eq!(with_suggestion(message), expected);
        }
    }
}
