//! Moving pictures as GIF, which everything can show.

use super::canvas::{Align, Canvas};
use super::gallery::ImageRow;
use crate::colour::Colour;
use crate::error::{Error, Result};
use gif::{Encoder, Frame, Repeat};
use image::RgbImage;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use unbraid::data::ImageShape;
use unbraid::files::{self, Existing};

/// Pictures of one size, shown one after the other in an endless loop.
#[derive(Debug)]
pub struct Animation {
    /// The pictures.
    pub frames: Vec<Canvas>,
    /// Hundredths of a second for each.
    pub delay: u16,
}

const COLUMNS: usize = 5;
const GAP: usize = 8;
const LABEL_HEIGHT: usize = 18;
const SMALLEST_CELL: usize = 64;
/// Neutral, so that grey images need no other colours.
const GREY: Colour = [70; 3];
const DELAY: u16 = 10;

impl Animation {
    /// Forward and backward: after the last frame come those before it, in reverse, so that nothing jumps.
    #[must_use]
    pub fn back_and_forth(frames: Vec<Canvas>, delay: u16) -> Self {
        let last = frames.len().saturating_sub(1);
        let back: Vec<Canvas> = frames.iter().take(last).skip(1).rev().cloned().collect();
        Self { frames: frames.into_iter().chain(back).collect(), delay }
    }

    /// Plays all rows at once, side by side, back and forth. A row with fewer images than the longest shows each for
    /// longer.
    ///
    /// # Panics
    /// If images differ in size, or a row has none while another has some.
    #[must_use]
    pub fn of_rows(rows: &[ImageRow]) -> Self {
        let frames = rows.iter().map(ImageRow::count).max().unwrap_or(0);
        let shape = rows.first().map_or(ImageShape::new(1, 1, 1), ImageRow::image_shape);
        let zoom = SMALLEST_CELL.div_ceil(shape.width.max(shape.height).max(1)).max(1);
        let label_height = if rows.iter().all(|row| row.label.is_empty()) { 0 } else { LABEL_HEIGHT };
        let cell = (shape.width * zoom + GAP, shape.height * zoom + GAP + label_height);
        let columns = COLUMNS.min(rows.len().max(1));
        let frame = |time: usize| {
            let mut canvas = Canvas::new(columns * cell.0 + GAP, rows.len().div_ceil(columns) * cell.1 + GAP);
            for (place, row) in rows.iter().enumerate() {
                let (left, top) = (GAP + place % columns * cell.0, GAP + place / columns * cell.1);
                canvas.draw_image(shape, &row.pixels(time * row.count() / frames), left, top, zoom);
                let (centre, below) =
                    (left + shape.width * zoom / 2, top + shape.height * zoom + LABEL_HEIGHT / 2);
                canvas.text(&row.label, centre, below, 12.0, Align::Centre, GREY);
            }
            canvas
        };
        Self::back_and_forth((0..frames).map(frame).collect(), DELAY)
    }

    /// The file. Colours are exact where 256 are enough for all frames, as for grey images; else each frame
    /// gets its own palette.
    ///
    /// # Errors
    /// If there is no frame, frames differ in size, or a side is longer than 65,535 pixels.
    pub fn gif(&self) -> Result<Vec<u8>> {
        let pictures: Vec<&RgbImage> = self.frames.iter().map(Canvas::picture).collect();
        let (columns, rows) = pictures.first().map(|picture| picture.dimensions()).unwrap_or_default();
        if pictures.is_empty() || pictures.iter().any(|picture| picture.dimensions() != (columns, rows)) {
            return Err(Error::FrameSizes);
        }
        let [Ok(width), Ok(height)] = [u16::try_from(columns), u16::try_from(rows)] else {
            return Err(Error::FrameTooLarge { width: columns, height: rows });
        };
        encode(&pictures, (width, height), self.delay).map_err(|error| Error::Gif(error.into()))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// As [`Animation::gif`], and if the file cannot be written or exists and is to be kept.
    pub fn save(&self, path: &Path, existing: Existing) -> Result {
        let bytes = self.gif()?;
        Ok(files::write(path, existing, |file| file.write_all(&bytes))?)
    }
}

fn encode(
    pictures: &[&RgbImage],
    (width, height): (u16, u16),
    delay: u16,
) -> Result<Vec<u8>, gif::EncodingError> {
    let palette = exact_palette(pictures);
    let colours: Vec<u8> = palette.iter().flat_map(|palette| palette.keys().flatten().copied()).collect();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &colours)?;
    encoder.set_repeat(Repeat::Infinite)?;
    for picture in pictures {
        let mut frame = match &palette {
            Some(palette) => {
                let indices: Vec<u8> = picture.pixels().map(|pixel| palette[&pixel.0]).collect();
                Frame { width, height, buffer: Cow::Owned(indices), ..Frame::default() }
            }
            None => Frame::from_rgb_speed(width, height, picture.as_raw(), 10),
        };
        frame.delay = delay;
        encoder.write_frame(&frame)?;
    }
    drop(encoder);
    Ok(bytes)
}

