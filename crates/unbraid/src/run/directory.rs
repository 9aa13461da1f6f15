//! The directory of a run while it is being written: what it may be used for, and by whom.

use super::clock;
use super::meta::{Meta, host};
use super::paths::{LOCK, RunPaths};
use super::status::{State, Status};
use crate::config::{Config, Source};
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A heartbeat younger than this many seconds means that another machine is training the run.
const FRESH: f64 = 120.0;

/// The directory of a run, locked until this is dropped.
#[derive(Debug)]
pub struct RunDirectory {
    paths: RunPaths,
    /// The system releases the lock when the process ends, however it ends.
    _lock: File,
}

/// What to do with a directory that already holds a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Leave it alone and fail.
    #[default]
    Fresh,
    /// Remove it and start again.
    Overwrite,
    /// Resume it, or fail if there is none.
    Resume,
    /// Resume it if there is one.
    ResumeIfThere,
}

/// Why a directory could not be locked.
enum Refused {
    /// By whom it is used.
    InUse(String),
    Failed(Error),
}

impl RunDirectory {
    /// Creates a new directory under `runs/`, named after data, objective and seed.
    ///
    /// # Errors
    /// If nothing can be written here.
    pub fn create_named(config: &Config) -> Result<Self> {
        let data = config.data.name.clone().or_else(|| {
            let stem = config.data.path.as_ref()?.file_stem()?;
            Some(stem.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
        });
        let data = data.unwrap_or_else(|| "data".to_owned());
        let base = format!("{data}-{}-seed{}", config.objective.name(), config.seed);
        let runs = Path::new("runs");
        fs::create_dir_all(runs).map_err(Error::io(runs, "create it"))?;
        let mut path = runs.join(&base);
        let mut number = 1;
        // Creating a directory either succeeds or says that it exists: two processes cannot both succeed.
        while let Err(error) = fs::create_dir(&path) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(Error::io(&path, "create it")(error));
            }
            number += 1;
            path = runs.join(format!("{base}-{number}"));
        }
        Self::lock(&path)
    }

    /// Locks a directory for a run. The second result says whether it holds one to resume.
    ///
    /// # Errors
    /// If it is in use, if it holds a run and `start` does not allow for one, or if it holds something else.
    pub fn acquire(path: &Path, start: Start) -> Result<(Self, bool)> {
        let has_run = RunPaths::new(path).exists();
        if start == Start::Resume && !has_run {
            return Err(Error::NothingToResume { path: path.to_owned() });
        }
        let is_own = |name: &OsStr| name == LOCK || files::is_leftover(name);
        let occupied = fs::read_dir(path).is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| !is_own(&entry.file_name())))
        });
        if occupied && !has_run {
            return Err(Error::NotEmpty { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(Error::io(path, "create it"))?;
        let run = Self::lock(path)?;
        if !has_run {
            return Ok((run, false));
        }
        match start {
            Start::Resume | Start::ResumeIfThere => Ok((run, true)),
            Start::Overwrite => {
                run.clear()?;
                Ok((run, false))
            }
            Start::Fresh => Err(Error::RunExists { path: path.to_owned(), description: run.description() }),
        }
    }

    /// Who is using the run at `path`, if anybody is.
    pub fn user(path: &Path) -> Option<String> {
        // Whoever uses it has made the lock; a directory that may hold anything else gets none from us.
        if !RunPaths::new(path).lock().exists() {
            return None;
        }
        match Self::try_lock(path) {
            Err(Refused::InUse(who)) => Some(who),
            Ok(_) | Err(Refused::Failed(_)) => None,
        }
    }

    fn lock(path: &Path) -> Result<Self> {
        let run = Self::try_lock(path).map_err(|refused| match refused {
            Refused::InUse(user) => Error::InUse { path: path.to_owned(), user },
            Refused::Failed(error) => error,
        })?;
        // Of a process that was killed while it wrote.
        files::remove_leftovers(path);
        files::remove_leftovers(&run.paths.checkpoints());
        Ok(run)
    }

    fn try_lock(path: &Path) -> Result<Self, Refused> {
        let paths = RunPaths::new(path);
        let lock = paths.lock();
        let failed = |action: &'static str| {
            let lock = &lock;
            move |error: io::Error| Refused::Failed(Error::io(lock, action)(error))
        };
        let file = File::create(&lock).map_err(failed("create it"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = Status::read(&paths.status()).map(|status| status.pid);
                let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                return Err(Refused::InUse(who));
            }
            // Some network file systems have no locks; the heartbeat below has to do.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed("lock it")(error)),
        }
        // A lock need not reach other machines that share the directory.
        if let (Some(status), Some(meta)) = (Status::read(&paths.status()), Meta::read(&paths.meta()))
            && status.state == State::Running
            && clock::now() - status.heartbeat < FRESH
            && meta.host != host()
        {
            return Err(Refused::InUse(format!("process {} on {}", status.pid, meta.host)));
        }
        Ok(Self { paths, _lock: file })
    }

    /// Removes what a run wrote, and nothing else.
    fn clear(&self) -> Result {
        let absent_is_fine = |path: &Path, removed: io::Result<()>| match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(path, "remove it")(error)),
            Ok(()) | Err(_) => Ok(()),
        };
        for file in self.paths.own_files() {
            absent_is_fine(&file, fs::remove_file(&file))?;
        }
        for directory in self.paths.own_directories() {
            absent_is_fine(&directory, fs::remove_dir_all(&directory))?;
        }
        Ok(())
    }

    fn description(&self) -> String {
        match Status::read(&self.paths.status()) {
            Some(Status { state: State::Done, step, .. }) => format!("finished after {step} steps"),
            Some(Status { step, steps, .. }) => format!("stopped at step {step} of {steps}"),
            None => "in an unknown state".to_owned(),
        }
    }

    /// Writes the configuration and makes the sub-directories.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn prepare(&self, config: &Config) -> Result {
        // In this order: whenever the process dies, what it leaves can be recognised as a run.
        self.write_config(config)?;
        for directory in [self.paths.checkpoints(), self.paths.tensorboard()] {
            fs::create_dir_all(&directory).map_err(Error::io(&directory, "create it"))?;
        }
        Ok(())
    }

    /// Writes the configuration.
    ///
    /// # Errors
    /// If it cannot be written; an earlier one is then still there.
    pub(super) fn write_config(&self, config: &Config) -> Result {
        let path = self.paths.config();
        files::write(&path, Existing::Replace, |file| file.write_all(config.to_toml().as_bytes()))
    }

    /// The configuration of the run that is here.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn read_config(&self) -> Result<Config> {
        read_config(&self.paths)
    }

    /// Where its files are.
    pub fn paths(&self) -> &RunPaths {
        &self.paths
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        self.paths.root()
    }
}

