//! `unbraid evaluate`: scores of codes.

use crate::evaluate::{codes_file, table};
use crate::failure::{Failure, Outcome};
use crate::files::print;
use crate::terminal::log_line;
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::PathBuf;
use unbraid_metrics::registry::{self, Options};

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
    /// Codes and factors as .npz: `codes_train`, `factors_train`, `codes_test`, `factors_test`, or `codes` and
    /// `factors`
    #[arg(long, value_name = "FILE.npz")]
    codes: PathBuf,
    /// Metrics to compute, separated by commas (default: all that apply)
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    metrics: Vec<String>,
    /// Decides everything that is drawn at random
    #[arg(long, default_value_t = 0)]
    seed: u64,
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

/// Computes and prints scores.
///
/// # Errors
/// If the file or a metric's name is wrong, or a score cannot be computed from these codes.
pub fn run(args: &EvaluateArgs) -> Outcome {
    for name in &args.metrics {
        registry::find(name).map_err(Failure::input)?;
    }
    let codes = codes_file::read(&args.codes)?;
    let show_progress = !args.quiet && std::io::stderr().is_terminal();
    let options = Options { seed: args.seed, ..Options::default() };
    let report = registry::run_with_progress(&args.metrics, &codes, &options, |metric, position, count| {
        if show_progress {
            log_line(&format!("[{}/{count}] {}", position + 1, metric.name));
        }
    })
    .map_err(|error| Failure::input(format!("{}: {error}", args.codes.display())))?;
    print(&match args.format {
        Format::Table => table::as_text(&report, args.explain),
        Format::Csv => table::as_csv(&report),
        Format::Json => {
            let json = serde_json::to_string_pretty(&report).map_err(Failure::run)?;
            format!("{json}\n")
        }
    })
}
