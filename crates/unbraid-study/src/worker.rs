//! The process that trains one run: this program once more, on one thread.
//!
//! It gets its configuration through a pipe and ends in order when the pipe closes: because we ask it to, or because we
//! are gone. So no run goes on unnoticed after its study was killed, and whoever asks several times asks once.

use super::directory::StudyDirectory;
use super::manifest::Entry;
use crate::failure::{Failure, Outcome};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Instant;

/// A process at work on a run.
#[derive(Debug)]
pub struct Worker<'a> {
    /// The run.
    pub entry: &'a Entry,
    /// Since when.
    pub started: Instant,
    child: Child,
    /// Open as long as it is to go on.
    pipe: Option<ChildStdin>,
    was_killed: bool,
    log: Log,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Without error.
    Complete,
    /// It was asked to.
    Interrupted,
    /// Otherwise; in words.
    Failed(String),
}

impl<'a> Worker<'a> {
    /// Starts one.
    ///
    /// # Errors
    /// If its log cannot be written or the system starts no process.
    pub fn start(study: &StudyDirectory, entry: &'a Entry) -> Outcome<Self> {
        let (log, errors) = Log::open(study.log(entry))?;
        let configuration = serde_json::to_string(&entry.configuration).map_err(Failure::run)?;
        let mut child = this_program()
            .and_then(|mut program| {
                program
                    .args(["study", "work", "--threads", "1"])
                    .arg(study.run(entry))
                    .stdin(Stdio::piped())
                    .stdout(Stdio::null())
                    .stderr(errors)
                    .spawn()
            })
            .map_err(|error| Failure::run(format!("cannot start a process: {error}")))?;
        let mut pipe = child.stdin.take();
        if let Some(pipe) = &mut pipe {
            // A process that ended before it could read this says why in its own way.
            let _ = writeln!(pipe, "{configuration}");
        }
        Ok(Self { entry, started: Instant::now(), child, pipe, was_killed: false, log })
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to save and end.
    pub fn stop(&mut self) {
        self.pipe = None;
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // One that has already ended cannot be killed.
        self.was_killed |= self.child.kill().is_ok();
    }

    /// Whether that was done.
    pub fn was_killed(&self) -> bool {
        self.was_killed
    }

    /// How it ended, if it did.
    pub fn ending(&mut self) -> Option<Ending> {
        let status = match self.child.try_wait() {
            Ok(status) => status?,
            Err(error) => return Some(Ending::Failed(format!("lost sight of its process: {error}"))),
        };
        if status.success() {
            self.log.remove_if_empty();
            return Some(Ending::Complete);
        }
        if asked_to_end(status) {
            return Some(Ending::Interrupted);
        }
        Some(Ending::Failed(self.log.error().unwrap_or_else(|| in_words(status))))
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // Closes the pipe first; the process then ends by itself, and we only see to it that it leaves no trace.
        self.stop();
        let _ = self.child.try_wait();
    }
}

/// The very program that we are, even if another has been put in its place since: a study that takes weeks does not change
/// its version on the way.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems may not know")]
fn this_program() -> std::io::Result<Command> {
    use std::os::unix::process::CommandExt;
    let mut program = Command::new("/proc/self/exe");
    program.arg0("unbraid");
    Ok(program)
}

#[cfg(not(target_os = "linux"))]
fn this_program() -> std::io::Result<Command> {
    std::env::current_exe().map(Command::new)
}

/// SIGINT, SIGTERM and SIGUSR1: as a signal that came before the process listened, or as a code that it ended with.
#[cfg(unix)]
fn asked_to_end(status: ExitStatus) -> bool {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
    use std::os::unix::process::ExitStatusExt;
    matches!(status.signal(), Some(SIGINT | SIGTERM | SIGUSR1)) || matches!(status.code(), Some(130 | 143))
}

#[cfg(not(unix))]
fn asked_to_end(status: ExitStatus) -> bool {
    matches!(status.code(), Some(130 | 143))
}

#[cfg(unix)]
fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(9), _) => {
            "its process was killed (signal 9)\nhint: by somebody, or for want of memory".to_owned()
        }
        (Some(signal), _) => format!("its process ended by signal {signal}"),
        (None, code) => format!("its process ended with exit code {}", code.unwrap_or(-1)),
    }
}

#[cfg(not(unix))]
fn in_words(status: ExitStatus) -> String {
    format!("its process ended with {status}")
}

/// What a process says on standard error, after what earlier ones said.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// Where its own part begins.
    start: u64,
}

/// How the line begins in which a command says why it failed.
const ERROR: &str = "error: ";

/// How much of a log is quoted.
const QUOTED: usize = 2000;

impl Log {
    fn open(path: PathBuf) -> Outcome<(Self, File)> {
        let open = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let file = File::options().create(true).append(true).open(&path)?;
            let start = file.metadata()?.len();
            Ok((file, start))
        };
        let opened: std::io::Result<_> = open();
        let (file, start) =
            opened.map_err(|error| Failure::run(format!("{}: cannot write it: {error}", path.display())))?;
        Ok((Self { path, start }, file))
    }

    /// The error that the process reported; without one, the end of what it said, as a panic does.
    fn error(&self) -> Option<String> {
        let mut text = Vec::new();
        let mut file = File::open(&self.path).ok()?;
        file.seek(SeekFrom::Start(self.start)).ok()?;
        file.read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        let begins_a_line = |start: usize| start == 0 || text[..start].ends_with('\n');
        let reported = text.rmatch_indices(ERROR).map(|(start, _)| start).find(|start| begins_a_line(*start));
        let said = reported.map_or(&*text, |start| &text[start + ERROR.len()..]).trim();
        let quoted: String = match reported {
            Some(_) => said.chars().take(QUOTED).collect(),
            None => said.chars().skip(said.chars().count().saturating_sub(QUOTED)).collect(),
        };
        Some(quoted).filter(|quoted| !quoted.is_empty())
    }

    fn remove_if_empty(&self) {
        if fs::metadata(&self.path).is_ok_and(|data| data.len() == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_of_a_process_is_found_and_those_of_earlier_ones_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/run.log");
        let (log, mut file) = Log::open(path.clone()).unwrap();
        assert_eq!(log.error(), None);
        file.write_all(b"a word\nerror: one\nerror: two: error: inner\nhint: three\n").unwrap();
        assert_eq!(log.error().unwrap(), "two: error: inner\nhint: three");
        let (next, mut file) = Log::open(path.clone()).unwrap();
        assert_eq!(next.error(), None);
        file.write_all(b"thread 'main' panicked\n").unwrap();
        assert_eq!(next.error().unwrap(), "thread 'main' panicked");
        next.remove_if_empty();
        assert!(path.exists());
    }
}
