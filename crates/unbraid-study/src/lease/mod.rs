//! Leases: files in `claims/` that say which process works on a run.
//!
//! A lease is acquired by creating its file, which succeeds for one process only. While its owner lives, it
//! writes the same bytes again every few seconds: the modification time of the file is the heartbeat. A lease
//! is stale after [`TIMEOUT`] without a heartbeat, or at once if its process is known to have ended. Both
//! times of a comparison come from the clock of the file system: machines that share it need not agree on the
//! time.

mod heartbeat;
mod owner;

pub(crate) use heartbeat::Heartbeat;
pub use owner::Owner;

use crate::directory::StudyDirectory;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use unbraid::data::files::{is_temporary, read_limited, time_in, token};

/// How long a lease without a heartbeat stays valid.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The environment variable that overrides [`TIMEOUT`], in seconds: tests cannot wait that long.
pub const TIMEOUT_VARIABLE: &str = "UNBRAID_STALE_CLAIM_SECONDS";

/// How often other processes may be quicker before a lease counts as held.
const ATTEMPTS: usize = 5;

/// The leases of a study.
#[derive(Clone, Debug)]
pub(crate) struct Leases {
    directory: PathBuf,
    timeout: Duration,
}

/// A lease as it was found.
#[derive(Clone, Debug)]
pub struct LeaseStatus {
    /// Who owns it; `None` if the file is incomplete.
    pub owner: Option<Owner>,
    /// The time since the last heartbeat.
    pub heartbeat_age: Duration,
    /// Whether anybody may take it over.
    pub is_stale: bool,
    /// For recognising the very same lease.
    bytes: Vec<u8>,
    modified: SystemTime,
}

/// The result of acquiring a lease.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// This process owns it.
    Acquired(Lease),
    /// Another process does.
    AlreadyHeld,
}

impl Leases {
    /// Those of a study.
    pub(crate) fn of(study: &StudyDirectory) -> Self {
        let seconds = std::env::var(TIMEOUT_VARIABLE).ok().and_then(|text| text.parse::<f64>().ok());
        let timeout =
            seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(TIMEOUT);
        Self { directory: study.leases(), timeout }
    }

    /// The time between heartbeats: several may be missed or seen late before a lease is stale.
    pub(crate) fn heartbeat_interval(&self) -> Duration {
        self.timeout / 8
    }

    /// Acquires the lease on a run, from its owner if it is stale.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn acquire(&self, name: &str) -> Result<Attempt> {
        fs::create_dir_all(&self.directory).map_err(cannot_write(&self.directory))?;
        let path = self.directory.join(name);
        for _ in 0..ATTEMPTS {
            match Lease::create(&path) {
                Ok(lease) => return Ok(Attempt::Acquired(lease)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_write(&path)(error)),
            }
            match self.find(name) {
                Some(found) if found.is_stale => self.break_lease(name, &found),
                Some(_) => return Ok(Attempt::AlreadyHeld),
                // Released in between.
                None => {}
            }
        }
        Ok(Attempt::AlreadyHeld)
    }

    /// Removes stale leases, and files that breaking a lease may have left behind.
    pub(crate) fn remove_stale(&self) {
        for (name, found) in self.all() {
            if found.is_stale {
                self.break_lease(&name, &found);
            }
        }
        let now = self.now();
        for path in self.files().filter(|path| is_aside(path)) {
            if age(&path, now).is_some_and(|age| age > self.timeout) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// All leases by the names of their runs.
    pub(crate) fn all(&self) -> BTreeMap<String, LeaseStatus> {
        let now = self.now();
        let leases = self.files().filter(|path| !is_aside(path));
        leases
            .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), self.read(&path, now)?)))
            .collect()
    }

    /// The lease on a run, if there is one.
    fn find(&self, name: &str) -> Option<LeaseStatus> {
        self.read(&self.directory.join(name), self.now())
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(&self.directory).into_iter().flatten().flatten().map(|entry| entry.path())
    }

    fn read(&self, path: &Path, now: SystemTime) -> Option<LeaseStatus> {
        // The time before the content: a heartbeat in between makes the lease look older, and breaking it then fails.
        let modified = fs::metadata(path).and_then(|data| data.modified()).ok()?;
        let bytes = content(path).ok()?;
        let owner: Option<Owner> = serde_json::from_slice(&bytes).ok();
        let heartbeat_age = distance(now, modified);
        let is_stale = heartbeat_age > self.timeout || owner.as_ref().is_some_and(Owner::has_ended);
        Some(LeaseStatus { owner, heartbeat_age, is_stale, bytes, modified })
    }

    /// Removes a lease that was found stale, unless it has changed since: its owner may have sent a
    /// heartbeat, or another process may have been quicker and own it now.
    fn break_lease(&self, name: &str, found: &LeaseStatus) {
        let path = self.directory.join(name);
        let aside = self.directory.join(format!(".{name}.{}{ASIDE}", token()));
        // Only one process can succeed, and what it has moved it can look at undisturbed.
        if fs::rename(&path, &aside).is_err() {
            return;
        }
        let is_same = content(&aside).is_ok_and(|bytes| bytes == found.bytes)
            && fs::metadata(&aside).and_then(|data| data.modified()).is_ok_and(|time| time == found.modified);
        if !is_same {
            // A link, unlike a rename, does not replace what may be there by now.
            let _ = fs::hard_link(&aside, &path);
        }
        let _ = fs::remove_file(&aside);
    }

    /// What the clock of the file system says, or ours where nothing can or should be written, as behind a link.
    fn now(&self) -> SystemTime {
        if self.directory.is_symlink() { SystemTime::now() } else { time_in(&self.directory) }
    }
}

