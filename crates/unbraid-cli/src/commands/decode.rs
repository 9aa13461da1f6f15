//! `unbraid decode`: codes to images.

use super::model::{ModelArgs, OverwriteArgs, SpreadsheetArgs, wrote};
use crate::error::Outcome;
use clap::Args;
use std::path::PathBuf;
use unbraid::inference::codes_input;
use unbraid_report::ImageOutput;
use unbraid_report::thousands;

/// Arguments of `unbraid decode`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid decode runs/photos codes.csv -o decoded/

Codes are a table of `unbraid encode`, perhaps changed: of a CSV the columns
mean_0, ... and category_0, ..., of an .npz the arrays `codes` and
`categories`, of a .json the same as lists of rows, as report.html copies them.
The output is a sheet (.png), arrays (.npz) or a directory; of a run on a table,
rows in its own units (.csv or .npz).")]
pub(crate) struct DecodeArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Codes as .csv, .npz or .json
    #[arg(value_name = "CODES")]
    codes: PathBuf,
    /// A sheet (.png), arrays (.npz), or a directory of PNG files; a table (.csv)
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Decodes as asked.
///
/// # Errors
/// If the run, the codes or the output are wrong.
pub(crate) fn run(args: &DecodeArgs) -> Outcome {
    let cells = args.spreadsheet.cells(Some(&args.output))?;
    let target = ImageOutput::new(&args.output, args.overwrite.existing())?.with_cells(cells);
    args.model.run(|run| {
        let latents = codes_input::read(run, &args.codes)?;
        let title = format!("{}: {} decoded", args.model.name(), thousands(latents.nrows()));
        target.write(run, &latents, &title, &args.model.progress())?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}
