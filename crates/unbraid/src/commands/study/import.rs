//! `unbraid study import`.

use crate::failure::{Failure, Outcome};
use clap::Args;
use std::path::PathBuf;

/// Which study.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
}

/// Not there yet.
///
/// # Errors
/// Always.
pub fn run(args: &ImportArgs) -> Outcome {
    Err(Failure::run(args.study.display()))
}
