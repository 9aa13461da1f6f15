//! Errors of the libraries as Python exceptions: `ValueError` for wrong input, `OSError` where the system
//! refused something, `KeyboardInterrupt` after Ctrl-C, `RuntimeError` for failures at run time.

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError,
    PyRuntimeError, PyTypeError, PyValueError,
};
use std::error::Error;
use std::fmt::Display;
use std::io;
use unbraid::data::DataError;
use unbraid::metrics::MetricsError;
use unbraid::{ErrorKind, error_chain};

/// An error that becomes an exception.
pub(crate) trait Raise: Error + Sized + 'static {
    /// What kind of error it is.
    fn kind(&self) -> ErrorKind;

    /// The exception.
    fn raise(self) -> PyErr {
        let message = error_chain(&self);
        if let Some(error) = missing_or_existing(&self, &message) {
            return error;
        }
        match self.kind() {
            ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(message),
            ErrorKind::Input => match cause::<io::Error>(&self) {
                Some(refusal) => of_system(refusal, message),
                None => PyValueError::new_err(message),
            },
            ErrorKind::Failure => match cause::<io::Error>(&self) {
                Some(refusal) => of_system(refusal, message),
                None => PyRuntimeError::new_err(message),
            },
        }
    }
}

impl Raise for unbraid::Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl Raise for unbraid_study::Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl Raise for unbraid_report::Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

impl Raise for DataError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

impl Raise for MetricsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// Something that is not there, or in the way, by the exception that Python has for it.
fn missing_or_existing(error: &(dyn Error + 'static), message: &str) -> Option<PyErr> {
    let message = message.to_owned();
    if let Some(unbraid_study::Error::NotAStudy { .. }) = error.downcast_ref() {
        return Some(PyFileNotFoundError::new_err(message));
    }
    match error.downcast_ref()? {
        unbraid::Error::NotARun { .. }
        | unbraid::Error::NothingToResume { .. }
        | unbraid::Error::NoCheckpoint { .. } => Some(PyFileNotFoundError::new_err(message)),
        unbraid::Error::RunExists { .. }
        | unbraid::Error::NotEmpty { .. }
        | unbraid::Error::FileExists { .. } => Some(PyFileExistsError::new_err(message)),
        _ => None,
    }
}

/// The first error of this type in a chain.
fn cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut error = Some(error);
    while let Some(found) = error {
        if let Some(wanted) = found.downcast_ref() {
            return Some(wanted);
        }
        error = found.source();
    }
    None
}

fn of_system(refusal: &io::Error, message: String) -> PyErr {
    match refusal.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
        io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// `codes: found 3 axes, expected 2`.
pub(crate) fn wrong_value(argument: &str, found: impl Display, expected: impl Display) -> PyErr {
    PyValueError::new_err(format!("{argument}: found {found}, expected {expected}"))
}

/// As [`wrong_value`], for something of the wrong type.
pub(crate) fn wrong_type(argument: &str, found: impl Display, expected: impl Display) -> PyErr {
    PyTypeError::new_err(format!("{argument}: found {found}, expected {expected}"))
}
