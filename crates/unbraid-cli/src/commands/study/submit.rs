//! `unbraid study submit`: hands the runs to a scheduler.

use crate::error::{Outcome, usage};
use crate::format::{counted, print};
use crate::program;
use crate::study_view::StudyView;
use crate::terminal::log_line;
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use unbraid_study::quote::{absolute, shell};
use unbraid_study::slurm::{self, ClusterLimits, Resources, Submission};
use unbraid_study::{Manifest, RunStatus, Selection, Stage, StudyDirectory, tasks};

/// Scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Job arrays of a Slurm cluster
    Slurm,
    /// One command line for each task on standard output, for any other scheduler
    Print,
}

/// Arguments of `unbraid study submit`.
#[derive(Args, Debug)]
#[command(
    after_help = "Runs that are done, running or queued are skipped, so the same command again submits \
                        the rest. The batch script, the tasks and their output are kept in STUDY/slurm/."
)]
pub(crate) struct SubmitArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Scheduler
    #[arg(long, value_enum, default_value = "slurm")]
    engine: Engine,
    /// Only these runs, as in `0..100,205`
    #[arg(long, value_name = "NUMBERS")]
    only: Option<Selection>,
    /// Also submit runs that have failed
    #[arg(long)]
    retry_failed: bool,
    /// Number of runs that a task trains one after the other
    #[arg(long, value_name = "K", default_value = "1")]
    runs_per_task: NonZeroUsize,
    /// Print the batch script and the commands without submitting
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    slurm: SlurmArgs,
}

/// What only Slurm knows.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options for Slurm")]
struct SlurmArgs {
    /// Partition (default: the cluster's)
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Time limit of a task, as in `90` minutes or `1-12:00:00`; the task is requeued and its runs resume (default: the
    /// partition's)
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Memory of a task, as in `500M` (default: 4G)
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,
    /// Maximum number of tasks that run at the same time
    #[arg(long, value_name = "N")]
    array_limit: Option<NonZeroUsize>,
    /// Another option for sbatch, as in `--sbatch-option=--account=physics`; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch_option: Vec<String>,
}

/// Enough for the data sets that fit into memory as bits or bytes. Without a limit, a task gets a whole
/// machine on clusters that share machines by memory.
const MEMORY: &str = "4G";

/// Options of sbatch by which tasks are told apart or waited for.
const RESERVED: [&str; 8] = ["--array", "-a", "--job-name", "-J", "--parsable", "--wrap", "--wait", "-W"];

/// Submits what is neither done nor queued.
///
/// # Errors
/// If an option is wrong, the study is not planned, or the scheduler refuses.
pub(crate) fn run(args: &SubmitArgs) -> Outcome {
    let resources = args.slurm.resources(args.engine)?;
    let study = StudyDirectory::open(&args.study)?;
    let manifest = super::runs_to_train(&study)?;
    if let Some(only) = &args.only {
        only.check_against(manifest.entries.len()).context("--only")?;
    }
    // From here to the end, so that what one submits the next finds in the queue.
    let changes_something = args.engine == Engine::Slurm && !args.dry_run;
    let _lock = if changes_something { Some(slurm::lock(&study)?) } else { None };
    let (names, left_out) = choose(args, &study, &manifest);
    if names.is_empty() {
        log_line(&format!("nothing to submit{left_out}"));
        return Ok(());
    }
    let tasks = tasks::cut(&names, args.runs_per_task.get());
    match args.engine {
        Engine::Print => print_commands(&study, &tasks, args.retry_failed),
        Engine::Slurm => {
            log_line(&format!("{}{left_out}", in_words(names.len(), tasks.len())));
            let submission = Submission::new(&study, tasks, resources, &program::path()?, args.retry_failed)?;
            submit(&submission, args.slurm.array_limit.map(NonZeroUsize::get), args.dry_run)
        }
    }
}

impl SlurmArgs {
    /// Checks everything that can be checked before the study is read.
    fn resources(&self, engine: Engine) -> Outcome<Resources> {
        if engine == Engine::Print {
            let given = [
                (self.partition.is_some(), "--partition"),
                (self.time.is_some(), "--time"),
                (self.mem.is_some(), "--mem"),
                (self.array_limit.is_some(), "--array-limit"),
                (!self.sbatch_option.is_empty(), "--sbatch-option"),
            ];
            if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
                return Err(usage(format!("{option}: found --engine print, expected --engine slurm")));
            }
        }
        self.time.as_deref().map_or(Ok(()), slurm::check_time)?;
        self.mem.as_deref().map_or(Ok(()), slurm::check_memory)?;
        if let Some(partition) = &self.partition
            && (partition.is_empty() || partition.contains(char::is_whitespace))
        {
            return Err(usage(format!("--partition: found `{partition}`, expected a name without spaces")));
        }
        self.sbatch_option.iter().try_for_each(|option| check_option(option))?;
        Ok(Resources {
            partition: self.partition.clone(),
            time: self.time.clone(),
            memory: self.mem.clone().unwrap_or_else(|| MEMORY.to_owned()),
            options: self.sbatch_option.clone(),
        })
    }
}

