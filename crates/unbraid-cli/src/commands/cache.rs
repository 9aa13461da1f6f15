//! `unbraid cache`: decoded images on disk.

use crate::error::{Outcome, usage};
use crate::format::{counted, print};
use clap::Subcommand;
use unbraid::data::cache::{self, Usage};
use unbraid::data::memory::Bytes;

/// What to do with the cache.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Say where it is and how large
    Info,
    /// Remove all of it; images are decoded again when they are needed
    Clean,
}

/// Describes or empties the cache.
///
/// # Errors
/// If there is no directory for it, or a file cannot be removed.
pub(crate) fn run(command: CacheCommand) -> Outcome {
    let found = match command {
        CacheCommand::Info => cache::usage(),
        CacheCommand::Clean => cache::clean()?,
    };
    let Some(Usage { directory, files, bytes, limit }) = found else {
        return Err(usage("cache: found no directory for it, expected UNBRAID_CACHE or HOME to be set"));
    };
    let files = counted(files, "file");
    print(&match command {
        CacheCommand::Info => {
            format!("{}: {files}, {} of at most {}\n", directory.display(), Bytes(bytes), Bytes(limit))
        }
        CacheCommand::Clean => format!("{}: removed {files}, {}\n", directory.display(), Bytes(bytes)),
    })
}
