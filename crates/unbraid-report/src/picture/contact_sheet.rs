//! The contact sheet of a data set: random images, and for each factor a row in which only that factor varies.

use super::canvas::{Align, Canvas};
use super::scatter;
use crate::colour::{FAINT_INK, INK};
use crate::error::Result;
use crate::font::text_width;
use crate::numbers::thousands;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, Factor, sampling};

/// How the contact sheet of a data set is laid out.
#[derive(Clone, Copy, Debug)]
pub struct SheetOptions {
    /// Images in a row; at least one.
    pub columns: usize,
    /// Rows of random images.
    pub rows: usize,
    /// Decides which images, and the noise of those that have some.
    pub seed: u64,
}

impl Default for SheetOptions {
    fn default() -> Self {
        Self { columns: 10, rows: 3, seed: 0 }
    }
}

/// Images smaller than this are enlarged.
const SMALLEST_CELL: usize = 64;
const MARGIN: usize = 16;
const GAP: usize = 4;
const TITLE_SIZE: f32 = 20.0;
const LABEL_SIZE: f32 = 15.0;
const CAPTION_SIZE: f32 = 11.0;
/// The label of the rows above the factors.
const RANDOM: &str = "random";

/// Draws a data set at a glance: random images and, for each factor, a row in which only that factor varies.
/// Two-dimensional data becomes a scatter plot.
///
/// ```
/// use unbraid::data::{DataSpec, open, progress::Silent};
/// use unbraid_report::{SheetOptions, draw_data_set};
///
/// let data = open(&"shapes".parse::<DataSpec>()?, &Silent)?;
/// let canvas = draw_data_set(data.as_ref(), SheetOptions { columns: 8, rows: 2, seed: 0 })?;
/// assert!(canvas.width() > 8 * 64);
/// # Ok::<(), unbraid_report::Error>(())
/// ```
///
/// # Errors
/// If an image cannot be read.
pub fn draw_data_set(data: &dyn DataSet, options: SheetOptions) -> Result<Canvas> {
    if data.shape().values() == 2 {
        return scatter::draw(data);
    }
    let options = SheetOptions { columns: options.columns.max(1), ..options };
    let sweeps = factor_sweeps(data, options);
    let mut sheet = Sheet::new(data, options, &sweeps);
    sheet.title();
    sheet.random_images()?;
    sheet.sweeps(&sweeps)?;
    Ok(sheet.canvas)
}

/// One factor, and for some of its values the image that shows it.
struct Sweep<'a> {
    factor: &'a Factor,
    images: Vec<(u32, usize)>,
}

/// For each factor, images that differ in that factor and as little as possible otherwise.
fn factor_sweeps(data: &dyn DataSet, options: SheetOptions) -> Vec<Sweep<'_>> {
    let Some(space) = data.factors() else { return Vec::new() };
    let middle: Vec<u32> = space.factors().iter().map(|factor| (factor.size / 2) as u32).collect();
    let sweep = |k: usize| {
        let factor = &space.factors()[k];
        let values = spread(factor.size, options.columns);
        let images = if data.is_full_grid() {
            let at = |value: u32| {
                let mut values = middle.clone();
                values[k] = value;
                data.index_of(&values)
            };
            values.into_iter().filter_map(|value| Some((value, at(value)?))).collect()
        } else {
            nearest(data, &middle, k, &values)
        };
        Sweep { factor, images }
    };
    // A data set like CelebA has 40 factors; a sheet of the first dozen still fits a screen.
    (0..space.len().min(12)).map(sweep).collect()
}

/// Up to `count` values from 0 to `size - 1`, both ends included.
fn spread(size: usize, count: usize) -> Vec<u32> {
    if size <= count {
        return (0..size as u32).collect();
    }
    (0..count).map(|i| (i * (size - 1) / (count - 1).max(1)) as u32).collect()
}

/// Without a full grid: for each value of factor `k`, the first image whose other factors are nearest to `middle`.
fn nearest(data: &dyn DataSet, middle: &[u32], k: usize, values: &[u32]) -> Vec<(u32, usize)> {
    let mut best: Vec<Option<(u64, usize)>> = vec![None; values.len()];
    let mut row = vec![0; middle.len()];
    for image in 0..data.len() {
        data.factors_of(image, &mut row);
        let Some(slot) = values.iter().position(|&value| value == row[k]) else { continue };
        let others = row.iter().zip(middle).enumerate().filter(|(other, _)| *other != k);
        let distance = others.map(|(_, (left, right))| u64::from(left.abs_diff(*right))).sum();
        if best[slot].is_none_or(|(found, _)| distance < found) {
            best[slot] = Some((distance, image));
        }
    }
    values.iter().zip(best).filter_map(|(&value, best)| Some((value, best?.1))).collect()
}

struct Sheet<'a> {
    data: &'a dyn DataSet,
    options: SheetOptions,
    canvas: Canvas,
    zoom: usize,
    cell: (usize, usize),
    left: usize,
    /// Top of the next row.
    cursor: usize,
    pixels: Vec<f32>,
}

