//! Rows of images, each row with a label: samples, reconstructions, traversals.

use super::canvas::{Align, Canvas};
use super::tiles;
use crate::colour::{FAINT_INK, INK};
use crate::error::Result;
use crate::font::text_width;
use crate::html::{data_uri, escape};
use ndarray::{Array4, Axis};
use std::fmt::Write;
use unbraid::data::ImageShape;

/// Images that belong together, such as a traversal of one latent unit.
#[derive(Clone, Debug)]
pub struct ImageRow {
    /// What they are: `unit 3`. Empty for none.
    pub label: String,
    /// A detail in smaller letters: `KL 2.31`. Empty for none.
    pub note: String,
    /// `[images, height, width, channels]`, with values from 0 to 1.
    pub images: Array4<f32>,
}

impl ImageRow {
    /// Images with a label and no note.
    pub fn new(label: impl Into<String>, images: Array4<f32>) -> Self {
        Self { label: label.into(), note: String::new(), images }
    }

    /// How many images it has.
    pub(super) fn count(&self) -> usize {
        self.images.len_of(Axis(0))
    }

    /// The size of its images.
    pub(super) fn image_shape(&self) -> ImageShape {
        let (_, height, width, channels) = self.images.dim();
        ImageShape::new(height, width, channels)
    }

    /// The pixels of one of them.
    pub(super) fn pixels(&self, image: usize) -> Vec<f32> {
        self.images.index_axis(Axis(0), image).iter().copied().collect()
    }
}

/// Rows of images of one size.
///
/// ```
/// use ndarray::Array4;
/// use unbraid_report::{Gallery, ImageRow};
///
/// let rows = vec![ImageRow::new("unit 3", Array4::zeros((5, 64, 64, 1)))];
/// let gallery = Gallery { columns: 5, rows, captions: Vec::new() };
/// assert!(gallery.draw("Traversal").width() > 5 * 64);
/// ```
#[derive(Clone, Debug)]
pub struct Gallery {
    /// Images beside each other; a longer row continues on the next line.
    pub columns: usize,
    /// The rows.
    pub rows: Vec<ImageRow>,
    /// What the columns stand for, if it is the same for all rows. Empty for none.
    pub captions: Vec<String>,
}

const SMALLEST_CELL: usize = 64;
const MARGIN: usize = 16;
const GAP: usize = 4;
const TITLE_SIZE: f32 = 20.0;
const LABEL_SIZE: f32 = 15.0;
const NOTE_SIZE: f32 = 12.0;

impl Gallery {
    /// Draws the rows under a title. Images smaller than 64 pixels are enlarged.
    ///
    /// # Panics
    /// If images differ in size.
    pub fn draw(&self, title: &str) -> Canvas {
        let (shape, columns) = (self.shape(), self.columns.max(1));
        let zoom = SMALLEST_CELL.div_ceil(shape.width.max(shape.height).max(1)).max(1);
        let cell = (shape.width * zoom + GAP, shape.height * zoom + GAP);
        let width_of = |text: &str, size: f32| text_width(text, size).ceil() as usize;
        let labels =
            self.rows.iter().map(|row| width_of(&row.label, LABEL_SIZE).max(width_of(&row.note, NOTE_SIZE)));
        let widest = labels.max().unwrap_or(0);
        let left = if widest == 0 { MARGIN } else { MARGIN + widest + MARGIN };
        let top = MARGIN + 36 + if self.captions.is_empty() { 0 } else { 20 };
        let lines: usize = self.rows.iter().map(|row| self.lines(row)).sum();
        let width = (left + columns * cell.0 + MARGIN).max(width_of(title, TITLE_SIZE) + 2 * MARGIN);
        let mut canvas = Canvas::new(width, top + lines * cell.1 + self.rows.len() * GAP + MARGIN);
        canvas.text(title, MARGIN, MARGIN + 12, TITLE_SIZE, Align::Left, INK);
        for (column, caption) in self.captions.iter().enumerate() {
            let centre = left + column * cell.0 + (cell.0 - GAP) / 2;
            canvas.text(caption, centre, top - 10, NOTE_SIZE, Align::Centre, FAINT_INK);
        }
        let mut cursor = top;
        for row in &self.rows {
            let middle = cursor + (self.lines(row) * cell.1).saturating_sub(GAP) / 2;
            let right = left.saturating_sub(MARGIN);
            let (label, note) =
                if row.note.is_empty() { (middle, middle) } else { (middle.saturating_sub(9), middle + 10) };
            canvas.text(&row.label, right, label, LABEL_SIZE, Align::Right, INK);
            canvas.text(&row.note, right, note, NOTE_SIZE, Align::Right, FAINT_INK);
            for place in 0..row.count() {
                let (column, line) = (place % columns, place / columns);
                let pixels = row.pixels(place);
                canvas.draw_image(shape, &pixels, left + column * cell.0, cursor + line * cell.1, zoom);
            }
            cursor += self.lines(row) * cell.1 + GAP;
        }
        canvas
    }