/// What stands in a line of the script must not end it, or change what tasks are called.
fn check_option(option: &str) -> Outcome {
    let wrong = |expected: &str| usage(format!("--sbatch-option: found `{option}`, {expected}"));
    if !option.starts_with('-') || option.contains(['\n', '\r']) {
        return Err(wrong("expected an option of sbatch, as in `--account=physics`"));
    }
    let name = option.split(['=', ' ']).next().unwrap_or_default();
    if RESERVED.contains(&name) {
        return Err(wrong("expected an option other than those that unbraid sets"));
    }
    Ok(())
}

/// The names of the runs to submit, and in words why the others are left out.
fn choose(args: &SubmitArgs, study: &StudyDirectory, manifest: &Manifest) -> (Vec<String>, String) {
    let queued: BTreeSet<String> = slurm::queued(study).into_keys().collect();
    let mut names = Vec::new();
    let (mut done, mut running, mut waiting, mut failed) = (0, 0, 0, 0);
    for (entry, status) in manifest.entries.iter().zip(RunStatus::of_study(study, manifest, &queued)) {
        if args.only.as_ref().is_some_and(|only| !only.contains(entry.number)) {
            continue;
        }
        match status.stage {
            Stage::Done => done += 1,
            // A run may have failed and wait to be tried again.
            _ if queued.contains(&entry.name) => waiting += 1,
            Stage::Running => running += 1,
            Stage::Failed if !args.retry_failed => failed += 1,
            Stage::Failed | Stage::Interrupted | Stage::Queued | Stage::Pending => {
                names.push(entry.name.clone());
            }
        }
    }
    let counts =
        [(done, Stage::Done), (waiting, Stage::Queued), (running, Stage::Running), (failed, Stage::Failed)];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, stage)| format!("{count} {}", stage.name()))
        .collect();
    let mut left_out = String::new();
    if !parts.is_empty() {
        let _ = write!(left_out, "; left out: {}", parts.join(", "));
    }
    if failed > 0 {
        left_out.push_str("\nhint: --retry-failed submits failed runs again");
    }
    (names, left_out)
}

fn in_words(runs: usize, tasks: usize) -> String {
    format!("{} in {}", counted(runs, "run"), counted(tasks, "task"))
}

fn print_commands(study: &StudyDirectory, tasks: &[Vec<String>], retry_failed: bool) -> Outcome {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    let program = program::path()?;
    // Paths in configurations may be relative to where we are.
    let start = format!(
        "cd {} && {} study run {}",
        shell(&absolute(&here)?),
        shell(&absolute(&program)?),
        shell(&absolute(study.path())?)
    );
    let retry = if retry_failed { " --retry-failed" } else { "" };
    let mut text = String::new();
    for task in tasks {
        let names: String = task.iter().map(|name| format!(" --name {}", shell(name))).collect();
        let _ = writeln!(text, "{start}{names} --jobs 1{retry}");
    }
    print(&text)
}

fn submit(submission: &Submission, array_limit: Option<usize>, dry_run: bool) -> Outcome {
    let limits = ClusterLimits::of_cluster().unwrap_or_else(|| {
        let limits = ClusterLimits::default();
        log_line(&format!(
            "scontrol reports no limits; assuming arrays of at most {} tasks, Slurm's default",
            limits.array_tasks
        ));
        limits
    });
    let tasks = submission.tasks().len();
    if limits.array_tasks == 0 {
        return Err(usage(
            "MaxArraySize: found 0, which disables job arrays on this cluster\nhint: --engine print gives single command lines",
        ));
    }
    if let Some(jobs) = limits.jobs.filter(|jobs| tasks > *jobs) {
        return Err(usage(format!(
            "found {tasks} tasks, expected at most {jobs}, the MaxJobCount of this cluster\nhint: --runs-per-task puts more \
             runs into fewer tasks; --only submits some of them"
        )));
    }
    let arrays = slurm::cut(tasks, limits.array_tasks, array_limit).context("--array-limit")?;
    if dry_run {
        let commands = arrays.iter().map(|array| Ok(submission.command_line(array)? + "\n"));
        let commands = commands.collect::<Outcome<String>>()?;
        return print(&format!("{}\n{commands}", submission.script()));
    }
    let mut view = StudyView::new();
    let submitted = submission.submit(&arrays, &mut view);
    // A failure to print the numbers must not stop the submission.
    let printed = print(&view.jobs());
    submitted?;
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_sbatch_are_taken_as_they_are_except_those_that_would_do_harm() {
        for option in ["--account=physics", "--exclude=node[1-3]", "-A physics", "--comment='a b'"] {
            check_option(option).unwrap();
        }
        let form = "an option of sbatch, as in `--account=physics`";
        let free = "an option other than those that unbraid sets";
        for (option, expected) in [
            ("account=x", form),
            ("--account=x\nrm", form),
            ("", form),
            ("--array=0-3", free),
            ("-J name", free),
        ] {
            let message = check_option(option).unwrap_err().to_string();
            assert_eq!(message, format!("--sbatch-option: found `{option}`, expected {expected}"));
        }
    }
}