impl<'a> Sheet<'a> {
    fn new(data: &'a dyn DataSet, options: SheetOptions, sweeps: &[Sweep<'_>]) -> Self {
        let shape = data.shape();
        let zoom = SMALLEST_CELL.div_ceil(shape.width.max(shape.height)).max(1);
        let cell = (shape.width * zoom + GAP, shape.height * zoom + GAP);
        let labels = sweeps.iter().map(|sweep| sweep.factor.name.as_str()).chain([RANDOM]);
        let widest = labels.map(|label| text_width(label, LABEL_SIZE).ceil() as usize).max().unwrap_or(0);
        let left = MARGIN + widest + MARGIN;
        let width = left + options.columns * cell.0 + MARGIN;
        let sweep_height = cell.1 + CAPTION_SIZE as usize + 8;
        let height = 3 * MARGIN + 40 + options.rows * cell.1 + sweeps.len() * sweep_height;
        let title = text_width(&title(data), TITLE_SIZE).ceil() as usize + 2 * MARGIN;
        Self {
            data,
            options,
            canvas: Canvas::new(width.max(title), height),
            zoom,
            cell,
            left,
            cursor: MARGIN,
            pixels: vec![0.0; shape.values()],
        }
    }

    fn title(&mut self) {
        self.canvas.text(&title(self.data), MARGIN, self.cursor + 12, TITLE_SIZE, Align::Left, INK);
        self.cursor += 40;
    }

    fn place(&mut self, image: usize, column: usize, lane: u64) -> Result {
        let noise = Stream::new(self.options.seed, "contact sheet noise").at(0).lane(lane);
        self.data.write_image(image, noise, &mut self.pixels)?;
        let left = self.left + column * self.cell.0;
        self.canvas.draw_image(self.data.shape(), &self.pixels, left, self.cursor, self.zoom);
        Ok(())
    }

    fn random_images(&mut self) -> Result {
        let SheetOptions { rows, columns, seed } = self.options;
        // One that occurs twice would look like a duplicate in the data.
        let mut generator = Stream::new(seed, "contact sheet").at(0).generator();
        let images = sampling::distinct(self.data.len(), &mut generator, rows * columns);
        for (row, images) in images.chunks(columns).enumerate() {
            if row == 0 {
                let middle = self.cursor + self.cell.1 / 2;
                self.canvas.text(RANDOM, self.left - MARGIN, middle, LABEL_SIZE, Align::Right, FAINT_INK);
            }
            for (column, &image) in images.iter().enumerate() {
                self.place(image, column, (row * columns + column) as u64)?;
            }
            self.cursor += self.cell.1;
        }
        self.cursor += MARGIN;
        Ok(())
    }

    fn sweeps(&mut self, sweeps: &[Sweep<'_>]) -> Result {
        for sweep in sweeps {
            let middle = self.cursor + self.cell.1 / 2;
            self.canvas.text(&sweep.factor.name, self.left - MARGIN, middle, LABEL_SIZE, Align::Right, INK);
            for (column, &(value, image)) in sweep.images.iter().enumerate() {
                // The same lane for the whole row: its noise stays, too.
                self.place(image, column, u64::MAX)?;
                let centre = self.left + column * self.cell.0 + (self.cell.0 - GAP) / 2;
                let below = self.cursor + self.cell.1 + CAPTION_SIZE as usize / 2 - 1;
                let caption = shorten(&sweep.factor.label(value), (self.cell.0 - GAP) as f32);
                self.canvas.text(&caption, centre, below, CAPTION_SIZE, Align::Centre, FAINT_INK);
            }
            self.cursor += self.cell.1 + CAPTION_SIZE as usize + 8;
        }
        Ok(())
    }
}

fn title(data: &dyn DataSet) -> String {
    format!("{}: {} images of {}", data.name(), thousands(data.len()), data.shape())
}

/// A caption no wider than its image.
fn shorten(text: &str, width: f32) -> String {
    let mut short = text.to_owned();
    while text_width(&short, CAPTION_SIZE) > width && short.chars().count() > 2 {
        short = short
            .trim_end_matches('…')
            .chars()
            .collect::<Vec<_>>()
            .split_last()
            .map_or_else(String::new, |(_, rest)| rest.iter().collect::<String>() + "…");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spread_over_the_whole_factor() {
        assert_eq!(spread(3, 10), [0, 1, 2]);
        assert_eq!(spread(40, 5), [0, 9, 19, 29, 39]);
        assert_eq!(spread(5, 1), [0]);
    }

    #[test]
    fn captions_fit_their_image() {
        let short = shorten("a very long label indeed", 40.0);
        assert!(text_width(&short, CAPTION_SIZE) <= 40.0 && short.ends_with('…'), "{short}");
        assert_eq!(shorten("7", 40.0), "7");
    }
}
