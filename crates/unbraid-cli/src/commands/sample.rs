//! `unbraid sample`: new images from the prior.

use super::model::{ModelArgs, OverwriteArgs, SpreadsheetArgs, wrote};
use crate::error::Outcome;
use clap::Args;
use std::path::PathBuf;
use unbraid_report::ImageOutput;
use unbraid_report::thousands;

/// Arguments of `unbraid sample`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid sample runs/digits -n 64 --category 3 -o sheet.png

Latent values are drawn from the run's prior and decoded. An .npz has the
`images` and the values they come from, for `unbraid decode`.")]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Number of images
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    count: u64,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Fix the class of a categorical unit: `3`, or `1=3` for the second unit, or its name; may be repeated
    #[arg(long, value_name = "[UNIT=]CLASS", value_parser = class)]
    category: Vec<(String, usize)>,
    /// A sheet (.png), arrays (.npz), or a directory of PNG files; a table (.csv)
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Unit and class; without a unit, the first.
fn class(text: &str) -> Result<(String, usize), String> {
    let (unit, class) = text.split_once('=').unwrap_or(("0", text));
    match class.trim().parse() {
        Ok(class) if !unit.trim().is_empty() => Ok((unit.trim().to_owned(), class)),
        _ => Err(format!("found `{text}`, expected the number of a class, or UNIT=CLASS")),
    }
}

/// Samples as asked.
///
/// # Errors
/// If the run, a class or the output are wrong.
pub(crate) fn run(args: &SampleArgs) -> Outcome {
    let cells = args.spreadsheet.cells(Some(&args.output))?;
    let target = ImageOutput::new(&args.output, args.overwrite.existing())?.with_cells(cells);
    args.model.run(|run| {
        let count = args.count as usize;
        let classes =
            args.category.iter().map(|(unit, class)| Ok((run.find_categorical_unit(unit)?, *class)));
        let latents = run.draw_latents_in(count, args.seed, &classes.collect::<Outcome<Vec<_>>>()?)?;
        let title = format!("{}: {} samples from the prior", args.model.name(), thousands(count));
        target.write(run, &latents, &title, &args.model.progress())?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}
