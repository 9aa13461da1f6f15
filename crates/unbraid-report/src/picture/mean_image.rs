//! The mean of all images of a data set, which shows where something can be at all (Mushom 2020, Fig. 5.1b).

use super::canvas::{Align, Canvas};
use crate::colour::INK;
use crate::error::Result;
use crate::font::text_width;
use crate::numbers::thousands;
use rayon::prelude::*;
use unbraid::data::DataSet;
use unbraid::data::progress::Progress;
use unbraid::data::random::Stream;

/// Images are summed in parts of this many, one after the other, so that the sum does not depend on the
/// number of threads.
const PART: usize = 4096;
/// Sums in memory, however many images there are.
const PARTS_AT_ONCE: usize = 32;
/// Smaller images are enlarged.
const SMALLEST_SIDE: usize = 256;
const MARGIN: usize = 16;
const TITLE_SIZE: f32 = 20.0;
const TITLE_HEIGHT: usize = 40;

/// Draws the mean of all images of a data set. The brightest value is white: the mean of small shapes that
/// move would be nearly black.
///
/// ```
/// use unbraid::data::{DataSpec, open, progress::Silent};
/// use unbraid_report::draw_mean_image;
///
/// let data = open(&"shapes(orientations=2, positions=4)".parse::<DataSpec>()?, &Silent)?;
/// assert!(draw_mean_image(data.as_ref(), 0, &Silent)?.width() >= 256);
/// # Ok::<(), unbraid_report::Error>(())
/// ```
///
/// # Errors
/// If an image cannot be read.
pub fn draw_mean_image(data: &dyn DataSet, seed: u64, progress: &dyn Progress) -> Result<Canvas> {
    let mean = mean_image(data, seed, progress)?;
    let brightest = mean.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let pixels: Vec<f32> = mean.iter().map(|value| (value / brightest) as f32).collect();
    let shape = data.shape();
    let zoom = SMALLEST_SIDE.div_ceil(shape.width.max(shape.height)).max(1);
    let title = format!("{}: the mean of {} images", data.name(), thousands(data.len()));
    let width = (shape.width * zoom).max(text_width(&title, TITLE_SIZE).ceil() as usize) + 2 * MARGIN;
    let mut canvas = Canvas::new(width, shape.height * zoom + TITLE_HEIGHT + 2 * MARGIN);
    canvas.text(&title, MARGIN, MARGIN + 12, TITLE_SIZE, Align::Left, INK);
    canvas.draw_image(shape, &pixels, MARGIN, MARGIN + TITLE_HEIGHT, zoom);
    Ok(canvas)
}

/// The mean of each pixel and channel over all images.
fn mean_image(data: &dyn DataSet, seed: u64, progress: &dyn Progress) -> Result<Vec<f64>> {
    let values = data.shape().values();
    let noise = Stream::new(seed, "mean image").at(0);
    progress.start("averaging", data.len() as u64);
    let sum_of = |start: usize| -> Result<Vec<f64>> {
        let mut sum = vec![0.0; values];
        let mut pixels = vec![0.0; values];
        let part = start..(start + PART).min(data.len());
        progress.advance(part.len() as u64);
        for image in part {
            data.write_image(image, noise.lane(image as u64), &mut pixels)?;
            sum.iter_mut().zip(&pixels).for_each(|(sum, &pixel)| *sum += f64::from(pixel));
        }
        Ok(sum)
    };
    let starts: Vec<usize> = (0..data.len()).step_by(PART).collect();
    let mut mean = vec![0.0; values];
    let count = data.len().max(1) as f64;
    for group in starts.chunks(PARTS_AT_ONCE) {
        for sum in group.par_iter().map(|&start| sum_of(start)).collect::<Result<Vec<_>>>()? {
            mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean += sum / count);
        }
    }
    progress.finish();
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::data::progress::Silent;
    use unbraid::data::{DataSpec, open};

    /// Shapes are white on black, so that the mean over all pixels and images is the mean of their areas,
    /// counted here image by image; corners, which no shape reaches, stay black.
    #[test]
    fn the_mean_has_the_area_of_the_images() {
        // 3 shapes x 6 scales x 20 orientations x 4 x 4 positions = 5,760 images: more than one part.
        let spec: DataSpec = "shapes(orientations=20, positions=4)".parse().unwrap();
        let data = open(&spec, &Silent).unwrap();
        assert!(data.len() == 5760 && data.len() > PART);
        let mean = mean_image(data.as_ref(), 0, &Silent).unwrap();
        let mut pixels = vec![0.0; data.shape().values()];
        let mut white = 0_usize;
        for image in 0..data.len() {
            data.write_image(image, Stream::new(9, "unused").at(0).lane(0), &mut pixels).unwrap();
            white += pixels.iter().filter(|&&pixel| pixel == 1.0).count();
        }
        let expected = white as f64 / data.len() as f64;
        assert!((mean.iter().sum::<f64>() - expected).abs() < 1e-9, "{expected}");
        assert_eq!([mean[0], mean[63], mean[64 * 63], mean[64 * 64 - 1]], [0.0; 4]);
    }
}
