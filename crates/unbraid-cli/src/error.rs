//! How errors leave the process: one message on standard error, and an exit code. Nothing else decides exit codes.

use crate::hints;
use crate::terminal::log_line;
use std::fmt;
use std::io;
use unbraid::data::DataError;
use unbraid::metrics::MetricsError;
use unbraid::run::Signal;
use unbraid::{ErrorKind, error_chain};

/// The result of a command.
pub(crate) type Outcome<T = ()> = anyhow::Result<T>;

/// Wrong use of the command line that clap cannot see.
#[derive(Debug)]
pub(crate) struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of wrong usage: exit code 2.
pub(crate) fn usage(message: impl fmt::Display) -> anyhow::Error {
    Usage(message.to_string()).into()
}

/// A study was asked to stop; what was done is saved.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Stopped {
    /// By what.
    pub(crate) signal: Signal,
    /// What is saved.
    pub(crate) message: String,
}

/// Reports an error as the last act of the command, and returns its exit code.
pub(crate) fn report(error: &anyhow::Error) -> u8 {
    // The reader of our output has gone, as `head` does: no error of ours.
    let is_pipe = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_pipe) {
        return 0;
    }
    log_line(&message(error));
    exit_code(error)
}

/// The message of an error, with a hint on the command line where there is one.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let hint = error.chain().find_map(hints::hint);
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("error: {}{hint}", shortened(error_chain(error.as_ref())))
}

/// Messages quote what they found, which may be a line of any length in a file: of a long one, its beginning
/// and its end are shown, where the place and what was expected are.
fn shortened(text: String) -> String {
    const BEGINNING: usize = 3000;
    const END: usize = 500;
    let characters = text.chars().count();
    if characters <= BEGINNING + END {
        return text;
    }
    let place = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(place, _)| place);
    let (beginning, end) = (&text[..place(BEGINNING)], &text[place(characters - END)..]);
    format!("{beginning} [{} characters left out] {end}", characters - BEGINNING - END)
}

/// 2 for wrong usage or input, 128 plus the signal after an orderly stop, 1 for everything else.
fn exit_code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(code_of).unwrap_or(1)
}

fn code_of(error: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if error.is::<Usage>() || error.is::<MetricsError>() {
        return Some(2);
    }
    if let Some(error) = error.downcast_ref::<DataError>() {
        return Some(code_of_data(error));
    }
    if let Some(stopped) = error.downcast_ref::<Stopped>() {
        return Some(after(stopped.signal));
    }
    if let Some(error) = error.downcast_ref::<unbraid::Error>() {
        return Some(code_of_library(error));
    }
    if let Some(error) = error.downcast_ref::<unbraid_study::Error>() {
        return Some(of_kind(error.kind()));
    }
    error.downcast_ref::<unbraid_report::Error>().map(|error| of_kind(error.kind()))
}

fn code_of_library(error: &unbraid::Error) -> u8 {
    match error {
        unbraid::Error::Interrupted { signal, .. }
        | unbraid::Error::InterruptedAfterTraining { signal, .. } => after(*signal),
        unbraid::Error::Data(error) => code_of_data(error),
        other => of_kind(other.kind()),
    }
}

/// Data is input, but for a disk without room for the cache.
fn code_of_data(error: &DataError) -> u8 {
    match error {
        DataError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => 1,
        _ => 2,
    }
}

fn of_kind(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Input => 2,
        ErrorKind::Failure => 1,
        ErrorKind::Interrupted => after(Signal::Terminate),
    }
}

/// 128 plus the number of the signal, as shells count.
pub(crate) fn after(signal: Signal) -> u8 {
    match signal {
        Signal::Interrupt => 130,
        Signal::Terminate => 143,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn code(error: impl Into<anyhow::Error>) -> u8 {
        exit_code(&error.into())
    }

    #[test]
    fn exit_codes_follow_the_kind_of_error() {
        let disk = || io::Error::other("the disk is full");
        assert_eq!(code(unbraid::Error::write(Path::new("a"))(disk())), 1);
        assert_eq!(code(unbraid::Error::io(Path::new("a"), "read it")(disk())), 2);
        // Nobody may write there, however often it is tried; there may be room later.
        for (kind, expected) in [
            (io::ErrorKind::PermissionDenied, 2),
            (io::ErrorKind::ReadOnlyFilesystem, 2),
            (io::ErrorKind::StorageFull, 1),
        ] {
            assert_eq!(code(unbraid::Error::write(Path::new("a"))(kind.into())), expected, "{kind}");
        }
        assert_eq!(code(DataError::value("a", 1, "2")), 2);
        let no_room = || DataError::io(Path::new("a"), "write it")(io::ErrorKind::StorageFull.into());
        assert_eq!((code(no_room()), code(unbraid::Error::Data(no_room()))), (1, 1));
        assert_eq!(code(anyhow::Error::from(disk())), 1);
        assert_eq!(exit_code(&usage("no")), 2);
        let interrupted =
            unbraid::Error::Interrupted { path: "a".into(), step: 3, signal: Signal::Interrupt };
        assert_eq!(code(interrupted), 130);
    }

    #[test]
    fn long_messages_keep_their_beginning_and_their_end() {
        let letters = |count: usize| "ä".repeat(count);
        let text = message(&usage(format!("a.csv: line 1: found `{}`, expected a number", letters(100_000))));
        // 100,000 letters, 22 characters before and 20 after them; 3,000 are kept of the beginning, 500 of the end.
        let expected = format!(
            "error: a.csv: line 1: found `{} [96542 characters left out] {}`, expected a number",
            letters(3000 - 22),
            letters(500 - 20)
        );
        assert_eq!(text, expected);
        assert_eq!(shortened("a".repeat(3500)), "a".repeat(3500));
    }

    #[test]
    fn messages_have_the_whole_chain_and_a_hint() {
        let error = anyhow::Error::from(unbraid::Error::FileExists { path: "a.png".into() });
        assert_eq!(message(&error), "error: a.png: the file exists\nhint: --overwrite replaces it");
        let error = unbraid::Error::write(Path::new("a.png"))(io::Error::other("the disk is full"));
        assert_eq!(message(&error.into()), "error: cannot write a.png: the disk is full");
    }
}
