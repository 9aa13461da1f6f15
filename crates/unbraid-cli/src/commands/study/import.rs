//! `unbraid study import`: results from elsewhere.

use crate::error::{Outcome, usage};
use crate::format::counted;
use crate::terminal::log_line;
use clap::Args;
use std::path::PathBuf;
use unbraid::files::Existing;
use unbraid_study::{StudyDirectory, imported};

/// Arguments of `unbraid study import`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid study import studies/small published.csv --name published
  unbraid study new imported studies/published
  unbraid study import studies/published results_*.csv --name published

The file is CSV with a line of names. It needs a column `method` (or `model`)
and at least one score or loss, such as `mig`; `unbraid study table` writes such
files. A row may stand for several runs: then `runs` (or `n_seeds`) says how
many, and `mig_mean`, `mig_std`, `mig_median` what is known of them. The result
tables of disentanglement_lib are read as they are published. The table is kept
as imported/NAME.csv, and `unbraid study report` compares with it, or shows it
alone if the study has no runs of its own.")]
pub(crate) struct ImportArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The table; several files become one table
    #[arg(value_name = "FILE.csv", required = true)]
    files: Vec<PathBuf>,
    /// What the table is called (default: the name of the first file)
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Overwrite the table of this name
    #[arg(long)]
    overwrite: bool,
}

/// Checks a table and keeps it with the study.
///
/// # Errors
/// If the study or the table is wrong, or it cannot be kept.
pub(crate) fn run(args: &ImportArgs) -> Outcome {
    let study = StudyDirectory::open(&args.study)?;
    let name = match (&args.name, args.files.first().and_then(|file| Some((file, file.file_stem()?)))) {
        (Some(name), _) => name.clone(),
        (None, Some((_, stem))) => stem.to_string_lossy().into_owned(),
        (None, None) => return Err(usage("expected the name of a file".to_owned())),
    };
    let table = imported::read_together(&args.files)?;
    let path = imported::keep(&study, &name, &table, Existing::from_flag(args.overwrite))?;
    log_line(&format!(
        "{} with {} kept as {}",
        counted(table.rows.len(), "row"),
        counted(table.number_keys.len(), "number"),
        path.display()
    ));
    Ok(())
}
