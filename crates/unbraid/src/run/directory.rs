//! The directory of a run while it is written: whether it may be used, and locking.

use super::meta::{Meta, host};
use super::paths::{LOCK, REMOVING, RunPaths};
use super::status::{State, Status};
use crate::config::{Config, Source};
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use unbraid_data::files::{LONGEST_TEXT, open_own, read_text, time_in};

/// A heartbeat younger than this means that another machine is training the run.
const FRESH: Duration = Duration::from_secs(120);

/// The directory of a run, locked until this is dropped.
#[derive(Debug)]
pub struct RunDirectory {
    paths: RunPaths,
    /// The system releases the lock when the process ends, for whatever reason.
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
    /// The process that uses it.
    InUse(String),
    Failed(Error),
}

impl RunDirectory {
    /// Creates a new directory under `runs/`, named after data, objective and seed.
    ///
    /// # Errors
    /// If nothing can be written here.
    pub(crate) fn create_named(config: &Config) -> Result<Self> {
        // A user's own data is better named after its path than after the type of its files.
        let is_kind = |name: &String| ["folder", "npz"].contains(&name.as_str());
        let stem = || {
            let stem = config.data.path.as_ref()?.file_stem()?;
            Some(stem.to_string_lossy().replace(|c: char| !c.is_alphanumeric(), "-"))
        };
        let name = config.data.name.clone();
        let data = name.clone().filter(|name| !is_kind(name)).or_else(stem).or(name);
        let data = data.unwrap_or_else(|| "data".to_owned());
        let base = format!("{data}-{}-seed{}", config.objective.name(), config.seed);
        let runs = Path::new("runs");
        fs::create_dir_all(runs).map_err(Error::io(runs, "create it"))?;
        let mut path = runs.join(&base);
        let mut number = 1;
        // Creating a directory fails if it exists, so that two processes cannot both succeed.
        while let Err(error) = fs::create_dir(&path) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(Error::io(&path, "create it")(error));
            }
            number += 1;
            path = runs.join(format!("{base}-{number}"));
        }
        Self::lock(&path)
    }

    /// Locks a directory for a run. The second result is whether it contains a run to resume.
    ///
    /// # Errors
    /// If it is in use, if it contains a run and `start` does not allow for one, or if it contains other files.
    pub fn acquire(path: &Path, start: Start) -> Result<(Self, bool)> {
        let has_run = RunPaths::new(path).exists();
        if start == Start::Resume && !has_run {
            return Err(Error::NothingToResume { path: path.to_owned() });
        }
        if !has_run {
            check_remains(path, start)?;
        }
        fs::create_dir_all(path).map_err(Error::io(path, "create it"))?;
        let run = Self::lock(path)?;
        if !has_run {
            // Once more: until now, another process may have had the lock.
            if check_remains(path, start)? != Remains::Nothing {
                run.clear()?;
            }
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

    /// The process that is using the run at `path`, if any.
    pub fn user(path: &Path) -> Option<String> {
        // Any user has created the lock file; do not create one in a directory that may contain anything else.
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
        run.paths.check_links()?;
        // Left over from a process that was killed while writing.
        files::remove_leftovers(path);
        files::remove_leftovers(&run.paths.checkpoints());
        files::remove_abandoned(&run.paths.figures());
        Ok(run)
    }

    fn try_lock(path: &Path) -> Result<Self, Refused> {
        let paths = RunPaths::new(path);
        let lock = paths.lock();
        let failed = |action: &'static str| {
            let lock = &lock;
            move |error: io::Error| Refused::Failed(Error::io(lock, action)(error))
        };
        let file = open_own(&lock).map_err(failed("create it"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = Status::read(&paths.status()).map(|status| status.pid);
                let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                return Err(Refused::InUse(who));
            }
            // Some network file systems do not support locks; the heartbeat below has to suffice.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed("lock it")(error)),
        }
        // A lock may not be visible to other machines that share the directory.
        if let (Some(status), Some(meta)) = (Status::read(&paths.status()), Meta::read(&paths.meta()))
            && status.state == State::Running
            && meta.host != host()
            && is_fresh(&paths)
        {
            return Err(Refused::InUse(format!("process {} on {}", status.pid, meta.host)));
        }
        Ok(Self { paths, _lock: file })
    }

    /// Removes what a run wrote, but no other files. If the process dies halfway, the next one continues.
    fn clear(&self) -> Result {
        let marker = self.paths.removing();
        files::write(&marker, Existing::Replace, |_| Ok(()))?;
        let absent_is_fine = |path: &Path, removed: io::Result<()>| match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(path, "remove it")(error)),
            Ok(()) | Err(_) => Ok(()),
        };
        for directory in self.paths.own_directories() {
            absent_is_fine(&directory, fs::remove_dir_all(&directory))?;
        }
        for file in self.paths.own_files() {
            absent_is_fine(&file, fs::remove_file(&file))?;
        }
        absent_is_fine(&marker, fs::remove_file(&marker))
    }

    fn description(&self) -> String {
        match Status::read(&self.paths.status()) {
            Some(Status { state: State::Done, step, .. }) => format!("finished after {step} steps"),
            Some(Status { step, steps, .. }) => format!("stopped at step {step} of {steps}"),
            None => "in an unknown state".to_owned(),
        }
    }

    /// Writes the configuration and creates the sub-directories.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn prepare(&self, config: &Config) -> Result {
        // In this order, so that the directory can be recognised as a run whenever the process dies.
        self.write_config(config)?;
        for directory in [self.paths.checkpoints(), self.paths.tensorboard()] {
            fs::create_dir_all(&directory).map_err(Error::io(&directory, "create it"))?;
        }
        Ok(())
    }

    /// Writes the configuration.
    ///
    /// # Errors
    /// If it cannot be written; an earlier one is then unchanged.
    pub(super) fn write_config(&self, config: &Config) -> Result {
        let path = self.paths.config();
        files::write(&path, Existing::Replace, |file| file.write_all(config.to_toml().as_bytes()))
    }

    /// The configuration of the run in this directory.
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

