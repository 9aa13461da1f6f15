//! The directory of a run: what it may be used for, who uses it, and where things are.

use super::clock;
use super::meta::Meta;
use super::status::{State, Status};
use crate::config::{Config, Source};
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A heartbeat younger than this many seconds means that somebody is at work.
const FRESH: f64 = 120.0;

/// The directory of a run, ours alone until this is dropped.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    /// The system gives the lock back when the process ends, however it ends.
    _lock: File,
}

/// What to do with a directory that already holds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Leave it alone and fail.
    Fresh,
    /// Remove it and start again.
    Overwrite,
    /// Go on with it, or fail if there is none.
    Resume,
    /// Go on with it if there is one.
    ResumeIfThere,
}

/// Why a directory could not be had.
enum Refused {
    /// By whom.
    InUse(String),
    Broken(Failure),
}

impl RunDirectory {
    /// Makes a directory under `runs/` that nobody else has, named after data, objective and seed.
    ///
    /// # Errors
    /// If nothing can be written here.
    pub fn create_named(config: &Config) -> Outcome<Self> {
        let data = config.data.name.clone().or_else(|| {
            let stem = config.data.path.as_ref()?.file_stem()?;
            Some(stem.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
        });
        let data = data.unwrap_or_else(|| "data".to_owned());
        let base = format!("{data}-{}-seed{}", config.objective.name(), config.seed);
        let runs = Path::new("runs");
        fs::create_dir_all(runs).map_err(|error| cannot("create", runs, &error))?;
        let mut path = runs.join(&base);
        let mut number = 1;
        // Creating a directory either succeeds or says that it exists: two processes cannot both succeed.
        while let Err(error) = fs::create_dir(&path) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(cannot("create", &path, &error));
            }
            number += 1;
            path = runs.join(format!("{base}-{number}"));
        }
        Self::lock(&path)
    }

    /// Takes a directory for a run. The second result says whether it holds one to go on with.
    ///
    /// # Errors
    /// If somebody is using it, if it holds a run and `start` says nothing of that, or if it holds something else.
    pub fn take(path: &Path, start: Start) -> Outcome<(Self, bool)> {
        let has_run = path.join("config.toml").exists() || path.join("status.json").exists();
        if start == Start::Resume && !has_run {
            return Err(Failure::input(format!(
                "{}: nothing to resume: there is no run here\nhint: without --resume, a new run starts",
                path.display()
            )));
        }
        let is_own = |name: &OsStr| name == LOCK || files::is_leftover(name);
        let occupied = fs::read_dir(path).is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| !is_own(&entry.file_name())))
        });
        if occupied && !has_run {
            return Err(Failure::input(format!(
                "{}: the directory is not empty and holds no run; unbraid will not write into it",
                path.display()
            )));
        }
        fs::create_dir_all(path).map_err(|error| cannot("create", path, &error))?;
        let run = Self::lock(path)?;
        match start {
            _ if !has_run => Ok((run, false)),
            Start::Resume | Start::ResumeIfThere => Ok((run, true)),
            Start::Overwrite => {
                run.clear()?;
                Ok((run, false))
            }
            Start::Fresh => Err(Failure::input(format!(
                "{}: there is a run here already ({})\nhint: --resume goes on with it, --overwrite starts again",
                path.display(),
                run.description()
            ))),
        }
    }

    /// Who is using the run at `path`, if anybody is.
    pub fn user(path: &Path) -> Option<String> {
        // Whoever uses it has made the lock; a directory that may hold anything else gets none from us.
        if !path.join(LOCK).exists() {
            return None;
        }
        match Self::try_lock(path) {
            Err(Refused::InUse(who)) => Some(who),
            Ok(_) | Err(Refused::Broken(_)) => None,
        }
    }

    fn lock(path: &Path) -> Outcome<Self> {
        let run = Self::try_lock(path).map_err(|refused| match refused {
            Refused::InUse(who) => Failure::input(format!("{}: the run is in use by {who}", path.display())),
            Refused::Broken(failure) => failure,
        })?;
        // Of a process that was killed while it wrote.
        files::remove_leftovers(path);
        files::remove_leftovers(&run.checkpoints());
        Ok(run)
    }

    fn try_lock(path: &Path) -> Result<Self, Refused> {
        let lock = path.join(LOCK);
        let broken = |action: &str, error: &std::io::Error| Refused::Broken(cannot(action, &lock, error));
        let file = File::create(&lock).map_err(|error| broken("create", &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = Status::read(&path.join("status.json")).map(|status| status.pid);
                let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                return Err(Refused::InUse(who));
            }
            // Some network file systems have no locks; the heartbeat below has to do.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(broken("lock", &error)),
        }
        let run = Self { path: path.to_owned(), _lock: file };
        // A lock need not reach other machines that share the directory.
        if let (Some(status), Some(meta)) = (Status::read(&run.status()), Meta::read(&run.meta()))
            && status.state == State::Running
            && clock::now() - status.heartbeat < FRESH
            && meta.host != Meta::new(0).host
        {
            return Err(Refused::InUse(format!("process {} on {}", status.pid, meta.host)));
        }
        Ok(run)
    }

    /// Removes what a run wrote, and nothing else.
    fn clear(&self) -> Outcome {
        let own = [self.status(), self.config(), self.meta(), self.metrics(), self.log()];
        let evaluation = ["scores.json", "codes.npz", "report.html"].map(|name| self.path.join(name));
        for file in own.into_iter().chain(evaluation) {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(cannot("remove", &file, &error));
                }
                _ => {}
            }
        }
        for directory in [self.checkpoints(), self.tensorboard(), self.path.join("figures")] {
            match fs::remove_dir_all(&directory) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(cannot("remove", &directory, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn description(&self) -> String {
        match Status::read(&self.status()) {
            Some(Status { state: State::Done, step, .. }) => format!("finished after {step} steps"),
            Some(Status { step, steps, .. }) => format!("stopped at step {step} of {steps}"),
            None => "in an unknown state".to_owned(),
        }
    }

    /// Writes the configuration and makes the sub-directories.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn prepare(&self, config: &Config) -> Outcome {
        // In this order: whenever the process dies, what it leaves can be recognised as a run.
        self.write_config(config)?;
        for directory in [self.checkpoints(), self.tensorboard()] {
            fs::create_dir_all(&directory).map_err(|error| cannot("create", &directory, &error))?;
        }
        Ok(())
    }

    /// Writes the configuration.
    ///
    /// # Errors
    /// If it cannot be written; an earlier one is then still there.
    pub fn write_config(&self, config: &Config) -> Outcome {
        files::write(&self.config(), Existing::Replace, |file| file.write_all(config.to_toml().as_bytes()))
    }

    /// The configuration of the run that is here.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn read_config(&self) -> Outcome<Config> {
        read_config(&self.config())
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `config.toml`
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// `status.json`
    pub fn status(&self) -> PathBuf {
        self.path.join("status.json")
    }

    /// `meta.json`
    pub fn meta(&self) -> PathBuf {
        self.path.join("meta.json")
    }

    /// `metrics.jsonl`
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// `run.log`
    pub fn log(&self) -> PathBuf {
        self.path.join("run.log")
    }

    /// `checkpoints/`
    pub fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// `tensorboard/`
    pub fn tensorboard(&self) -> PathBuf {
        self.path.join("tensorboard")
    }
}

/// The configuration in a run's `config.toml`.
pub(super) fn read_config(path: &Path) -> Outcome<Config> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("{}: cannot read the configuration: {error}", path.display()))
    })?;
    Ok(Source::parse(&text, &path.display().to_string())?)
}

