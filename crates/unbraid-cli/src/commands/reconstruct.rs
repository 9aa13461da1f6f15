//! `unbraid reconstruct`: images beside their reconstructions.

use super::model::{CorruptArgs, InputArgs, ModelArgs, OverwriteArgs, wrote};
use crate::error::Outcome;
use clap::Args;
use std::path::PathBuf;
use unbraid::inference::input;
use unbraid_report::ImageRow;
use unbraid_report::PictureFile;

/// Arguments of `unbraid reconstruct`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid reconstruct runs/photos --image a.jpg --image b.jpg -o out.png

Rows: the originals, with --corrupt the corrupted images, their
reconstructions, and the absolute difference from the originals, in which black is none.")]
pub(crate) struct ReconstructArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    input: InputArgs,
    /// Number of images of a data set
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=100))]
    count: u16,
    /// Random seed of the choice of images and of --corrupt
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    corrupt: CorruptArgs,
    /// The picture to write, ending in .png
    #[arg(short, long, value_name = "FILE.png")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Reconstructs as asked.
///
/// # Errors
/// If the run, the images or the output are wrong.
pub(crate) fn run(args: &ReconstructArgs) -> Outcome {
    let file = PictureFile::still(&args.output, args.overwrite.existing())?;
    args.model.run(|run| {
        run.check_pictures("`unbraid encode`, then `unbraid decode`, give reconstructions as a table")?;
        let data = args.input.open(run, &args.model.progress())?;
        let images = args.input.choose(data.as_ref(), args.count, args.seed);
        let originals = input::read(data.as_ref(), &images)?;
        let corrupted = args.corrupt.apply(&originals, args.seed);
        let reconstructions = run.reconstruct(corrupted.as_ref().unwrap_or(&originals))?;
        let difference = (&originals - &reconstructions).mapv(f32::abs);
        let mut rows = vec![ImageRow::new("original", originals)];
        rows.extend(corrupted.map(|corrupted| ImageRow::new("corrupted", corrupted)));
        rows.extend([
            ImageRow::new("reconstruction", reconstructions),
            ImageRow::new("difference", difference),
        ]);
        file.draw(rows, Vec::new(), &format!("{}: reconstructions", args.model.name()))?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}
