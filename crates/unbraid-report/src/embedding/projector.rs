//! The files of TensorBoard's embedding projector: codes and what is known of the images as TSV, all images
//! on one sheet, and a configuration that names them.

use super::thumbnail;
use crate::error::{Error, Result};
use crate::picture::canvas::encode_png;
use image::{ExtendedColorType, RgbImage, imageops};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid::Run;
use unbraid::data::progress::Progress;
use unbraid::data::{DataSet, FactorSpace};
use unbraid::files::{self, ContentError, Existing, write_computed};
use unbraid::inference::codes_table;

/// The largest sheet that the projector shows, in pixels along each side.
const LARGEST_SHEET: usize = 8192;
/// The longer side of an image on it, if all of them fit.
const THUMBNAIL: usize = 64;

/// Encodes all images of a data set and writes `vectors.tsv` (the means), `metadata.tsv`, `sprite.png` for
/// data with pictures, and `projector_config.pbtxt` into a directory, which is created if it does not exist.
/// Returns the files.
///
/// # Errors
/// If an image cannot be read, or a file cannot be written or exists and is to be kept.
pub fn write_projector(
    run: &Run,
    data: &dyn DataSet,
    directory: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(directory)
        .map_err(|source| Error::CreateDirectory { path: directory.to_owned(), source })?;
    let at = |name: &str| directory.join(name);
    let mut written = vec![at("vectors.tsv"), at("metadata.tsv")];
    write_computed(&written[0], existing, |file| {
        codes_table::in_pieces(run, data, progress, |_, posteriors| {
            for row in posteriors.mean.rows() {
                let values: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
                writeln!(file, "{}", values.join("\t"))?;
            }
            Ok::<(), ContentError<unbraid::Error>>(())
        })
    })?;
    files::write(&written[1], existing, |file| write_metadata(data, file))?;
    let mut config = String::from("embeddings {\n  tensor_name: \"codes\"\n  tensor_path: \"vectors.tsv\"\n");
    config.push_str("  metadata_path: \"metadata.tsv\"\n");
    if thumbnail::has_pictures(data) {
        let (sheet, (width, height)) = sprite(data)?;
        let png = encode_png(sheet.as_raw(), sheet.dimensions(), ExtendedColorType::Rgb8)?;
        let path = at("sprite.png");
        files::write(&path, existing, |file| file.write_all(&png))?;
        written.push(path);
        let _ = writeln!(
            config,
            "  sprite {{\n    image_path: \"sprite.png\"\n    single_image_dim: {width}\n    single_image_dim: {height}\n  }}"
        );
    }
    config.push_str("}\n");
    let path = at("projector_config.pbtxt");
    files::write(&path, existing, |file| file.write_all(config.as_bytes()))?;
    written.push(path);
    Ok(written)
}

/// Index, name and factors of each image. The projector takes a file with a single column for one without a
/// header, so there are always two or more.
fn write_metadata(data: &dyn DataSet, out: &mut impl Write) -> std::io::Result<()> {
    let factors = data.factors().map_or(&[][..], FactorSpace::factors);
    // Tabs and line breaks separate cells.
    let cell = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    write!(out, "image\tname")?;
    for factor in factors {
        write!(out, "\t{}", cell(&factor.name))?;
    }
    writeln!(out)?;
    let mut values = vec![0; factors.len()];
    for image in 0..data.len() {
        let name = data.image_name(image).map_or_else(|| image.to_string(), cell);
        write!(out, "{image}\t{name}")?;
        data.factors_of(image, &mut values);
        for value in &values {
            write!(out, "\t{value}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// All images in rows of a square sheet, from left to right and from top to bottom, each of the returned size.
fn sprite(data: &dyn DataSet) -> Result<(RgbImage, (u32, u32))> {
    let side = (1..).find(|side: &usize| side * side >= data.len()).unwrap_or(1);
    let size = thumbnail::size(data.shape(), (LARGEST_SHEET / side).clamp(1, THUMBNAIL));
    let rows = data.len().div_ceil(side);
    let mut sheet = RgbImage::new(side as u32 * size.0, rows as u32 * size.1);
    for image in 0..data.len() {
        let picture = thumbnail::picture(data, image, size)?;
        let (column, row) = (image % side, image / side);
        imageops::replace(
            &mut sheet,
            &picture,
            (column as u32 * size.0).into(),
            (row as u32 * size.1).into(),
        );
    }
    Ok((sheet, size))
}
