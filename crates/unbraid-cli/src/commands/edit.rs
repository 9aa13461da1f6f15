//! `unbraid edit`: an image or a row of a table with some latent units changed.

use super::model::{ModelArgs, OverwriteArgs, SpreadsheetArgs, wrote};
use crate::error::{Outcome, usage};
use crate::format::{csv_of, print};
use clap::Args;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use unbraid::Run;
use unbraid::data::{DataSpec, Features, Picture};
use unbraid::files::{probe_output, write};
use unbraid::inference::{Assignment, NamedAssignment, assign, input};
use unbraid_report::{ImageRow, PictureFile};

/// Arguments of `unbraid edit`.
#[derive(Args, Debug)]
#[command(override_usage = "unbraid edit [OPTIONS] RUN --image FILE --set UNIT=VALUE -o FILE.png
       unbraid edit [OPTIONS] RUN --index N --set UNIT=VALUE [-o FILE.csv]")]
#[command(after_help = "\
Example: unbraid edit runs/photos --image a.jpg --set 3=+1 --keep-detail -o b.png

The image is encoded, the units are set, and the result is decoded (Dupont
2018, section 4.2). `unbraid traverse` shows what each unit does. A value with
a plus sign is a change: 3=+1 or 3+=1 upwards, 3-=1 downwards.

With --keep-detail, what the change of the units changes (edited minus plain
reconstruction) is added to the original at its own resolution.

Of a run on a table, the changed columns of a row are printed: the original,
its reconstruction, the edited row, and the difference of the last two.")]
pub(crate) struct EditArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// An image file of any size, cropped and resized to the run's
    #[arg(long, value_name = "FILE", required_unless_present = "index")]
    image: Option<PathBuf>,
    /// Edit this image or row of a data set, from 0
    #[arg(long, value_name = "N", conflicts_with_all = ["image", "keep_detail"])]
    index: Option<usize>,
    /// The data set of --index (default: the run's own data)
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "image")]
    data: Option<DataSpec>,
    /// Set a unit by its number or name, as in `3=1.5`, `3=+1` or `category.0=4`; may be repeated
    #[arg(long, value_name = "UNIT=VALUE", required = true)]
    set: Vec<NamedAssignment>,
    /// Add the change to the original at its own resolution
    #[arg(long, conflicts_with = "compare")]
    keep_detail: bool,
    /// Longer side of the picture in pixels (default: that of the run's images, or of the original)
    #[arg(long, value_name = "N", conflicts_with = "compare")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=8192))]
    size: Option<u16>,
    /// Draw the original and its reconstruction beside the result
    #[arg(long)]
    compare: bool,
    /// The picture to write, ending in .png; of a table, a .csv (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    spreadsheet: SpreadsheetArgs,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Edits as asked.
///
/// # Errors
/// If the run, the image, a unit or the output are wrong.
pub(crate) fn run(args: &EditArgs) -> Outcome {
    args.spreadsheet.cells(args.output.as_deref())?;
    let is_csv = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let picture = match &args.output {
        Some(path) if is_csv(path) => {
            probe_output(path, args.overwrite.existing())?;
            None
        }
        Some(path) => Some(PictureFile::still(path, args.overwrite.existing())?),
        None => None,
    };
    args.model.run(|run| {
        let assignments = args.set.iter().map(|set| run.assignment(set)).collect::<Result<Vec<_>, _>>()?;
        match (run.features(), &picture) {
            (Some(features), None) => edit_row(args, run, features, &assignments),
            (Some(_), Some(_)) => Ok(run.check_pictures("the columns of a row go to a .csv")?),
            (None, Some(file)) => edit_image(args, run, file, &assignments),
            (None, None) => Err(usage("-o: expected a name that ends in .png, for a run on images")),
        }
    })
}

fn edit_image(args: &EditArgs, run: &Run, file: &PictureFile, assignments: &[Assignment]) -> Outcome {
    let image = match &args.image {
        Some(path) if args.keep_detail => {
            let picture = run.edit_picture(path, assignments)?;
            return save(args, file, picture);
        }
        Some(path) => run.read_image(path)?,
        None => input::read(open_data(args, run)?.as_ref(), &[args.index.unwrap_or(0)])?,
    };
    let edited = run.edit(&image, assignments)?;
    if !args.compare {
        return save(args, file, Picture::new(run.image_shape(), edited.iter().copied().collect()));
    }
    let reconstruction = run.reconstruct(&image)?;
    let rows = vec![
        ImageRow::new("original", image),
        ImageRow::new("reconstruction", reconstruction),
        ImageRow::new("edited", edited),
    ];
    file.draw(rows, Vec::new(), &args.model.name())?;
    wrote_output(args);
    Ok(())
}

fn save(args: &EditArgs, file: &PictureFile, picture: Picture) -> Outcome {
    let picture = match args.size {
        Some(size) => picture.with_longer_side(usize::from(size)),
        None => picture,
    };
    file.save_image(picture.shape(), picture.pixels())?;
    wrote_output(args);
    Ok(())
}

/// Writes the columns of a row before and after.
fn edit_row(args: &EditArgs, run: &Run, features: &Features, assignments: &[Assignment]) -> Outcome {
    if args.image.is_some() {
        run.check_pictures("--index N takes a row of the table")?;
    }
    if args.keep_detail || args.compare || args.size.is_some() {
        return Err(usage("--keep-detail, --size and --compare are for pictures; this run is on a table"));
    }
    let data = open_data(args, run)?;
    let index = args.index.unwrap_or(0);
    let mut original = vec![0.0; features.len()];
    data.write_row(index, input::noise().at(0).lane(index as u64), &mut original)?;
    let mut codes =
        run.latents_of(&run.encode_data(data.as_ref(), &[index], input::noise(), &args.model.progress())?);
    let plain = run.decode_rows(&codes)?;
    assign(run, &mut codes, assignments)?;
    let edited = run.decode_rows(&codes)?;
    let cells = args.spreadsheet.cells(args.output.as_deref())?;
    let table = csv_of(|table| {
        table.write_record(["column", "original", "reconstruction", "edited", "change"])?;
        for (column, name) in features.names().enumerate() {
            let (plain, edited) = (plain[[0, column]], edited[[0, column]]);
            let numbers = [original[column], plain, edited, edited - plain].map(|value| value.to_string());
            table.write_record(std::iter::once(cells.of(name)).chain(numbers))?;
        }
        Ok(())
    })?;
    match &args.output {
        Some(path) => {
            write(path, args.overwrite.existing(), |file| file.write_all(table.as_bytes()))?;
            wrote_output(args);
            Ok(())
        }
        None => print(&table),
    }
}

/// The data set of `--index`, which must have as many images or rows.
fn open_data(args: &EditArgs, run: &Run) -> Outcome<Box<dyn unbraid::data::DataSet>> {
    let progress = args.model.progress();
    let data = match &args.data {
        Some(spec) => input::open(run, spec, &progress)?,
        None => input::open_own(run, &progress)?,
    };
    let index = args.index.unwrap_or(0);
    if index >= data.len() {
        return Err(usage(format!("--index: found {index}, expected less than {}", data.len())));
    }
    Ok(data)
}

fn wrote_output(args: &EditArgs) {
    if let Some(path) = &args.output {
        wrote(&args.model, path);
    }
}
