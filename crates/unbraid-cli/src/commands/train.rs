//! `unbraid train`.

use super::configuration::{Compute, ComputeArgs, ConfigArgs};
use super::finish::{self, Wanted};
use crate::config::{Config, Source};
use crate::failure::{Failure, Outcome};
use crate::files::print;
use crate::model::{Blueprint, NamedParameter};
use crate::run::{self, FileJournal, Interrupt, Meta, RunDirectory, Start, State, Status};
use crate::terminal::{TerminalProgress, TrainingDisplay, log_line};
use crate::train::{Ending, Trainer, train};
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::path::{Path, PathBuf};
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

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage or input; 130 after Ctrl-C and 143 after SIGTERM or \
                          SIGUSR1, with a checkpoint written. A second Ctrl-C ends at once.";

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
    let start = match args.resume {
        Some(Resume::Always) => Start::Resume,
        Some(Resume::Auto) => Start::ResumeIfThere,
        None if args.overwrite => Start::Overwrite,
        None => Start::Fresh,
    };
    let order = Order {
        given,
        out: args.out.as_deref(),
        start,
        evaluation: !args.no_evaluation,
        report: !args.no_report,
        quiet: args.quiet,
    };
    let compute = args.compute.prepare()?;
    carry_out(order, &compute, &Interrupt::listen()?)
}

/// A run to be trained.
#[derive(Debug)]
pub(super) struct Order<'a> {
    /// Its configuration; without one, that of the run to go on with.
    pub(super) given: Option<Config>,
    /// Its directory; without one, a new one under `runs/`.
    pub(super) out: Option<&'a Path>,
    pub(super) start: Start,
    /// Whether to score it in the end, if the configuration says so too.
    pub(super) evaluation: bool,
    /// The same of its report.
    pub(super) report: bool,
    pub(super) quiet: bool,
}

/// Trains, scores and draws a run, as far as that is still to be done.
pub(super) fn carry_out(order: Order<'_>, compute: &Compute, interrupt: &Interrupt) -> Outcome {
    // Data and model are checked before anything is written, except that a run to resume has to be opened first.
    let checked = match &order.given {
        Some(config) => Some(open_data(config, order.quiet)?),
        None => None,
    };
    let (run, has_run) = match (order.out, &order.given) {
        (Some(path), _) => RunDirectory::take(path, order.start)?,
        (None, Some(config)) => (RunDirectory::create_named(config)?, false),
        (None, None) => return Err(Failure::input("--resume needs --out")),
    };
    let (config, other_metrics) = resolved(&run, has_run, order.given)?;
    let data = match checked {
        Some(data) => data,
        None => open_data(&config, order.quiet)?,
    };
    let wanted = Wanted {
        evaluation: config.evaluation.after_training && order.evaluation,
        report: config.evaluation.report && order.report,
    };
    let job =
        Job { run: &run, config: &config, other_metrics, data: data.as_ref(), wanted, quiet: order.quiet };
    compute.run(|| job.work(compute, interrupt))
}

fn open_data(config: &Config, quiet: bool) -> Outcome<Box<dyn DataSet>> {
    let data = unbraid_data::open(&config.data, &TerminalProgress::new(quiet))?;
    config.check_against(data.as_ref())?;
    Blueprint::new(&config.model, data.shape())?;
    Ok(data)
}

/// The configuration to go by, and whether it asks for other metrics than the run that is there was to be scored by.
fn resolved(run: &RunDirectory, has_run: bool, given: Option<Config>) -> Outcome<(Config, bool)> {
    // A run that ended before it could write its configuration has none to compare with.
    let has_config = has_run && (run.config().exists() || given.is_none());
    let stored = if has_config { Some(run.read_config()?) } else { None };
    match (stored, given) {
        (None, None) => Ok((Source::default().resolve()?, false)),
        (None, Some(config)) | (Some(config), None) => Ok((config, false)),
        // What is measured in the end may change: the weights are the same.
        (Some(stored), Some(given)) if stored.fingerprint() == given.fingerprint() => {
            let other_metrics = stored.evaluation.metrics != given.evaluation.metrics;
            Ok((given, other_metrics))
        }
        (Some(stored), Some(given)) => Err(Failure::input(format!(
            "{}: the run has another configuration than the one given: {}\nhint: without --preset, --config and --set, \
             --resume takes the run's own",
            run.path().display(),
            stored.differences(&given).join("; ")
        ))),
    }
}

/// A run whose questions are settled.
struct Job<'a> {
    run: &'a RunDirectory,
    config: &'a Config,
    /// Whether scores that are there are of other metrics.
    other_metrics: bool,
    data: &'a dyn DataSet,
    wanted: Wanted,
    quiet: bool,
}

impl Job<'_> {
    fn work(&self, compute: &Compute, interrupt: &Interrupt) -> Outcome {
        let Self { run, config, data, .. } = *self;
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
            return self.catch_up(step, &hash);
        }
        run.prepare(config)?;
        describe(earlier, config, data, &hash, &trainer, compute).write(&run.meta())?;

        interrupt.save_first();
        let display = TrainingDisplay::new(self.quiet);
        if !self.quiet {
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
        let mut journal = FileJournal::open(run, config, (step, steps), position, &display, interrupt)?;
        match train(&mut trainer, config, steps, &mut journal) {
            Ok(Ending::Complete) => {
                journal.complete()?;
                print(&summary(&journal, run, steps))?;
                // All is saved; the weights that are on disk are those to be scored.
                interrupt.end_at_once();
                if let Some(signal) = interrupt.signal() {
                    return Err(finish::interrupted(run.path(), signal));
                }
                drop(trainer);
                finish::finish(run.path(), &config.evaluation.metrics, (data, &hash), self.wanted, self.quiet)
            }
            Ok(Ending::Interrupted) => Err(journal.interrupted()),
            Err(error) => Err(journal.failed(error)),
        }
    }

    /// What a run that is trained still lacks. Its `config.toml` says what its scores are of, so it changes after them:
    /// whenever the process dies, the next one finds out what is missing.
    fn catch_up(&self, step: u64, hash: &str) -> Outcome {
        let Self { run, config, .. } = *self;
        let missing = finish::missing(run.path(), step, self.wanted, self.other_metrics);
        let finish = |wanted: Wanted| {
            finish::finish(run.path(), &config.evaluation.metrics, (self.data, hash), wanted, self.quiet)
        };
        let scored = finish(Wanted { report: false, ..missing });
        let scores_fit = missing.evaluation || !self.other_metrics;
        if scored.is_ok() && scores_fit && run.read_config()? != *config {
            run.write_config(config)?;
        }
        let reported = finish(Wanted { evaluation: false, ..missing });
        if let (Err(_), Err(second)) = (&scored, &reported) {
            log_line(&format!("error: {second}"));
        }
        scored.and(reported)
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
