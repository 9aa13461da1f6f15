//! A white RGB picture on which images and text are placed.

use crate::colour::Colour;
use crate::error::{Error, Result};
use crate::font::{font, layout, text_width};
use ab_glyph::{Font, point};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, Rgb, RgbImage};
use std::io::Write;
use std::path::Path;
use unbraid::data::ImageShape;
use unbraid::files::{self, Existing};

const PAPER: Colour = [255, 255, 255];

/// Where text stands relative to its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The anchor is its left end.
    Left,
    /// The anchor is its middle.
    Centre,
    /// The anchor is its right end.
    Right,
}

/// A white picture to draw on. What lies outside its edges is cut off.
///
/// ```
/// use unbraid::data::ImageShape;
/// use unbraid_report::{Align, Canvas, INK};
///
/// let mut canvas = Canvas::new(120, 100);
/// canvas.draw_image(ImageShape::new(1, 2, 1), &[0.0, 0.5], 10, 30, 32);
/// canvas.text("two pixels", 10, 15, 14.0, Align::Left, INK);
/// assert!(canvas.png()?.starts_with(b"\x89PNG"));
/// # Ok::<(), unbraid_report::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Canvas {
    picture: RgbImage,
}

impl Canvas {
    /// A white picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self { picture: RgbImage::from_pixel(width as u32, height as u32, Rgb(PAPER)) }
    }

    /// One image, pixel for pixel.
    ///
    /// # Panics
    /// If `pixels` is not one image of `shape`.
    pub fn of_image(shape: ImageShape, pixels: &[f32]) -> Self {
        let mut canvas = Self::new(shape.width, shape.height);
        canvas.draw_image(shape, pixels, 0, 0, 1);
        canvas
    }

    /// Columns of pixels.
    pub fn width(&self) -> usize {
        self.picture.width() as usize
    }

    /// Rows of pixels.
    pub fn height(&self) -> usize {
        self.picture.height() as usize
    }

    /// The picture so far.
    pub(crate) fn picture(&self) -> &RgbImage {
        &self.picture
    }

    /// Places an image with its top left corner at (`left`, `top`), every pixel enlarged to `zoom` x `zoom`. Values go
    /// from 0 (black) to 1 (white); those outside are clamped. Images have one channel or three.
    ///
    /// # Panics
    /// If `pixels` is not one image of `shape`.
    pub fn draw_image(&mut self, shape: ImageShape, pixels: &[f32], left: usize, top: usize, zoom: usize) {
        assert_eq!(pixels.len(), shape.values(), "one image of {shape}");
        for row in 0..shape.height * zoom {
            for column in 0..shape.width * zoom {
                let pixel = (row / zoom * shape.width + column / zoom) * shape.channels;
                let byte = |channel: usize| (pixels[pixel + channel].clamp(0.0, 1.0) * 255.0).round() as u8;
                let colour = if shape.channels == 3 { [byte(0), byte(1), byte(2)] } else { [byte(0); 3] };
                self.put(left + column, top + row, colour);
            }
        }
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, colour: Colour) {
        for y in top..top + height {
            for x in left..left + width {
                self.put(x, y, colour);
            }
        }
    }

    /// Fills a disc, its edge blended with what is there.
    pub fn disc(&mut self, centre: (f32, f32), radius: f32, colour: Colour) {
        let low = |middle: f32| (middle - radius - 1.0).floor().max(0.0) as usize;
        let high = |middle: f32| (middle + radius + 1.0).ceil().max(0.0) as usize;
        for y in low(centre.1)..=high(centre.1) {
            for x in low(centre.0)..=high(centre.0) {
                let distance = (x as f32 - centre.0).hypot(y as f32 - centre.1);
                self.blend(x, y, colour, (radius + 0.5 - distance).clamp(0.0, 1.0));
            }
        }
    }

    fn put(&mut self, x: usize, y: usize, colour: Colour) {
        if let Some(pixel) = self.picture.get_pixel_mut_checked(x as u32, y as u32) {
            *pixel = Rgb(colour);
        }
    }

    fn blend(&mut self, x: usize, y: usize, colour: Colour, cover: f32) {
        if let Some(pixel) = self.picture.get_pixel_mut_checked(x as u32, y as u32) {
            for (channel, &ink) in pixel.0.iter_mut().zip(&colour) {
                let mixed = f32::from(*channel) * (1.0 - cover) + f32::from(ink) * cover;
                *channel = mixed.round() as u8;
            }
        }
    }

    /// Writes one line of text, vertically centred at `middle`; returns its width. Letters are those of Latin
    /// scripts, Greek and common symbols.
    pub fn text(
        &mut self,
        text: &str,
        anchor: usize,
        middle: usize,
        size: f32,
        align: Align,
        colour: Colour,
    ) -> usize {
        let glyphs = layout(text, size);
        let width = text_width(text, size);
        let left = match align {
            Align::Left => anchor as f32,
            Align::Centre => anchor as f32 - width / 2.0,
            Align::Right => anchor as f32 - width,
        };
        let Some(font) = font() else { return 0 };
        // Half the height of a capital letter below the middle.
        let baseline = middle as f32 + 0.36 * size;
        for mut glyph in glyphs {
            glyph.position = point(glyph.position.x + left, glyph.position.y + baseline);
            if let Some(outline) = font.outline_glyph(glyph) {
                let bounds = outline.px_bounds();
                outline.draw(|x, y, cover| {
                    let (x, y) = (bounds.min.x + x as f32, bounds.min.y + y as f32);
                    if x >= 0.0 && y >= 0.0 {
                        self.blend(x as usize, y as usize, colour, cover);
                    }
                });
            }
        }
        width.ceil() as usize
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// If it is empty, or larger than a PNG can be.
    pub fn png(&self) -> Result<Vec<u8>> {
        encode_png(self.picture.as_raw(), self.picture.dimensions(), ExtendedColorType::Rgb8)
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// If the file cannot be written, or exists and is to be kept.
    pub fn save(&self, path: &Path, existing: Existing) -> Result {
        let png = self.png()?;
        Ok(files::write(path, existing, |file| file.write_all(&png))?)
    }
}

/// Pixels of a picture of this width and height as a PNG file.
///
/// # Errors
/// If it is empty, or larger than a PNG can be.
pub(crate) fn encode_png(
    pixels: &[u8],
    (width, height): (u32, u32),
    colours: ExtendedColorType,
) -> Result<Vec<u8>> {
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive)
        .write_image(pixels, width, height, colours)
        .map_err(|error| Error::Png(error.into()))?;
    Ok(png)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::INK;

    #[test]
    fn text_leaves_ink_where_it_should() {
        let mut canvas = Canvas::new(100, 40);
        let width = canvas.text("HHH", 95, 20, 20.0, Align::Right, INK);
        let dark = |x: u32, y: u32| canvas.picture.get_pixel(x, y).0[0] < 128;
        assert!((0..40).any(|y| (95 - width as u32..95).any(|x| dark(x, y))));
        assert!((0..40).all(|y| (0..95 - width as u32 - 1).all(|x| !dark(x, y))));
    }

    #[test]
    fn images_are_enlarged_pixel_by_pixel() {
        let mut canvas = Canvas::new(10, 10);
        canvas.draw_image(ImageShape::new(1, 2, 3), &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0], 2, 3, 4);
        assert_eq!(canvas.picture.get_pixel(2, 3).0, [255, 0, 0]);
        assert_eq!(canvas.picture.get_pixel(5, 6).0, [255, 0, 0]);
        assert_eq!(canvas.picture.get_pixel(6, 3).0, [0, 0, 255]);
        assert_eq!(canvas.picture.get_pixel(1, 3).0, PAPER);
    }
}
