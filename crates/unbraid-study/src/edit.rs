//! Setting keys in the text of a `study.toml`, so that its comments stay.

use toml::Value;

/// Keys of the study itself; all others are keys of the configuration and belong to `[set]`.
const OWN: [&str; 4] = ["name", "base", "config", "seeds"];

/// The text with one more key, or with another value for it. Each key has to begin a line of its own, as in
/// the presets.
pub(crate) fn set(text: &str, key: &str, value: &Value) -> String {
    let own = OWN.contains(&key);
    let line = if own { format!("{key} = {value}") } else { format!("\"{key}\" = {value}") };
    let mut lines: Vec<&str> = text.lines().collect();
    let first_table = lines.iter().position(|line| line.starts_with('[')).unwrap_or(lines.len());
    let section = if own {
        Some(0)
    } else {
        lines.iter().position(|line| table_name(line) == Some("set")).map(|at| at + 1)
    };
    let added = format!("[set]\n{line}\n");
    match section {
        Some(start) => {
            let end = lines[start..]
                .iter()
                .position(|line| line.starts_with('['))
                .map_or(lines.len(), |at| start + at);
            match (start..end).find(|at| key_of(lines[*at]) == Some(key)) {
                Some(at) => {
                    let end = at + lines_of_value(&lines[at..]);
                    drop(lines.splice(at..end, [line.as_str()]));
                }
                // After the comments of the head, but before any table.
                None if own => {
                    let at = (0..end).find(|at| key_of(lines[*at]).is_some()).unwrap_or(end);
                    lines.insert(at, &line);
                }
                None => lines.insert(start, &line),
            }
        }
        None => lines.insert(first_table, &added),
    }
    format!("{}\n", lines.join("\n"))
}

/// The name of the table that a line opens.
fn table_name(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.split(']').next().map(str::trim)
}

/// The key of a line `key = value`, without its quotes.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let plain = !key.starts_with(['#', '[', ' ']);
    plain.then(|| key.trim_matches('"'))
}

/// How many lines the value of the first line takes: more than one if it is a list that is closed further down.
fn lines_of_value(lines: &[&str]) -> usize {
    let mut depth = 0_i64;
    for (place, line) in lines.iter().enumerate() {
        let mut quote = None;
        for letter in line.chars() {
            match (quote, letter) {
                (Some(open), _) if open == letter => quote = None,
                (None, '"' | '\'') => quote = Some(letter),
                (None, '#') => break,
                (None, '[' | '{') => depth += 1,
                (None, ']' | '}') => depth -= 1,
                (Some(_) | None, _) => {}
            }
        }
        if depth <= 0 {
            return place + 1;
        }
    }
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A study.\nname = \"a\"\nseeds = 3  # three\n\n[set]\n\"training.steps\" = 5 # few\n\n[grid]\n\"seeds\" = [1]\n";

    #[test]
    fn a_list_over_several_lines_is_replaced_as_a_whole() {
        let text = "[set]\n\"a\" = [\n    \"x]\", # ]\n    [1],\n]\n\"b\" = 1\n";
        assert_eq!(set(text, "a", &Value::from(2)), "[set]\n\"a\" = 2\n\"b\" = 1\n");
        assert_eq!(lines_of_value(&["a = [", "1"]), 2, "never closed: what reads the text says so");
    }

    #[test]
    fn a_key_is_replaced_in_its_place() {
        let text = set(TEXT, "training.steps", &Value::from(7));
        assert_eq!(text, TEXT.replace("\"training.steps\" = 5 # few", "\"training.steps\" = 7"));
        assert_eq!(set(TEXT, "seeds", &Value::from(9)), TEXT.replace("seeds = 3  # three", "seeds = 9"));
    }

    #[test]
    fn a_new_key_goes_to_its_table() {
        let text = set(TEXT, "data.path", &Value::from("x"));
        assert_eq!(text, TEXT.replace("[set]\n", "[set]\n\"data.path\" = \"x\"\n"));
        assert_eq!(set(TEXT, "base", &Value::from("b")), TEXT.replace("name = ", "base = \"b\"\nname = "));
    }

    #[test]
    fn a_table_that_is_missing_is_made() {
        let text = set("seeds = 3\n\n[grid]\na = [1]\n", "b", &Value::from(2));
        assert_eq!(text, "seeds = 3\n\n[set]\n\"b\" = 2\n\n[grid]\na = [1]\n");
        let table: toml::Table = set("", "b", &Value::from(2)).parse().unwrap();
        assert_eq!(table["set"]["b"], Value::from(2));
    }
}
