//! `unbraid evaluate`: scores of a run, of codes from elsewhere, or of an encoder from elsewhere.

use super::configuration::{Compute, ComputeArgs};
use super::encoder::{EncoderArgs, Request};
use crate::error::{Outcome, usage};
use crate::format::{TableFormat, pretty_json, print};
use crate::score_table;
use crate::terminal::{QuietScores, Terminal};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use unbraid::config::{EvaluationConfig, EvaluationSplit, check_resamples};
use unbraid::data::DataError;
use unbraid::error_chain;
use unbraid::evaluate::{
    Earlier, Representation, Settings, Source, check_outputs, codes_file, evaluate_and_write, score,
};
use unbraid::metrics::registry::{self, DEFAULT};
use unbraid::metrics::{Options, Report};
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
#[command(after_help = "\
Examples:
  unbraid evaluate runs/a --metrics mig,dci
  unbraid evaluate --codes codes.npz
  unbraid evaluate --encoder encoder.onnx --data shapes

An encoder takes images as [batch, channels, height, width], or with channels
last, or as rows, in 32-bit floats from 0 to 1; its code is a row of units. Of
two outputs such as mean and log_variance, or mu and logvar, the first is the
code, and scores of posteriors use both. See docs/models.md.")]
pub(crate) struct EvaluateArgs {
    /// A run directory; scores.json and codes.npz are written into it
    #[arg(value_name = "RUN", conflicts_with_all = ["codes", "encoder"])]
    run: Option<PathBuf>,
    /// Codes and factors as .npz: `codes_train`, `factors_train`, `codes_test`, `factors_test`, or `codes` and
    /// `factors`
    #[arg(long, value_name = "FILE.npz")]
    codes: Option<PathBuf>,
    #[command(flatten)]
    encoder: EncoderArgs,
    /// Metrics to compute, separated by commas; `default` stands for all that apply (default: those of the run's
    /// configuration, or all that apply)
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    metrics: Vec<String>,
    /// Set an option of a metric, as in `sap.predictor=threshold`, or `split`; may be repeated. `unbraid
    /// metrics` lists options
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of training points (default 10000); there are half as many test points
    #[arg(long, value_name = "N", conflicts_with = "codes")]
    samples: Option<usize>,
    /// Score the run or encoder on images that it was not trained on, `split=test` of its data
    /// (evaluation.split = "test")
    #[arg(long, conflicts_with = "codes")]
    test_split: bool,
    /// Discard earlier scores, also those that are not asked for, and compute again
    #[arg(long, conflicts_with_all = ["codes", "encoder"])]
    recompute: bool,
    /// Skip the chance levels, which are scores on shuffled factors
    #[arg(long)]
    no_chance: bool,
    /// Give the 95 % interval of each score over N bootstrap resamples of the points
    #[arg(long, value_name = "N")]
    bootstrap: Option<usize>,
    /// Representation that is scored (default: mean)
    #[arg(long, value_enum, conflicts_with = "codes")]
    representation: Option<RepresentationArg>,
    /// Use the checkpoint of this step instead of the last one
    #[arg(long, value_name = "N", conflicts_with_all = ["codes", "encoder"])]
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

/// The most: ten thousand times what the papers draw.
const MOST_SAMPLES: usize = 100_000_000;

/// Computes and prints scores.
///
/// # Errors
/// If the run, the file or a metric's name is wrong, or a score cannot be computed from these codes.
pub(crate) fn run(args: &EvaluateArgs) -> Outcome {
    for name in named(args)?.into_iter().flatten().filter(|name| name != DEFAULT) {
        registry::find(&name)?;
    }
    let has_encoder = args.encoder.is_given()?;
    let compute = args.compute.prepare()?;
    let report = match (&args.run, &args.codes) {
        (Some(path), _) => score_run(&compute, path, args)?,
        (None, Some(path)) => compute.run(|| score_codes(path, args))?,
        (None, None) if has_encoder => score_encoder(&compute, args)?,
        (None, None) => {
            return Err(usage("expected a run directory, --codes FILE.npz or --encoder FILE.onnx"));
        }
    };
    print(&match args.format {
        TableFormat::Table => score_table::as_text(&report, args.explain),
        TableFormat::Csv => score_table::as_csv(&report)?,
        TableFormat::Json => pretty_json(&report)?,
    })
}

/// The names in --metrics, without the empty one after a last comma; `None` if the option is not given.
fn named(args: &EvaluateArgs) -> Outcome<Option<Vec<String>>> {
    let names: Vec<String> =
        args.metrics.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() && !args.metrics.is_empty() {
        return Err(usage("--metrics: found no name, expected some of those that `unbraid metrics` lists"));
    }
    Ok(Some(names).filter(|names| !names.is_empty()))
}

fn score_codes(path: &Path, args: &EvaluateArgs) -> Outcome<Report> {
    let config = asked_for(&EvaluationConfig::default(), args)?;
    if config.split != EvaluationConfig::default().split {
        return Err(usage("--set split: expected a run directory, since codes have no images"));
    }
    let codes = codes_file::read(path).map_err(|error| match error {
        unbraid::Error::Data(DataError::Content { .. }) if !is_npz(path) => {
            let hint = "`unbraid encode RUN -o codes.npz` or numpy.savez writes one";
            usage(format!("{}\nhint: {hint}", error_chain(&error)))
        }
        other => other.into(),
    })?;
    let options =
        Options { seed: args.seed, sampler: None, chance: config.chance, resamples: config.bootstrap };
    score(&config.registry()?, &config.metrics, &codes, &options, &Terminal::new(args.quiet))
        .map_err(|source| unbraid::Error::Scoring { path: path.to_owned(), source }.into())
}

fn is_npz(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz"))
}

fn score_encoder(compute: &Compute, args: &EvaluateArgs) -> Outcome<Report> {
    let config = asked_for(&EvaluationConfig::default(), args)?;
    let settings = settings(&config, args)?;
    args.encoder.score(&Request { compute, config: &config, settings: &settings, quiet: args.quiet })
}

/// How to evaluate, from the configuration and the command line.
fn settings(config: &EvaluationConfig, args: &EvaluateArgs) -> Outcome<Settings> {
    let samples = args.samples.unwrap_or(Settings::default().samples);
    if !(FEWEST_SAMPLES..=MOST_SAMPLES).contains(&samples) {
        return Err(usage(format!(
            "--samples: found {samples}, expected {FEWEST_SAMPLES} to {MOST_SAMPLES}"
        )));
    }
    let representation = args.representation.map_or_else(Representation::default, Into::into);
    Ok(Settings { seed: args.seed, samples, representation, ..Settings::of(config)? })
}

/// Keys of `[evaluation]` that evaluating again does not depend on.
const OF_TRAINING: [&str; 3] = ["after_training", "report", "model_limit"];

/// What to compute: what the configuration says, and on top of it the command line.
fn asked_for(configured: &EvaluationConfig, args: &EvaluateArgs) -> Outcome<EvaluationConfig> {
    let keys = args.set.iter().filter_map(|assignment| Some(assignment.split_once('=')?.0.trim()));
    if let Some(key) = keys.into_iter().find(|key| OF_TRAINING.contains(key)) {
        return Err(usage(format!(
            "--set {key}: found a key of training and reports, expected one of evaluation"
        )));
    }
    let mut config = configured.with_assignments(&args.set)?;
    if let Some(names) = named(args)? {
        config.metrics = names;
    }
    if args.test_split {
        config.split = EvaluationSplit::Test;
    }
    if args.no_chance {
        config.chance = false;
    }
    if let Some(resamples) = args.bootstrap {
        config.bootstrap = resamples;
    }
    check_resamples(config.bootstrap)
        .map_err(|expected| usage(format!("--bootstrap: found {}, expected {expected}", config.bootstrap)))?;
    Ok(config)
}

fn score_run(compute: &Compute, path: &Path, args: &EvaluateArgs) -> Outcome<Report> {
    let run = compute.open(path, args.step)?;
    let config = asked_for(&run.config().evaluation, args)?;
    let settings = settings(&config, args)?;
    let earlier = if args.recompute { Earlier::Replace } else { Earlier::Keep };

    // Before any work, and again at the end: what is in the way should be known soon.
    check_outputs(&run)?;
    let observer = QuietScores(Terminal::new(args.quiet));
    let report = compute.run(|| -> Outcome<Report> {
        let RunData { data, sha256 } = run.open_data(&observer)?;
        let test = match config.split {
            EvaluationSplit::Train => None,
            EvaluationSplit::Test => {
                let origin = if args.test_split { "--test-split" } else { "evaluation.split" };
                Some(run.open_test_split(&sha256, &observer).context(origin)?)
            }
        };
        let source = Source { data: data.as_ref(), test: test.as_deref(), sha256: &sha256 };
        Ok(evaluate_and_write(&run, source, &settings, earlier, &observer)?)
    })?;
    let page = run.paths().report();
    if is_older(&page, &run.paths().scores()) {
        observer.0.log(&format!(
            "{}: older than these scores; `unbraid report {}` draws it again",
            page.display(),
            path.display()
        ));
    }
    Ok(report)
}

/// Whether both files exist and the first was written before the second.
fn is_older(file: &Path, than: &Path) -> bool {
    let written = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    matches!((written(file), written(than)), (Ok(file), Ok(than)) if file < than)
}
