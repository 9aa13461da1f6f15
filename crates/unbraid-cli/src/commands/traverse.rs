//! `unbraid traverse`: what each latent unit does.

use super::model::{CorruptArgs, ModelArgs, OverwriteArgs, wrote};
use crate::error::{Outcome, usage};
use clap::Args;
use ndarray::Array2;
use std::path::PathBuf;
use std::str::FromStr;
use unbraid::Run;
use unbraid::model::{Unit, steps};
use unbraid_report::ImageRow;
use unbraid_report::PictureFile;

/// Arguments of `unbraid traverse`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid traverse runs/photos --image a.jpg --unit 3 -o strip.png

Each row decodes the code of the image, or the median of the prior
without one, while a single unit changes; categorical units go through their classes.
A name that ends in .gif gives an animation.")]
pub(crate) struct TraverseArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Start from the code of this PNG or JPEG file of any size (default: the median of the prior)
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// A unit, as `3`, or `category.0` for a categorical one; may be repeated (default: all)
    #[arg(long, value_name = "UNIT", value_parser = Unit::from_str)]
    unit: Vec<Unit>,
    /// Range of values (default: the unit's prior but for its tails, -3..3 for a standard normal)
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Images per row
    #[arg(long, value_name = "N", default_value_t = 11)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=200))]
    steps: u16,
    #[command(flatten)]
    corrupt: CorruptArgs,
    /// Random seed of --corrupt
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The picture to write, ending in .png or .gif
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// `-3..3`
fn range(text: &str) -> Result<(f64, f64), String> {
    let ends =
        text.split_once("..").map(|(low, high)| (low.trim().parse::<f64>(), high.trim().parse::<f64>()));
    match ends {
        Some((Ok(low), Ok(high))) if low.is_finite() && high.is_finite() => Ok((low, high)),
        _ => Err(format!("found `{text}`, expected two numbers as in -3..3")),
    }
}

/// Traverses as asked.
///
/// # Errors
/// If the run, the image, a unit or the output are wrong.
pub(crate) fn run(args: &TraverseArgs) -> Outcome {
    let file = PictureFile::new(&args.output, args.overwrite.existing())?;
    args.model.run(|run| {
        args.unit.iter().try_for_each(|&unit| run.check_unit(unit))?;
        let (start, from) = start(run, args)?;
        let layout = run.layout();
        let units = if args.unit.is_empty() { layout.units().collect() } else { args.unit.clone() };
        let range_of = |unit: usize| args.range.unwrap_or_else(|| run.range_of(unit));
        let mut rows = Vec::new();
        for &unit in &units {
            let (images, note) = match unit {
                Unit::Continuous(unit) => {
                    let (low, high) = range_of(unit);
                    let values = steps((low, high), usize::from(args.steps));
                    (run.traverse(&start.row(0), unit, &values)?, minus(&format!("{low:.1} to {high:.1}")))
                }
                Unit::Categorical(unit) => (run.traverse_classes(&start.row(0), unit)?, "classes".to_owned()),
            };
            rows.push(ImageRow { label: unit.label(), note, images });
        }
        file.draw(rows, Vec::new(), &format!("{}: {from}", args.model.name()))?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}

/// The latent values to start from, and what they are.
fn start(run: &Run, args: &TraverseArgs) -> Outcome<(Array2<f32>, String)> {
    let Some(path) = &args.image else {
        if args.corrupt.is_given() {
            return Err(usage("--corrupt: found no image to damage, expected --image FILE"));
        }
        return Ok((run.middle(), "from the middle of the prior".to_owned()));
    };
    let image = run.read_image(path)?;
    let image = args.corrupt.apply(&image, args.seed).unwrap_or(image);
    Ok((run.codes_of(&image)?, format!("from {}", path.file_name().unwrap_or_default().to_string_lossy())))
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_two_numbers() {
        assert_eq!(range("-3..3"), Ok((-3.0, 3.0)));
        assert_eq!(range("0.5..-1e1"), Ok((0.5, -10.0)));
        for text in ["", "3", "..", "-3..", "a..b", "0..inf", "0...5..1"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
