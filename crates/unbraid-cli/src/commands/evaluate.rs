//! `unbraid evaluate`: scores of a run, or of codes from elsewhere.

use super::configuration::{Compute, ComputeArgs};
use crate::error::{Outcome, usage};
use crate::format::{TableFormat, pretty_json, print};
use crate::score_table;
use crate::terminal::{QuietScores, Terminal};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use unbraid::evaluate::{
    Representation, Settings, Source, check_outputs, codes_file, evaluate_and_write, score,
};
use unbraid::metrics::{Options, Report, registry};
use unbraid::run::RunData;

/// What counts as the code of an image.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RepresentationArg {
    /// The mean of its posterior, as in most publications
    Mean,
    /// One sample of its posterior
    Sample,
}

impl From<RepresentationArg> for Representation {
    fn from(argument: RepresentationArg) -> Self {
        match argument {
            RepresentationArg::Mean => Self::Mean,
            RepresentationArg::Sample => Self::Sample,
        }
    }
}

/// Arguments of `unbraid evaluate`.
#[derive(Args, Debug)]
pub(crate) struct EvaluateArgs {
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
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of training points (default 10000); there are half as many test points
    #[arg(long, value_name = "N", conflicts_with = "codes")]
    samples: Option<usize>,
    /// Take test points from images that the run was not trained on, `split=test` of its data
    #[arg(long, conflicts_with = "codes")]
    test_split: bool,
    /// Representation that is scored (default: mean)
    #[arg(long, value_enum, conflicts_with = "codes")]
    representation: Option<RepresentationArg>,
    /// Use the checkpoint of this step instead of the last one
    #[arg(long, value_name = "N", conflicts_with = "codes")]
    step: Option<u64>,
    #[command(flatten)]
    compute: ComputeArgs,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
    /// Explain each score in the table
    #[arg(long)]
    explain: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// The fewest training points: a test sample has half as many, and needs two.
const FEWEST_SAMPLES: usize = 4;

/// Computes and prints scores.
///
/// # Errors
/// If the run, the file or a metric's name is wrong, or a score cannot be computed from these codes.
pub(crate) fn run(args: &EvaluateArgs) -> Outcome {
    for name in &args.metrics {
        registry::find(name)?;
    }
    let compute = args.compute.prepare()?;
    let report = match (&args.run, &args.codes) {
        (Some(path), _) => score_run(&compute, path, args)?,
        (None, Some(path)) => compute.run(|| score_codes(path, args))?,
        (None, None) => return Err(usage("expected a run directory or --codes FILE.npz")),
    };
    print(&match args.format {
        TableFormat::Table => score_table::as_text(&report, args.explain),
        TableFormat::Csv => score_table::as_csv(&report),
        TableFormat::Json => pretty_json(&report)?,
    })
}

fn score_codes(path: &Path, args: &EvaluateArgs) -> Outcome<Report> {
    let codes = codes_file::read(path)?;
    let options = Options { seed: args.seed, sampler: None };
    score(&args.metrics, &codes, &options, &Terminal::new(args.quiet))
        .map_err(|source| unbraid::Error::Scoring { path: path.to_owned(), source }.into())
}

fn score_run(compute: &Compute, path: &Path, args: &EvaluateArgs) -> Outcome<Report> {
    let samples = args.samples.unwrap_or(Settings::default().samples);
    if samples < FEWEST_SAMPLES {
        return Err(usage(format!("--samples: found {samples}, expected at least {FEWEST_SAMPLES}")));
    }
    let run = compute.open(path, args.step)?;
    let metrics =
        if args.metrics.is_empty() { run.config().evaluation.metrics.clone() } else { args.metrics.clone() };
    let representation = args.representation.map_or_else(Representation::default, Into::into);
    let settings = Settings { metrics, seed: args.seed, samples, representation };

    // Before any work, and again at the end: what is in the way should be known soon.
    check_outputs(&run)?;
    let observer = QuietScores(Terminal::new(args.quiet));
    let report = compute.run(|| -> Outcome<Report> {
        let RunData { data, sha256 } = run.open_data(&observer)?;
        let test = args.test_split.then(|| run.open_test_split(&sha256, &observer)).transpose();
        let test = test.context("--test-split")?;
        let source = Source { data: data.as_ref(), test: test.as_deref(), sha256: &sha256 };
        Ok(evaluate_and_write(&run, source, &settings, &observer)?)
    })?;
    let page = run.paths().report();
    if page.exists() {
        observer.0.log(&format!(
            "{}: older than these scores; `unbraid report {}` draws it again",
            page.display(),
            path.display()
        ));
    }
    Ok(report)
}
