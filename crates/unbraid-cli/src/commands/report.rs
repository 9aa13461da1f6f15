//! `unbraid report`: figures and a page of a run.

use super::configuration::ComputeArgs;
use super::evaluate::same_data;
use crate::failure::Outcome;
use crate::files::{Existing, print};
use crate::report::document;
use crate::run::Run;
use crate::terminal::{TerminalProgress, log_line};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `unbraid report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// A run directory; report.html and figures/ are written into it
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Take the checkpoint that was kept after this step in place of the last
    #[arg(long, value_name = "N")]
    step: Option<u64>,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
}

/// Draws the figures, writes the page, and prints its path.
///
/// # Errors
/// If the run, its data or its files are wrong, or something cannot be written.
pub fn run(args: &ReportArgs) -> Outcome {
    let compute = args.compute.prepare()?;
    let run = args.step.map_or_else(|| Run::open(&args.run), |step| Run::open_at_step(&args.run, step))?;
    document::check_page(&args.run.join("report.html"), Existing::Replace)?;
    let progress = TerminalProgress::new(args.quiet);
    let data = unbraid_data::open(&run.config().data, &progress)?;
    same_data(&args.run, data.as_ref())?;
    let page = compute.run(|| document::write(&run, data.as_ref(), &progress))?;
    if !args.quiet && !args.run.join("scores.json").exists() {
        log_line(&format!("the report has no scores yet\nhint: unbraid evaluate {}", args.run.display()));
    }
    print(&format!("{}\n", page.display()))
}
