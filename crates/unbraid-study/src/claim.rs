//! Claims: files in `claims/` that say who is at work on a run.
//!
//! A claim is made by creating its file, which succeeds for one only. While its holder lives, it writes the same bytes
//! again every few seconds, so that the file's time of change shows a heart that beats. A claim is stale once the heart
//! has been still for [`STALE`], or at once if its process is known to have ended. Both times of a comparison come from the
//! clock of the file system: machines that share it need not agree on the time.

use super::directory::StudyDirectory;
use super::holder::{Holder, token};
use crate::failure::{Failure, Outcome};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a heart is still before its claim is anybody's.
pub const STALE: Duration = Duration::from_secs(120);

/// Overrides [`STALE`], in seconds: tests cannot wait that long.
pub const STALE_VARIABLE: &str = "UNBRAID_STALE_CLAIM_SECONDS";

/// How many others may be quicker before a claim counts as theirs.
const ATTEMPTS: usize = 5;

/// The claims of a study.
#[derive(Clone, Debug)]
pub struct Claims {
    directory: PathBuf,
    stale: Duration,
}

/// A claim as it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Who holds it; none if the file was not written to its end.
    pub holder: Option<Holder>,
    /// How long its heart has been still.
    pub still_for: Duration,
    /// Whether it is anybody's.
    pub is_stale: bool,
    /// For recognising the very same claim.
    bytes: Vec<u8>,
    changed: SystemTime,
}

/// What came of claiming a run.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Ours(Claim),
    /// Somebody else was there before.
    Theirs,
}

impl Claims {
    /// Those of a study.
    pub fn of(study: &StudyDirectory) -> Self {
        let seconds = std::env::var(STALE_VARIABLE).ok().and_then(|text| text.parse::<f64>().ok());
        let stale = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(STALE);
        Self { directory: study.claims(), stale }
    }

    /// How often a heart beats: several beats may be missed or seen late before a claim is stale.
    pub fn beat(&self) -> Duration {
        self.stale / 8
    }

    /// Claims a run, from another if its claim is stale.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn claim(&self, name: &str) -> Outcome<Attempt> {
        fs::create_dir_all(&self.directory).map_err(|error| cannot_write(&self.directory, &error))?;
        let path = self.directory.join(name);
        for _ in 0..ATTEMPTS {
            match Claim::create(&path) {
                Ok(claim) => return Ok(Attempt::Ours(claim)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_write(&path, &error)),
            }
            match self.find(name) {
                Some(found) if found.is_stale => self.take_away(name, &found),
                Some(_) => return Ok(Attempt::Theirs),
                // Given back in between.
                None => {}
            }
        }
        Ok(Attempt::Theirs)
    }

    /// Removes the claims that are anybody's, and what was left of taking some away.
    pub fn sweep(&self) {
        for (name, found) in self.all() {
            if found.is_stale {
                self.take_away(&name, &found);
            }
        }
        let now = self.now();
        for path in self.files().filter(|path| is_aside(path)) {
            if age(&path, now).is_some_and(|age| age > self.stale) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// All claims by the names of their runs.
    pub fn all(&self) -> BTreeMap<String, Found> {
        let now = self.now();
        let claims = self.files().filter(|path| !is_aside(path));
        claims
            .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), self.read(&path, now)?)))
            .collect()
    }

    /// The claim on a run, if there is one.
    pub fn find(&self, name: &str) -> Option<Found> {
        self.read(&self.directory.join(name), self.now())
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(&self.directory).into_iter().flatten().flatten().map(|entry| entry.path())
    }

    fn read(&self, path: &Path, now: SystemTime) -> Option<Found> {
        // The time before the content: a beat in between makes the claim look older, and taking it away then fails.
        let changed = fs::metadata(path).and_then(|data| data.modified()).ok()?;
        let bytes = fs::read(path).ok()?;
        let holder: Option<Holder> = serde_json::from_slice(&bytes).ok();
        let still_for = now.duration_since(changed).unwrap_or_default();
        let is_stale = still_for > self.stale || holder.as_ref().is_some_and(Holder::has_ended);
        Some(Found { holder, still_for, is_stale, bytes, changed })
    }

    /// Removes a claim that was found stale, unless it is not what was found any more: its heart may have begun to beat
    /// again, or another may have been quicker, and the claim be theirs.
    fn take_away(&self, name: &str, found: &Found) {
        let path = self.directory.join(name);
        let aside = self.directory.join(format!(".{name}.{}{ASIDE}", token()));
        // Only one can succeed, and what it moved it can look at undisturbed.
        if fs::rename(&path, &aside).is_err() {
            return;
        }
        let is_same = fs::read(&aside).is_ok_and(|bytes| bytes == found.bytes)
            && fs::metadata(&aside).and_then(|data| data.modified()).is_ok_and(|time| time == found.changed);
        if !is_same {
            // A link, unlike a name, does not replace what may be there by now.
            let _ = fs::hard_link(&aside, &path);
        }
        let _ = fs::remove_file(&aside);
    }

    /// What the clock of the file system says, or ours where nothing can be written.
    fn now(&self) -> SystemTime {
        let probe = self.directory.join(format!(".clock.{}{ASIDE}", token()));
        let time = File::create_new(&probe).and_then(|file| file.metadata()?.modified());
        let _ = fs::remove_file(&probe);
        time.unwrap_or_else(|_| SystemTime::now())
    }
}

/// How names end that are no claims.
const ASIDE: &str = ".aside";

fn is_aside(path: &Path) -> bool {
    path.extension().is_some_and(|extension| *extension == ASIDE[1..])
        && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn age(path: &Path, now: SystemTime) -> Option<Duration> {
    now.duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::run(format!("{}: cannot write the claim: {error}", path.display()))
}

/// A run that is ours until this is dropped.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Beats reach our file only, whatever has become of its name.
    file: File,
    bytes: Vec<u8>,
}

/// What a heart finds when it beats.
#[derive(Debug)]
pub enum Beat {
    /// The claim is ours.
    Steady,
    /// It is somebody else's by now: we were taken for dead.
    Lost,
    /// It could not be renewed; others will take us for dead if that goes on.
    Weak(Failure),
}

impl Claim {
    fn create(path: &Path) -> io::Result<Self> {
        let bytes = serde_json::to_vec(&Holder::this_process())?;
        let file = Self::write_new(path, &bytes)?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
        let mut file = File::create_new(path)?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_data()) {
            // Of a full disk: nobody is at work.
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(file)
    }

    /// Shows that we live.
    pub fn beat(&mut self) -> Beat {
        match fs::read(&self.path) {
            Ok(bytes) if bytes == self.bytes => {
                let beaten = self.file.rewind().and_then(|()| self.file.write_all(&self.bytes));
                match beaten.and_then(|()| self.file.sync_data()) {
                    Ok(()) => Beat::Steady,
                    Err(error) => Beat::Weak(cannot_write(&self.path, &error)),
                }
            }
            Ok(_) => Beat::Lost,
            // Somebody has tidied up, or is looking at it after renaming it. If another takes the run first, the next beat
            // finds that out.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match Self::write_new(&self.path, &self.bytes) {
                    Ok(file) => {
                        self.file = file;
                        Beat::Steady
                    }
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => Beat::Steady,
                    Err(error) => Beat::Weak(cannot_write(&self.path, &error)),
                }
            }
            Err(error) => Beat::Weak(cannot_write(&self.path, &error)),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if fs::read(&self.path).is_ok_and(|bytes| bytes == self.bytes) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests;
