//! `unbraid study report`: the runs of a study compared in one page.

use crate::error::Outcome;
use crate::terminal::Terminal;
use clap::Args;
use std::path::PathBuf;
use unbraid::files::Existing;
use unbraid_report::write_study_report;
use unbraid_study::StudyDirectory;

/// Arguments of `unbraid study report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Where to write the page (default: report.html in the directory of the study)
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Overwrite an existing page; the study's own always is
    #[arg(long)]
    overwrite: bool,
    /// Print nothing
    #[arg(long)]
    quiet: bool,
}

/// Writes the page from what the run directories hold; runs that are not done yet are counted.
///
/// # Errors
/// If there is no such study, one of its files is damaged, or the page cannot be written.
pub(crate) fn run(args: &ReportArgs) -> Outcome {
    let study = StudyDirectory::open(&args.study)?;
    // The study's own page is made to be replaced.
    let (out, existing) = match &args.out {
        Some(out) => (out.clone(), Existing::from_flag(args.overwrite)),
        None => (study.report(), Existing::Replace),
    };
    let terminal = Terminal::new(args.quiet);
    for note in write_study_report(&study, &out, existing, &terminal)? {
        terminal.log(&format!("warning: {note}"));
    }
    terminal.log(&format!("wrote {}", out.display()));
    Ok(())
}
