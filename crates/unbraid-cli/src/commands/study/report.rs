//! `unbraid study report`: the runs of a study compared in one page.

use crate::error::Outcome;
use unbraid::files::{self, Existing};
use unbraid_report::document::check_page;
use unbraid_report::page::run_name;
use unbraid_report::study::page;
use unbraid_study::analysis::quantities::UDR;
use unbraid_study::{Definition, Results, StudyDirectory, UdrLimits, study_udr};
use crate::terminal::{Terminal, log_line};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `unbraid study report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Where to write the page (default: report.html in the directory of the study)
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Replace a page that is there
    #[arg(long, requires = "out")]
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
    check_page(&out, existing)?;
    let Results { mut table, warnings: mut notes } = Results::read(&study)?;
    let progress = Terminal::new(args.quiet);
    let found = study_udr(&study, &table, &table.own_runs(), UdrLimits::default(), &progress);
    if found.runs > 0 {
        table.set_numbers(UDR, &found.values);
    }
    notes.extend(found.notes);
    // A page may be wanted of a study whose description is damaged by now.
    let name = Definition::read(&study).ok().and_then(|definition| definition.name);
    let html = page::write(&name.unwrap_or_else(|| run_name(study.path())), table, &notes)?;
    files::write(&out, existing, |file| file.write_all(html.as_bytes()))?;
    if !args.quiet {
        for note in &notes {
            log_line(&format!("warning: {note}"));
        }
        log_line(&format!("written to {}", out.display()));
    }
    Ok(())
}
