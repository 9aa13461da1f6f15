//! `unbraid traverse`: what each latent unit does.

use super::model::{CorruptArgs, ModelArgs, OverwriteArgs, wrote};
use crate::error::{Outcome, usage};
use crate::format::decimals;
use clap::Args;
use ndarray::{Array2, ArrayRef, Ix1};
use std::path::PathBuf;
use unbraid::Run;
use unbraid::data::{DataSet, DataSpec};
use unbraid::inference::{Traversal, input};
use unbraid::model::Unit;
use unbraid_report::{FeatureTraversal, ImageRow, PictureFile};

/// Arguments of `unbraid traverse`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: unbraid traverse runs/photos --image a.jpg --unit 3 -o strip.png

More: unbraid traverse RUN --index 1000 --corrupt noise=0.05 --active -o a.png
      unbraid traverse RUN --data 'shapes(triangle=true)' \\
        --factors 3,5,0,16,16 --by-kl -o b.png
      unbraid traverse RUN --unit category.0 --starts 8 -o c.png
      unbraid traverse RUN --unit 3 --each-class 0 -o d.png

Each row decodes the code of an image, or the median of the prior without one,
while a single unit changes; categorical units go through their classes. The
image itself is drawn above, as it was given and as it was corrupted. A name
that ends in .gif gives an animation. Of a run on a table, each unit has a chart
of the columns that change most, in standard deviations, in a .svg.")]
pub(crate) struct TraverseArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Start from the code of this image file of any size (default: the median of the prior)
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Start from an image of this data set, the first unless --index or --factors says which (default: the run's own)
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "image")]
    data: Option<DataSpec>,
    /// Start from the image of this number, from 0
    #[arg(long, value_name = "N", conflicts_with = "image")]
    index: Option<usize>,
    /// Start from the image with these values of its factors, from 0, as in `2,5,0,16,16`
    #[arg(long, value_name = "VALUES", value_delimiter = ',', conflicts_with_all = ["image", "index"])]
    factors: Vec<u32>,
    /// Traverse one unit from N samples of the prior, a row for each
    #[arg(long, value_name = "N", conflicts_with_all = ["image", "data", "index", "factors", "corrupt"])]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=200))]
    starts: Option<u16>,
    /// Traverse one unit in every class of this categorical unit, a row for each
    #[arg(long, value_name = "UNIT", conflicts_with = "starts")]
    each_class: Option<String>,
    /// Units with the largest KL divergence first, which is written beside them
    #[arg(long, conflicts_with_all = ["starts", "each_class"])]
    by_kl: bool,
    /// Only units that carry something, those with the largest KL divergence first
    #[arg(long, conflicts_with_all = ["starts", "each_class"])]
    active: bool,
    /// A unit, as `3`, or `category.0` for a categorical one, or its name; may be repeated (default: all)
    #[arg(long, value_name = "UNIT")]
    unit: Vec<String>,
    /// Range of values (default: the unit's prior but for its tails, -3..3 for a standard normal)
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Images per row
    #[arg(long, value_name = "N", default_value_t = 11)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=200))]
    steps: u16,
    #[command(flatten)]
    corrupt: CorruptArgs,
    /// Random seed of --corrupt and --starts
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The picture to write, ending in .png or .gif; in .svg for a run on a table
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
    let file = PictureFile::traversal(&args.output, args.overwrite.existing())?;
    args.model.run(|run| {
        let asked = args.unit.iter().map(|unit| run.find_unit(unit)).collect::<Result<Vec<Unit>, _>>()?;
        let start = start(run, args)?;
        let mut strips = Vec::new();
        let title = format!("{}: {}", args.model.name(), start.name);
        if let Some(count) = args.starts {
            let unit = only_unit(&asked, "--starts")?;
            for row in run.draw_latents(usize::from(count), args.seed).outer_iter() {
                strips.push(strip(run, args, &row, unit)?);
            }
        } else if let Some(categorical) = &args.each_class {
            let categorical = run.find_categorical_unit(categorical)?;
            let unit = only_unit(&asked, "--each-class")?;
            if unit == Unit::Categorical(categorical) {
                return Err(usage(format!(
                    "--each-class: found {unit} as --unit, expected another unit",
                    unit = run.unit_label(unit)
                )));
            }
            for class in 0..run.categorical_units()[categorical] {
                let held = run.layout().in_class(&start.codes, categorical, class);
                let strip = strip(run, args, &held.row(0), unit)?;
                strips.push(Strip { label: format!("class {class}"), ..strip });
            }
        } else {
            for (unit, divergence) in units(run, args, &asked)? {
                let mut strip = strip(run, args, &start.codes.row(0), unit)?;
                if let Some(divergence) = divergence {
                    strip.note = format!("KL {divergence:.2}");
                }
                strips.push(strip);
            }
        }
        draw(run, &file, start.shown, strips, &title)?;
        wrote(&args.model, &args.output);
        Ok(())
    })
}

/// A traversal and the words beside its images.
struct Strip {
    label: String,
    note: String,
    traversal: Traversal,
}

/// The traversal of one unit, from these latent values.
fn strip(run: &Run, args: &TraverseArgs, row: &ArrayRef<f32, Ix1>, unit: Unit) -> Outcome<Strip> {
    let traversal = run.traversal(row, unit, args.range, usize::from(args.steps))?;
    let note = match unit {
        Unit::Continuous(unit) => {
            let (low, high) = args.range.unwrap_or_else(|| run.range_of(unit));
            format!("{} to {}", decimals(low, 1), decimals(high, 1))
        }
        Unit::Categorical(_) => "classes".to_owned(),
    };
    Ok(Strip { label: traversal.label.clone(), note, traversal })
}

