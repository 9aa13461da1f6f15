//! Moving pictures as GIF, which everything can show.

use super::canvas::Canvas;
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use gif::{Encoder, Frame, Repeat};
use image::RgbImage;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Pictures of one size, one after the other, for ever.
#[derive(Debug)]
pub struct Animation {
    /// The pictures.
    pub frames: Vec<Canvas>,
    /// Hundredths of a second for each.
    pub delay: u16,
}

impl Animation {
    /// There and back again: after the last frame come those before it, in reverse, so that nothing jumps.
    #[must_use]
    pub fn back_and_forth(frames: Vec<Canvas>, delay: u16) -> Self {
        let last = frames.len().saturating_sub(1);
        let back: Vec<Canvas> = frames.iter().take(last).skip(1).rev().cloned().collect();
        Self { frames: frames.into_iter().chain(back).collect(), delay }
    }

    /// The file. Colours are exact where 256 are enough for all frames, as for grey images; else each frame gets its own
    /// palette.
    ///
    /// # Errors
    /// If there is no frame, frames differ in size, or a side is longer than 65,535 pixels.
    pub fn gif(&self) -> Outcome<Vec<u8>> {
        let broken =
            |error: &dyn std::fmt::Display| Failure::run(format!("cannot encode the animation: {error}"));
        let pictures: Vec<&RgbImage> = self.frames.iter().map(Canvas::picture).collect();
        let size = pictures.first().map(|picture| picture.dimensions()).unwrap_or_default();
        if pictures.is_empty() || pictures.iter().any(|picture| picture.dimensions() != size) {
            return Err(broken(&"expected frames of one size"));
        }
        let [Ok(width), Ok(height)] = [u16::try_from(size.0), u16::try_from(size.1)] else {
            return Err(broken(&format!("found {} x {} pixels, expected at most 65535", size.0, size.1)));
        };
        let palette = exact_palette(&pictures);
        let colours: Vec<u8> = palette.iter().flat_map(|palette| palette.keys().flatten().copied()).collect();
        let mut bytes = Vec::new();
        let mut encoder =
            Encoder::new(&mut bytes, width, height, &colours).map_err(|error| broken(&error))?;
        encoder.set_repeat(Repeat::Infinite).map_err(|error| broken(&error))?;
        for picture in pictures {
            let mut frame = match &palette {
                Some(palette) => {
                    let indices: Vec<u8> = picture.pixels().map(|pixel| palette[&pixel.0]).collect();
                    Frame { width, height, buffer: Cow::Owned(indices), ..Frame::default() }
                }
                None => Frame::from_rgb_speed(width, height, picture.as_raw(), 10),
            };
            frame.delay = self.delay;
            encoder.write_frame(&frame).map_err(|error| broken(&error))?;
        }
        drop(encoder);
        Ok(bytes)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// As [`Animation::gif`], and if the file cannot be written or exists and is to be kept.
    pub fn save(&self, path: &Path, existing: Existing) -> Outcome {
        let bytes = self.gif()?;
        files::write(path, existing, |file| file.write_all(&bytes))
    }
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
    use unbraid_data::ImageShape;

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
        // A palette of 6 x 7 x 6 fixed colours would be off by 255/20 in red, 255/24 in green and 255/10 in blue, which is
        // halfway between two of them: 16 on average.
        assert!(error / (expected.len() as f64) < 16.0, "{error}");
    }

    #[test]
    fn frames_must_agree() {
        let frames = vec![Canvas::new(2, 2), Canvas::new(3, 2)];
        assert!(Animation { frames, delay: 1 }.gif().unwrap_err().to_string().contains("one size"));
        assert!(Animation { frames: Vec::new(), delay: 1 }.gif().is_err());
    }
}
