//! Decoded images as files: one sheet, an archive of arrays, or a directory.

use super::canvas::Canvas;
use super::gallery::{Gallery, ImageRow};
use crate::error::{Error, Result};
use ndarray::{ArrayRef, Axis, Ix2};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use unbraid::Run;
use unbraid::data::formats::npy::ElementType;
use unbraid::data::formats::npz_writer::NpzWriter;
use unbraid::data::progress::Progress;
use unbraid::files::{CellText, ContentError, Existing, probe_output, write_computed};

/// Images that are decoded and written together.
const BATCH: usize = 512;

/// More images than this do not fit a sheet that anything could show.
const MOST_ON_A_SHEET: usize = 2500;

/// Where decoded images go: a sheet (`.png`), an archive of arrays (`.npz`), or a directory of PNG files; the
/// rows of a run on a table to a table (`.csv`) or an archive.
///
/// It is created before the images are computed, so that a wrong path fails at once.
///
/// ```no_run
/// use std::path::Path;
/// use unbraid::Run;
/// use unbraid::data::progress::Silent;
/// use unbraid::files::Existing;
/// use unbraid_report::ImageOutput;
///
/// let output = ImageOutput::new(Path::new("samples.npz"), Existing::Keep)?;
/// let run = Run::open("runs/first")?;
/// output.write(&run, &run.draw_latents(1000, 0), "Samples", &Silent)?;
/// # Ok::<(), unbraid_report::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageOutput {
    kind: Kind,
    path: PathBuf,
    existing: Existing,
    cells: CellText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sheet,
    Archive,
    Directory,
    Table,
}

impl ImageOutput {
    /// A path that ends in `.png` is a sheet, one that ends in `.npz` an archive, one without an extension a directory.
    /// Existing files are kept unless they may be replaced; in a directory, only files of the same names ever are.
    ///
    /// # Errors
    /// If the path has another extension, exists and is to be kept, or cannot be written.
    pub fn new(path: &Path, existing: Existing) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let kind = match extension.as_deref() {
            Some("png") => Kind::Sheet,
            Some("npz") => Kind::Archive,
            Some("csv") => Kind::Table,
            None => Kind::Directory,
            Some(_) => {
                return Err(Error::FileName {
                    path: path.to_owned(),
                    expected: "a name that ends in .png for a sheet, .npz for arrays or .csv for a table, or a directory",
                });
            }
        };
        match kind {
            Kind::Directory => check_directory(path, existing)?,
            Kind::Sheet | Kind::Archive | Kind::Table => probe_output(path, existing)?,
        }
        Ok(Self { kind, path: path.to_owned(), existing, cells: CellText::Plain })
    }

    /// What text, the names of columns, becomes in a table.
    #[must_use]
    pub fn with_cells(self, cells: CellText) -> Self {
        Self { cells, ..self }
    }

    /// Decodes rows of latent values and writes the images; a sheet has a title. An archive has `images`
    /// `[images, height, width, channels]` in single precision and the latent values as `codes` and
    /// `categories`, so that it can be decoded again; of a run on a table, `vectors` `[rows, columns]` in
    /// double precision and the names `columns`.
    ///
    /// # Errors
    /// If there are too many images for a sheet, the run has no pictures or no columns, or a file cannot be written.
    pub fn write(
        &self,
        run: &Run,
        latents: &ArrayRef<f32, Ix2>,
        title: &str,
        progress: &dyn Progress,
    ) -> Result {
        match (self.kind, run.features()) {
            (Kind::Sheet | Kind::Directory, Some(_)) => {
                run.check_pictures("a name that ends in .csv or .npz takes its rows")?;
            }
            (Kind::Table, None) => {
                let expected = "a name that ends in .png or .npz, or a directory: the run is on images";
                return Err(Error::FileName { path: self.path.clone(), expected });
            }
            (Kind::Archive, _) | (Kind::Table, Some(_)) | (Kind::Sheet | Kind::Directory, None) => {}
        }
        match self.kind {
            Kind::Table => self.write_table(run, latents, progress),
            Kind::Sheet => self.write_sheet(run, latents, title),
            Kind::Archive => self.write_archive(run, latents, progress),
            Kind::Directory => self.write_directory(run, latents, progress),
        }
    }

    fn write_sheet(&self, run: &Run, latents: &ArrayRef<f32, Ix2>, title: &str) -> Result {
        let count = latents.nrows();
        if count > MOST_ON_A_SHEET {
            let path = self.path.clone();
            return Err(Error::TooManyImages { path, found: count, limit: MOST_ON_A_SHEET });
        }
        let columns = (count as f64).sqrt().ceil().max(1.0) as usize;
        let rows = vec![ImageRow::new("", run.decode(latents)?)];
        Gallery { columns, rows, captions: Vec::new() }.draw(title).save(&self.path, self.existing)
    }

    fn write_archive(&self, run: &Run, latents: &ArrayRef<f32, Ix2>, progress: &dyn Progress) -> Result {
        write_computed(&self.path, self.existing, |file| {
            let (layout, shape) = (run.layout(), run.image_shape());
            let floats = ElementType::little('f', 4);
            let axes = [latents.nrows(), shape.height, shape.width, shape.channels];
            let mut npz = NpzWriter::new(file);
            let compute = |error| ContentError::Compute(Error::from(error));
            progress.start("decoding", latents.nrows() as u64);
            if let Some(features) = run.features() {
                let out =
                    npz.array("vectors", ElementType::little('f', 8), &[latents.nrows(), features.len()])?;
                for batch in latents.axis_chunks_iter(Axis(0), BATCH) {
                    let rows = run.decode_rows(&batch).map_err(compute)?;
                    let bytes: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
                    out.write_all(&bytes)?;
                    progress.advance(batch.nrows() as u64);
                }
                npz.strings("columns", &features.names().map(str::to_owned).collect::<Vec<_>>())?;
            } else {
                let out = npz.array("images", floats, &axes)?;
                for batch in latents.axis_chunks_iter(Axis(0), BATCH) {
                    let images = run.decode(&batch).map_err(compute)?;
                    write_floats(out, images.iter().copied())?;
                    progress.advance(batch.nrows() as u64);
                }
            }
            progress.finish();
            let codes = latents.slice_axis(Axis(1), layout.continuous_columns().into());
            let out = npz.array("codes", floats, &[latents.nrows(), run.units()])?;
            write_floats(out, codes.iter().copied())?;
            let categorical = run.categorical_units().len();
            if categorical > 0 {
                let classes = latents.rows().into_iter().flat_map(|row| layout.classes_of(&row));
                let classes = classes.map(|class| class as i64);
                npz.integers("categories", &[latents.nrows(), categorical], classes)?;
            }
            npz.finish()?;
            Ok(())
        })
    }

    /// One row for each row of latent values, under the names of the columns.
    fn write_table(&self, run: &Run, latents: &ArrayRef<f32, Ix2>, progress: &dyn Progress) -> Result {
        let names: Vec<String> = run
            .features()
            .map_or_else(Vec::new, |features| features.names().map(|name| self.cells.of(name)).collect());
        write_computed(&self.path, self.existing, |file| {
            progress.start("decoding", latents.nrows() as u64);
            let mut table = csv::Writer::from_writer(file);
            table.write_record(&names).map_err(io::Error::from)?;
            for batch in latents.axis_chunks_iter(Axis(0), BATCH) {
                let rows =
                    run.decode_rows(&batch).map_err(|error| ContentError::Compute(Error::from(error)))?;
                for row in rows.rows() {
                    table.write_record(row.iter().map(f64::to_string)).map_err(io::Error::from)?;
                }
                progress.advance(batch.nrows() as u64);
            }
            progress.finish();
            Ok(table.flush()?)
        })
    }

    fn write_directory(&self, run: &Run, latents: &ArrayRef<f32, Ix2>, progress: &dyn Progress) -> Result {
        fs::create_dir_all(&self.path).map_err(unbraid::Error::io(&self.path, "create the directory"))?;
        let digits = latents.nrows().to_string().len().max(4);
        let shape = run.image_shape();
        progress.start("decoding", latents.nrows() as u64);
        let mut number = 0;
        for batch in latents.axis_chunks_iter(Axis(0), BATCH) {
            for image in run.decode(&batch)?.outer_iter() {
                let pixels: Vec<f32> = image.iter().copied().collect();
                let path = self.path.join(format!("{number:0digits$}.png"));
                Canvas::of_image(shape, &pixels).save(&path, self.existing)?;
                number += 1;
            }
            progress.advance(batch.nrows() as u64);
        }
        progress.finish();
        Ok(())
    }
}

