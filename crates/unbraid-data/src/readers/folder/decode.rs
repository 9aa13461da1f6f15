//! Decoding image files to pixels of a given size.

use super::treatment::Treatment;
use super::{jpeg, room};
use crate::dataset::ImageShape;
use crate::error::{DataError, Result};
use crate::files::read_limited;
use crate::memory;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::io::Cursor;
use std::path::Path;

/// File endings of images, in lower case. The format itself is inferred from the first bytes of a file.
pub(super) const ENDINGS: [&str; 10] =
    ["png", "jpg", "jpeg", "jpe", "jfif", "webp", "bmp", "tif", "tiff", "gif"];

/// Whether the name of a file says that it is an image.
pub fn is_image_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) && !path.is_dir()
}

/// What a file must be, for messages.
pub(crate) const FORMATS: &str = "a PNG, JPEG, WebP, BMP, TIFF or GIF";

/// The largest image file, and the most bytes that a header may promise for its picture: 89 million pixels in
/// colour, from which Pillow warns of a bomb, too. `--allow-large` lifts the second.
///
/// Those of the fuzzing target are small, so that there are many of them.
const LARGEST: u64 = if cfg!(fuzzing) { 1 << 20 } else { 256 << 20 };

/// How many pictures of its size are in memory while one is cropped and resized: itself, and the part that is cut out.
const COPIES: u64 = 2;

/// Reads an image file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    read_limited(path, LARGEST).map_err(DataError::io(path, "open"))
}

/// Decodes an image file, whose format is inferred from its first bytes, not from its name. Of an animation,
/// this is the first picture. A photograph is turned upright, as its EXIF orientation says.
pub(crate) fn decode(path: &Path) -> Result<DynamicImage> {
    with_picture(path, Ok)
}

/// Calls `act` with the picture of a file, for which there is then room in memory.
fn with_picture<T>(path: &Path, act: impl FnOnce(DynamicImage) -> Result<T>) -> Result<T> {
    let bytes = read(path)?;
    let refuse = |found: &str| DataError::content(path, "image", found, FORMATS);
    let damaged = |error: image::ImageError| refuse("damaged or unknown data").caused_by(root_cause(&error));
    let format = image::guess_format(&bytes).map_err(damaged)?;
    if format == ImageFormat::Jpeg && !jpeg::is_complete(&bytes) {
        return Err(refuse("a truncated JPEG"));
    }
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    // Only a GIF may say so, and be decoded all the same.
    if width == 0 || height == 0 {
        return Err(refuse(&format!("a picture of {width} x {height} pixels")));
    }
    let needed = decoder.total_bytes();
    if needed > LARGEST && !memory::is_lifted() {
        let subject = format!("image of {width} x {height} pixels");
        return Err(DataError::TooLarge { path: path.to_owned(), subject, needed, limit: LARGEST });
    }
    let _room = room::take(needed.saturating_mul(COPIES));
    if format == ImageFormat::Jpeg && !jpeg::are_whole(&bytes) {
        return Err(refuse("a JPEG with damaged data"));
    }
    let orientation = orientation(&mut decoder);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    act(picture)
}

/// What a decoder may allocate beside the picture: a GIF of 32 x 16 pixels may have a frame of 11500 x 11500
/// in 41 bytes.
fn limits() -> Limits {
    if memory::is_lifted() {
        return Limits::no_limits();
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(LARGEST);
    limits
}

/// How a photograph is to be turned. Unreadable metadata is no reason to refuse the picture.
fn orientation(decoder: &mut impl ImageDecoder) -> Orientation {
    decoder.orientation().unwrap_or(Orientation::NoTransforms)
}

/// Whether the content of an image file says that it is to be turned.
pub(super) fn is_turned(bytes: &[u8]) -> bool {
    let decoder = image::guess_format(bytes)
        .and_then(|format| ImageReader::with_format(Cursor::new(bytes), format).into_decoder());
    decoder.is_ok_and(|mut decoder| orientation(&mut decoder) != Orientation::NoTransforms)
}

/// The text of the innermost cause of an error. Those around it repeat it in their own texts.
fn root_cause(error: &image::ImageError) -> String {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |cause| cause.source());
    causes.last().map(ToString::to_string).unwrap_or_default().trim_end_matches('.').to_owned()
}

/// Grey levels below this one are not background. Renderers leave the background at 255; a little less allows for JPEG.
const BACKGROUND: u8 = 250;

/// Decodes an image, crops it about its centre, and resizes it with an antialiasing bilinear filter. Transparent pixels
/// are blended with white.
pub(super) fn decode_resized(
    path: &Path,
    shape: ImageShape,
    treatment: Treatment,
    pixels: &mut [u8],
) -> Result<()> {
    with_picture(path, |picture| resized(path, picture, shape, treatment, pixels))
}

fn resized(
    path: &Path,
    picture: DynamicImage,
    shape: ImageShape,
    treatment: Treatment,
    pixels: &mut [u8],
) -> Result<()> {
    let mut picture = on_white(picture);
    let (width, height) = (picture.width(), picture.height());
    let part = treatment.part_of((width as usize, height as usize), shape).map_err(|side| {
        let expected = format!("at least {side} x {side} pixels, since `crop` is {side}");
        DataError::content(path, "image", format!("{width} x {height} pixels"), expected)
    })?;
    if treatment.mask {
        let mut mask = picture.into_luma8();
        mask.pixels_mut().for_each(|pixel| pixel.0 = [if pixel.0[0] < BACKGROUND { 255 } else { 0 }]);
        picture = mask.into();
    }
    let [left, top, width, height] = part.map(|pixels| pixels as u32);
    let picture = picture.crop_imm(left, top, width, height);
    let picture = picture.resize_exact(shape.width as u32, shape.height as u32, FilterType::Triangle);
    if treatment.mask {
        // A pixel belongs to the silhouette if at least half of its area does.
        let inside =
            picture.into_luma8().into_raw().into_iter().map(|value| if value >= 128 { 255 } else { 0 });
        pixels.iter_mut().zip(inside).for_each(|(pixel, value)| *pixel = value);
        return Ok(());
    }
    if shape.channels == 1 {
        pixels.copy_from_slice(&picture.into_luma8());
    } else {
        pixels.copy_from_slice(&picture.into_rgb8());
    }
    Ok(())
}

pub(crate) fn on_white(picture: DynamicImage) -> DynamicImage {
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
