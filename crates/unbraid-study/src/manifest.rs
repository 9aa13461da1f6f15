//! `manifest.jsonl`: the numbered list of runs that a study is.

use crate::config::Config;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

/// One run of a study, one line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its place in the list, from 0.
    pub number: usize,
    /// The name of its directory: its settings and the beginning of its hash, never its number, so that a study that
    /// grows keeps the runs it has.
    pub name: String,
    /// SHA-256 of everything that determines its training ([`Config::fingerprint`]).
    pub hash: String,
    /// What distinguishes it: `method`, `seed` and every key that the grid varies, by its dotted name.
    pub settings: BTreeMap<String, Value>,
    /// The resolved configuration.
    pub configuration: Config,
}

impl Entry {
    /// The label of its method.
    pub fn method(&self) -> &str {
        self.settings
            .get("method")
            .and_then(Value::as_str)
            .unwrap_or_else(|| self.configuration.objective.name())
    }
}

/// All runs of a study, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Entry `i` has the number `i`.
    pub entries: Vec<Entry>,
}

impl Manifest {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or a line is no entry, out of order, or the second of its name. The message names the line.
    pub fn read(path: &Path) -> Outcome<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::input(format!("{}: cannot read it: {error}", path.display())))?;
        let mut names = BTreeSet::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |found: &str| {
                Failure::input(format!(
                    "{}, line {}: {found}\nhint: `unbraid study plan` writes the manifest anew and keeps finished runs",
                    path.display(),
                    number + 1
                ))
            };
            let entry: Entry = serde_json::from_str(line).map_err(|error| {
                wrong(&format!("expected a run as `unbraid study plan` writes it: {error}"))
            })?;
            if entry.number != number {
                return Err(wrong(&format!("found the run number {}, expected {number}", entry.number)));
            }
            // The name becomes a path.
            if entry.name.is_empty() || entry.name.starts_with('.') || entry.name.contains(['/', '\\']) {
                return Err(wrong(&format!("`{}` cannot be the name of a run", entry.name)));
            }
            if !names.insert(entry.name.clone()) {
                return Err(wrong(&format!("the name `{}` stands there twice", entry.name)));
            }
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// If it cannot be written; the earlier one is then still there.
    pub fn write(&self, path: &Path) -> Outcome {
        files::write(path, Existing::Replace, |file| {
            for entry in &self.entries {
                serde_json::to_writer(&mut *file, entry)?;
                writeln!(file)?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;

    fn entry(number: usize, name: &str) -> Entry {
        let configuration = Source::default().resolve().unwrap();
        let settings = BTreeMap::from([("seed".to_owned(), Value::from(configuration.seed))]);
        Entry { number, name: name.to_owned(), hash: configuration.fingerprint(), settings, configuration }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("manifest.jsonl");
        let manifest = Manifest { entries: vec![entry(0, "a"), entry(1, "b")] };
        manifest.write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), manifest);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("manifest.jsonl");
        for (second, expected) in [
            (entry(2, "b"), "line 2: found the run number 2, expected 1"),
            (entry(1, "a"), "line 2: the name `a` stands there twice"),
            (entry(1, "../b"), "line 2: `../b` cannot be the name"),
        ] {
            Manifest { entries: vec![entry(0, "a"), second] }.write(&path).unwrap();
            let message = Manifest::read(&path).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        Manifest { entries: vec![entry(0, "a"), entry(1, "b")] }.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 20]).unwrap();
        assert!(Manifest::read(&path).unwrap_err().to_string().contains("line 2: expected a run"));
    }
}
