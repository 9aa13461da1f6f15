//! The runs of a study, beside those that are already there.

use crate::definition::{Definition, entries};
use crate::directory::StudyDirectory;
use crate::error::{Error, Result, counted};
use crate::manifest::{Entry, Manifest, hashes, read_config};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use unbraid::data::files::{LONGEST_TEXT, read_text};
use unbraid::run::{State, Status};

/// The runs that a study consists of, and how much of each is already there.
///
/// ```
/// use unbraid_study::{Plan, RunProgress, StudyDirectory};
///
/// # let parent = tempfile::tempdir()?;
/// # let path = &parent.path().join("study");
/// let text = "base = 'shapes/beta-vae'\nseeds = 3\n[grid]\n'objective.beta' = [1, 4]\n";
/// let study = StudyDirectory::create(path, text)?;
/// let plan = Plan::of(&study)?;
/// plan.write(&study, false)?;
/// assert_eq!(plan.count(RunProgress::New), 6);
/// assert!(plan.manifest.entries[3].name.starts_with("beta-vae-beta=4-seed=0-"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What people call the study.
    pub name: Option<String>,
    /// Its runs.
    pub manifest: Manifest,
    /// For each run, whether something of it is there.
    pub progress: Vec<RunProgress>,
    /// Run directories that no longer belong to the study, by name.
    pub orphaned: Vec<String>,
}

/// How much of a planned run is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunProgress {
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
    /// An existing run keeps its name, even if the study would name it differently now: its configuration
    /// tells that it is the same, also after the study was moved together with its data.
    ///
    /// # Errors
    /// If the definition is wrong, or the runs cannot be listed.
    pub fn of(study: &StudyDirectory) -> Result<Self> {
        let definition = Definition::read(study)?;
        let mut entries = entries(&definition)?;
        let mut directories = run_directories(study)?;
        adopt(study, &definition.directory, &mut entries, &directories);
        let progress = entries.iter().map(|entry| {
            if !directories.remove(&entry.name) {
                return RunProgress::New;
            }
            let status = Status::read(&study.run(entry).status());
            let trained = status.is_some_and(|status| status.state == State::Done);
            if trained { RunProgress::Trained } else { RunProgress::Begun }
        });
        Ok(Self {
            progress: progress.collect(),
            name: definition.name,
            manifest: Manifest { entries },
            orphaned: directories.into_iter().collect(),
        })
    }

    /// Writes the manifest. That is safe while runs are in progress: their processes have read their entries already.
    ///
    /// # Errors
    /// If there are run directories and none belongs to the study, unless `force`: then this is the directory
    /// of another study, or the study has changed altogether. And if the manifest cannot be written; the
    /// earlier one is then still there.
    pub fn write(&self, study: &StudyDirectory, force: bool) -> Result {
        let foreign = !self.orphaned.is_empty() && self.count(RunProgress::New) == self.progress.len();
        if foreign && !force {
            return Err(Error::ForeignRuns {
                path: study.runs(),
                directories: self.orphaned.len(),
                example: self.orphaned[0].clone(),
            });
        }
        self.manifest.write(&study.manifest())
    }

    /// How many runs have come that far.
    pub fn count(&self, progress: RunProgress) -> usize {
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

/// Why a manifest is not what `study.toml` says. Until the study is planned again, the manifest counts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutdatedManifest {
    /// `study.toml` describes no study any more.
    #[error(transparent)]
    Definition(Error),
    /// `study.toml` describes other runs.
    #[error(
        "{} has changed since it was planned: it has {} now, {kept} of them among the {planned} of the manifest",
        path.display(),
        counted(*runs, "run", "runs")
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The number of its runs.
        runs: usize,
        /// How many of these the manifest has.
        kept: usize,
        /// The number of runs in the manifest.
        planned: usize,
    },
}

impl Manifest {
    /// Compares the manifest with the `study.toml` that it was made of; `None` if they agree.
    ///
    /// # Errors
    /// If `study.toml` cannot be read.
    pub fn check_current(&self, study: &StudyDirectory) -> Result<Option<OutdatedManifest>> {
        let path = study.definition();
        let text = read_text(&path, LONGEST_TEXT).map_err(unbraid::Error::io(&path, "read it"))?;
        let planned = Definition::parse(&text, &path.display().to_string(), study.path())
            .and_then(|definition| entries(&definition));
        // The name of a run depends on the existing directories; its identity does not.
        let place = study.path().canonicalize().unwrap_or_else(|_| study.path().to_owned());
        let same = |left: &Entry, right: &Entry| {
            left.settings == right.settings
                && left.configuration.located(&right.paths, &place) == right.configuration
        };
        Ok(match planned {
            Err(error) => Some(OutdatedManifest::Definition(error)),
            Ok(entries)
                if entries.len() == self.entries.len()
                    && entries.iter().zip(&self.entries).all(|(left, right)| same(left, right)) =>
            {
                None
            }
            Ok(entries) => {
                let known: BTreeSet<&str> = self.entries.iter().map(|entry| entry.hash.as_str()).collect();
                let is_known = |entry: &&Entry| {
                    let hash = || entry.configuration.fingerprint();
                    known.contains(entry.hash.as_str()) || known.contains(hash().as_str())
                };
                let kept = entries.iter().filter(is_known).count();
                let (runs, planned) = (entries.len(), self.entries.len());
                Some(OutdatedManifest::Changed { path, runs, kept, planned })
            }
        })
    }
}

/// The names of the directories in `runs/`.
fn run_directories(study: &StudyDirectory) -> Result<BTreeSet<String>> {
    let path = study.runs();
    let cannot = || unbraid::Error::io(&path, "list it");
    let entries = match std::fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(cannot()(error).into()),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(cannot())?;
        if entry.path().is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// Runs that exist under another name keep that name, and so do planned ones that the manifest knows under
/// the hash of earlier versions: tasks in a queue know them by it.
fn adopt(study: &StudyDirectory, place: &Path, entries: &mut [Entry], directories: &BTreeSet<String>) {
    let planned: BTreeSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    let mut names: HashMap<String, String> = HashMap::new();
    for entry in study.read_manifest().map(|manifest| manifest.entries).unwrap_or_default() {
        let is_earlier = entry.paths.is_empty() && !entry.configuration.relative_paths(place).is_empty();
        if is_earlier && !directories.contains(&entry.name) {
            names.insert(entry.hash, entry.name);
        }
    }
    let others: Vec<&String> = directories.difference(&planned).collect();
    let of_directory = |name: &String| {
        let run = study.run_named(name);
        read_config(&run).map_or_else(Vec::new, |found| hashes(&run, found, place))
    };
    let hashes: Vec<(&String, Vec<String>)> =
        others.into_par_iter().map(|name| (name, of_directory(name))).collect();
    for (name, hashes) in hashes {
        names.extend(hashes.into_iter().map(|hash| (hash, name.clone())));
    }
    let mut taken = planned;
    for entry in entries.iter_mut().filter(|entry| !directories.contains(&entry.name)) {
        let known = names.get(&entry.hash).or_else(|| names.get(&entry.configuration.fingerprint()));
        if let Some(name) = known
            && taken.insert(name.clone())
        {
            entry.name.clone_from(name);
        }
    }
}
