//! `unbraid evaluate`: scores of a run, or of codes from elsewhere.

use super::configuration::ComputeArgs;
use crate::evaluate::scores_file::Outputs;
use crate::evaluate::{Representation, Settings, codes_file, evaluate, score, table};
use crate::failure::{Failure, Outcome};
use crate::files::print;
use crate::run::{Meta, Run};
use crate::terminal::{TerminalProgress, log_line};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use unbraid_data::DataSet;
use unbraid_data::spec::OptionValue;
use unbraid_metrics::registry::{self, Options, Report};

/// How scores are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One object
    Json,
    /// One row for each number
    Csv,
}

/// Arguments of `unbraid evaluate`.
#[derive(Args, Debug)]
pub struct EvaluateArgs {
    /// A run directory; scores.json and codes.npz are written into it
    #[arg(value_name = "RUN", required_unless_present = "codes", conflicts_with = "codes")]
    run: Option<PathBuf>,
    /// Codes and factors as .npz: `codes_train`, `factors_train`, `codes_test`, `factors_test`, or `codes` and
    /// `factors`
    #[arg(long, value_name = "FILE.npz")]
    codes: Option<PathBuf>,
    /// Metrics to compute, separated by commas (default: those of the run's configuration, or all that apply)
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    metrics: Vec<String>,
    /// Decides everything that is drawn at random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Training points drawn from the run's data (default 10000); half as many are drawn for testing
    #[arg(long, value_name = "N", conflicts_with = "codes")]
    samples: Option<usize>,
    /// Judge on images that the run was not trained on: test points come from `split=test` of its data
    #[arg(long, conflicts_with = "codes")]
    test_split: bool,
    /// What counts as the code of an image (default: mean)
    #[arg(long, value_enum, conflicts_with = "codes")]
    representation: Option<Representation>,
    /// Take the checkpoint that was kept after this step in place of the last
    #[arg(long, value_name = "N", conflicts_with = "codes")]
    step: Option<u64>,
    #[command(flatten)]
    compute: ComputeArgs,
    /// How scores are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Say in the table what each number means
    #[arg(long)]
    explain: bool,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
}

/// The fewest training points: a test sample has half as many, and needs two.
const FEWEST_SAMPLES: usize = 4;

/// Computes and prints scores.
///
/// # Errors
/// If the run, the file or a metric's name is wrong, or a score cannot be computed from these codes.
pub fn run(args: &EvaluateArgs) -> Outcome {
    for name in &args.metrics {
        registry::find(name).map_err(Failure::input)?;
    }
    let compute = args.compute.prepare()?;
    let report = match (&args.run, &args.codes) {
        (Some(path), _) => compute.run(|| score_run(path, args))?,
        (None, Some(path)) => compute.run(|| score_codes(path, args))?,
        (None, None) => return Err(Failure::input("expected a run directory or --codes FILE.npz")),
    };
    print(&match args.format {
        Format::Table => table::as_text(&report, args.explain),
        Format::Csv => table::as_csv(&report),
        Format::Json => {
            let json = serde_json::to_string_pretty(&report).map_err(Failure::run)?;
            format!("{json}\n")
        }
    })
}

fn score_codes(path: &Path, args: &EvaluateArgs) -> Outcome<Report> {
    let codes = codes_file::read(path)?;
    let options = Options { seed: args.seed, ..Options::default() };
    score(&args.metrics, &codes, &options, &TerminalProgress::new(args.quiet))
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn score_run(path: &Path, args: &EvaluateArgs) -> Outcome<Report> {
    let defaults = Settings::default();
    let samples = args.samples.unwrap_or(defaults.samples);
    if samples < FEWEST_SAMPLES {
        return Err(Failure::input(format!(
            "--samples: found {samples}, expected at least {FEWEST_SAMPLES}"
        )));
    }
    let run = args.step.map_or_else(|| Run::open(path), |step| Run::open_at_step(path, step))?;
    let metrics =
        if args.metrics.is_empty() { run.config().evaluation.metrics.clone() } else { args.metrics.clone() };
    let representation = args.representation.unwrap_or_default();
    let settings = Settings { metrics, seed: args.seed, samples, representation };

    let progress = TerminalProgress::new(args.quiet);
    // Before any work, and again in the end: what is in the way should be known soon.
    Outputs::in_run(path)?;
    let data = unbraid_data::open(&run.config().data, &progress)?;
    let hash = same_data(path, data.as_ref())?;
    let test = if args.test_split { Some(open_test_split(&run, &hash, &progress)?) } else { None };
    let report = score_and_write(&run, (data.as_ref(), test.as_deref()), hash, &settings, args.quiet)?;
    let page = path.join("report.html");
    if page.exists() && !args.quiet {
        log_line(&format!(
            "{}: older than these scores; unbraid report {} draws it anew",
            page.display(),
            path.display()
        ));
    }
    Ok(report)
}

/// Scores a run on data, and on a test split if there is one, and writes the results into its directory; `hash` is that of
/// the data.
pub(super) fn score_and_write(
    run: &Run,
    (data, test): (&dyn DataSet, Option<&dyn DataSet>),
    hash: String,
    settings: &Settings,
    quiet: bool,
) -> Outcome<Report> {
    let outputs = Outputs::in_run(run.path())?;
    let evaluation = evaluate(run, data, test, settings, &TerminalProgress::new(quiet))?;
    if !quiet {
        log_line(&format!(
            "{}: {} images encoded in {:.1} s at step {}",
            run.path().display(),
            evaluation.encoded,
            evaluation.encoding_seconds,
            run.step()
        ));
        outputs.replaced().iter().for_each(|replaced| log_line(replaced));
    }
    outputs.write(run, settings, &evaluation, hash)?;
    Ok(evaluation.report)
}

/// The test part of the data that a run was trained on the other part of. Some data sets are all of their images unless
/// told otherwise, others their training part: what was trained on is recognised by its hash.
fn open_test_split(run: &Run, hash: &str, progress: &TerminalProgress) -> Outcome<Box<dyn DataSet>> {
    let part = |name: &str| {
        let mut spec = run.config().data.clone();
        spec.options.insert("split".to_owned(), OptionValue::Text(name.to_owned()));
        unbraid_data::open(&spec, progress)
    };
    if part("train")?.fingerprint()? != hash {
        return Err(Failure::input(
            "--test-split: found a run that was trained on other images than those of `split=train` of its data, \
             expected a run with data.split=train, to which the others are unknown",
        ));
    }
    Ok(part("test")?)
}

/// The hash of the data, which has to be what the run was trained on.
pub(super) fn same_data(path: &Path, data: &dyn DataSet) -> Outcome<String> {
    let found = data.fingerprint()?;
    match Meta::read(&path.join("meta.json")) {
        Some(meta) if meta.data_sha256 != found => Err(Failure::input(format!(
            "{}: the data has changed since the run was trained: found SHA-256 {found}, expected {}",
            path.display(),
            meta.data_sha256
        ))),
        _ => Ok(found),
    }
}
