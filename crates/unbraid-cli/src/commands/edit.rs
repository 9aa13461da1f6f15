//! `unbraid edit`: an image with some latent units changed.

use super::model::{ModelArgs, OverwriteArgs, wrote};
use crate::error::Outcome;
use clap::Args;
use std::path::PathBuf;
use unbraid::inference::NamedAssignment;
use unbraid_report::ImageRow;
use unbraid_report::PictureFile;

/// Arguments of `unbraid edit`.
#[derive(Args, Debug)]
#[command(override_usage = "unbraid edit [OPTIONS] RUN --image FILE --set UNIT=VALUE -o FILE.png")]
#[command(after_help = "\
Example: unbraid edit runs/photos --image a.jpg --set 3=1.5 -o edited.png

The image is encoded, the units are set, and the result is decoded (Dupont
2018, section 4.2). `unbraid traverse` shows what each unit does.")]
pub(crate) struct EditArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// An image file of any size, cropped and resized to the run's
    #[arg(long, value_name = "FILE")]
    image: PathBuf,
    /// Set a unit by its number or name, as in `3=1.5` or `category.0=4`; may be repeated
    #[arg(long, value_name = "UNIT=VALUE", required = true)]
    set: Vec<NamedAssignment>,
    /// Draw the original and its reconstruction beside the result
    #[arg(long)]
    compare: bool,
    /// The picture to write, ending in .png
    #[arg(short, long, value_name = "FILE.png")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Edits as asked.
///
/// # Errors
/// If the run, the image, a unit or the output are wrong.
pub(crate) fn run(args: &EditArgs) -> Outcome {
    let file = PictureFile::still(&args.output, args.overwrite.existing())?;
    args.model.run(|run| {
        let image = run.read_image(&args.image)?;
        let assignments = args.set.iter().map(|set| run.assignment(set)).collect::<Result<Vec<_>, _>>()?;
        let edited = run.edit(&image, &assignments)?;
        if args.compare {
            let reconstruction = run.reconstruct(&image)?;
            let rows = vec![
                ImageRow::new("original", image),
                ImageRow::new("reconstruction", reconstruction),
                ImageRow::new("edited", edited),
            ];
            file.draw(rows, Vec::new(), &args.model.name())?;
        } else {
            let pixels: Vec<f32> = edited.iter().copied().collect();
            file.save_image(run.image_shape(), &pixels)?;
        }
        wrote(&args.model, &args.output);
        Ok(())
    })
}