/// How names end that are no leases.
const ASIDE: &str = ".aside";

fn is_aside(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let bytes = name.as_encoded_bytes();
    is_temporary(name) || (bytes.starts_with(b".") && bytes.ends_with(ASIDE.as_bytes()))
}

/// Longer than any lease.
const LONGEST: u64 = 1 << 16;

/// The content of somebody's lease. One that cannot be read, such as a named pipe, says nothing, like one that is
/// incomplete.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    match read_limited(path, LONGEST) {
        Err(error) if error.kind() != ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

fn age(path: &Path, now: SystemTime) -> Option<Duration> {
    Some(distance(now, fs::metadata(path).ok()?.modified().ok()?))
}

/// How far a time is from now. Nobody else's clock dates the files here, so that one that is far ahead says
/// as little of its owner as one that is long past: the clock was set back since, or the file came from
/// elsewhere.
fn distance(now: SystemTime, time: SystemTime) -> Duration {
    now.duration_since(time).unwrap_or_else(|ahead| ahead.duration())
}

fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    Error::io(path, "write the lease")
}

/// The right to work on a run, held until this is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    path: PathBuf,
    /// Heartbeats reach our file only, whatever has become of its name.
    file: File,
    bytes: Vec<u8>,
}

/// The result of renewing a lease.
#[derive(Debug)]
enum Renewal {
    /// It is still ours.
    Renewed,
    /// Another process owns it by now: it took us for dead.
    Lost,
    /// It could not be renewed; if that happens again, others will take us for dead.
    Failed(Error),
}

impl Lease {
    fn create(path: &Path) -> io::Result<Self> {
        let bytes = serde_json::to_vec(&Owner::this_process())?;
        let file = Self::write_new(path, &bytes)?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
        let mut file = File::create_new(path)?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_data()) {
            // The disk is full, and nobody works on the run.
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(file)
    }

    /// Sends a heartbeat.
    fn renew(&mut self) -> Renewal {
        let failed = |error| Renewal::Failed(cannot_write(&self.path)(error));
        match read_limited(&self.path, LONGEST) {
            Ok(bytes) if bytes == self.bytes => {
                let written = self.file.rewind().and_then(|()| self.file.write_all(&self.bytes));
                written.and_then(|()| self.file.sync_data()).map_or_else(failed, |()| Renewal::Renewed)
            }
            Ok(_) => Renewal::Lost,
            // Somebody has tidied up, or is looking at it after renaming it. If another process acquires the
            // lease first, the next heartbeat finds that out.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match Self::write_new(&self.path, &self.bytes) {
                    Ok(file) => {
                        self.file = file;
                        Renewal::Renewed
                    }
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => Renewal::Renewed,
                    Err(error) => failed(error),
                }
            }
            Err(error) => failed(error),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if read_limited(&self.path, LONGEST).is_ok_and(|bytes| bytes == self.bytes) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests;
