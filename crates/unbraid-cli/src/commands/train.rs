//! `unbraid train`.

use super::configuration::{ComputeArgs, ConfigArgs};
use crate::error::{Outcome, usage};
use crate::format::print;
use crate::interrupt::Interrupt;
use crate::terminal::Terminal;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use unbraid::config::Length;
use unbraid::run::{Session, Start};
use unbraid_report::HtmlReport;

/// What to train, and where.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Print the resolved configuration and stop
    #[arg(long)]
    print_config: bool,
    /// Run directory (default: a new one under `runs/`)
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
    /// Continue the run in --out; `auto` starts a new one if there is none
    #[arg(long, value_name = "auto", num_args = 0..=1, default_missing_value = "always", requires = "out")]
    resume: Option<Resume>,
    /// Delete the run in --out and start again
    #[arg(long, requires = "out", conflicts_with = "resume")]
    overwrite: bool,
    /// Train the run in --out longer, up to this total number of steps; `60epochs` for a run that counts epochs
    #[arg(long, value_name = "STEPS", requires = "out", conflicts_with_all = ["resume", "overwrite", "print_config"], value_parser = length)]
    extend: Option<Length>,
    /// Start from these weights in place of random ones: a run, or a file of weights (training.init)
    #[arg(long, value_name = "RUN|FILE")]
    init: Option<PathBuf>,
    /// Skip the evaluation after training (evaluation.after_training = false)
    #[arg(long)]
    no_evaluation: bool,
    /// Skip the figures and report.html (evaluation.report = false)
    #[arg(long)]
    no_report: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

const AFTER_HELP: &str = "Example: unbraid train photos/ --out runs/photos\n\nExit codes: 0 success, 1 failure, 2 wrong usage or input; 130 after Ctrl-C and 143 after SIGTERM, \
                          SIGHUP or SIGUSR1, with a checkpoint written. A second Ctrl-C ends at once.";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Resume {
    #[value(hide = true)]
    Always,
    Auto,
}

/// `50000` or `60epochs`.
fn length(text: &str) -> Result<Length, String> {
    let (number, epochs) = match text.strip_suffix("epochs") {
        Some(number) => (number.trim(), true),
        None => (text, false),
    };
    let number =
        number.parse().map_err(|_| "expected a number of steps, or of epochs as in 60epochs".to_owned())?;
    Ok(if epochs { Length::Epochs(number) } else { Length::Steps(number) })
}

/// Trains, scores and reports a run.
///
/// # Errors
/// If the request is wrong, something fails, or a signal asks to stop.
pub(crate) fn run(args: &TrainArgs) -> Outcome {
    if args.extend.is_some() && !args.config.is_empty() {
        return Err(usage(
            "--extend continues with the run's own configuration; expected no data, --preset, --config, --set or other settings",
        ));
    }
    if args.init.is_some() && (args.extend.is_some() || args.config.is_empty() && args.resume.is_some()) {
        return Err(usage(
            "--init starts a new run; expected neither --extend nor --resume without a configuration",
        ));
    }
    // With --resume and --extend, the run's own configuration is the default, so a given one is only compared with it.
    let given = if args.config.is_empty() && (args.resume.is_some() || args.extend.is_some()) {
        None
    } else {
        Some(args.config.resolve_from(args.init.as_deref())?)
    };
    if args.print_config {
        let config = given.map_or_else(|| args.config.resolve_from(args.init.as_deref()), Ok)?;
        // What is printed is to be used, also where the data is not.
        unbraid::data::registry::check(&config.data)?;
        return print(&config.to_toml());
    }
    let start = match args.resume {
        Some(Resume::Always) => Start::Resume,
        Some(Resume::Auto) => Start::ResumeIfThere,
        None if args.extend.is_some() => Start::Resume,
        None if args.overwrite => Start::Overwrite,
        None => Start::Fresh,
    };
    let compute = args.compute.prepare()?;
    let interrupt = Interrupt::listen()?;
    let mut session = match (given, &args.out, args.extend) {
        (None, Some(out), Some(length)) => Session::extend(out, length),
        (Some(config), None, _) => Session::new(config),
        (Some(config), Some(out), _) => Session::new(config).out(out),
        (None, Some(out), None) => Session::resume(out),
        (None, None, _) => return Err(usage("--resume needs --out")),
    };
    session =
        session.start(start).device(compute.device()).evaluation(!args.no_evaluation).stop_on(&interrupt);
    if !args.no_report {
        session = session.report(&HtmlReport);
    }
    compute.run(|| session.execute(&Terminal::new(args.quiet)))?;
    Ok(())
}