    fn lines(&self, row: &ImageRow) -> usize {
        row.count().div_ceil(self.columns.max(1))
    }

    fn shape(&self) -> ImageShape {
        self.rows.first().map_or(ImageShape::new(1, 1, 1), ImageRow::image_shape)
    }

    /// As a part of a page, where labels are text.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub(crate) fn html(&self, title: &str) -> Result<String> {
        let named = self.rows.iter().any(|row| !row.label.is_empty());
        let mut html = String::from(if named { "<div class=\"rows\">\n" } else { "" });
        for row in &self.rows {
            let (label, note) = (escape(&row.label), escape(&row.note));
            if named {
                let note = if note.is_empty() { note } else { format!("<span>{note}</span>") };
                let _ = writeln!(html, "<div class=\"label\">{label}{note}</div>");
            }
            let tiles = tiles::draw(&row.images, self.columns)?;
            let words: Vec<&str> =
                [title, &row.label, &row.note].into_iter().filter(|word| !word.is_empty()).collect();
            let _ = writeln!(
                html,
                "<img class=\"tiles\" width=\"{}\" height=\"{}\" alt=\"{}\" src=\"{}\">",
                tiles.width,
                tiles.height,
                escape(&format!("{}: {} images", words.join(", "), row.count())),
                data_uri("image/png", &tiles.png)
            );
        }
        if named {
            html.push_str("</div>\n");
        }
        Ok(html)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gallery() -> Gallery {
        let row = |label: &str, value: f32, count: usize| {
            ImageRow::new(label, Array4::from_elem((count, 64, 64, 1), value))
        };
        Gallery { columns: 2, rows: vec![row("", 0.0, 3), row("", 0.4, 2)], captions: Vec::new() }
    }

    /// Three images in rows of two take two lines; the next row of the gallery is below them.
    #[test]
    fn rows_follow_each_other() {
        let canvas = gallery().draw("t");
        let at = |x: u32, y: u32| canvas.picture().get_pixel(x, y).0[0];
        let (left, top, cell) = (16, 52, 68);
        assert_eq!([at(left, top), at(left + cell, top), at(left, top + cell)], [0, 0, 0]);
        assert_eq!(at(left + cell, top + cell), 255, "the fourth place is empty");
        assert_eq!(at(left, top + 2 * cell + 4), 102, "0.4 of 255");
        assert_eq!(canvas.picture().height() as usize, 52 + 3 * 68 + 2 * 4 + 16);
    }

    #[test]
    fn names_are_escaped_and_pictures_have_words() {
        let mut gallery = gallery();
        gallery.rows[1].label = "<b>".to_owned();
        let html = gallery.html("a & b").unwrap();
        assert!(html.contains("alt=\"a &amp; b, &lt;b&gt;: 2 images\""), "{html}");
        assert_eq!(html.matches("src=\"data:image/png;base64,").count(), 2);
    }
}
