//! The process that trains one run.
//!
//! It gets its configuration through a pipe and stops when the pipe closes: because we ask it to, or because
//! we are gone. So no run continues unnoticed after its study was killed, and asking several times is the
//! same as asking once.

use crate::directory::StudyDirectory;
use crate::error::{Error, Result};
use crate::manifest::Entry;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Instant;
use unbraid::data::files::append_own;

/// The program that trains one run of a study, in a process of its own, so that a crash does not affect other runs.
///
/// It is started with the arguments given here and, after them, the run directory. It reads the configuration
/// of the run from standard input, a [`Config`](unbraid::Config) as one line of JSON, and trains and scores
/// the run, resuming it if it was begun before ([`Session`](unbraid::Session) does that). It saves and stops
/// as soon as standard input ends. Its exit code is 0 if the run is complete, 130 or 143 if it was asked to
/// stop, as after SIGINT and SIGTERM in a shell, and any other if it failed: the reason is then the last line
/// on standard error that begins with `error: `, and what follows it. The command `unbraid study work
/// --threads 1` is such a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// What it is called in lists of processes (`argv[0]`), where that differs from `program`.
    pub name: Option<OsString>,
    /// The arguments before the run directory.
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// This program with these arguments.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program: program.into(), name: None, arguments }
    }

    /// The running program with these arguments, under this name. On Linux it is the very same program even if its file
    /// has been replaced since: a study that takes weeks does not change its version halfway.
    ///
    /// # Errors
    /// If the system does not say which program is running.
    pub fn this_program(
        name: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self> {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_err(Error::ThisProgram)?
        };
        Ok(Self { name: Some(name.into()), ..Self::new(program, arguments) })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        #[cfg(unix)]
        if let Some(name) = &self.name {
            use std::os::unix::process::CommandExt;
            command.arg0(name);
        }
        command.args(&self.arguments);
        command
    }
}

/// A process that trains a run.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    /// The run.
    pub(super) entry: &'a Entry,
    /// Since when.
    pub(super) started: Instant,
    child: Child,
    /// Open until it is asked to stop.
    pipe: Option<ChildStdin>,
    was_killed: bool,
    log: Log,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WorkerExit {
    /// Without error.
    Complete,
    /// It was asked to.
    Interrupted,
    /// With an error.
    Failed(String),
}

impl<'a> Worker<'a> {
    /// Starts one.
    ///
    /// # Errors
    /// If its log cannot be written or the system starts no process.
    pub(super) fn start(program: &WorkerCommand, study: &StudyDirectory, entry: &'a Entry) -> Result<Self> {
        let (log, errors) = Log::open(study.log(entry))?;
        let start = || -> io::Result<(Child, String)> {
            let configuration = serde_json::to_string(&entry.configuration)?;
            let mut command = program.command();
            command.arg(study.run(entry).root());
            let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors);
            Ok((command.spawn()?, configuration))
        };
        let (mut child, configuration) = start().map_err(Error::start(&program.program))?;
        let mut pipe = child.stdin.take();
        if let Some(pipe) = &mut pipe {
            // A process that ended before it could read this reports the reason itself.
            let _ = writeln!(pipe, "{configuration}");
        }
        Ok(Self { entry, started: Instant::now(), child, pipe, was_killed: false, log })
    }

    /// Its process ID.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to save and stop.
    pub(super) fn stop(&mut self) {
        self.pipe = None;
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) {
        // One that has already ended cannot be killed.
        self.was_killed |= self.child.kill().is_ok();
    }

    /// Whether that was done.
    pub(super) fn was_killed(&self) -> bool {
        self.was_killed
    }

    /// How it ended, if it did.
    pub(super) fn exit(&mut self) -> Option<WorkerExit> {
        let status = match self.child.try_wait() {
            Ok(status) => status?,
            Err(error) => return Some(WorkerExit::Failed(format!("lost sight of its process: {error}"))),
        };
        if status.success() {
            self.log.remove_if_empty();
            return Some(WorkerExit::Complete);
        }
        if was_asked_to_stop(status) {
            return Some(WorkerExit::Interrupted);
        }
        Some(WorkerExit::Failed(self.log.why(status)))
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // Closes the pipe first; the process then ends by itself, and we only see to it that it leaves no trace.
        self.stop();
        let _ = self.child.try_wait();
    }
}

