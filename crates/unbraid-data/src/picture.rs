//! A picture at its own resolution.

use crate::dataset::ImageShape;
use crate::error::Result;
use crate::readers::folder::{Treatment, decode, on_white};
use image::imageops::{self, FilterType};
use image::{ImageBuffer, Luma, Pixel, Rgb};
use std::path::Path;

/// A picture of any size, grey or RGB, with values from 0 to 1 in the order rows, columns, channels.
///
/// ```
/// use unbraid_data::{ImageShape, Picture, Treatment};
///
/// // A change of two pixels, spread over two rows of four: by a quarter and three quarters between them, as bilinear
/// // filters do.
/// let mut picture = Picture::new(ImageShape::new(2, 4, 1), vec![0.5; 8]);
/// picture.add_to_centre(ImageShape::new(1, 2, 1), Treatment::default(), &[0.0, 0.4]);
/// for row in picture.pixels().chunks(4) {
///     assert!(row.iter().zip([0.5, 0.6, 0.8, 0.9]).all(|(found, expected)| (found - expected).abs() < 1e-6));
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    shape: ImageShape,
    pixels: Vec<f32>,
}

impl Picture {
    /// A picture of these pixels.
    ///
    /// # Panics
    /// If it is empty, has neither 1 nor 3 channels, or another number of pixels than `shape` says.
    pub fn new(shape: ImageShape, pixels: Vec<f32>) -> Self {
        assert!(shape.values() > 0 && matches!(shape.channels, 1 | 3), "a grey or RGB picture");
        assert_eq!(pixels.len(), shape.values(), "as many pixels as the shape says");
        Self { shape, pixels }
    }

    /// Reads an image file at its own resolution, upright; transparent pixels are blended with white.
    ///
    /// # Errors
    /// If it cannot be read or is not an image.
    pub fn read(path: &Path) -> Result<Self> {
        let picture = on_white(decode(path)?);
        let (height, width) = (picture.height() as usize, picture.width() as usize);
        let in_floats = |bytes: Vec<u8>| bytes.into_iter().map(|byte| f32::from(byte) / 255.0).collect();
        Ok(if picture.color().has_color() {
            Self::new(ImageShape::new(height, width, 3), in_floats(picture.into_rgb8().into_raw()))
        } else {
            Self::new(ImageShape::new(height, width, 1), in_floats(picture.into_luma8().into_raw()))
        })
    }

    /// Its size.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// Its values.
    pub fn pixels(&self) -> &[f32] {
        &self.pixels
    }

    /// Adds a change of pixels, each from -1 to 1, to the part of the picture that `treatment` cuts images of
    /// `shape` out of: the square that is cropped, or the largest rectangle of its aspect ratio around the
    /// centre. The change is enlarged to that part, and the rest stays as it is. A change in colour makes a
    /// grey picture one in colour.
    ///
    /// # Panics
    /// If `change` is not one image of `shape`, which has 1 or 3 channels, or the picture is smaller than
    /// what is cropped.
    pub fn add_to_centre(&mut self, shape: ImageShape, treatment: Treatment, change: &[f32]) {
        let part = treatment.part_of((self.shape.width, self.shape.height), shape);
        let [left, top, width, height] = part.expect("a picture that is large enough to be cropped");
        if shape.channels > self.shape.channels {
            self.shape.channels = shape.channels;
            self.pixels = self.pixels.iter().flat_map(|&grey| [grey; 3]).collect();
        }
        // Filters keep values between 0 and 1; a change is between -1 and 1.
        let halved = change.iter().map(|value| 0.5 + 0.5 * value).collect();
        let enlarged = Self::new(shape, halved).with_size(width, height);
        for row in 0..height {
            for column in 0..width {
                let source = (row * width + column) * shape.channels;
                let target = ((top + row) * self.shape.width + left + column) * self.shape.channels;
                for channel in 0..self.shape.channels {
                    let change = 2.0 * enlarged.pixels[source + channel % shape.channels] - 1.0;
                    let pixel = &mut self.pixels[target + channel];
                    *pixel = (*pixel + change).clamp(0.0, 1.0);
                }
            }
        }
    }

