//! `unbraid data convert`.

use super::DataArgs;
use crate::error::{Outcome, usage};
use crate::terminal::{Terminal, log_line};
use clap::Args;
use std::path::PathBuf;
use unbraid::data::DataError;
use unbraid::data::convert::{PixelType, write_npz};
use unbraid::files::{self, ContentError, Existing, check_output};

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The archive to write, ending in .npz
    #[arg(short, long, value_name = "FILE.npz")]
    output: PathBuf,
    /// Overwrite an existing archive
    #[arg(long)]
    overwrite: bool,
    /// Write pixels as 32-bit floats instead of bytes
    #[arg(long)]
    float32: bool,
    /// Random seed of the noise, for data sets that have some
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(args: &ConvertArgs) -> Outcome {
    if args.output.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("npz")) {
        return Err(usage(format!("{}: expected a name that ends in .npz", args.output.display())));
    }
    let existing = Existing::from_flag(args.overwrite);
    check_output(&args.output, existing)?;
    let data = args.data.open()?;
    let pixels = if args.float32 { PixelType::Floats } else { PixelType::Bytes };
    files::write_computed(&args.output, existing, |file| {
        let progress = Terminal::new(false);
        write_npz(data.as_ref(), pixels, args.seed, file, &progress).map(drop).map_err(|error| match error {
            DataError::Write { source } => ContentError::Write(source),
            error => ContentError::Compute(unbraid::Error::from(error)),
        })
    })?;
    log_line(&format!("wrote {}", args.output.display()));
    Ok(())
}
