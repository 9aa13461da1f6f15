//! Everything that can go wrong in this crate, in one enum.
//!
//! A message names the file, what was found and what was expected. The cause is in [`source`](std::error::Error) only:
//! [`unbraid::error_chain`] prints both.

use crate::definition::DefinitionError;
use crate::table::ImportError;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use unbraid::ErrorKind;

/// Result of everything in this crate that can fail.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// An error of a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library: a configuration, a data set, a run, a file.
    #[error(transparent)]
    Library(#[from] unbraid::Error),

    /// A path is no study.
    #[error("{}: found {found}, expected the directory of a study", path.display())]
    NotAStudy {
        /// The path.
        path: PathBuf,
        /// What is there instead.
        found: &'static str,
    },
    /// Runs have nothing in common to rank them by.
    #[error("nothing to rank the runs by: {reason}")]
    NothingToRank {
        /// What they lack.
        reason: String,
    },
    /// Runs cannot be ranked by this.
    #[error(
        "unknown criterion `{name}`: expected rank, udr, elbo or a score such as mig{}",
        did_you_mean(*suggestion)
    )]
    UnknownCriterion {
        /// What was asked for.
        name: String,
        /// The nearest name.
        suggestion: Option<&'static str>,
    },
    /// A new study was to be created where there is one.
    #[error("{}: there is a study here already", path.display())]
    StudyExists {
        /// The directory.
        path: PathBuf,
    },
    /// A directory of a study, or of a run that is to be trained, is a symbolic link.
    #[error("{}: found a symbolic link, expected a directory of the study itself", path.display())]
    LinkedDirectory {
        /// The link.
        path: PathBuf,
    },
    /// A study has not been planned.
    #[error("{}: the study has no manifest.jsonl yet", path.display())]
    NotPlanned {
        /// The directory of the study.
        path: PathBuf,
    },
    /// A `study.toml` describes no study.
    #[error("{origin}")]
    Definition {
        /// The file.
        origin: String,
        /// What is wrong with it.
        source: Box<DefinitionError>,
    },
    /// No preset has this name.
    #[error("unknown study `{name}`{}", did_you_mean(*suggestion))]
    UnknownPreset {
        /// What was asked for.
        name: String,
        /// The nearest name.
        suggestion: Option<&'static str>,
    },
    /// A key that the study varies was to be set for all runs.
    #[error("{key}: the study varies it, so it cannot be set for all runs")]
    VariedKey {
        /// The key.
        key: String,
    },

    /// A line of a manifest is damaged.
    #[error("{}, line {line}", path.display())]
    DamagedManifest {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// All runs in a directory belong to another study than the one to be planned there.
    #[error(
        "{}: found {} of runs that are not in the study, such as {example}, and none of its own; nothing was changed",
        path.display(),
        counted(*directories, "directory", "directories")
    )]
    ForeignRuns {
        /// The directory of the runs.
        path: PathBuf,
        /// How many there are.
        directories: usize,
        /// The name of one.
        example: String,
    },
    /// A study has no run of this number.
    #[error("the study has no run {number}; {}", numbers_of(*runs))]
    NoSuchRun {
        /// The number.
        number: usize,
        /// How many runs the study has.
        runs: usize,
    },
    /// A selection of runs is not made of numbers and ranges.
    #[error("found `{found}`, expected numbers and ranges such as `0..100,205`")]
    SelectionSyntax {
        /// The part that is not.
        found: String,
    },
    /// A range of runs is empty.
    #[error("found the empty range `{found}`; ranges are half-open, as in `0..100`")]
    EmptyRange {
        /// The range.
        found: String,
    },

    /// A line in a file of tasks is damaged.
    #[error("{}, line {line}: expected a list of names of runs", path.display())]
    DamagedTasks {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser found.
        source: serde_json::Error,
    },
    /// A file of tasks has no task of this number.
    #[error("{}: no task {task}; found {tasks} tasks, numbered from 0", path.display())]
    NoSuchTask {
        /// The file.
        path: PathBuf,
        /// The number.
        task: usize,
        /// How many tasks there are.
        tasks: usize,
    },

    /// A file name has no extension of a table.
    #[error("{}: expected a name that ends in .csv, .json or .parquet", path.display())]
    TableExtension {
        /// The file.
        path: PathBuf,
    },
    /// A table from elsewhere cannot be understood.
    #[error("{}", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ImportError,
    },
    /// A table cannot be kept under this name.
    #[error("`{name}` cannot be the name of a table")]
    TableName {
        /// The name.
        name: String,
    },

    /// A path cannot be written into a script or a command line.
    #[error("{}: expected a path in Unicode without line breaks, to write it into a command", path.display())]
    UnusablePath {
        /// The path.
        path: PathBuf,
    },
    /// Slurm cannot write to a directory because of its name.
    #[error("{directory}: Slurm writes no output below a directory with a backslash in its name")]
    Backslash {
        /// The directory.
        directory: String,
    },
    /// An option of sbatch has a wrong value.
    #[error("{option}: found `{found}`, expected {expected}")]
    SlurmOption {
        /// The option, as sbatch spells it.
        option: &'static str,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// Fewer tasks may run at the same time than there are job arrays.
    #[error(
        "limit of simultaneous tasks: found {limit}, expected at least {arrays}, since {tasks} tasks need {arrays} arrays of \
         at most {most} tasks, and each array runs at least one at a time"
    )]
    ArrayLimit {
        /// How many may run.
        limit: usize,
        /// How many arrays there are.
        arrays: usize,
        /// How many tasks there are.
        tasks: usize,
        /// How many tasks an array may have.
        most: usize,
    },
    /// A study is being submitted by somebody else.
    #[error("{}: the study is being submitted by another process", path.display())]
    BeingSubmitted {
        /// The directory of the study.
        path: PathBuf,
    },
    /// This machine has no Slurm.
    #[error("found no sbatch in PATH, which submits jobs to Slurm")]
    NoSbatch,
    /// sbatch refused a job.
    #[error("sbatch refused the job ({status}): {message}")]
    JobRefused {
        /// How sbatch ended.
        status: ExitStatus,
        /// What it said.
        message: String,
    },
    /// Some job arrays were submitted, and then one was not.
    #[error("only {submitted} of {arrays} arrays submitted")]
    PartlySubmitted {
        /// How many were submitted.
        submitted: usize,
        /// How many there are.
        arrays: usize,
        /// Why the next one was not.
        source: Box<Error>,
    },
    /// A job was submitted, but its number could not be recorded.
    #[error("job {job} is submitted, but {} cannot be written", path.display())]
    JobNotRecorded {
        /// The number of the job.
        job: String,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// The operating system refused a file that the study needs while it runs.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was attempted, as a verb phrase.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {}", program.display())]
    StartProgram {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread")]
    StartThread(#[source] io::Error),
    /// The running program cannot be found.
    #[error("cannot find this program")]
    ThisProgram(#[source] io::Error),
    /// The working directory cannot be found.
    #[error("cannot find the current directory")]
    WorkingDirectory(#[source] io::Error),
}

/// What is wrong with a line of a manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is no entry.
    #[error("expected a run of a manifest")]
    Syntax(#[source] serde_json::Error),
    /// It is out of order.
    #[error("found the run number {found}, expected {expected}")]
    Number {
        /// Its number.
        found: usize,
        /// The number of this line.
        expected: usize,
    },
    /// Its name is no name of a directory.
    #[error("`{}` cannot be the name of a run", name.escape_debug())]
    Name {
        /// The name.
        name: String,
    },
    /// Its name is that of an earlier run.
    #[error("found the name `{name}` twice")]
    RepeatedName {
        /// The name.
        name: String,
    },
}

impl Error {
    /// Whose problem it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Library(error) => error.kind(),
            Self::JobRefused { .. }
            | Self::PartlySubmitted { .. }
            | Self::JobNotRecorded { .. }
            | Self::StartProgram { .. }
            | Self::StartThread(_)
            | Self::ThisProgram(_)
            | Self::WorkingDirectory(_) => ErrorKind::Failure,
            Self::Io { source, .. } => ErrorKind::of_write(source),
            Self::NotAStudy { .. }
            | Self::NothingToRank { .. }
            | Self::UnknownCriterion { .. }
            | Self::StudyExists { .. }
            | Self::LinkedDirectory { .. }
            | Self::NotPlanned { .. }
            | Self::Definition { .. }
            | Self::UnknownPreset { .. }
            | Self::VariedKey { .. }
            | Self::DamagedManifest { .. }
            | Self::ForeignRuns { .. }
            | Self::NoSuchRun { .. }
            | Self::SelectionSyntax { .. }
            | Self::EmptyRange { .. }
            | Self::DamagedTasks { .. }
            | Self::NoSuchTask { .. }
            | Self::TableExtension { .. }
            | Self::Import { .. }
            | Self::TableName { .. }
            | Self::UnusablePath { .. }
            | Self::Backslash { .. }
            | Self::SlurmOption { .. }
            | Self::ArrayLimit { .. }
            | Self::BeingSubmitted { .. }
            | Self::NoSbatch => ErrorKind::Input,
        }
    }

    /// Turns an I/O error into one that names the file and the attempt; made for `map_err`.
    pub(crate) fn io<'a>(path: &'a Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }

    /// Turns an I/O error into one of a program that could not be started; made for `map_err`.
    pub(crate) fn start(program: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::StartProgram { program: program.to_owned(), source }
    }
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|near| format!("\nhint: did you mean `{near}`?")).unwrap_or_default()
}

fn numbers_of(runs: usize) -> String {
    match runs {
        0 => "there are no runs".to_owned(),
        1 => "there is only run 0".to_owned(),
        _ => format!("expected 0 to {}", runs - 1),
    }
}
