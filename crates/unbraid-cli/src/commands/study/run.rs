//! `unbraid study run`.

use crate::error::{Outcome, Stopped, message, usage};
use crate::format::print;
use crate::interrupt::Interrupt;
use crate::program;
use crate::study_view::StudyView;
use crate::terminal::log_line;
use anyhow::{Context, anyhow};
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use unbraid_study::{Entry, Manifest, Runner, Selection, StudyDirectory, Tally, tasks};

/// Which runs, and how many at a time.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RunArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Number of runs to train at the same time, each on one thread (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Only these runs, as in `0..100,205`; ranges are half-open
    #[arg(long, value_name = "RANGES", conflicts_with = "id")]
    only: Option<Selection>,
    /// Only the run with this number
    #[arg(long, value_name = "K")]
    id: Option<usize>,
    /// Only the run with this name, which does not change when runs are renumbered; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "id"])]
    name: Vec<String>,
    /// Tasks as `study submit` writes them
    #[arg(long, value_name = "FILE", hide = true, requires = "task", conflicts_with_all = ["only", "id", "name"])]
    task_list: Option<PathBuf>,
    /// Only the runs of this task of the list
    #[arg(long, value_name = "N", hide = true, requires = "task_list")]
    task: Option<usize>,
    /// Also retry runs that have failed
    #[arg(long)]
    retry_failed: bool,
}

const EXIT_CODES: &str = "Runs that are done are skipped, interrupted ones resume from their checkpoint. The same study may \
                          be run by several processes at once, also on several machines that share its directory: no run is \
                          trained twice.\n\nExit codes: 0 all runs are done, 1 some failed, 2 wrong usage or input; 130 after Ctrl-C and \
                          143 after SIGTERM or SIGUSR1, with checkpoints written. A second Ctrl-C ends at once.";

/// Failures that are told one by one; `unbraid study status` tells them all.
const TOLD: usize = 10;

/// Trains what is not trained yet.
///
/// # Errors
/// If the request is wrong, some run failed, or a signal asks for an end.
pub(crate) fn run(args: &RunArgs) -> Outcome {
    let interrupt = Interrupt::listen_patiently()?;
    let study = StudyDirectory::open(&args.study)?;
    let manifest = super::runs_to_train(&study)?;
    let entries = selected(&manifest, args)?;
    let mut arguments = vec!["study", "work", "--threads", "1"];
    if unbraid::data::memory::is_lifted() {
        arguments.push("--allow-large");
    }
    let worker = program::worker(arguments)?;
    let mut runner = Runner::new(&study, worker).retry_failed(args.retry_failed).stop_on(&interrupt);
    if let Some(jobs) = args.jobs {
        runner = runner.jobs(usize::from(jobs));
    }
    let tally = runner.run(entries.iter().copied(), &mut StudyView::new())?;
    print(&summary(&tally, entries.len()))?;
    conclude(tally, &study, entries.len())
}

fn selected<'a>(manifest: &'a Manifest, args: &RunArgs) -> Outcome<Vec<&'a Entry>> {
    let entries = &manifest.entries;
    if let (Some(list), Some(task)) = (&args.task_list, args.task) {
        let (found, missing) = tasks::find(manifest, &tasks::read_one(list, task)?);
        // The study has changed since the task was submitted.
        if !missing.is_empty() {
            log_line(&format!("no longer part of the study: {}", missing.join(", ")));
        }
        return Ok(found);
    }
    if !args.name.is_empty() {
        let (found, missing) = tasks::find(manifest, &args.name);
        return match missing.first() {
            Some(name) => Err(usage(format!("--name: the study has no run `{name}`"))),
            None => Ok(found),
        };
    }
    let (selection, option) = match (&args.only, args.id) {
        (Some(selection), _) => (selection.clone(), "--only"),
        (None, Some(id)) => (Selection::of([id]), "--id"),
        (None, None) => return Ok(entries.iter().collect()),
    };
    selection.check_against(entries.len()).context(option)?;
    Ok(selection.numbers().map(|number| &entries[number]).collect())
}

/// How many of each kind, one line for each.
fn summary(tally: &Tally<'_>, runs: usize) -> String {
    let mut text = format!("{:15} {runs}\n{:15} {}\n", "runs", "done", tally.done);
    let left = runs - tally.done - tally.failed.len();
    for (name, count) in
        [("finished now", tally.finished_here), ("failed", tally.failed.len()), ("left", left)]
    {
        if count > 0 {
            let _ = writeln!(text, "{name:15} {count}");
        }
    }
    text
}

/// What of it is an error.
fn conclude(tally: Tally<'_>, study: &StudyDirectory, runs: usize) -> Outcome {
    if let Some(signal) = tally.signal {
        let message = format!(
            "interrupted by {}; {} of {runs} runs are done, and those in progress are saved\nhint: the same command \
             resumes",
            signal.name(),
            tally.done
        );
        return Err(Stopped { signal, message }.into());
    }
    if !tally.failed.is_empty() {
        if let Some(broken) = tally.broken {
            log_line(&message(&broken.into()));
        }
        return Err(anyhow!(failures(&tally.failed, study, runs)));
    }
    if let Some(broken) = tally.broken {
        return Err(broken.into());
    }
    if !tally.interrupted.is_empty() {
        let names: Vec<&str> = tally.interrupted.iter().take(TOLD).map(|entry| entry.name.as_str()).collect();
        return Err(anyhow!(
            "{} of {runs} runs were asked to stop by somebody else: {}\nhint: the same command resumes them",
            tally.interrupted.len(),
            names.join(", ")
        ));
    }
    Ok(())
}

fn failures(failed: &[(&Entry, String)], study: &StudyDirectory, runs: usize) -> String {
    let mut text = format!("{} of {runs} runs failed", failed.len());
    for (entry, error) in failed.iter().take(TOLD) {
        let _ =
            write!(text, "\n{} {}: {}", entry.number, entry.name, error.lines().next().unwrap_or_default());
        let log = study.log(entry);
        if log.exists() {
            let _ = write!(text, "\n  log: {}", log.display());
        }
    }
    if failed.len() > TOLD {
        let _ = write!(
            text,
            "\nand {} more: unbraid study status {}",
            failed.len() - TOLD,
            study.path().display()
        );
    }
    text.push_str("\nhint: --retry-failed tries them again");
    text
}
