//! `unbraid report`: figures and a page of a run.

use super::configuration::ComputeArgs;
use crate::error::Outcome;
use crate::format::print;
use crate::terminal::Terminal;
use clap::Args;
use std::path::PathBuf;
use unbraid::files::Existing;
use unbraid::run::RunData;
use unbraid_report::{check_page, write_run_report};

/// Arguments of `unbraid report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// A run directory; report.html and figures/ are written into it
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Use the checkpoint of this step instead of the last one
    #[arg(long, value_name = "N")]
    step: Option<u64>,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// Draws the figures, writes the page, and prints its path.
///
/// # Errors
/// If the run, its data or its files are wrong, or something cannot be written.
pub(crate) fn run(args: &ReportArgs) -> Outcome {
    let compute = args.compute.prepare()?;
    let run = compute.open(&args.run, args.step)?;
    check_page(&run.paths().report(), Existing::Replace)?;
    let terminal = Terminal::new(args.quiet);
    let page = compute.run(|| -> Outcome<PathBuf> {
        let RunData { data, .. } = run.open_data(&terminal)?;
        Ok(write_run_report(&run, data.as_ref(), &terminal)?)
    })?;
    if !run.paths().scores().exists() {
        terminal.log(&format!("the report has no scores yet\nhint: unbraid evaluate {}", args.run.display()));
    }
    print(&format!("{}\n", page.display()))
}