/// SIGHUP, SIGINT, SIGTERM and SIGUSR1: as a signal that came before the process listened, or as a code that
/// it ended with.
#[cfg(unix)]
fn was_asked_to_stop(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGHUP: i32 = 1;
    const SIGINT: i32 = 2;
    const SIGTERM: i32 = 15;
    const SIGUSR1: i32 = if cfg!(target_os = "linux") { 10 } else { 30 };
    matches!(status.signal(), Some(SIGHUP | SIGINT | SIGTERM | SIGUSR1))
        || matches!(status.code(), Some(130 | 143))
}

#[cfg(not(unix))]
fn was_asked_to_stop(status: ExitStatus) -> bool {
    matches!(status.code(), Some(130 | 143))
}

/// Whether it was ended from outside: by SIGKILL, which it cannot answer.
#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(9)
}

#[cfg(not(unix))]
fn was_killed(_: ExitStatus) -> bool {
    false
}

#[cfg(unix)]
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(9), _) => "its process was killed (signal 9)\nhint: it may have run out of memory".to_owned(),
        (Some(signal), _) => format!("its process ended by signal {signal}"),
        (None, code) => format!("its process ended with exit code {}", code.unwrap_or(-1)),
    }
}

#[cfg(not(unix))]
fn describe(status: ExitStatus) -> String {
    format!("its process ended with {status}")
}

/// What a process writes to standard error, after the output of earlier ones.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// Where its own part begins.
    start: u64,
}

/// What a process said in the end.
struct Said {
    text: String,
    /// Whether it said that this was the error.
    is_report: bool,
}

/// How the line begins in which a command says why it failed.
const ERROR: &str = "error: ";

/// How much of a log is quoted.
const QUOTED: usize = 2000;

impl Log {
    fn open(path: PathBuf) -> Result<(Self, File)> {
        let open = || -> io::Result<(File, u64)> {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let file = append_own(&path)?;
            let start = file.metadata()?.len();
            Ok((file, start))
        };
        let (file, start) = open().map_err(Error::io(&path, "write it"))?;
        Ok((Self { path, start }, file))
    }

    /// Why the process failed: the error that it reported; if it was killed, that, whatever it had printed before;
    /// otherwise the end of its output, such as a panic.
    fn why(&self, status: ExitStatus) -> String {
        let said = self.error().filter(|said| said.is_report || !was_killed(status));
        said.map_or_else(|| describe(status), |said| said.text)
    }

    /// The error that the process reported; without one, the end of its output.
    fn error(&self) -> Option<Said> {
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
        Some(Said { text: quoted, is_report: reported.is_some() }).filter(|said| !said.text.is_empty())
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

    fn said(log: &Log) -> Option<String> {
        log.error().map(|said| said.text)
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_was_killed_did_not_fail_by_what_it_said_of_its_progress() {
        use std::os::unix::process::ExitStatusExt;
        let directory = tempfile::tempdir().unwrap();
        let (log, mut file) = Log::open(directory.path().join("run.log")).unwrap();
        file.write_all(b"scoring\nencoding: 15000\n").unwrap();
        let killed = "its process was killed (signal 9)\nhint: it may have run out of memory";
        assert_eq!(log.why(ExitStatus::from_raw(9)), killed);
        assert_eq!(log.why(ExitStatus::from_raw(101 << 8)), "scoring\nencoding: 15000");
        file.write_all(b"error: the disk is full\n").unwrap();
        assert_eq!(log.why(ExitStatus::from_raw(9)), "the disk is full");
    }

    #[test]
    fn the_last_error_of_a_process_is_found_and_those_of_earlier_ones_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/run.log");
        let (log, mut file) = Log::open(path.clone()).unwrap();
        assert_eq!(said(&log), None);
        file.write_all(b"a word\nerror: one\nerror: two: error: inner\nhint: three\n").unwrap();
        assert_eq!(said(&log).unwrap(), "two: error: inner\nhint: three");
        let (next, mut file) = Log::open(path.clone()).unwrap();
        assert_eq!(said(&next), None);
        file.write_all(b"thread 'main' panicked\n").unwrap();
        assert_eq!(said(&next).unwrap(), "thread 'main' panicked");
        next.remove_if_empty();
        assert!(path.exists());
    }
}
