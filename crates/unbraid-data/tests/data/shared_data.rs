//! Large files that are not in the repository. They are looked up in the directory named by the environment variable
//! `UNBRAID_SHARED`, by default `../shared` beside the repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The place of a shared file or directory, whether or not it exists.
pub(crate) fn shared_path(path: &str) -> PathBuf {
    let directory = std::env::var_os("UNBRAID_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    directory.join(path)
}

/// The shared files that a test needs. If one is missing, writes one line that starts with `SKIPPED: ` to
/// standard error and returns `None`.
#[allow(dead_code, reason = "the benchmark needs `shared_path` only")]
pub(crate) fn shared<const N: usize>(test: &str, paths: [&str; N]) -> Option<[PathBuf; N]> {
    let paths = paths.map(shared_path);
    let Some(missing) = paths.iter().find(|path| !path.exists()) else { return Some(paths) };
    let line = format!("SKIPPED: {test}: {} is missing; set UNBRAID_SHARED\n", missing.display());
    // Not `eprintln!`: libtest hides what a passing test prints with it.
    std::io::stderr().write_all(line.as_bytes()).expect("standard error is open");
    None
}