/// The configuration of a run.
pub(super) fn read_config(paths: &RunPaths) -> Result<Config> {
    let path: PathBuf = paths.config();
    let text = fs::read_to_string(&path).map_err(Error::io(&path, "read the configuration"))?;
    Source::parse(&text, &path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<(RunDirectory, bool)>) -> String {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Input);
        error.to_string()
    }

    #[test]
    fn a_directory_is_used_only_for_what_was_asked() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        assert!(message(RunDirectory::acquire(&path, Start::Resume)).contains("nothing to resume"));
        let (run, resumed) = RunDirectory::acquire(&path, Start::ResumeIfThere).unwrap();
        assert!(!resumed);
        assert!(message(RunDirectory::acquire(&path, Start::Overwrite)).contains("in use"));
        assert_eq!(RunDirectory::user(&path).unwrap(), "another process");
        Status::now(State::Done, 7, 7).write(&run.paths().status()).unwrap();
        drop(run);
        assert_eq!(RunDirectory::user(&path), None);
        assert!(message(RunDirectory::acquire(&path, Start::Fresh)).contains("finished after 7 steps"));
        assert!(RunDirectory::acquire(&path, Start::ResumeIfThere).unwrap().1);
        assert!(!RunDirectory::acquire(&path, Start::Overwrite).unwrap().1);
        assert!(!path.join("status.json").exists());
    }

    #[test]
    fn a_directory_with_other_things_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("thesis.tex");
        fs::write(&file, "x").unwrap();
        for start in [Start::Fresh, Start::Overwrite, Start::ResumeIfThere] {
            assert!(message(RunDirectory::acquire(directory.path(), start)).contains("holds no run"));
        }
        assert!(file.exists());
    }

    #[test]
    fn a_run_that_was_killed_before_its_configuration_was_written_begins_again() {
        let directory = tempfile::tempdir().unwrap();
        let left = directory.path().join(".config.toml.17.partial");
        fs::write(&left, "x").unwrap();
        let (run, resumed) = RunDirectory::acquire(directory.path(), Start::ResumeIfThere).unwrap();
        assert!(!resumed && !left.exists());
        drop(run);
    }

    #[test]
    fn a_run_on_another_machine_is_in_use_while_its_heartbeat_is_recent() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let mut meta = Meta::new(0);
        meta.host = "another-host".to_owned();
        meta.write(&path.join("meta.json")).unwrap();
        let mut status = Status::now(State::Running, 3, 9);
        status.write(&path.join("status.json")).unwrap();
        assert!(message(RunDirectory::acquire(path, Start::Resume)).contains("another-host"));
        status.heartbeat -= 2.0 * FRESH;
        status.write(&path.join("status.json")).unwrap();
        assert!(RunDirectory::acquire(path, Start::Resume).unwrap().1);
    }
}
