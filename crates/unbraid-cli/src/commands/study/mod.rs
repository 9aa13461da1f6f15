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

use crate::error::{Outcome, usage};
use crate::terminal::log_line;
use clap::Subcommand;
use unbraid::error_chain;
use unbraid_study::{Manifest, OutdatedManifest, StudyDirectory};

/// What to do with a study.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the studies that repeat the papers' comparisons, or show one
    Presets(presets::PresetsArgs),
    /// Create a study from one of them, or from scratch
    New(new::NewArgs),
    /// List the runs of a study and estimate core-hours
    Plan(plan::PlanArgs),
    /// Train and score all runs that are not done, on this machine
    Run(run::RunArgs),
    /// Submit runs to Slurm as job arrays
    Submit(submit::SubmitArgs),
    /// Show the status of all runs
    Status(status::StatusArgs),
    /// Export results, one row per run
    Table(table::TableArgs),
    /// Import a table of results
    Import(import::ImportArgs),
    /// Write the study report
    Report(report::ReportArgs),
    /// Train one run of a study; started by `unbraid study run`
    #[command(hide = true)]
    Work(work::WorkArgs),
}

/// Runs one of them.
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
    if let Some(outdated) = manifest.check_current(study)? {
        log_line(&format!("warning: {}", with_hint(&outdated, study)));
    }
    Ok(manifest)
}

/// The planned runs of a study, to be trained.
///
/// # Errors
/// If `study.toml` has none of them any more: nobody wants to wait for those.
fn runs_to_train(study: &StudyDirectory) -> Outcome<Manifest> {
    let manifest = study.read_manifest()?;
    match manifest.check_current(study)? {
        Some(outdated @ OutdatedManifest::Changed { kept: 0, .. }) => {
            return Err(usage(with_hint(&outdated, study)));
        }
        Some(outdated) => log_line(&format!("warning: {}", with_hint(&outdated, study))),
        None => {}
    }
    Ok(manifest)
}

fn with_hint(outdated: &OutdatedManifest, study: &StudyDirectory) -> String {
    let study = study.path().display();
    format!("{}\nhint: unbraid study plan {study} updates the manifest", error_chain(outdated))
}
