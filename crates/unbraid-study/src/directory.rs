//! The directory of a study, and the names of its files, defined only here.

use crate::error::{Error, Result};
use crate::manifest::{Entry, Manifest};
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid::files::{self, Existing};
use unbraid::run::RunPaths;

/// A directory that holds a `study.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyDirectory {
    path: PathBuf,
}

impl StudyDirectory {
    /// Writes a new `study.toml` into a directory, which is created if it does not exist. The text is not checked;
    /// [`Plan::of`](crate::Plan::of) does.
    ///
    /// # Errors
    /// If there is a study already, or it cannot be written.
    pub fn create(path: &Path, text: &str) -> Result<Self> {
        let study = Self { path: path.to_owned() };
        if study.definition().is_file() {
            return Err(Error::StudyExists { path: path.to_owned() });
        }
        std::fs::create_dir_all(path).map_err(unbraid::Error::io(path, "create it"))?;
        files::write(&study.definition(), Existing::Keep, |file| file.write_all(text.as_bytes()))?;
        Ok(study)
    }

    /// The study at `path`: its directory, or its `study.toml` itself.
    ///
    /// # Errors
    /// If there is no `study.toml`.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = match path.file_name() {
            Some(name) if name == DEFINITION && path.is_file() => path.parent().unwrap_or(Path::new("")),
            _ => path,
        };
        // The parent of a bare `study.toml` is the empty path, which means the working directory.
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
        Err(Error::NotAStudy { path: path.to_owned(), found })
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `study.toml`: what was asked for.
    pub fn definition(&self) -> PathBuf {
        self.path.join(DEFINITION)
    }

    /// `manifest.jsonl`: every run with its number, name, hash and configuration.
    pub fn manifest(&self) -> PathBuf {
        self.path.join("manifest.jsonl")
    }

    /// The planned runs. Their paths lead to where the data is now: a study and its data may be moved together.
    ///
    /// # Errors
    /// If the study has not been planned, or a line of the manifest is damaged.
    pub fn read_manifest(&self) -> Result<Manifest> {
        let path = self.manifest();
        if !path.exists() {
            return Err(Error::NotPlanned { path: self.path.clone() });
        }
        Ok(Manifest::read(&path)?.located(&self.path))
    }

    /// `runs/`: the run directories.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// The directory of one run.
    pub fn run(&self, entry: &Entry) -> RunPaths {
        self.run_named(&entry.name)
    }

    /// The directory of the run of this name.
    pub fn run_named(&self, name: &str) -> RunPaths {
        RunPaths::new(self.runs().join(name))
    }

    /// `logs/`: what the processes that trained the runs printed.
    fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// `logs/NAME.log`: what the process that trained a run printed; absent if it printed nothing.
    pub fn log(&self, entry: &Entry) -> PathBuf {
        self.logs().join(format!("{}.log", entry.name))
    }

    /// `claims/`: the lease of each run in progress, which names its owner. The directory has the name that the first
    /// version gave it.
    pub fn leases(&self) -> PathBuf {
        self.path.join("claims")
    }

    /// `slurm/`: batch scripts and their output.
    pub fn slurm(&self) -> PathBuf {
        self.path.join("slurm")
    }

    /// `slurm/SUBMISSION.sh`: a batch script.
    pub(crate) fn slurm_script(&self, submission: &str) -> PathBuf {
        self.slurm().join(format!("{submission}.sh"))
    }

    /// `slurm/SUBMISSION.tasks`: the runs of each task of a submission.
    pub(crate) fn slurm_tasks(&self, submission: &str) -> PathBuf {
        self.slurm().join(format!("{submission}.{TASKS}"))
    }

    /// `slurm/SUBMISSION.jobs`: the numbers of its jobs, for people.
    pub(crate) fn slurm_jobs(&self, submission: &str) -> PathBuf {
        self.slurm().join(format!("{submission}.jobs"))
    }

    /// `slurm/.lock`: held while a process submits the study.
    pub(crate) fn slurm_lock(&self) -> PathBuf {
        self.slurm().join(".lock")
    }

    /// Whether the study was ever submitted to Slurm.
    pub(crate) fn was_submitted(&self) -> bool {
        let mut entries = std::fs::read_dir(self.slurm()).into_iter().flatten().flatten();
        entries.any(|entry| entry.path().extension().is_some_and(|found| found == TASKS))
    }

    /// `imported/`: tables from elsewhere.
    pub fn imported(&self) -> PathBuf {
        self.path.join("imported")
    }

    /// `imported/NAME.csv`: one of them.
    pub fn imported_table(&self, name: &str) -> PathBuf {
        self.imported().join(format!("{name}.csv"))
    }

    /// `report.html`: the page that compares the runs.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Checks that none of its directories is a symbolic link: what is written into a study, or removed as
    /// stale, stays in it.
    ///
    /// # Errors
    /// [`Error::LinkedDirectory`].
    pub fn check_links(&self) -> Result {
        let directories = [self.runs(), self.logs(), self.leases(), self.slurm(), self.imported()];
        directories.into_iter().try_for_each(refuse_link)
    }
}

/// Refuses a directory that is a symbolic link.
pub(crate) fn refuse_link(path: PathBuf) -> Result {
    if path.is_symlink() { Err(Error::LinkedDirectory { path }) } else { Ok(()) }
}

const DEFINITION: &str = "study.toml";

/// The extension of a file of tasks.
const TASKS: &str = "tasks";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_found_by_its_directory_or_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let message = |path: &Path| StudyDirectory::open(path).unwrap_err().to_string();
        assert_eq!(
            message(path),
            format!(
                "{}: found a directory without study.toml, expected the directory of a study",
                path.display()
            )
        );
        let file = path.join("study.toml");
        std::fs::write(&file, "").unwrap();
        let study = StudyDirectory::open(path).unwrap();
        assert_eq!(StudyDirectory::open(&file).unwrap(), study);
        assert_eq!(
            study.read_manifest().unwrap_err().to_string(),
            format!("{}: the study has no manifest.jsonl yet", path.display())
        );
        let missing = path.join("missing");
        assert_eq!(
            message(&missing),
            format!("{}: found nothing, expected the directory of a study", missing.display())
        );
    }

    #[test]
    fn a_study_is_created_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        let study = StudyDirectory::create(&path, "seeds = 2\n").unwrap();
        assert_eq!(StudyDirectory::open(&path).unwrap(), study);
        assert_eq!(std::fs::read_to_string(study.definition()).unwrap(), "seeds = 2\n");
        assert_eq!(
            StudyDirectory::create(&path, "").unwrap_err().to_string(),
            format!("{}: there is a study here already", path.display())
        );
        assert_eq!(std::fs::read_to_string(study.definition()).unwrap(), "seeds = 2\n");
    }
}
