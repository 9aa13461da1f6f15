//! `manifest.jsonl`: the numbered list of runs that a study is.

use crate::error::{Error, ManifestError, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use unbraid::config::{Config, RelativePaths, Source};
use unbraid::data::files::{LONGEST_TEXT, longest_table, read_text};
use unbraid::files::{self, Existing};
use unbraid::run::RunPaths;

/// Bytes of memory for each of the file: settings may be any values of JSON.
const EXPANSION: u64 = 32;

/// One run of a study, one line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its place in the list, from 0.
    pub number: usize,
    /// The name of its directory: its settings and the beginning of its hash, never its number, so that a study that
    /// grows keeps the runs it has.
    pub name: String,
    /// SHA-256 of everything that determines its training, with paths as the study sees them
    /// ([`Config::fingerprint_from`]): a study that is moved together with its data keeps its runs. Earlier
    /// versions took absolute paths.
    pub hash: String,
    /// What distinguishes it: `method`, `seed` and every key that the grid varies, by its dotted name.
    pub settings: BTreeMap<String, Value>,
    /// The resolved configuration.
    pub configuration: Config,
    /// The paths in it relative to the study. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "RelativePaths::is_empty")]
    pub paths: RelativePaths,
}

impl Entry {
    /// Whether this is the run in a directory of the study at `place`, where `found` is its configuration.
    /// Either may have been moved since it was trained.
    pub(crate) fn is_run(&self, run: &RunPaths, found: &Config, place: &Path) -> bool {
        let planned = || self.configuration.moved(&self.paths, place).fingerprint_from(place);
        run.is_run_of(found, &self.configuration) || hashes(run, found.clone(), place).contains(&planned())
    }

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
    /// If it cannot be read, or a line is no entry, out of order, or the second of its name. The message
    /// names the line.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, longest_table(EXPANSION)).map_err(unbraid::Error::io(path, "read it"))?;
        let mut names = BTreeSet::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |source| Error::DamagedManifest { path: path.to_owned(), line: number + 1, source };
            let entry: Entry =
                serde_json::from_str(line).map_err(|error| wrong(ManifestError::Syntax(error)))?;
            if entry.number != number {
                return Err(wrong(ManifestError::Number { found: entry.number, expected: number }));
            }
            // The name becomes a path.
            let is_path = entry.name.starts_with('.') || entry.name.contains(['/', '\\']);
            // And a word of a command line, which must stay one line.
            if entry.name.is_empty() || is_path || entry.name.contains(char::is_control) {
                return Err(wrong(ManifestError::Name { name: entry.name }));
            }
            if !names.insert(entry.name.clone()) {
                return Err(wrong(ManifestError::RepeatedName { name: entry.name }));
            }
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    /// The same with the paths of its configurations where they lead now, after the study, which is at
    /// `directory`, was moved together with its data.
    #[must_use]
    pub(crate) fn located(mut self, directory: &Path) -> Self {
        // Not followed through links in one place and as they are in another: plans have paths in the real directory.
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        self.entries.par_iter_mut().filter(|entry| !entry.paths.is_empty()).for_each(|entry| {
            entry.configuration = entry.configuration.located(&entry.paths, &directory);
        });
        self
    }

    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// If it cannot be written; the earlier one is then still there.
    pub fn write(&self, path: &Path) -> Result {
        Ok(files::write(path, Existing::Replace, |file| {
            for entry in &self.entries {
                serde_json::to_writer(&mut *file, entry)?;
                writeln!(file)?;
            }
            Ok(())
        })?)
    }
}

/// The hashes under which a study at `place` may have planned a run: with the paths that its configuration
/// has, and with those that were recorded relative to the run, in case both were moved.
pub(crate) fn hashes(run: &RunPaths, mut found: Config, place: &Path) -> Vec<String> {
    let mut hashes = Vec::new();
    loop {
        hashes.extend([found.fingerprint(), run.moved(&found).fingerprint_from(place)]);
        // A plan names the weights to start from by their path alone.
        if found.training.init.as_mut().and_then(|init| init.sha256.take()).is_none() {
            return hashes;
        }
    }
}

/// The configuration in the directory of a run, if there is one.
pub(crate) fn read_config(run: &RunPaths) -> Option<Config> {
    let path = run.config();
    let text = read_text(&path, LONGEST_TEXT).ok()?;
    Source::parse(&text, &path.display().to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize, name: &str) -> Entry {
        let configuration = Source::default().resolve().unwrap();
        let settings = BTreeMap::from([("seed".to_owned(), Value::from(configuration.seed))]);
        let (hash, paths) = (configuration.fingerprint(), RelativePaths::new());
        Entry { number, name: name.to_owned(), hash, settings, configuration, paths }
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
        let message = || unbraid::error_chain(&Manifest::read(&path).unwrap_err());
        let expected = |problem: &str| format!("{}, line 2: {problem}", path.display());
        for (second, problem) in [
            (entry(2, "b"), "found the run number 2, expected 1"),
            (entry(1, "a"), "found the name `a` twice"),
            (entry(1, "../b"), "`../b` cannot be the name of a run"),
            (entry(1, "b\nrm -rf ~ #"), "`b\\nrm -rf ~ #` cannot be the name of a run"),
            (entry(1, "\u{1b}[2J"), "`\\u{1b}[2J` cannot be the name of a run"),
        ] {
            Manifest { entries: vec![entry(0, "a"), second] }.write(&path).unwrap();
            assert_eq!(message(), expected(problem));
        }
        Manifest { entries: vec![entry(0, "a"), entry(1, "b")] }.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let cut = &text[..text.len() - 20];
        std::fs::write(&path, cut).unwrap();
        let cause = serde_json::from_str::<Entry>(cut.lines().last().unwrap()).unwrap_err();
        assert_eq!(message(), expected(&format!("expected a run of a manifest: {cause}")));
    }
}
