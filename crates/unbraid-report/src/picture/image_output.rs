//! Images that leave: as one sheet, as an archive of arrays, or as a directory of files.

use super::codes_table::singles;
use crate::failure::{Failure, Outcome};
use crate::files::{Broken, Existing, probe_output, write_made};
use crate::report::canvas::Canvas;
use crate::report::gallery::{Gallery, Row};
use crate::report::sheet::thousands;
use crate::run::Run;
use ndarray::{Array2, Axis};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_data::formats::npy::ElementType;
use unbraid_data::formats::npz_writer::NpzWriter;
use unbraid_data::progress::Progress;

/// Images that are decoded and written together.
const PIECE: usize = 512;

/// More images than this do not fit a sheet that anything could show.
const MOST_ON_A_SHEET: usize = 2500;

/// Where images go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    kind: Kind,
    path: PathBuf,
    existing: Existing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sheet,
    Archive,
    Directory,
}

impl Target {
    /// A path that ends in `.png` is a sheet, one that ends in `.npz` an archive, one without an ending a directory. What
    /// is there is kept unless it may be replaced; of a directory, only files of the same names ever are.
    ///
    /// # Errors
    /// If the path has another ending, exists and is to be kept, or cannot be written.
    pub fn new(path: &Path, existing: Existing) -> Outcome<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let kind = match ending.as_deref() {
            Some("png") => Kind::Sheet,
            Some("npz") => Kind::Archive,
            None => Kind::Directory,
            Some(_) => {
                return Err(Failure::input(format!(
                    "{}: expected a name that ends in .png for a sheet or .npz for arrays, or a directory",
                    path.display()
                )));
            }
        };
        match kind {
            Kind::Directory => check_directory(path, existing)?,
            Kind::Sheet | Kind::Archive => probe_output(path, existing)?,
        }
        Ok(Self { kind, path: path.to_owned(), existing })
    }

    /// Decodes rows of latent values and writes the images. An archive has `images` `[images, height, width, channels]` in
    /// single precision and the values as `codes` and `categories`, so that it can be decoded again.
    ///
    /// # Errors
    /// If there are too many for a sheet, or a file cannot be written.
    pub fn write(&self, run: &Run, latents: &Array2<f32>, title: &str, progress: &dyn Progress) -> Outcome {
        match self.kind {
            Kind::Sheet => self.write_sheet(run, latents, title),
            Kind::Archive => self.write_archive(run, latents, progress),
            Kind::Directory => self.write_directory(run, latents, progress),
        }
    }

    fn write_sheet(&self, run: &Run, latents: &Array2<f32>, title: &str) -> Outcome {
        let count = latents.nrows();
        if count > MOST_ON_A_SHEET {
            return Err(Failure::input(format!(
                "{}: found {} images, expected at most {} on a sheet\nhint: a name that ends in .npz, or a directory, \
                 takes any number",
                self.path.display(),
                thousands(count),
                thousands(MOST_ON_A_SHEET)
            )));
        }
        let row = Row { label: String::new(), note: String::new(), images: run.decode(latents)? };
        let columns = (count as f64).sqrt().ceil().max(1.0) as usize;
        let gallery = Gallery { columns, rows: vec![row], captions: Vec::new() };
        gallery.draw(title).save(&self.path, self.existing)
    }

    fn write_archive(&self, run: &Run, latents: &Array2<f32>, progress: &dyn Progress) -> Outcome {
        write_made(&self.path, self.existing, |file| {
            let shape = run.image_shape();
            let axes = [latents.nrows(), shape.height, shape.width, shape.channels];
            let mut npz = NpzWriter::new(file);
            let out = npz.array("images", ElementType::little('f', 4), &axes)?;
            progress.start("decoding", latents.nrows() as u64);
            for piece in latents.axis_chunks_iter(Axis(0), PIECE) {
                let bytes: Vec<u8> =
                    run.decode(&piece)?.iter().flat_map(|value| value.to_le_bytes()).collect();
                out.write_all(&bytes)?;
                progress.advance(piece.nrows() as u64);
            }
            progress.finish();
            let means = latents.slice_axis(Axis(1), (..run.units()).into());
            singles(&mut npz, "codes", [latents.nrows(), run.units()], means.iter().copied())?;
            let categorical = run.categorical_units().len();
            if categorical > 0 {
                let classes: Vec<i64> =
                    latents.rows().into_iter().flat_map(|row| classes(run, &row)).collect();
                npz.integers("categories", &[latents.nrows(), categorical], classes.into_iter())?;
            }
            npz.finish()?;
            Ok::<(), Broken>(())
        })
    }

    fn write_directory(&self, run: &Run, latents: &Array2<f32>, progress: &dyn Progress) -> Outcome {
        fs::create_dir_all(&self.path)
            .map_err(|error| Failure::input(format!("{}: cannot be made: {error}", self.path.display())))?;
        let digits = latents.nrows().to_string().len().max(4);
        let shape = run.image_shape();
        progress.start("decoding", latents.nrows() as u64);
        let mut number = 0;
        for piece in latents.axis_chunks_iter(Axis(0), PIECE) {
            for image in run.decode(&piece)?.outer_iter() {
                let mut canvas = Canvas::new(shape.width, shape.height);
                let pixels: Vec<f32> = image.iter().copied().collect();
                canvas.draw_image(shape, &pixels, 0, 0, 1);
                canvas.save(&self.path.join(format!("{number:0digits$}.png")), self.existing)?;
                number += 1;
            }
            progress.advance(piece.nrows() as u64);
        }
        progress.finish();
        Ok(())
    }
}

/// The class of each categorical unit in a row of latent values: the largest of its columns.
fn classes(run: &Run, row: &ndarray::ArrayView1<'_, f32>) -> Vec<i64> {
    let mut first = run.units();
    let class = |&count: &usize| {
        let own = first..first + count;
        first += count;
        own.clone().max_by(|&a, &b| row[a].total_cmp(&row[b])).map_or(0, |place| (place - own.start) as i64)
    };
    run.categorical_units().iter().map(class).collect()
}

fn check_directory(path: &Path, existing: Existing) -> Outcome {
    if path.is_file() {
        return Err(Failure::input(format!(
            "{}: found a file, expected a directory to write images into, or a name that ends in .png or .npz",
            path.display()
        )));
    }
    let occupied = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && existing == Existing::Keep {
        return Err(Failure::input(format!(
            "{}: the directory is not empty\nhint: --overwrite writes into it all the same",
            path.display()
        )));
    }
    // Something to ask the system about: a file in the directory, or the directory as an entry of its parent.
    if path.is_dir() { probe_output(&path.join("0000.png"), existing) } else { probe_output(path, existing) }
}
