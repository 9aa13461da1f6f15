//! `unbraid compare`: several runs side by side.

use super::configuration::{Compute, ComputeArgs};
use super::model::SpreadsheetArgs;
use crate::error::Outcome;
use crate::format::{TableFormat, pretty_json, print};
use crate::terminal::{Terminal, log_line};
use clap::Args;
use std::path::PathBuf;
use unbraid::files::Existing;
use unbraid::{Run, error_chain};
use unbraid_report::{Comparison, check_page};

/// Arguments of `unbraid compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Run directories
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Also write a page with tables, curves, traversals, and models that move together
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Overwrite an existing page
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// Leave the models out of the page if their weights take more than this (default: 8 for each run)
    #[arg(long, value_name = "MB", requires = "out", value_parser = super::report::megabytes)]
    model_limit: Option<f64>,
    /// Output format (default: table on a terminal, csv elsewhere)
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// Compares runs, prints the numbers, and writes the page if asked to.
///
/// # Errors
/// If a directory holds no run, one of its files is damaged, or the page cannot be written.
pub(crate) fn run(args: &CompareArgs) -> Outcome {
    let (format, cells) = args.spreadsheet.format(args.format)?;
    let compute = args.compute.prepare()?;
    let existing = Existing::from_flag(args.overwrite);
    if let Some(out) = &args.out {
        check_page(out, existing)?;
    }
    let runs = open_runs(&compute, &args.runs)?;
    let comparison = Comparison::new(&runs)?;
    if let Some(out) = &args.out {
        let terminal = Terminal::new(args.quiet);
        compute.run(|| match args.model_limit {
            Some(limit) => comparison.write_page_with(out, existing, limit, &terminal),
            None => comparison.write_page(out, existing, &terminal),
        })?;
        terminal.log(&format!("wrote {}", out.display()));
    }
    print(&match format {
        TableFormat::Table => comparison.as_text(),
        TableFormat::Csv => comparison.as_csv(cells),
        TableFormat::Json => pretty_json(&comparison.as_json())?,
    })
}

/// The runs, without those that have no checkpoint: one run of a sweep that failed does not stand in the way of others,
/// unless fewer than two are left to compare.
fn open_runs(compute: &Compute, paths: &[PathBuf]) -> Outcome<Vec<Run>> {
    let (mut runs, mut left_out) = (Vec::with_capacity(paths.len()), Vec::new());
    for path in paths {
        match compute.open(path, None) {
            Ok(run) => runs.push(run),
            Err(error) if is_without_checkpoint(&error) => left_out.push(error),
            Err(error) => return Err(error),
        }
    }
    let is_enough = runs.len() >= paths.len().min(2);
    for error in left_out {
        if !is_enough {
            return Err(error);
        }
        log_line(&format!("left out: {}", error_chain(error.as_ref())));
    }
    Ok(runs)
}

fn is_without_checkpoint(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(unbraid::Error::NoCheckpoint { .. }))
}
