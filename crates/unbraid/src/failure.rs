//! Why a command ended, and the exit code that says so.

use crate::config::ConfigError;
use crate::model::ModelError;
use std::fmt;
use std::io;
use std::process::ExitCode;
use unbraid_data::DataError;

/// The result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

/// A command that did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The request or its input is wrong; nothing was changed. Exit code 2.
    Input(anyhow::Error),
    /// Something broke while working. Exit code 1.
    Run(anyhow::Error),
    /// A signal asked for an orderly end, and everything is saved. Exit code 128 plus the signal, as shells do.
    Interrupted {
        /// Its number.
        signal: u8,
        /// What was saved, and how to go on.
        message: String,
    },
    /// Whoever read our output stopped reading, as `head` does. That is no failure of ours: exit code 0, in silence.
    PipeClosed,
}

impl Failure {
    /// A wrong request, in words.
    pub fn input(message: impl fmt::Display) -> Self {
        Self::Input(anyhow::anyhow!("{message}"))
    }

    /// Something that broke while working, in words.
    pub fn run(message: impl fmt::Display) -> Self {
        Self::Run(anyhow::anyhow!("{message}"))
    }

    /// The code for the shell.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Input(_) => ExitCode::from(2),
            Self::Run(_) => ExitCode::from(1),
            Self::Interrupted { signal, .. } => ExitCode::from(128 + signal),
            Self::PipeClosed => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) | Self::Run(error) => write!(f, "{error:#}"),
            Self::Interrupted { message, .. } => write!(f, "{message}"),
            Self::PipeClosed => write!(f, "the reader of our output has gone"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Input(error.into())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Input(error.into())
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Input(error.into())
    }
}

/// For writes to standard output only; files are written through [`crate::files`], which names them.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::PipeClosed;
        }
        Self::Run(anyhow::Error::from(error).context("cannot write to standard output"))
    }
}
