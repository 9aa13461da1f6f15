//! `unbraid study table`: one row for each run.

use crate::commands::model::SpreadsheetArgs;
use crate::error::Outcome;
use crate::format::table_output;
use crate::terminal::log_line;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use unbraid::files::{self, Existing, probe_output};
use unbraid_study::{Results, StudyDirectory, TableFormat};

/// Arguments of `unbraid study table`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid study table studies/small -o results.parquet

Columns: number, name, hash, method, data, seed, state, step, seconds (of
training, if it was never interrupted), every setting of the grid by its dotted
key, every score by its key, its chance level as chance/KEY, and the last
losses of training. What is not known is empty in CSV and null in the others.")]
pub(crate) struct TableArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The file to write, ending in .csv, .json or .parquet (default: CSV on standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    overwrite: bool,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
}

/// Writes the table of a study's own runs.
///
/// # Errors
/// If the study has no manifest, or the file cannot be written.
pub(crate) fn run(args: &TableArgs) -> Outcome {
    let existing = Existing::from_flag(args.overwrite);
    let cells = args.spreadsheet.cells(args.output.as_deref())?;
    let output = match &args.output {
        None => None,
        Some(path) => {
            let format = TableFormat::of(path)?;
            probe_output(path, existing)?;
            Some((path, format))
        }
    };
    let study = StudyDirectory::open(&args.study)?;
    let results = Results::of_runs(&study, &super::planned_runs(&study)?);
    warn(&results.warnings);
    let Some((path, format)) = output else {
        return results.table.write_csv(table_output(), cells).context("cannot write to standard output");
    };
    match format {
        TableFormat::Csv => files::write(path, existing, |file| results.table.write_csv(file, cells))?,
        TableFormat::Json | TableFormat::Parquet => results.table.write(path, format, existing)?,
    }
    log_line(&format!("{} rows written to {}", results.table.rows.len(), path.display()));
    Ok(())
}

/// Says what could not be read; of very many the first will do.
pub(super) fn warn(warnings: &[String]) {
    const SHOWN: usize = 20;
    for warning in warnings.iter().take(SHOWN) {
        log_line(&format!("warning: {warning}"));
    }
    if warnings.len() > SHOWN {
        log_line(&format!("warning: and {} more", warnings.len() - SHOWN));
    }
}