    /// The same picture with a longer side of this many pixels.
    #[must_use]
    pub fn with_longer_side(self, side: usize) -> Self {
        let longer = self.shape.width.max(self.shape.height) as f64;
        let scaled = |length: usize| ((length as f64 * side as f64 / longer).round() as usize).max(1);
        let (width, height) = (scaled(self.shape.width), scaled(self.shape.height));
        self.with_size(width, height)
    }

    /// The same picture in another size: bilinear if it grows, averaged if it shrinks.
    fn with_size(self, width: usize, height: usize) -> Self {
        let shape = ImageShape::new(height, width, self.shape.channels);
        let pixels = if shape.channels == 1 {
            resized::<Luma<f32>>(self, width, height)
        } else {
            resized::<Rgb<f32>>(self, width, height)
        };
        Self::new(shape, pixels)
    }
}

fn resized<P: Pixel<Subpixel = f32> + 'static>(picture: Picture, width: usize, height: usize) -> Vec<f32> {
    let (from_width, from_height) = (picture.shape.width as u32, picture.shape.height as u32);
    let buffer: ImageBuffer<P, Vec<f32>> = ImageBuffer::from_raw(from_width, from_height, picture.pixels)
        .expect("as many pixels as the shape says");
    imageops::resize(&buffer, width as u32, height as u32, FilterType::Triangle).into_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_that_was_seen_changes() {
        // Six by two pixels, of which a square image sees the two in the middle.
        let mut picture = Picture::new(ImageShape::new(2, 6, 1), vec![0.5; 12]);
        picture.add_to_centre(ImageShape::new(1, 1, 1), Treatment::default(), &[-0.25]);
        let row = [0.5, 0.5, 0.25, 0.25, 0.5, 0.5];
        for (found, expected) in picture.pixels().iter().zip(row.iter().chain(&row)) {
            assert!((found - expected).abs() < 1e-6, "{:?}", picture.pixels());
        }
        // Four by four, of which two by two were cropped.
        let mut picture = Picture::new(ImageShape::new(4, 4, 1), vec![0.5; 16]);
        let crop = Treatment { crop: Some(2), mask: false };
        picture.add_to_centre(ImageShape::new(1, 1, 1), crop, &[0.25]);
        for (place, found) in picture.pixels().iter().enumerate() {
            let expected = if [5, 6, 9, 10].contains(&place) { 0.75 } else { 0.5 };
            assert!((found - expected).abs() < 1e-6, "{:?}", picture.pixels());
        }
    }

    #[test]
    fn values_stay_possible_and_grey_becomes_colour() {
        let mut picture = Picture::new(ImageShape::new(1, 1, 1), vec![0.75]);
        picture.add_to_centre(ImageShape::new(1, 1, 3), Treatment::default(), &[0.5, 0.0, -0.25]);
        assert_eq!(picture.shape(), ImageShape::new(1, 1, 3));
        for (found, expected) in picture.pixels().iter().zip([1.0, 0.75, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{:?}", picture.pixels());
        }
        // A change in grey changes every channel of a picture in colour.
        let mut picture = Picture::new(ImageShape::new(1, 1, 3), vec![0.1, 0.2, 0.3]);
        picture.add_to_centre(ImageShape::new(1, 1, 1), Treatment::default(), &[0.5]);
        for (found, expected) in picture.pixels().iter().zip([0.6, 0.7, 0.8]) {
            assert!((found - expected).abs() < 1e-6, "{:?}", picture.pixels());
        }
    }

    #[test]
    fn sizes_keep_the_aspect_ratio() {
        let picture =
            |height, width| Picture::new(ImageShape::new(height, width, 3), vec![0.5; height * width * 3]);
        assert_eq!(picture(2, 4).with_longer_side(100).shape(), ImageShape::new(50, 100, 3));
        assert_eq!(picture(9, 3).with_longer_side(3).shape(), ImageShape::new(3, 1, 3));
        assert_eq!(picture(1, 300).with_longer_side(3).shape(), ImageShape::new(1, 3, 3));
    }
}
