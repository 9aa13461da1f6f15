//! The command `unbraid` that the wheel installs.

use crate::errors::wrong_value;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;
use std::panic::catch_unwind;
use std::path::PathBuf;

/// Runs the command with these arguments, the first of which is its own name; returns its exit code.
/// `program` is the file with which it starts itself again.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, program: Option<PathBuf>) -> PyResult<u8> {
    if arguments.is_empty() {
        return Err(wrong_value("arguments", "none", "the name of the command first"));
    }
    Ok(py.detach(|| {
        // A panic has said what it has to say.
        let code = catch_unwind(|| unbraid_cli::main(arguments, program)).unwrap_or(101);
        // Nobody else would: the end of the process is Python's, not Rust's. A closed pipe is no error.
        let _ = std::io::stdout().flush();
        code
    }))
}
