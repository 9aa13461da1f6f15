//! `unbraid study status`.

use crate::error::{Outcome, usage};
use crate::format::print;
use unbraid_study::standing::overview;
use unbraid_study::{Entry, Manifest, Stage, Standing, StudyDirectory, slurm};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// How it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One object
    Json,
}

/// Which study.
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// How it is printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Runs of a kind that the table names; JSON names them all.
const NAMED: usize = 20;

/// Prints where the runs of a study stand.
///
/// # Errors
/// If there is no such study or it has not been planned.
pub(crate) fn run(args: &StatusArgs) -> Outcome {
    let study = StudyDirectory::open(&args.study)?;
    let manifest = super::planned_runs(&study)?;
    let standings = overview(&study, &manifest, &slurm::queued(&study).into_keys().collect());
    let status = StudyStatus { study: &study, manifest: &manifest, standings: &standings };
    print(&match args.format {
        Format::Table => status.as_text(),
        Format::Json => {
            format!("{}\n", serde_json::to_string_pretty(&status.as_json()).map_err(Failure::run)?)
        }
    })
}

struct StudyStatus<'a> {
    study: &'a StudyDirectory,
    manifest: &'a Manifest,
    standings: &'a [Standing],
}

impl StudyStatus<'_> {
    fn of(&self, stage: Stage) -> impl Iterator<Item = (&Entry, &Standing)> {
        self.manifest.entries.iter().zip(self.standings).filter(move |(_, standing)| standing.stage == stage)
    }

    fn as_text(&self) -> String {
        let mut text = format!("{:15} {}\n", "runs", self.standings.len());
        for stage in Stage::ALL {
            let _ = writeln!(text, "{:15} {}", stage.name(), self.of(stage).count());
        }
        self.list(&mut text, Stage::Running, |_, standing| {
            let (step, steps) = standing.steps();
            let progress = if steps == 0 { "starting".to_owned() } else { format!("step {step} of {steps}") };
            let Some(claim) = &standing.claim else { return progress };
            let who = claim.holder.as_ref().map_or_else(
                || "of somebody".to_owned(),
                |holder| format!("on {} (process {})", holder.host, holder.pid),
            );
            format!("{progress}, {who}, heartbeat {:.0} s ago", claim.still_for.as_secs_f64())
        });
        self.list(&mut text, Stage::Failed, |entry, standing| {
            let mut words = standing.error().unwrap_or("for an unknown reason").replace('\n', "\n    ");
            let log = self.study.log(entry);
            if log.exists() {
                let _ = write!(words, "\n    log: {}", log.display());
            }
            words
        });
        text
    }

    /// The runs at a stage, one by one, and a few words on each.
    fn list(&self, text: &mut String, stage: Stage, words: impl Fn(&Entry, &Standing) -> String) {
        for (place, (entry, standing)) in self.of(stage).enumerate().take(NAMED) {
            if place == 0 {
                let _ = writeln!(text, "\n{}", stage.name());
            }
            let _ = writeln!(text, "{:5} {}\n    {}", entry.number, entry.name, words(entry, standing));
        }
        let more = self.of(stage).count().saturating_sub(NAMED);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more; --format json names them all");
        }
    }

    fn as_json(&self) -> Value {
        let counts = Stage::ALL.map(|stage| (stage.name().to_owned(), json!(self.of(stage).count())));
        let numbers = |stage| self.of(stage).map(|(entry, _)| entry.number).collect::<Vec<_>>();
        let running = self.of(Stage::Running).map(|(entry, standing)| {
            let (step, steps) = standing.steps();
            let claim = standing.claim.as_ref();
            let holder = claim.and_then(|claim| claim.holder.as_ref());
            json!({
                "number": entry.number,
                "name": entry.name,
                "step": step,
                "steps": steps,
                "host": holder.map(|holder| &holder.host),
                "pid": holder.map(|holder| holder.pid),
                "heartbeat_age_seconds": claim.map(|claim| claim.still_for.as_secs_f64()),
            })
        });
        let failed = self.of(Stage::Failed).map(|(entry, standing)| {
            let log = self.study.log(entry);
            json!({
                "number": entry.number,
                "name": entry.name,
                "error": standing.error(),
                "log": log.exists().then(|| log.display().to_string()),
            })
        });
        json!({
            "runs": self.standings.len(),
            "counts": Value::Object(counts.into_iter().collect()),
            "running": running.collect::<Vec<_>>(),
            "failed": failed.collect::<Vec<_>>(),
            "interrupted": numbers(Stage::Interrupted),
            "queued": numbers(Stage::Queued),
        })
    }
}