/// Every colour that occurs with its number, if there are at most 256.
fn exact_palette(pictures: &[&RgbImage]) -> Option<BTreeMap<[u8; 3], u8>> {
    let mut colours = BTreeMap::new();
    for pixel in pictures.iter().flat_map(|picture| picture.pixels()) {
        if !colours.contains_key(&pixel.0) {
            if colours.len() == 256 {
                return None;
            }
            colours.insert(pixel.0, 0);
        }
    }
    colours.values_mut().enumerate().for_each(|(number, value)| *value = number as u8);
    Some(colours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array4;

    /// What a decoder makes of it: (delay, pixels) of each frame.
    fn decoded(bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(bytes).unwrap();
        let mut frames = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            frames.push((frame.delay, frame.buffer.to_vec()));
        }
        frames
    }

    #[test]
    fn grey_frames_come_back_exactly() {
        let frame = |value: f32| {
            let mut canvas = Canvas::new(4, 3);
            canvas.draw_image(ImageShape::new(1, 2, 1), &[value, 1.0 - value], 1, 1, 1);
            canvas
        };
        let animation = Animation::back_and_forth(vec![frame(0.0), frame(0.2), frame(0.4)], 7);
        assert_eq!(animation.frames.len(), 4, "there and back without repeating the ends");
        let frames = decoded(&animation.gif().unwrap());
        assert_eq!(frames.len(), 4);
        for ((delay, pixels), canvas) in frames.iter().zip(&animation.frames) {
            assert_eq!(*delay, 7);
            let colours: Vec<u8> = pixels.chunks(4).flat_map(|pixel| pixel[..3].to_vec()).collect();
            assert_eq!(&colours, canvas.picture().as_raw());
        }
    }

    #[test]
    fn many_colours_are_approximated() {
        let mut canvas = Canvas::new(32, 32);
        let pixels: Vec<f32> =
            (0..32 * 32).flat_map(|i| [(i % 32) as f32 / 31.0, (i / 32) as f32 / 31.0, 0.5]).collect();
        canvas.draw_image(ImageShape::new(32, 32, 3), &pixels, 0, 0, 1);
        let animation = Animation { frames: vec![canvas], delay: 5 };
        let frames = decoded(&animation.gif().unwrap());
        let expected = animation.frames[0].picture().as_raw();
        let shown = frames[0].1.chunks(4).flat_map(|pixel| pixel[..3].to_vec());
        let error: f64 = shown.zip(expected).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
        // A palette of 6 x 7 x 6 fixed colours would be off by 255/20 in red, 255/24 in green and 255/10 in
        // blue, which is halfway between two of them: 16 on average.
        assert!(error / (expected.len() as f64) < 16.0, "{error}");
    }

    #[test]
    fn frames_must_agree() {
        let frames = vec![Canvas::new(2, 2), Canvas::new(3, 2)];
        for frames in [frames, Vec::new()] {
            let error = Animation { frames, delay: 1 }.gif().unwrap_err();
            assert_eq!(error.to_string(), "cannot encode the animation: expected frames of one size");
        }
        let error = Animation { frames: vec![Canvas::new(65_536, 1)], delay: 1 }.gif().unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot encode the animation: found 65536 x 1 pixels, expected at most 65535"
        );
    }

    /// Three images and two: at times 0, 1 and 2 the shorter row shows 0, 0 and 1; then all goes back.
    #[test]
    fn shorter_rows_wait_for_longer_ones() {
        let row = |values: &[f32]| {
            let images = Array4::from_shape_fn((values.len(), 64, 64, 1), |(image, ..)| values[image]);
            ImageRow::new("", images)
        };
        let animation = Animation::of_rows(&[row(&[0.0, 0.2, 0.4]), row(&[0.6, 0.8])]);
        let shown: Vec<[u8; 2]> = animation
            .frames
            .iter()
            .map(|frame| [9, 9 + 64 + 8].map(|x| frame.picture().get_pixel(x, 9).0[0]))
            .collect();
        assert_eq!(shown, [[0, 153], [51, 153], [102, 204], [51, 153]]);
    }
}
