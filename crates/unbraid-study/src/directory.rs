//! The directory of a study, and where things are in it.

use super::manifest::{Entry, Manifest};
use crate::failure::{Failure, Outcome};
use std::path::{Path, PathBuf};

/// A directory that holds a `study.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyDirectory {
    path: PathBuf,
}

impl StudyDirectory {
    /// The study at `path`: its directory, or its `study.toml` itself.
    ///
    /// # Errors
    /// If there is no `study.toml`.
    pub fn open(path: &Path) -> Outcome<Self> {
        let directory = match path.file_name() {
            Some(name) if name == DEFINITION && path.is_file() => path.parent().unwrap_or(Path::new("")),
            _ => path,
        };
        // The parent of a bare `study.toml` is the empty path, which means here.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let study = Self { path: directory.to_owned() };
        if study.definition().is_file() {
            return Ok(study);
        }
        let found = if directory.is_dir() {
            "a directory without study.toml"
        } else if directory.exists() {
            "a file"
        } else {
            "nothing"
        };
        Err(Failure::input(format!(
            "{}: found {found}, expected the directory of a study\nhint: `unbraid study new` starts one",
            path.display()
        )))
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `study.toml`
    pub fn definition(&self) -> PathBuf {
        self.path.join(DEFINITION)
    }

    /// `manifest.jsonl`
    pub fn manifest(&self) -> PathBuf {
        self.path.join("manifest.jsonl")
    }

    /// The planned runs.
    ///
    /// # Errors
    /// If the study has not been planned, or a line of the manifest is damaged.
    pub fn read_manifest(&self) -> Outcome<Manifest> {
        let path = self.manifest();
        if path.exists() {
            return Manifest::read(&path);
        }
        Err(Failure::input(format!(
            "{}: the study has no manifest.jsonl yet\nhint: unbraid study plan {} writes it",
            self.path.display(),
            self.path.display()
        )))
    }

    /// `runs/`
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// The directory of one run.
    pub fn run(&self, entry: &Entry) -> PathBuf {
        self.runs().join(&entry.name)
    }

    /// What the process that trained a run said, in `logs/`; nothing is left of one that had nothing to say.
    pub fn log(&self, entry: &Entry) -> PathBuf {
        self.path.join("logs").join(format!("{}.log", entry.name))
    }

    /// `claims/`
    pub fn claims(&self) -> PathBuf {
        self.path.join("claims")
    }

    /// `slurm/`
    pub fn slurm(&self) -> PathBuf {
        self.path.join("slurm")
    }

    /// `imported/`
    pub fn imported(&self) -> PathBuf {
        self.path.join("imported")
    }

    /// `report.html`
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }
}

const DEFINITION: &str = "study.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_found_by_its_directory_or_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let message = StudyDirectory::open(directory.path()).unwrap_err().to_string();
        assert!(message.contains("a directory without study.toml"), "{message}");
        let file = directory.path().join("study.toml");
        std::fs::write(&file, "").unwrap();
        let study = StudyDirectory::open(directory.path()).unwrap();
        assert_eq!(StudyDirectory::open(&file).unwrap(), study);
        let message = study.read_manifest().unwrap_err().to_string();
        assert!(message.contains("unbraid study plan"), "{message}");
        let message = StudyDirectory::open(&directory.path().join("missing")).unwrap_err().to_string();
        assert!(message.contains("missing: found nothing"), "{message}");
    }
}
