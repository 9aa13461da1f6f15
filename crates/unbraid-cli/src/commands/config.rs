//! `unbraid config`: what a configuration may say.

use crate::error::Outcome;
use crate::format::print;
use clap::Subcommand;
use unbraid::config::REFERENCE;

/// What `unbraid config` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every key with its type, default and meaning, as Markdown
    Reference,
}

/// Runs one of them.
///
/// # Errors
/// If standard output cannot be written.
pub(crate) fn run(command: &ConfigCommand) -> Outcome {
    match command {
        ConfigCommand::Reference => print(REFERENCE),
    }
}
