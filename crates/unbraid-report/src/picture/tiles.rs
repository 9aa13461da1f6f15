//! Images side by side as a PNG without labels, for pages that have their own; the gaps between images are transparent.

use super::canvas::encode_png;
use crate::error::Result;
use image::ExtendedColorType;
use ndarray::{ArrayRef, Ix4};

const GAP: usize = 2;

/// Larger images are reduced: a page shows many, and should stay small.
const LARGEST: usize = 80;

/// Smaller images are shown enlarged.
const SMALLEST: usize = 56;

/// A PNG, and the size at which to show it.
#[derive(Debug)]
pub(crate) struct Tiles {
    /// The file.
    pub(crate) png: Vec<u8>,
    /// Width on the page.
    pub(crate) width: usize,
    /// Height on the page.
    pub(crate) height: usize,
}

/// Lays out images `[images, height, width, channels]` in rows of `columns`.
///
/// # Errors
/// If there is nothing to show, or more than a PNG can hold.
pub(crate) fn draw(images: &ArrayRef<f32, Ix4>, columns: usize) -> Result<Tiles> {
    let (count, height, width, channels) = images.dim();
    let factor = height.max(width).div_ceil(LARGEST).max(1);
    let (height, width) = (height.div_ceil(factor), width.div_ceil(factor));
    let columns = columns.clamp(1, count.max(1));
    let rows = count.div_ceil(columns);
    let size = |cells: usize, cell: usize| (cells * (cell + GAP)).saturating_sub(GAP);
    let (total_width, total_height) = (size(columns, width), size(rows, height));
    // Grey or colour, and then how opaque.
    let samples = if channels == 3 { 4 } else { 2 };
    let mut pixels = vec![0; total_width * total_height * samples];
    for image in 0..count {
        let (left, top) = (image % columns * (width + GAP), image / columns * (height + GAP));
        for row in 0..height {
            for column in 0..width {
                let place = ((top + row) * total_width + left + column) * samples;
                for channel in 0..samples - 1 {
                    let value = reduced(images, (image, row, column, channel), factor);
                    pixels[place + channel] = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
                }
                pixels[place + samples - 1] = 255;
            }
        }
    }
    let colours = if samples == 4 { ExtendedColorType::Rgba8 } else { ExtendedColorType::La8 };
    let png = encode_png(&pixels, (total_width as u32, total_height as u32), colours)?;
    let zoom = SMALLEST.div_ceil(height.max(width)).max(1);
    Ok(Tiles { png, width: total_width * zoom, height: total_height * zoom })
}

/// The mean of a square of pixels, cut at the edge of the image.
fn reduced(
    images: &ArrayRef<f32, Ix4>,
    (image, row, column, channel): (usize, usize, usize, usize),
    factor: usize,
) -> f32 {
    let (_, height, width, _) = images.dim();
    let mut sum = 0.0;
    let mut count = 0_u16;
    for y in row * factor..((row + 1) * factor).min(height) {
        for x in column * factor..((column + 1) * factor).min(width) {
            sum += images[[image, y, x, channel]];
            count += 1;
        }
    }
    sum / f32::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::GenericImageView;
    use ndarray::Array4;

    #[test]
    fn images_stand_in_rows_with_nothing_between() {
        let images = Array4::from_shape_fn((3, 1, 1, 1), |(image, ..)| [0.0, 0.5, 1.0][image]);
        let tiles = draw(&images, 2).unwrap();
        assert_eq!((tiles.width, tiles.height), (4 * 56, 4 * 56));
        let picture = image::load_from_memory(&tiles.png).unwrap();
        assert_eq!(picture.dimensions(), (4, 4));
        let at = |x: u32, y: u32| picture.get_pixel(x, y).0;
        assert_eq!(at(0, 0), [0, 0, 0, 255]);
        assert_eq!(at(3, 0), [128, 128, 128, 255]);
        assert_eq!(at(0, 3), [255, 255, 255, 255]);
        // Between two images, and where there is none.
        assert_eq!((at(1, 0)[3], at(3, 3)[3]), (0, 0));
    }

    #[test]
    fn large_images_are_averaged_and_values_outside_are_cut() {
        let images = Array4::from_shape_fn((1, 160, 160, 3), |(_, y, x, channel)| match channel {
            0 => f32::from(u8::from((x + y) % 2 == 0)),
            1 => 7.0,
            _ => -7.0,
        });
        let picture = image::load_from_memory(&draw(&images, 5).unwrap().png).unwrap();
        assert_eq!(picture.dimensions(), (80, 80));
        assert_eq!(picture.get_pixel(79, 3).0, [128, 255, 0, 255]);
    }
}
