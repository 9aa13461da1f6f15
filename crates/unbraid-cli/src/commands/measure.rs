//! `unbraid measure`: a run as a generative model.

use super::model::{InputArgs, ModelArgs};
use crate::error::{Outcome, usage};
use crate::format::{TableFormat, pretty_json, print};
use clap::Args;
use unbraid::evaluate::{Effort, Measures};

/// Arguments of `unbraid measure`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid measure runs/photos --format json

Reconstruction error, distortion, rate, evidence lower bound, importance-
weighted log-likelihood, mutual information I(x; z) and total correlation of
the aggregate posterior, active units; docs/guide.md says how to read them.")]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    input: InputArgs,
    /// Images to encode; time for mutual information and total correlation grows quadratically
    #[arg(long, value_name = "N", default_value_t = Effort::default().images)]
    images: usize,
    /// Images for the importance-weighted likelihood
    #[arg(long, value_name = "N", default_value_t = Effort::default().likelihood_images)]
    likelihood_images: usize,
    /// Importance samples per image; more give a tighter lower bound
    #[arg(long, value_name = "K", default_value_t = Effort::default().samples)]
    samples: usize,
    /// Random seed of the choice of images and of all samples
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

/// More than anybody waits for.
const MOST: usize = 100_000_000;

/// Measures as asked.
///
/// # Errors
/// If the run or the images are wrong.
pub(crate) fn run(args: &MeasureArgs) -> Outcome {
    for (option, value, least) in [
        ("--images", args.images, 2),
        ("--likelihood-images", args.likelihood_images, 1),
        ("--samples", args.samples, 1),
    ] {
        if value < least {
            return Err(usage(format!("{option}: found {value}, expected at least {least}")));
        }
        if value > MOST {
            return Err(usage(format!("{option}: found {value}, expected at most {MOST}")));
        }
    }
    let effort = Effort {
        images: args.images,
        likelihood_images: args.likelihood_images,
        samples: args.samples,
        seed: args.seed,
    };
    let measures = args.model.run(|run| {
        let progress = args.model.progress();
        let data = args.input.open(run, &progress)?;
        Ok(run.measure(data.as_ref(), effort, &progress)?)
    })?;
    print(&match args.format {
        TableFormat::Table => as_text(&measures),
        TableFormat::Csv => measures.as_csv(),
        TableFormat::Json => pretty_json(&measures)?,
    })
}

fn as_text(measures: &Measures) -> String {
    let mut text = measures.as_text();
    if measures.is_at_ceiling() {
        text.push_str("hint: --images raises the ceiling, up to all of the data\n");
    }
    text
}
