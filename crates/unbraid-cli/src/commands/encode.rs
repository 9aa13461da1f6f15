//! `unbraid encode`: images to a table of codes.

use super::model::{InputArgs, ModelArgs, OverwriteArgs, SpreadsheetArgs, wrote};
use crate::error::{Outcome, usage};
use crate::format::table_output;
use clap::Args;
use std::path::{Path, PathBuf};
use unbraid::files::{ContentError, probe_output, write_computed};
use unbraid::inference::codes_table;
use unbraid_report::{write_codes_parquet, write_projector};

/// Arguments of `unbraid encode`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid encode runs/photos --data photos/ -o codes.csv
  unbraid encode runs/photos -o codes.parquet
  unbraid encode runs/photos --projector projector/

Columns: mean and deviation of each continuous unit, most likely class and
class probabilities of each categorical one, file names, factors. Without -o
the table goes to standard output as CSV. An .npz has `codes` (the means),
`standard_deviation`, `log_variance`, `categories`, `probabilities_0`, ...,
`names`, `factors`; `unbraid evaluate --codes` and `unbraid decode` read it.
A .parquet has the columns of the CSV, `x` and `y` (principal components of the
means) and `thumbnail`, for viewers of embeddings.")]
pub(crate) struct EncodeArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    input: InputArgs,
    /// The table to write, ending in .csv, .npz or .parquet (default: CSV on standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the files of TensorBoard's embedding projector into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "output")]
    projector: Option<PathBuf>,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// The kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Csv,
    Npz,
    Parquet,
}

/// Encodes as asked.
///
/// # Errors
/// If the run, the images or the output are wrong.
pub(crate) fn run(args: &EncodeArgs) -> Outcome {
    let existing = args.overwrite.existing();
    let names = args.spreadsheet.cells(args.output.as_deref())?;
    let output = match &args.output {
        None => None,
        Some(path) => {
            let table = kind(path)?;
            probe_output(path, existing)?;
            Some((path, table))
        }
    };
    args.model.run(|run| {
        let progress = args.model.progress();
        let data = args.input.open(run, &progress)?;
        if let Some(directory) = &args.projector {
            for path in write_projector(run, data.as_ref(), directory, existing, &progress)? {
                wrote(&args.model, &path);
            }
            return Ok(());
        }
        let Some((path, table)) = output else {
            return codes_table::write_csv(run, data.as_ref(), table_output(), names, &progress).map_err(
                |error| match error {
                    ContentError::Write(error) => {
                        anyhow::Error::from(error).context("cannot write to standard output")
                    }
                    ContentError::Compute(error) => error.into(),
                },
            );
        };
        match table {
            Table::Npz => codes_table::write_npz(run, data.as_ref(), path, existing, &progress)?,
            Table::Parquet => write_codes_parquet(run, data.as_ref(), path, existing, &progress)?,
            Table::Csv => write_computed(path, existing, |file| {
                codes_table::write_csv(run, data.as_ref(), file, names, &progress)
            })?,
        }
        wrote(&args.model, path);
        Ok(())
    })
}

fn kind(path: &Path) -> Outcome<Table> {
    match path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).as_deref() {
        Some("npz") => Ok(Table::Npz),
        Some("csv") => Ok(Table::Csv),
        Some("parquet") => Ok(Table::Parquet),
        _ => Err(usage(format!("{}: expected a name that ends in .csv, .npz or .parquet", path.display()))),
    }
}
