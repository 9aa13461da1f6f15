//! `unbraid report`: figures and a page of a run.

use super::model::ModelArgs;
use crate::error::Outcome;
use crate::format::print;
use clap::Args;
use std::path::PathBuf;
use unbraid::files::Existing;
use unbraid::run::RunData;
use unbraid_report::{check_page, write_run_report_with};

/// Arguments of `unbraid report`.
#[derive(Args, Debug)]
#[command(mut_arg("run", |run| run.help("A run directory; report.html and figures/ are written into it")))]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Leave the model out of the page if its weights take more than this (default: evaluation.model_limit, 8)
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    model_limit: Option<f64>,
}

/// A size, 0 or more.
pub(super) fn megabytes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(size) if size >= 0.0 => Ok(size),
        _ => Err(format!("found `{text}`, expected a number of megabytes, 0 or more")),
    }
}

/// Draws the figures, writes the page, and prints its path.
///
/// # Errors
/// If the run, its data or its files are wrong, or something cannot be written.
pub(crate) fn run(args: &ReportArgs) -> Outcome {
    let page = args.model.run(|run| -> Outcome<PathBuf> {
        check_page(&run.paths().report(), Existing::Replace)?;
        let progress = args.model.progress();
        let RunData { data, .. } = run.open_data(&progress)?;
        let limit = args.model_limit.unwrap_or(run.config().evaluation.model_limit);
        let page = write_run_report_with(run, data.as_ref(), limit, &progress)?;
        if !run.paths().scores().exists() {
            let hint = format!("unbraid evaluate {}", run.path().display());
            args.model.log(&format!("the report has no scores yet\nhint: {hint}"));
        }
        Ok(page)
    })?;
    print(&format!("{}\n", page.display()))
}
