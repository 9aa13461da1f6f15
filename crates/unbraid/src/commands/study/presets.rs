//! `unbraid study presets`.

use crate::failure::{Failure, Outcome};
use clap::Args;
use std::path::PathBuf;

/// Which study.
#[derive(Args, Debug)]
pub struct PresetsArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
}

/// Not there yet.
///
/// # Errors
/// Always.
pub fn run(args: &PresetsArgs) -> Outcome {
    Err(Failure::run(args.study.display()))
}