/// Whether the heartbeat of a run is recent, by the clock of the file system alone: machines that share it need not
/// agree on the time. A time far in the future does not come from that clock and is no heartbeat.
fn is_fresh(paths: &RunPaths) -> bool {
    let Ok(heartbeat) = fs::metadata(paths.status()).and_then(|status| status.modified()) else {
        return false;
    };
    match time_in(paths.root()).duration_since(heartbeat) {
        Ok(age) => age < FRESH,
        Err(ahead) => ahead.duration() < FRESH,
    }
}

/// What there is in a directory without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remains {
    /// Nothing but a lock and files that were never complete.
    Nothing,
    /// What is left of a run that was being removed.
    OfRemoval,
    /// Files of a run without its configuration.
    OfRun,
    /// Other files.
    Other,
}

/// What there is in a directory without a run, if a run may begin there.
fn check_remains(path: &Path, start: Start) -> Result<Remains> {
    let remains = remains(path);
    let is_usable = match remains {
        Remains::Nothing | Remains::OfRemoval => true,
        // Left by a version that removed the configuration first, or by somebody who did so.
        Remains::OfRun => start == Start::Overwrite,
        Remains::Other => false,
    };
    if is_usable { Ok(remains) } else { Err(Error::NotEmpty { path: path.to_owned() }) }
}

fn remains(path: &Path) -> Remains {
    let paths = RunPaths::new(path);
    let own: Vec<PathBuf> = paths.own_files().into_iter().chain(paths.own_directories()).collect();
    let is_own = |name: &OsStr| own.iter().any(|path| path.file_name() == Some(name));
    let is_trace = |name: &OsStr| name == LOCK || name == REMOVING || files::is_leftover(name);
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let names: Vec<_> = entries.map(|entry| entry.file_name()).filter(|name| !is_trace(name)).collect();
    if paths.removing().exists() {
        Remains::OfRemoval
    } else if names.is_empty() {
        Remains::Nothing
    } else if paths.lock().exists() && names.iter().all(|name| is_own(name)) {
        Remains::OfRun
    } else {
        Remains::Other
    }
}

