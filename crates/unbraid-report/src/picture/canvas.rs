//! A white RGB picture on which images and text are placed.

use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, Rgb, RgbImage};
use std::io::Write;
use std::path::Path;
use unbraid_data::ImageShape;

static FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// A colour by its red, green and blue.
pub type Colour = [u8; 3];
/// For text.
pub const INK: Colour = [32, 36, 44];
/// For text of less weight.
pub const FAINT_INK: Colour = [110, 116, 128];
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

/// A picture in the making.
#[derive(Clone, Debug)]
pub struct Canvas {
    picture: RgbImage,
}

impl Canvas {
    /// A white picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self { picture: RgbImage::from_pixel(width as u32, height as u32, Rgb(PAPER)) }
    }

    /// The picture so far.
    pub fn picture(&self) -> &RgbImage {
        &self.picture
    }

    /// Places an image with its top left corner at (`left`, `top`), every pixel enlarged to `zoom` x `zoom`.
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

    /// Writes one line of text whose middle height is at `middle`; returns its width.
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
    pub fn png(&self) -> Outcome<Vec<u8>> {
        let mut png = Vec::new();
        PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive)
            .write_image(
                self.picture.as_raw(),
                self.picture.width(),
                self.picture.height(),
                ExtendedColorType::Rgb8,
            )
            .map_err(|error| Failure::run(format!("cannot encode a picture: {error}")))?;
        Ok(png)
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// If the file cannot be written, or exists and is to be kept.
    pub fn save(&self, path: &Path, existing: Existing) -> Outcome {
        let png = self.png()?;
        files::write(path, existing, |file| file.write_all(&png))
    }
}

/// The width of a line of text, in pixels.
pub fn text_width(text: &str, size: f32) -> f32 {
    let Some(font) = font() else { return 0.0 };
    let font = font.as_scaled(PxScale::from(size));
    let mut last = None;
    text.chars().fold(0.0, |width, character| {
        let glyph = font.glyph_id(character);
        let kerning = last.replace(glyph).map_or(0.0, |last| font.kern(last, glyph));
        width + kerning + font.h_advance(glyph)
    })
}

/// The width of a line of text in a page or a chart, whose sizes are those of an em, not of a line from its highest to its
/// lowest point as ours are. The font there is not known; ours is wider than most.
pub fn page_text_width(text: &str, size: f32) -> f64 {
    let Some(font) = font() else { return 0.0 };
    let em = font.units_per_em().map_or(1.0, |em| font.height_unscaled() / em);
    f64::from(text_width(text, size * em))
}

fn layout(text: &str, size: f32) -> Vec<Glyph> {
    let Some(font) = font() else { return Vec::new() };
    let scaled = font.as_scaled(PxScale::from(size));
    let (mut x, mut last) = (0.0, None);
    let place = |character: char| {
        let glyph = scaled.glyph_id(character);
        x += last.replace(glyph).map_or(0.0, |last| scaled.kern(last, glyph));
        let placed = glyph.with_scale_and_position(PxScale::from(size), point(x, 0.0));
        x += scaled.h_advance(glyph);
        placed
    };
    text.chars().map(place).collect()
}

/// The font is part of the binary, so it always parses; if it did not, pictures would come without words.
fn font() -> Option<FontRef<'static>> {
    FontRef::try_from_slice(FONT).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_letters_we_use() {
        let font = font().expect("the font parses");
        for character in "aZ09äéβσμ±×→−∞≤".chars() {
            assert_ne!(font.glyph_id(character).0, 0, "{character}");
        }
    }

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
