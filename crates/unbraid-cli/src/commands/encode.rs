//! `unbraid encode`: images to a table of codes.

use super::model::{InputArgs, ModelArgs, OverwriteArgs, wrote};
use crate::error::{Outcome, usage};
use crate::format::table_output;
use clap::Args;
use std::path::{Path, PathBuf};
use unbraid::files::{ContentError, probe_output, write_computed};
use unbraid::inference::codes_table::{self, Names};

/// Arguments of `unbraid encode`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid encode runs/photos --data photos/ -o codes.csv

Columns: mean and deviation of each continuous unit, most likely class and
class probabilities of each categorical one, file names, factors. Without -o
the table goes to standard output as CSV. An .npz has `codes` (the means),
`standard_deviation`, `log_variance`, `categories`, `probabilities_0`, ...,
`names`, `factors`; `unbraid evaluate --codes` and `unbraid decode` read it.")]
pub(crate) struct EncodeArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    input: InputArgs,
    /// The table to write, ending in .csv or .npz (default: CSV on standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// CSV for spreadsheets: file names that they would take for a formula begin with an apostrophe
    #[arg(long)]
    spreadsheet: bool,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Encodes as asked.
///
/// # Errors
/// If the run, the images or the output are wrong.
pub(crate) fn run(args: &EncodeArgs) -> Outcome {
    let existing = args.overwrite.existing();
    let is_npz = match &args.output {
        None => false,
        Some(path) => {
            let is_npz = is_npz(path)?;
            if args.spreadsheet && is_npz {
                let path = path.display();
                return Err(usage(format!("--spreadsheet: found {path}, expected a name that ends in .csv")));
            }
            probe_output(path, existing)?;
            is_npz
        }
    };
    let names = if args.spreadsheet { Names::ForSpreadsheets } else { Names::Plain };
    args.model.run(|run| {
        let progress = args.model.progress();
        let data = args.input.open(run, &progress)?;
        let Some(path) = &args.output else {
            return codes_table::write_csv(run, data.as_ref(), table_output(), names, &progress).map_err(
                |error| match error {
                    ContentError::Write(error) => {
                        anyhow::Error::from(error).context("cannot write to standard output")
                    }
                    ContentError::Compute(error) => error.into(),
                },
            );
        };
        if is_npz {
            codes_table::write_npz(run, data.as_ref(), path, existing, &progress)?;
        } else {
            write_computed(path, existing, |file| {
                codes_table::write_csv(run, data.as_ref(), file, names, &progress)
            })?;
        }
        wrote(&args.model, path);
        Ok(())
    })
}

fn is_npz(path: &Path) -> Outcome<bool> {
    match path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).as_deref() {
        Some("npz") => Ok(true),
        Some("csv") => Ok(false),
        _ => Err(usage(format!("{}: expected a name that ends in .csv or .npz", path.display()))),
    }
}
