//! Images of a data set, small.

use crate::error::Result;
use crate::picture::canvas::{Canvas, encode_png};
use image::{ExtendedColorType, RgbImage, imageops};
use unbraid::data::{DataSet, ImageShape};
use unbraid::inference::input;

/// Whether a data set has pictures: one channel or three, and more than a row of numbers.
pub(super) fn has_pictures(data: &dyn DataSet) -> bool {
    let ImageShape { height, width, channels } = data.shape();
    matches!(channels, 1 | 3) && height > 1 && width > 1 && data.columns().is_none()
}

/// Width and height of a thumbnail of at most `side` pixels, in the proportions of the image.
pub(super) fn size(shape: ImageShape, side: usize) -> (u32, u32) {
    let largest = shape.height.max(shape.width).max(1);
    let scaled = |size: usize| if largest <= side { size } else { (size * side / largest).max(1) };
    (scaled(shape.width) as u32, scaled(shape.height) as u32)
}

/// An image of a data set, of this width and height.
pub(super) fn picture(data: &dyn DataSet, index: usize, size: (u32, u32)) -> Result<RgbImage> {
    let image = input::read(data, &[index])?;
    let pixels: Vec<f32> = image.iter().copied().collect();
    let canvas = Canvas::of_image(data.shape(), &pixels);
    let picture = canvas.picture();
    Ok(if picture.dimensions() == size {
        picture.clone()
    } else {
        imageops::thumbnail(picture, size.0, size.1)
    })
}

/// The same as a PNG file.
pub(super) fn png(data: &dyn DataSet, index: usize, size: (u32, u32)) -> Result<Vec<u8>> {
    encode_png(picture(data, index, size)?.as_raw(), size, ExtendedColorType::Rgb8)
}
