//! Short ways to make the most common errors.

use super::Error;
use std::io;
use std::path::Path;

impl Error {
    /// A value of a configuration that is out of range.
    pub fn value(key: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::ConfigValue { key: key.into(), found: found.to_string(), expected: expected.into() }
    }

    /// An argument that is out of range.
    pub fn argument(argument: &'static str, found: impl ToString, expected: impl Into<String>) -> Self {
        Self::Argument { argument, found: found.to_string(), expected: expected.into() }
    }

    /// Turns an I/O error into one that names the file and the action; for use with `map_err`.
    pub fn io<'a>(path: &'a Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }

    /// Turns an I/O error into one that names the file that could not be written; for use with `map_err`.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::error_chain;

    #[test]
    fn a_cause_is_printed_once() {
        let cause = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let path = Path::new("a.toml");
        let chain = |error: Error| error_chain(&error);
        assert_eq!(
            chain(Error::io(path, "read the configuration")(cause())),
            "a.toml: cannot read the configuration: no such file"
        );
        assert_eq!(chain(Error::write(path)(cause())), "cannot write a.toml: no such file");
        let damaged = Error::DamagedWeights { path: path.to_owned(), reason: "it ends early".to_owned() };
        assert_eq!(
            chain(Error::Resume(Box::new(damaged))),
            "cannot resume: a.toml: not a complete safetensors file: it ends early"
        );
    }
}
