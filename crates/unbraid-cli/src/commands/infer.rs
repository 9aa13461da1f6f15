//! `unbraid infer`: images in the order of a latent unit.

use super::model::{InputArgs, ModelArgs, OverwriteArgs, wrote};
use crate::error::Outcome;
use crate::format::decimals;
use clap::Args;
use std::path::PathBuf;
use unbraid::inference::input;
use unbraid::model::Unit;
use unbraid_report::{ImageRow, PictureFile};

/// Arguments of `unbraid infer`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid infer runs/chairs --test-split --unit 3 -o azimuth.png

One row of images, ordered by the posterior mean of the unit, which is written
above each. If the unit has learned the azimuth, the chairs turn from left to
right, even those that the model has never seen.")]
pub(crate) struct InferArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    input: InputArgs,
    /// The unit, as `3`, or `category.0` for a categorical one, or its name
    #[arg(long, value_name = "UNIT")]
    unit: String,
    /// Number of images of a data set
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 11)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=100))]
    count: u16,
    /// Random seed of the choice of images
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The picture to write, ending in .png
    #[arg(short, long, value_name = "FILE.png")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Infers as asked.
///
/// # Errors
/// If the run, the unit, the images or the output are wrong.
pub(crate) fn run(args: &InferArgs) -> Outcome {
    let file = PictureFile::still(&args.output, args.overwrite.existing())?;
    args.model.run(|run| {
        run.check_pictures("`unbraid encode` writes what the units say of every row")?;
        let unit = run.find_unit(&args.unit)?;
        let data = args.input.open(run, &args.model.progress())?;
        let images = input::read(data.as_ref(), &args.input.choose(data.as_ref(), args.count, args.seed))?;
        let posteriors = run.encode(&images)?;
        let inferred: Vec<f32> = match unit {
            Unit::Continuous(unit) => posteriors.mean.column(unit).to_vec(),
            Unit::Categorical(unit) => posteriors.categories.column(unit).mapv(|class| class as f32).to_vec(),
        };
        let mut order: Vec<usize> = (0..inferred.len()).collect();
        order.sort_by(|&left, &right| inferred[left].total_cmp(&inferred[right]));
        let captions = order.iter().map(|&image| match unit {
            Unit::Continuous(_) => decimals(f64::from(inferred[image]), 2),
            Unit::Categorical(_) => format!("class {}", inferred[image]),
        });
        let row = ImageRow::new("", images.select(ndarray::Axis(0), &order));
        let title = format!(
            "{}: {} inferred from images of {}",
            args.model.name(),
            run.unit_label(unit),
            data.name()
        );
        file.draw(vec![row], captions.collect(), &title)?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}