fn write_floats(out: &mut impl Write, values: impl Iterator<Item = f32>) -> io::Result<()> {
    let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    out.write_all(&bytes)
}

fn check_directory(path: &Path, existing: Existing) -> Result {
    if path.is_file() {
        return Err(Error::NotADirectory { path: path.to_owned() });
    }
    let occupied = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && existing == Existing::Keep {
        return Err(Error::DirectoryNotEmpty { path: path.to_owned() });
    }
    // Something to ask the system about: a file in the directory, or the directory as an entry of its parent.
    let probed = if path.is_dir() { path.join("0000.png") } else { path.to_owned() };
    Ok(probe_output(&probed, existing)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_and_what_is_there_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let kind = |name: &str, existing| ImageOutput::new(&at(name), existing).map(|output| output.kind);
        let message = |name: &str| kind(name, Existing::Keep).unwrap_err().to_string();
        assert_eq!(kind("a.PNG", Existing::Keep).unwrap(), Kind::Sheet);
        assert_eq!(kind("a.npz", Existing::Keep).unwrap(), Kind::Archive);
        assert_eq!(kind("a", Existing::Keep).unwrap(), Kind::Directory);
        assert_eq!(
            message("a.gif"),
            format!(
                "{}: expected a name that ends in .png for a sheet, .npz for arrays or .csv for a table, or a directory",
                at("a.gif").display()
            )
        );
        fs::write(at("file"), "").unwrap();
        assert_eq!(
            message("file"),
            format!(
                "{}: found a file, expected a directory to write images into, or a name that ends in .png or .npz",
                at("file").display()
            )
        );
        fs::create_dir(at("full")).unwrap();
        fs::write(at("full/mine"), "").unwrap();
        assert_eq!(message("full"), format!("{}: the directory is not empty", at("full").display()));
        assert_eq!(kind("full", Existing::Replace).unwrap(), Kind::Directory);
    }

    #[test]
    fn numbers_of_images_are_written_for_people() {
        let error = Error::TooManyImages { path: "o.png".into(), found: 9999, limit: MOST_ON_A_SHEET };
        assert_eq!(error.to_string(), "o.png: found 9,999 images, expected at most 2,500 on a sheet");
    }
}
