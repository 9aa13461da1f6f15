//! `unbraid compare`: several runs side by side.

use super::configuration::ComputeArgs;
use super::model::SpreadsheetArgs;
use crate::error::Outcome;
use crate::format::{TableFormat, pretty_json, print};
use crate::terminal::Terminal;
use clap::Args;
use std::path::PathBuf;
use unbraid::Run;
use unbraid::files::Existing;
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
    #[arg(allow_negative_numbers = true)]
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
    let runs = args.runs.iter().map(|path| compute.open(path, None)).collect::<Outcome<Vec<Run>>>()?;
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
