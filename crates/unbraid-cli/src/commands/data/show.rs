//! `unbraid data show`.

use super::DataArgs;
use crate::error::{Outcome, usage};
use crate::terminal::{Terminal, log_line};
use clap::Args;
use std::path::PathBuf;
use unbraid::files::{Existing, check_output};
use unbraid_report::{SheetOptions, draw_data_set, draw_mean_image, write_table_charts};

/// Coordinates of a point in the plane, which is no image.
const POINT: usize = 2;

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The picture to write, ending in .png; in .svg for a table, whose columns are drawn as histograms
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing picture
    #[arg(long)]
    overwrite: bool,
    /// Images per row
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    columns: u16,
    /// Rows of random images
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=100))]
    rows: u16,
    /// Draw the mean of all images instead, with its brightest value white
    #[arg(long, conflicts_with_all = ["columns", "rows"])]
    mean: bool,
    /// Random seed of the choice of images, and of the noise of those that have some
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(args: &ShowArgs) -> Outcome {
    let ends_in =
        |wanted: &str| args.output.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted));
    let expected =
        |ending: &str| usage(format!("{}: expected a name that ends in {ending}", args.output.display()));
    if !(ends_in("png") || ends_in("svg")) {
        return Err(expected(".png, or in .svg for a table"));
    }
    let existing = Existing::from_flag(args.overwrite);
    check_output(&args.output, existing)?;
    let data = args.data.open()?;
    if data.columns().is_some() {
        if args.mean {
            return Err(usage(format!("--mean: found the table {}, expected images", data.name())));
        }
        if !ends_in("svg") {
            return Err(expected(".svg: a table is drawn as charts"));
        }
        write_table_charts(data.as_ref(), &args.output, existing)?;
        log_line(&format!("wrote {}", args.output.display()));
        return Ok(());
    }
    if !ends_in("png") {
        return Err(expected(".png"));
    }
    let canvas = if args.mean {
        if data.shape().values() == POINT {
            return Err(usage(format!("--mean: found the points of {}, expected images", data.name())));
        }
        draw_mean_image(data.as_ref(), args.seed, &Terminal::new(false))?
    } else {
        let options = SheetOptions { columns: args.columns.into(), rows: args.rows.into(), seed: args.seed };
        draw_data_set(data.as_ref(), options)?
    };
    canvas.save(&args.output, existing)?;
    log_line(&format!("wrote {}", args.output.display()));
    Ok(())
}
