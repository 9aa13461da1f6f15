//! Rows of images that belong together, as a picture or in motion.

use crate::failure::{Failure, Outcome};
use crate::files::{Existing, probe_output};
use crate::report::animation::Animation;
use crate::report::canvas::{Align, Canvas};
use crate::report::gallery::{Gallery, Row};
use ndarray::Axis;
use std::path::{Path, PathBuf};
use unbraid_data::ImageShape;

/// A picture file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureFile {
    path: PathBuf,
    moves: bool,
    existing: Existing,
}

impl PictureFile {
    /// A path that ends in `.png`, or in `.gif` for a moving picture.
    ///
    /// # Errors
    /// If it has another ending, exists and is to be kept, or cannot be written.
    pub fn new(path: &Path, existing: Existing) -> Outcome<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let moves = match ending.as_deref() {
            Some("png") => false,
            Some("gif") => true,
            _ => {
                return Err(Failure::input(format!(
                    "{}: expected a name that ends in .png, or in .gif for a moving picture",
                    path.display()
                )));
            }
        };
        probe_output(path, existing)?;
        Ok(Self { path: path.to_owned(), moves, existing })
    }

    /// A path that ends in `.png`.
    ///
    /// # Errors
    /// As [`PictureFile::new`].
    pub fn still(path: &Path, existing: Existing) -> Outcome<Self> {
        let file = Self::new(path, existing)?;
        if file.moves {
            return Err(Failure::input(format!("{}: expected a name that ends in .png", path.display())));
        }
        Ok(file)
    }

    /// Whether it is a moving picture.
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// Draws rows of images under a title; in motion, each row is a film beside the others.
    ///
    /// # Errors
    /// If it cannot be encoded or written.
    pub fn draw(&self, rows: Vec<Row>, captions: Vec<String>, title: &str) -> Outcome {
        if self.moves {
            return animated(&rows).save(&self.path, self.existing);
        }
        let columns = rows.iter().map(|row| row.images.len_of(Axis(0))).max().unwrap_or(0).max(1);
        Gallery { columns, rows, captions }.draw(title).save(&self.path, self.existing)
    }

    /// Writes one image as it is, pixel for pixel.
    ///
    /// # Errors
    /// If it cannot be encoded or written.
    pub fn save_image(&self, shape: ImageShape, pixels: &[f32]) -> Outcome {
        let mut canvas = Canvas::new(shape.width, shape.height);
        canvas.draw_image(shape, pixels, 0, 0, 1);
        canvas.save(&self.path, self.existing)
    }
}

const COLUMNS: usize = 5;
const GAP: usize = 8;
const WORDS: usize = 18;
const SMALLEST_CELL: usize = 64;
/// Neutral, so that grey images need no other colours.
const GREY: [u8; 3] = [70; 3];
/// Hundredths of a second for each picture.
const DELAY: u16 = 10;

/// All films at once, there and back; one with fewer images than the longest shows each for longer.
fn animated(rows: &[Row]) -> Animation {
    let frames = rows.iter().map(|row| row.images.len_of(Axis(0))).max().unwrap_or(0);
    let shape = rows.first().map_or(ImageShape::new(1, 1, 1), |row| {
        let (_, height, width, channels) = row.images.dim();
        ImageShape::new(height, width, channels)
    });
    let zoom = SMALLEST_CELL.div_ceil(shape.width.max(shape.height).max(1)).max(1);
    let words = if rows.iter().all(|row| row.label.is_empty()) { 0 } else { WORDS };
    let cell = (shape.width * zoom + GAP, shape.height * zoom + GAP + words);
    let columns = COLUMNS.min(rows.len().max(1));
    let frame = |time: usize| {
        let mut canvas = Canvas::new(columns * cell.0 + GAP, rows.len().div_ceil(columns) * cell.1 + GAP);
        for (place, row) in rows.iter().enumerate() {
            let (left, top) = (GAP + place % columns * cell.0, GAP + place / columns * cell.1);
            let image = time * row.images.len_of(Axis(0)) / frames;
            let pixels: Vec<f32> = row.images.index_axis(Axis(0), image).iter().copied().collect();
            canvas.draw_image(shape, &pixels, left, top, zoom);
            let (centre, below) = (left + shape.width * zoom / 2, top + shape.height * zoom + WORDS / 2);
            canvas.text(&row.label, centre, below, 12.0, Align::Centre, GREY);
        }
        canvas
    };
    Animation::back_and_forth((0..frames).map(frame).collect(), DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array4;

    /// Three images and two: at times 0, 1 and 2 the shorter film shows 0, 0 and 1; then all goes back.
    #[test]
    fn shorter_films_wait_for_longer_ones() {
        let row = |values: &[f32]| Row {
            label: String::new(),
            note: String::new(),
            images: Array4::from_shape_fn((values.len(), 64, 64, 1), |(image, ..)| values[image]),
        };
        let animation = animated(&[row(&[0.0, 0.2, 0.4]), row(&[0.6, 0.8])]);
        let shown: Vec<[u8; 2]> = animation
            .frames
            .iter()
            .map(|frame| [9, 9 + 64 + 8].map(|x| frame.picture().get_pixel(x, 9).0[0]))
            .collect();
        assert_eq!(shown, [[0, 153], [51, 153], [102, 204], [51, 153]]);
    }
}
