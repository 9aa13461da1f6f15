//! `unbraid study`: one file for each verb.

pub(crate) mod import;
pub(crate) mod new;
pub(crate) mod plan;
pub(crate) mod presets;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod submit;
pub(crate) mod table;
pub(crate) mod work;

use crate::error::Outcome;
use unbraid_study::{Manifest, StudyDirectory, plan::check_current};
use crate::terminal::log_line;
use clap::{Subcommand, ValueEnum};

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One object
    Json,
}

/// What to do with a study.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the studies of the papers
    Presets(presets::PresetsArgs),
    /// Start a study from one of them, or from scratch
    New(new::NewArgs),
    /// Number the runs of a study and say what they cost
    Plan(plan::PlanArgs),
    /// Train what is not trained yet, on this machine
    Run(run::RunArgs),
    /// Hand the runs to a cluster
    Submit(submit::SubmitArgs),
    /// Say what is done, running, failed and pending
    Status(status::StatusArgs),
    /// Write one row for each run: settings and scores
    Table(table::TableArgs),
    /// Add a table of results from elsewhere
    Import(import::ImportArgs),
    /// Compare the runs in one page
    Report(report::ReportArgs),
    /// Train one run of a study; started by `unbraid study run`
    #[command(hide = true)]
    Work(work::WorkArgs),
}

/// Does it.
///
/// # Errors
/// As the verb says.
pub(crate) fn run(command: StudyCommand) -> Outcome {
    match command {
        StudyCommand::Presets(args) => presets::run(&args),
        StudyCommand::New(args) => new::run(&args),
        StudyCommand::Plan(args) => plan::run(&args),
        StudyCommand::Run(args) => run::run(&args),
        StudyCommand::Submit(args) => submit::run(&args),
        StudyCommand::Status(args) => status::run(&args),
        StudyCommand::Table(args) => table::run(&args),
        StudyCommand::Import(args) => import::run(&args),
        StudyCommand::Report(args) => report::run(&args),
        StudyCommand::Work(args) => work::run(&args),
    }
}

/// The planned runs of a study. Says so if `study.toml` has changed since they were planned.
fn planned_runs(study: &StudyDirectory) -> Outcome<Manifest> {
    let manifest = study.read_manifest()?;
    if let Some(warning) = check_current(study, &manifest)? {
        log_line(&format!("warning: {warning}"));
    }
    Ok(manifest)
}
