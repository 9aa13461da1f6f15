//! Messages about configurations: the nearest known word, and the key that an error is about.

/// The candidate that `word` is most likely a misspelling of.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.5)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// What is wrong with a table, by its key, with a did-you-mean.
pub fn explain(error: &toml::de::Error) -> String {
    let message = with_suggestion(error.message());
    place_of(error).map_or_else(|| message.clone(), |place| format!("{place}: {message}"))
}

/// The key of the table or value that an error is about, as far as it is known.
pub(super) fn place_of(error: &toml::de::Error) -> Option<String> {
    // The whole text goes on with lines that say where: in `section.key`.
    let text = error.to_string();
    let place = text.lines().find_map(|line| line.trim().strip_prefix("in `")?.strip_suffix('`'));
    place.map(str::to_owned)
}

/// Adds a did-you-mean to serde's message on an unknown field or variant.
///
/// serde writes ``unknown field `found`, expected one of `a`, `b` `` and gives the candidates in no other form.
fn with_suggestion(message: &str) -> String {
    let kind = ["unknown field", "unknown variant"].into_iter().find(|kind| message.starts_with(kind));
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (Some(kind), Some(found)) = (kind, quoted.next()) else {
        return message.to_owned();
    };
    let what = if kind == "unknown field" { "unknown key" } else { "unknown word" };
    let candidates: Vec<&str> = quoted.collect();
    let hint = match nearest(found, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "there are no options here".to_owned(),
        None => format!("expected one of {}", candidates.join(", ")),
    };
    format!("{what} `{found}`\nhint: {hint}")
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
            "unknown word `zzz`\nhint: expected one of conv, dlib"
        );
        assert_eq!(
            with_suggestion("unknown field `beta`, there are no fields"),
            "unknown key `beta`\nhint: there are no options here"
        );
        assert_eq!(with_suggestion("invalid type: string"), "invalid type: string");
    }
}
