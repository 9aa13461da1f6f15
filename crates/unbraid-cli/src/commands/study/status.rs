//! `unbraid study status`.

use crate::error::Outcome;
use crate::format::{TextFormat, pretty_json, print};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use unbraid_study::{Entry, Manifest, RunStatus, Stage, StudyDirectory, slurm};

/// Which study.
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: TextFormat,
}

/// Runs of a kind that the table names; JSON names them all.
const NAMED: usize = 20;

/// Prints the status of the runs of a study.
///
/// # Errors
/// If there is no such study or it has not been planned.
pub(crate) fn run(args: &StatusArgs) -> Outcome {
    let study = StudyDirectory::open(&args.study)?;
    let manifest = super::planned_runs(&study)?;
    let statuses = RunStatus::of_study(&study, &manifest, &slurm::queued(&study).into_keys().collect());
    let status = StudyStatus { study: &study, manifest: &manifest, statuses: &statuses };
    print(&match args.format {
        TextFormat::Text => status.as_text(),
        TextFormat::Json => pretty_json(&status.as_json())?,
    })
}

struct StudyStatus<'a> {
    study: &'a StudyDirectory,
    manifest: &'a Manifest,
    statuses: &'a [RunStatus],
}

impl StudyStatus<'_> {
    fn of(&self, stage: Stage) -> impl Iterator<Item = (&Entry, &RunStatus)> {
        self.manifest.entries.iter().zip(self.statuses).filter(move |(_, status)| status.stage == stage)
    }

    fn as_text(&self) -> String {
        let mut text = format!("{:15} {}\n", "runs", self.statuses.len());
        for stage in Stage::ALL {
            let _ = writeln!(text, "{:15} {}", stage.name(), self.of(stage).count());
        }
        self.list(&mut text, Stage::Running, |_, status| {
            let (step, steps) = status.steps();
            let progress = if steps == 0 { "starting".to_owned() } else { format!("step {step} of {steps}") };
            let Some(lease) = &status.lease else { return progress };
            let who = lease.owner.as_ref().map_or_else(
                || "owner unknown".to_owned(),
                |owner| format!("on {} (process {})", owner.host, owner.pid),
            );
            format!("{progress}, {who}, heartbeat {:.0} s ago", lease.heartbeat_age.as_secs_f64())
        });
        self.list(&mut text, Stage::Failed, |entry, status| {
            let mut words = status.error().unwrap_or("for an unknown reason").replace('\n', "\n    ");
            let log = self.study.log(entry);
            if log.exists() {
                let _ = write!(words, "\n    log: {}", log.display());
            }
            words
        });
        text
    }

    /// The runs at a stage, one by one, and a few words on each.
    fn list(&self, text: &mut String, stage: Stage, words: impl Fn(&Entry, &RunStatus) -> String) {
        for (place, (entry, status)) in self.of(stage).enumerate().take(NAMED) {
            if place == 0 {
                let _ = writeln!(text, "\n{}", stage.name());
            }
            let _ = writeln!(text, "{:5} {}\n    {}", entry.number, entry.name, words(entry, status));
        }
        let more = self.of(stage).count().saturating_sub(NAMED);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more; --format json names them all");
        }
    }

    fn as_json(&self) -> Value {
        let counts = Stage::ALL.map(|stage| (stage.name().to_owned(), json!(self.of(stage).count())));
        let numbers = |stage| self.of(stage).map(|(entry, _)| entry.number).collect::<Vec<_>>();
        let running = self.of(Stage::Running).map(|(entry, status)| {
            let (step, steps) = status.steps();
            let lease = status.lease.as_ref();
            let owner = lease.and_then(|lease| lease.owner.as_ref());
            json!({
                "number": entry.number,
                "name": entry.name,
                "step": step,
                "steps": steps,
                "host": owner.map(|owner| &owner.host),
                "pid": owner.map(|owner| owner.pid),
                "heartbeat_age_seconds": lease.map(|lease| lease.heartbeat_age.as_secs_f64()),
            })
        });
        let failed = self.of(Stage::Failed).map(|(entry, status)| {
            let log = self.study.log(entry);
            json!({
                "number": entry.number,
                "name": entry.name,
                "error": status.error(),
                "log": log.exists().then(|| log.display().to_string()),
            })
        });
        json!({
            "runs": self.statuses.len(),
            "counts": Value::Object(counts.into_iter().collect()),
            "running": running.collect::<Vec<_>>(),
            "failed": failed.collect::<Vec<_>>(),
            "interrupted": numbers(Stage::Interrupted),
            "queued": numbers(Stage::Queued),
        })
    }
}
