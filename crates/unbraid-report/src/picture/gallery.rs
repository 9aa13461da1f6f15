//! Rows of images, each row with a name: samples, reconstructions, traversals.

use super::canvas::{Align, Canvas, FAINT_INK, INK, text_width};
use super::html::{data_uri, escape};
use super::tiles;
use crate::failure::Outcome;
use ndarray::Array4;
use std::fmt::Write;
use unbraid_data::ImageShape;

/// Some images that belong together.
#[derive(Clone, Debug)]
pub struct Row {
    /// What they are: `unit 3`.
    pub label: String,
    /// A number that goes with them: `KL 2.31`.
    pub note: String,
    /// `[images, height, width, channels]`.
    pub images: Array4<f32>,
}

/// Rows of images.
#[derive(Clone, Debug)]
pub struct Gallery {
    /// Images beside each other; more go to the next line.
    pub columns: usize,
    /// The rows.
    pub rows: Vec<Row>,
    /// What the columns stand for, if the same for all rows.
    pub captions: Vec<String>,
}

const SMALLEST_CELL: usize = 64;
const MARGIN: usize = 16;
const GAP: usize = 4;
const TITLE_SIZE: f32 = 20.0;
const LABEL_SIZE: f32 = 15.0;
const NOTE_SIZE: f32 = 12.0;

impl Gallery {
    /// As a picture with all its words.
    pub fn draw(&self, title: &str) -> Canvas {
        let shape = self.shape();
        let zoom = SMALLEST_CELL.div_ceil(shape.width.max(shape.height).max(1)).max(1);
        let cell = (shape.width * zoom + GAP, shape.height * zoom + GAP);
        let width_of = |text: &str, size: f32| text_width(text, size).ceil() as usize;
        let labels =
            self.rows.iter().map(|row| width_of(&row.label, LABEL_SIZE).max(width_of(&row.note, NOTE_SIZE)));
        let widest = labels.max().unwrap_or(0);
        let left = if widest == 0 { MARGIN } else { MARGIN + widest + MARGIN };
        let top = MARGIN + 36 + if self.captions.is_empty() { 0 } else { 20 };
        let lines: usize = self.rows.iter().map(|row| self.lines(row)).sum();
        let width = (left + self.columns * cell.0 + MARGIN).max(width_of(title, TITLE_SIZE) + 2 * MARGIN);
        let mut canvas = Canvas::new(width, top + lines * cell.1 + self.rows.len() * GAP + MARGIN);
        canvas.text(title, MARGIN, MARGIN + 12, TITLE_SIZE, Align::Left, INK);
        for (column, caption) in self.captions.iter().enumerate() {
            let centre = left + column * cell.0 + (cell.0 - GAP) / 2;
            canvas.text(caption, centre, top - 10, NOTE_SIZE, Align::Centre, FAINT_INK);
        }
        let mut cursor = top;
        for row in &self.rows {
            let middle = cursor + (self.lines(row) * cell.1 - GAP) / 2;
            let right = left.saturating_sub(MARGIN);
            let (label, note) =
                if row.note.is_empty() { (middle, middle) } else { (middle - 9, middle + 10) };
            canvas.text(&row.label, right, label, LABEL_SIZE, Align::Right, INK);
            canvas.text(&row.note, right, note, NOTE_SIZE, Align::Right, FAINT_INK);
            for (place, image) in row.images.outer_iter().enumerate() {
                let (column, line) = (place % self.columns, place / self.columns);
                let pixels: Vec<f32> = image.iter().copied().collect();
                canvas.draw_image(shape, &pixels, left + column * cell.0, cursor + line * cell.1, zoom);
            }
            cursor += self.lines(row) * cell.1 + GAP;
        }
        canvas
    }

    fn lines(&self, row: &Row) -> usize {
        row.images.len_of(ndarray::Axis(0)).div_ceil(self.columns.max(1))
    }

    fn shape(&self) -> ImageShape {
        self.rows.first().map_or(ImageShape::new(1, 1, 1), |row| {
            let (_, height, width, channels) = row.images.dim();
            ImageShape::new(height, width, channels)
        })
    }

    /// As a part of a page, where the names of the rows are text.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub fn html(&self, title: &str) -> Outcome<String> {
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
                escape(&format!("{}: {} images", words.join(", "), row.images.len_of(ndarray::Axis(0)))),
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
        let row = |label: &str, value: f32, count: usize| Row {
            label: label.to_owned(),
            note: String::new(),
            images: Array4::from_elem((count, 64, 64, 1), value),
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
