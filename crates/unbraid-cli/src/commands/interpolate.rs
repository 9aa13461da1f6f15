//! `unbraid interpolate`: interpolation between two images.

use super::model::{ModelArgs, OverwriteArgs, wrote};
use crate::error::Outcome;
use clap::Args;
use ndarray::{Axis, concatenate};
use std::path::PathBuf;
use unbraid::model::steps;
use unbraid_report::ImageRow;
use unbraid_report::PictureFile;

/// Arguments of `unbraid interpolate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid interpolate runs/photos a.jpg b.jpg -o way.gif

Continuous units go straight from one code to the other; categorical ones
change in the middle. A PNG has the originals at both ends.")]
pub(crate) struct InterpolateArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// An image file of any size
    #[arg(value_name = "A")]
    first: PathBuf,
    /// Another image file
    #[arg(value_name = "B")]
    last: PathBuf,
    /// Number of images, both ends included
    #[arg(long, value_name = "N", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u16).range(2..=200))]
    steps: u16,
    /// The picture to write, ending in .png or .gif
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Interpolates as asked.
///
/// # Errors
/// If the run, an image or the output are wrong.
pub(crate) fn run(args: &InterpolateArgs) -> Outcome {
    let file = PictureFile::new(&args.output, args.overwrite.existing())?;
    args.model.run(|run| {
        run.check_pictures("`unbraid decode` takes codes in between, in a table")?;
        let (first, last) = (run.read_image(&args.first)?, run.read_image(&args.last)?);
        let count = usize::from(args.steps);
        let ends = (run.codes_of(&first)?, run.codes_of(&last)?);
        let mut images = run.interpolate(&ends.0.row(0), &ends.1.row(0), count)?;
        let mut captions = Vec::new();
        if !file.is_animation() {
            images = concatenate![Axis(0), first, images, last];
            let way = steps((0.0, 1.0), count).into_iter().map(|share| format!("{share:.2}"));
            captions = ["A".to_owned()].into_iter().chain(way).chain(["B".to_owned()]).collect();
        }
        let row = ImageRow::new("", images);
        file.draw(vec![row], captions, &format!("{}: interpolation", args.model.name()))?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}
