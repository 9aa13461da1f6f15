//! `unbraid train`.

use super::configuration::{Compute, ComputeArgs, ConfigArgs};
use super::finish::{self, Wanted};
use crate::config::Config;
use crate::failure::{Failure, Outcome};
use crate::files::print;
use crate::model::{Blueprint, NamedParameter};
use crate::run::{self, FileJournal, Interrupt, Meta, RunDirectory, Start, State, Status};
use crate::terminal::{TerminalProgress, TrainingDisplay, log_line};
use crate::train::{Ending, Trainer, train};
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::path::PathBuf;
use unbraid_data::DataSet;

/// What to train, and where.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct TrainArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Print the resolved configuration and stop
    #[arg(long)]
    print_config: bool,
    /// The run directory; by default a new one under `runs/`
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
    /// Go on with the run in --out; `auto` starts it if there is none
    #[arg(long, value_name = "auto", num_args = 0..=1, default_missing_value = "always", requires = "out")]
    resume: Option<Resume>,
    /// Remove the run in --out and start again
    #[arg(long, requires = "out", conflicts_with = "resume")]
    overwrite: bool,
    /// Do not score the run once it is trained (evaluation.after_training = false)
    #[arg(long)]
    no_evaluation: bool,
    /// Draw no figures and write no report.html (evaluation.report = false)
    #[arg(long)]
    no_report: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage or input; 130 after Ctrl-C and 143 after SIGTERM, \
                          with a checkpoint written. A second Ctrl-C ends at once.";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Resume {
    #[value(hide = true)]
    Always,
    Auto,
}

/// Trains as asked.
///
/// # Errors
/// If the request is wrong, something breaks on the way, or a signal asks for an end.
pub fn run(args: &TrainArgs) -> Outcome {
    // With --resume, the run's own configuration is the default, so a given one is only compared with it.
    let given =
        if args.config.is_empty() && args.resume.is_some() { None } else { Some(args.config.resolve()?) };
    if args.print_config {
        let config = given.map_or_else(|| args.config.resolve(), Ok)?;
        return print(&config.to_toml());
    }
    let compute = args.compute.prepare()?;
    // Data and model are checked before anything is written, except that a run to resume has to be opened first.
    let checked = match &given {
        Some(config) => Some(open_data(config, args.quiet)?),
        None => None,
    };
    let (run, has_run) = take_directory(args, given.as_ref())?;
    let config = resolved(&run, has_run, given, args)?;
    let data = match checked {
        Some(data) => data,
        None => open_data(&config, args.quiet)?,
    };
    let wanted = Wanted {
        evaluation: config.evaluation.after_training && !args.no_evaluation,
        report: config.evaluation.report && !args.no_report,
    };
    compute.run(|| work(&run, &config, data.as_ref(), &compute, wanted, args.quiet))
}

fn open_data(config: &Config, quiet: bool) -> Outcome<Box<dyn DataSet>> {
    let data = unbraid_data::open(&config.data, &TerminalProgress::new(quiet))?;
    config.check_against(data.as_ref())?;
    Blueprint::new(&config.model, data.shape())?;
    Ok(data)
}

fn take_directory(args: &TrainArgs, given: Option<&Config>) -> Outcome<(RunDirectory, bool)> {
    let start = match args.resume {
        Some(Resume::Always) => Start::Resume,
        Some(Resume::Auto) => Start::ResumeIfThere,
        None if args.overwrite => Start::Overwrite,
        None => Start::Fresh,
    };
    match (&args.out, given) {
        (Some(path), _) => RunDirectory::take(path, start),
        (None, Some(config)) => Ok((RunDirectory::create_named(config)?, false)),
        (None, None) => Err(Failure::input("--resume needs --out")),
    }
}

fn resolved(run: &RunDirectory, has_run: bool, given: Option<Config>, args: &TrainArgs) -> Outcome<Config> {
    if !has_run {
        return given.map_or_else(|| args.config.resolve(), Ok);
    }
    let stored = run.read_config()?;
    let differences = given.map(|given| stored.differences(&given)).unwrap_or_default();
    if differences.is_empty() {
        return Ok(stored);
    }
    Err(Failure::input(format!(
        "{}: the run has another configuration than the one given: {}\nhint: without --preset, --config and --set, \
         --resume takes the run's own",
        run.path().display(),
        differences.join("; ")
    )))
}