const LOCK: &str = ".lock";

fn cannot(action: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: cannot {action} it: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Outcome<(RunDirectory, bool)>) -> String {
        let failure = result.unwrap_err();
        assert!(matches!(failure, Failure::Input(_)));
        failure.to_string()
    }

    #[test]
    fn a_directory_is_used_only_for_what_was_asked() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        assert!(message(RunDirectory::take(&path, Start::Resume)).contains("nothing to resume"));
        let (run, resumed) = RunDirectory::take(&path, Start::ResumeIfThere).unwrap();
        assert!(!resumed);
        assert!(message(RunDirectory::take(&path, Start::Overwrite)).contains("in use"));
        assert_eq!(RunDirectory::user(&path).unwrap(), "another process");
        Status::now(State::Done, 7, 7).write(&run.status()).unwrap();
        drop(run);
        assert_eq!(RunDirectory::user(&path), None);
        assert!(message(RunDirectory::take(&path, Start::Fresh)).contains("finished after 7 steps"));
        assert!(RunDirectory::take(&path, Start::ResumeIfThere).unwrap().1);
        assert!(!RunDirectory::take(&path, Start::Overwrite).unwrap().1);
        assert!(!path.join("status.json").exists());
    }

    #[test]
    fn a_directory_with_other_things_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("thesis.tex");
        fs::write(&file, "x").unwrap();
        for start in [Start::Fresh, Start::Overwrite, Start::ResumeIfThere] {
            assert!(message(RunDirectory::take(directory.path(), start)).contains("holds no run"));
        }
        assert!(file.exists());
    }

    #[test]
    fn a_run_that_was_killed_before_its_configuration_was_written_begins_again() {
        let directory = tempfile::tempdir().unwrap();
        let left = directory.path().join(".config.toml.17.partial");
        fs::write(&left, "x").unwrap();
        let (run, resumed) = RunDirectory::take(directory.path(), Start::ResumeIfThere).unwrap();
        assert!(!resumed && !left.exists());
        drop(run);
    }

    #[test]
    fn a_run_on_another_machine_is_in_use_while_its_heart_beats() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let mut meta = Meta::new(0);
        meta.host = "another-host".to_owned();
        meta.write(&path.join("meta.json")).unwrap();
        let mut status = Status::now(State::Running, 3, 9);
        status.write(&path.join("status.json")).unwrap();
        assert!(message(RunDirectory::take(path, Start::Resume)).contains("another-host"));
        status.heartbeat -= 2.0 * FRESH;
        status.write(&path.join("status.json")).unwrap();
        assert!(RunDirectory::take(path, Start::Resume).unwrap().1);
    }
}
