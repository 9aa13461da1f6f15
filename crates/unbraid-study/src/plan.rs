//! What a study would train, beside what is there of it already.

use super::definition::Definition;
use super::manifest::{Entry, Manifest};
use super::naming::ending;
use super::{StudyDirectory, points};
use crate::config::Layers;
use crate::failure::{Failure, Outcome};
use crate::run::{State, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A study, planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What people call the study.
    pub name: Option<String>,
    /// Its runs.
    pub manifest: Manifest,
    /// For each run, whether something of it is there.
    pub progress: Vec<Progress>,
    /// Run directories that no longer belong to the study, by name.
    pub orphaned: Vec<String>,
}

/// How much of a planned run is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing.
    New,
    /// A directory.
    Begun,
    /// All steps are done.
    Trained,
}

impl Plan {
    /// Plans the study from its `study.toml` and its run directories. Writes nothing.
    ///
    /// A run that is there keeps its name, even if the study would call it something else by now: its hash says that it
    /// is the same.
    ///
    /// # Errors
    /// If the definition is wrong, or the runs cannot be listed.
    pub fn of(study: &StudyDirectory) -> Outcome<Self> {
        let definition = Definition::read(study)?;
        let mut entries = points::entries(&definition)?;
        let mut directories = run_directories(study)?;
        adopt(study, &mut entries, &directories);
        let progress = entries.iter().map(|entry| {
            if !directories.remove(&entry.name) {
                return Progress::New;
            }
            let status = Status::read(&study.run(entry).join("status.json"));
            let trained = status.is_some_and(|status| status.state == State::Done);
            if trained { Progress::Trained } else { Progress::Begun }
        });
        Ok(Self {
            progress: progress.collect(),
            name: definition.name,
            manifest: Manifest { entries },
            orphaned: directories.into_iter().collect(),
        })
    }

    /// Writes the manifest. With runs going on that is safe: whoever works on a run has read its entry already.
    ///
    /// # Errors
    /// If there are run directories and none belongs to the study, unless `force`: then this is the directory of another
    /// study, or the study has changed altogether. And if the manifest cannot be written; the earlier one is then still
    /// there.
    pub fn write(&self, study: &StudyDirectory, force: bool) -> Outcome {
        let strange = !self.orphaned.is_empty() && self.count(Progress::New) == self.progress.len();
        if strange && !force {
            return Err(Failure::input(format!(
                "{}: found {} of runs that are not in the study, such as {}, and none of its own; nothing was changed\n\
                 hint: another study wants another directory; --force plans it here and leaves those runs alone",
                study.runs().display(),
                count_of(self.orphaned.len(), "directory", "directories"),
                self.orphaned[0]
            )));
        }
        self.manifest.write(&study.manifest())
    }

    /// How many runs are as far as that.
    pub fn count(&self, progress: Progress) -> usize {
        self.progress.iter().filter(|other| **other == progress).count()
    }

    /// Methods in their order, each with the number of its runs.
    pub fn methods(&self) -> Vec<(&str, usize)> {
        let mut methods: Vec<(&str, usize)> = Vec::new();
        for entry in &self.manifest.entries {
            let label = entry.method();
            match methods.iter_mut().find(|(known, _)| *known == label) {
                Some((_, count)) => *count += 1,
                None => methods.push((label, 1)),
            }
        }
        methods
    }
}

/// A warning if `study.toml` says something else than the manifest that was made of it.
///
/// # Errors
/// If `study.toml` cannot be read.
pub fn check_current(study: &StudyDirectory, manifest: &Manifest) -> Outcome<Option<String>> {
    let path = study.definition();
    let hint = format!(
        "`unbraid study plan {}` takes it over; until then the manifest counts",
        study.path().display()
    );
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::input(format!("{}: cannot read it: {error}", path.display())))?;
    let planned = Definition::parse(&text, &path.display().to_string(), study.path())
        .and_then(|definition| points::entries(&definition));
    // What a run is called depends on the directories that are there, what it is does not.
    let same = |left: &Entry, right: &Entry| {
        left.settings == right.settings && left.configuration == right.configuration
    };
    Ok(match planned {
        Err(failure) => Some(format!("{failure}\nhint: the manifest of the last plan counts")),
        Ok(entries)
            if entries.len() == manifest.entries.len()
                && entries.iter().zip(&manifest.entries).all(|(left, right)| same(left, right)) =>
        {
            None
        }
        Ok(entries) => {
            let known: BTreeSet<&str> = manifest.entries.iter().map(|entry| entry.hash.as_str()).collect();
            let kept = entries.iter().filter(|entry| known.contains(entry.hash.as_str())).count();
            Some(format!(
                "{} has changed since it was planned: it has {} now, {kept} of them among the {} of the manifest\n\
                 hint: {hint}",
                path.display(),
                count_of(entries.len(), "run", "runs"),
                manifest.entries.len(),
            ))
        }
    })
}

fn count_of(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The names of what stands in `runs/`.
fn run_directories(study: &StudyDirectory) -> Outcome<BTreeSet<String>> {
    let path = study.runs();
    let cannot =
        |error: &std::io::Error| Failure::input(format!("{}: cannot list it: {error}", path.display()));
    let entries = match std::fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(cannot(&error)),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(|error| cannot(&error))?;
        if entry.path().is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// Gives runs that are there under another name the name that they have.
fn adopt(study: &StudyDirectory, entries: &mut [Entry], directories: &BTreeSet<String>) {
    let planned: BTreeSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    let mut others: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for name in directories.difference(&planned) {
        others.entry(name.rsplit('-').next().unwrap_or_default()).or_default().push(name);
    }
    for entry in entries.iter_mut().filter(|entry| !directories.contains(&entry.name)) {
        let Some(candidates) = others.get_mut(ending(&entry.hash)) else { continue };
        // Eight digits of the hash may agree by chance; the configuration in the directory cannot.
        let is_it = |name: &&String| fingerprint(&study.runs().join(name)).as_deref() == Some(&entry.hash);
        if let Some(place) = candidates.iter().position(is_it) {
            entry.name.clone_from(candidates.remove(place));
        }
    }
}

/// The hash of a run's own configuration.
fn fingerprint(run: &Path) -> Option<String> {
    Some(Layers::of_file(&run.join("config.toml")).ok()?.resolve().ok()?.fingerprint())
}