/// Everything after the questions are settled.
fn work(
    run: &RunDirectory,
    config: &Config,
    data: &dyn DataSet,
    compute: &Compute,
    wanted: Wanted,
    quiet: bool,
) -> Outcome {
    let steps = config.training.total_steps(data.len());
    let mut trainer = Trainer::new(config, data, &compute.device)?;
    let hash = data.fingerprint()?;
    let earlier = Meta::read(&run.meta());
    if let Some(earlier) = &earlier
        && earlier.data_sha256 != hash
    {
        return Err(Failure::input(format!(
            "{}: the data has changed since the run began: found SHA-256 {hash}, expected {}",
            run.path().display(),
            earlier.data_sha256
        )));
    }
    let checkpoint = run::load(run, &config.fingerprint())?;
    let position = match checkpoint {
        None => run::Position::default(),
        Some(checkpoint) => {
            trainer
                .restore(checkpoint.step, checkpoint.weights, checkpoint.state)
                .map_err(|error| Failure::Input(anyhow::Error::from(error).context("cannot resume")))?;
            checkpoint.position
        }
    };
    let step = trainer.steps_done();
    if step >= steps && Status::read(&run.status()).is_some_and(|status| status.state == State::Done) {
        log_line(&format!("{}: already finished after {step} steps", run.path().display()));
        return finish::finish(run.path(), data, &hash, finish::missing(run.path(), step, wanted), quiet);
    }
    run.prepare(config)?;
    describe(earlier, config, data, &hash, &trainer, compute).write(&run.meta())?;

    let interrupt = Interrupt::listen()?;
    let display = TrainingDisplay::new(quiet);
    if !quiet {
        let verb = if step == 0 { "training" } else { "resuming" };
        log_line(&format!(
            "{verb} {} on {} ({} images of {}) in {}",
            config.objective.name(),
            data.name(),
            data.len(),
            data.shape(),
            run.path().display()
        ));
    }
    let mut journal = FileJournal::open(run, config, (step, steps), position, &display, &interrupt)?;
    match train(&mut trainer, config, steps, &mut journal) {
        Ok(Ending::Complete) => {
            journal.complete()?;
            print(&summary(&journal, run, steps))?;
            // All is saved; the weights that are on disk are those to be scored.
            interrupt.end_at_once();
            drop(trainer);
            finish::finish(run.path(), data, &hash, wanted, quiet)
        }
        Ok(Ending::Interrupted) => Err(journal.interrupted()),
        Err(error) => Err(journal.failed(error)),
    }
}

fn describe(
    earlier: Option<Meta>,
    config: &Config,
    data: &dyn DataSet,
    hash: &str,
    trainer: &Trainer<'_>,
    compute: &Compute,
) -> Meta {
    let shape = data.shape();
    let count = |parameter: &&dyn NamedParameter| parameter.shape().iter().product::<usize>();
    let mut meta = match earlier {
        Some(earlier) => earlier.resumed_now(),
        None => Meta::new(config.seed),
    };
    meta.data_sha256 = hash.to_owned();
    meta.data_images = data.len();
    meta.image_shape = [shape.height, shape.width, shape.channels];
    meta.parameters = trainer.parameters().iter().map(count).sum();
    meta.threads = compute.threads;
    meta.device.clone_from(&compute.device_name);
    meta
}

/// The final losses and where everything is.
fn summary(journal: &FileJournal<'_>, run: &RunDirectory, steps: u64) -> String {
    let mut text = format!("{:15} {steps}\n", "steps");
    if let Some(row) = journal.last_row() {
        let of_unit = |key: &str| key.contains("/kl_unit/") || key.contains("/kl_categorical/");
        for (key, value) in row.values.iter().filter(|(key, _)| !of_unit(key)) {
            let name = key.strip_prefix("train/").unwrap_or(key);
            let _ = writeln!(text, "{name:15} {value:.3}");
        }
    }
    let _ = writeln!(text, "{:15} {}", "run", run.path().display());
    text
}