/// The configuration of a run.
pub(super) fn read_config(paths: &RunPaths) -> Result<Config> {
    let path: PathBuf = paths.config();
    let text = read_text(&path, LONGEST_TEXT).map_err(Error::io(&path, "read the configuration"))?;
    Source::parse(&text, &path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message on a directory that may not be used, without its path.
    fn refusal(path: &Path, start: Start) -> String {
        let error = RunDirectory::acquire(path, start).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Input);
        let message = error.to_string();
        message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    }

    #[test]
    fn a_directory_is_used_only_for_what_was_asked() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        assert_eq!(refusal(&path, Start::Resume), "nothing to resume: there is no run here");
        let (run, resumed) = RunDirectory::acquire(&path, Start::ResumeIfThere).unwrap();
        assert!(!resumed);
        assert_eq!(refusal(&path, Start::Overwrite), "the run is in use by another process");
        assert_eq!(RunDirectory::user(&path).unwrap(), "another process");
        Status::now(State::Done, 7, 7).write(&run.paths().status()).unwrap();
        drop(run);
        assert_eq!(RunDirectory::user(&path), None);
        assert_eq!(refusal(&path, Start::Fresh), "there is a run here already (finished after 7 steps)");
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
            assert_eq!(
                refusal(directory.path(), start),
                "found files that do not belong to a run, expected an empty directory or a run"
            );
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
        let user = format!("process {} on another-host", std::process::id());
        assert_eq!(refusal(path, Start::Resume), format!("the run is in use by {user}"));
        // What the other machine takes for the time does not matter.
        for wrong in [-30.0, 30.0] {
            status.heartbeat += wrong * 86_400.0;
            status.write(&path.join("status.json")).unwrap();
            assert_eq!(refusal(path, Start::Resume), format!("the run is in use by {user}"));
        }
        let file = File::options().write(true).open(path.join("status.json")).unwrap();
        let now = std::time::SystemTime::now();
        for time in [now - 2 * FRESH, now + Duration::from_secs(30 * 86_400)] {
            file.set_modified(time).unwrap();
            assert!(RunDirectory::acquire(path, Start::Resume).unwrap().1);
        }
    }

    /// A directory with everything that a run writes.
    fn whole_run(path: &Path) {
        let paths = RunPaths::new(path);
        for directory in paths.own_directories() {
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("a"), "x").unwrap();
        }
        for file in paths.own_files() {
            fs::write(file, "x").unwrap();
        }
        fs::write(paths.lock(), "").unwrap();
    }

    #[test]
    fn a_run_whose_removal_was_killed_is_no_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        for start in [Start::Fresh, Start::Overwrite, Start::ResumeIfThere] {
            whole_run(path);
            fs::write(path.join(".removing"), "").unwrap();
            fs::remove_file(path.join("status.json")).unwrap();
            assert!(!RunPaths::new(path).exists());
            assert_eq!(refusal(path, Start::Resume), "nothing to resume: there is no run here");
            let (run, has_run) = RunDirectory::acquire(path, start).unwrap();
            assert!(!has_run);
            let left: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, [".lock"], "{start:?}");
            drop(run);
        }
    }

    /// As earlier versions left it, which removed the configuration early.
    #[test]
    fn a_run_without_its_configuration_can_be_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        whole_run(path);
        for file in ["status.json", "config.toml"] {
            fs::remove_file(path.join(file)).unwrap();
        }
        let expected = "found files that do not belong to a run, expected an empty directory or a run";
        for start in [Start::Fresh, Start::ResumeIfThere] {
            assert_eq!(refusal(path, start), expected);
        }
        fs::write(path.join("thesis.tex"), "x").unwrap();
        assert_eq!(refusal(path, Start::Overwrite), expected);
        fs::remove_file(path.join("thesis.tex")).unwrap();
        assert!(!RunDirectory::acquire(path, Start::Overwrite).unwrap().1);
        assert!(!path.join("checkpoints").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_run_are_not_followed() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (directory.path().join("run"), directory.path().join("elsewhere"));
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("secret"), "precious").unwrap();
        whole_run(&path);
        fs::remove_file(path.join(".lock")).unwrap();
        symlink(elsewhere.join("secret"), path.join(".lock")).unwrap();
        for start in [Start::Fresh, Start::Overwrite, Start::Resume] {
            let error = RunDirectory::acquire(&path, start).unwrap_err();
            let lock = path.join(".lock");
            let expected = format!(
                "{}: cannot create it: found a symbolic link, expected a regular file",
                lock.display()
            );
            assert_eq!(crate::error_chain(&error), expected);
        }
        assert_eq!(RunDirectory::user(&path), None);
        assert_eq!(fs::read_to_string(elsewhere.join("secret")).unwrap(), "precious");

        fs::remove_file(path.join(".lock")).unwrap();
        fs::remove_dir_all(path.join("checkpoints")).unwrap();
        symlink(&elsewhere, path.join("checkpoints")).unwrap();
        let error = RunDirectory::acquire(&path, Start::Resume).unwrap_err().to_string();
        let link = path.join("checkpoints");
        assert_eq!(
            error,
            format!("{}: found a symbolic link, expected a directory of the run itself", link.display())
        );
    }
}