/// Draws images in rows below what they start from, or charts of features.
fn draw(run: &Run, file: &PictureFile, mut rows: Vec<ImageRow>, strips: Vec<Strip>, title: &str) -> Outcome {
    let Some(features) = run.features() else {
        for Strip { label, note, traversal } in strips {
            rows.push(ImageRow { label, note, images: run.decode(&traversal.latents)? });
        }
        return Ok(file.draw(rows, Vec::new(), title)?);
    };
    let mut charts = Vec::with_capacity(strips.len());
    for Strip { label, traversal, .. } in strips {
        let rows = run.decode_standardised(&traversal.latents)?;
        let horizontal = traversal.axis().to_owned();
        charts.push(FeatureTraversal { label, horizontal, values: traversal.values, rows });
    }
    Ok(file.draw_features(features, &charts, title)?)
}

/// The unit that is varied where there can be only one.
fn only_unit(asked: &[Unit], option: &str) -> Outcome<Unit> {
    match asked {
        [unit] => Ok(*unit),
        others => Err(usage(format!("{option}: found {} of --unit, expected one", others.len()))),
    }
}

/// The units in their order, with their KL divergences where these decide it.
fn units(run: &Run, args: &TraverseArgs, asked: &[Unit]) -> Outcome<Vec<(Unit, Option<f64>)>> {
    let asked: Vec<Unit> = if asked.is_empty() { run.layout().units().collect() } else { asked.to_vec() };
    if !(args.by_kl || args.active) {
        return Ok(asked.into_iter().map(|unit| (unit, None)).collect());
    }
    let progress = args.model.progress();
    let data = input::open_own(run, &progress)?;
    let known = run.unit_activity(data.as_ref(), ENCODED, &progress)?;
    let wanted =
        known.iter().filter(|known| asked.contains(&known.unit) && (known.is_active || !args.active));
    let units: Vec<(Unit, Option<f64>)> = wanted.map(|known| (known.unit, Some(known.divergence))).collect();
    if units.is_empty() {
        return Err(usage("--active: found no active unit among those to traverse".to_owned()));
    }
    Ok(units)
}

/// Images of the run's own data that tell how much a unit carries.
const ENCODED: usize = 2000;

/// Where a traversal starts.
struct Start {
    codes: Array2<f32>,
    name: String,
    /// The image, as it was given and as it was corrupted.
    shown: Vec<ImageRow>,
}

fn start(run: &Run, args: &TraverseArgs) -> Outcome<Start> {
    let progress = args.model.progress();
    let (image, name) = if let Some(path) = &args.image {
        (run.read_image(path)?, path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    } else if args.data.is_some() || args.index.is_some() || !args.factors.is_empty() {
        let data = match &args.data {
            Some(spec) => input::open(run, spec, &progress)?,
            None => input::open_own(run, &progress)?,
        };
        let index = index(data.as_ref(), args)?;
        (input::read(data.as_ref(), &[index])?, format!("image {index} of {}", data.name()))
    } else {
        if args.corrupt.is_given() {
            return Err(usage(
                "--corrupt: found no image to corrupt, expected --image, --index or --factors",
            ));
        }
        let name =
            if args.starts.is_some() { "from samples of the prior" } else { "from the middle of the prior" };
        return Ok(Start { codes: run.middle(), name: name.to_owned(), shown: Vec::new() });
    };
    let mut shown = vec![ImageRow::new("input", image.clone())];
    let corrupted = args.corrupt.apply(&image, args.seed);
    shown.extend(corrupted.iter().map(|image| ImageRow::new("corrupted", image.clone())));
    let codes = run.codes_of(&corrupted.unwrap_or(image))?;
    Ok(Start { codes, name: format!("from {name}"), shown })
}

/// Which image of a data set.
fn index(data: &dyn DataSet, args: &TraverseArgs) -> Outcome<usize> {
    if args.factors.is_empty() {
        let index = args.index.unwrap_or(0);
        if index >= data.len() {
            return Err(usage(format!("--index: found {index}, expected less than {}", data.len())));
        }
        return Ok(index);
    }
    let Some(space) = data.factors() else {
        return Err(usage(format!("--factors: {} has no factors, expected --index", data.name())));
    };
    let sizes: Vec<String> =
        space.factors().iter().map(|factor| format!("{} 0 to {}", factor.name, factor.size - 1)).collect();
    let fits = args.factors.len() == space.len()
        && args.factors.iter().zip(space.factors()).all(|(&value, factor)| (value as usize) < factor.size);
    fits.then(|| data.index_of(&args.factors)).flatten().ok_or_else(|| {
        let found: Vec<String> = args.factors.iter().map(ToString::to_string).collect();
        usage(format!("--factors: found {}, expected an image with {}", found.join(","), sizes.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_two_numbers() {
        assert_eq!(range("-3..3"), Ok((-3.0, 3.0)));
        assert_eq!(range("0.5..-1e1"), Ok((0.5, -10.0)));
        for text in ["", "3", "..", "-3..", "a..b", "0..inf", "0...5..1"] {
            assert_eq!(range(text), Err(format!("found `{text}`, expected two numbers as in -3..3")));
        }
    }
}
