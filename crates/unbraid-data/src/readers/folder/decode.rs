//! Decoding PNG and JPEG files to pixels of a given size.

use crate::dataset::ImageShape;
use crate::error::{DataError, Result};
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader};
use std::path::Path;

/// Decodes an image file, whose format is inferred from its first bytes, not from its name.
pub(crate) fn decode(path: &Path) -> Result<DynamicImage> {
    let reader = ImageReader::open(path)
        .and_then(ImageReader::with_guessed_format)
        .map_err(DataError::io(path, "open"))?;
    reader.decode().map_err(|error| match error {
        image::ImageError::IoError(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            DataError::io(path, "read")(source)
        }
        error => {
            DataError::content(path, "image", "damaged or unknown data", "a PNG or JPEG").caused_by(error)
        }
    })
}

/// Decodes an image, crops the largest centred rectangle of the given aspect ratio, and resizes it with an antialiasing
/// bilinear filter. Transparent pixels are blended with white.
pub(super) fn decode_resized(path: &Path, shape: ImageShape, pixels: &mut [u8]) -> Result<()> {
    let picture = on_white(decode(path)?);
    let (width, height) = (picture.width() as u64, picture.height() as u64);
    let (wanted_width, wanted_height) = (shape.width as u64, shape.height as u64);
    let crop_width = width.min(height * wanted_width / wanted_height).max(1);
    let crop_height = height.min(width * wanted_height / wanted_width).max(1);
    let (left, top) = ((width - crop_width) / 2, (height - crop_height) / 2);
    let picture = picture.crop_imm(left as u32, top as u32, crop_width as u32, crop_height as u32);
    let picture = picture.resize_exact(shape.width as u32, shape.height as u32, FilterType::Triangle);
    if shape.channels == 1 {
        pixels.copy_from_slice(&picture.into_luma8());
    } else {
        pixels.copy_from_slice(&picture.into_rgb8());
    }
    Ok(())
}

fn on_white(picture: DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return picture;
    }
    let mut rgba = picture.into_rgba8();
    for pixel in rgba.pixels_mut() {
        let [.., alpha] = pixel.0;
        for channel in &mut pixel.0[..3] {
            let blended = u32::from(*channel) * u32::from(alpha) + 255 * (255 - u32::from(alpha));
            *channel = ((blended + 127) / 255) as u8;
        }
    }
    DynamicImage::ImageRgba8(rgba).into_rgb8().into()
}
