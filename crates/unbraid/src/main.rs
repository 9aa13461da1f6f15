//! The `unbraid` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    unbraid::cli::run()
}
