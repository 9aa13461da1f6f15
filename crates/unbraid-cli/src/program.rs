//! The file that is started where the command starts itself again: for each run of a study, and on a cluster.

use crate::error::Outcome;
use anyhow::Context;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use unbraid_study::WorkerCommand;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the file, if it is not the program of this process.
pub(crate) fn set(program: Option<PathBuf>) {
    if let Some(program) = program {
        // A process is one command; a second one in it is the same.
        PROGRAM.get_or_init(|| program);
    }
}

/// The file.
pub(crate) fn path() -> Outcome<PathBuf> {
    match PROGRAM.get() {
        Some(program) => Ok(program.clone()),
        None => std::env::current_exe().context("cannot find this program"),
    }
}

/// The command with these arguments, for the runs of a study.
pub(crate) fn worker(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Outcome<WorkerCommand> {
    Ok(match PROGRAM.get() {
        Some(program) => WorkerCommand::new(program, arguments),
        None => WorkerCommand::this_program("unbraid", arguments)?,
    })
}
