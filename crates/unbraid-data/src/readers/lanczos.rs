//! Shrinks 8-bit images with a Lanczos filter, with the same result as Pillow, bit for bit.
//!
//! Published results on smallNORB and Cars3D use images of 64 x 64 that were shrunk with Pillow; with another filter,
//! our numbers would not be comparable. Like Pillow, this filter uses fixed-point arithmetic and rounds to 8
//! bits between its two passes (first along rows, then along columns).

use std::f64::consts::PI;

/// Half the width of the filter, in pixels of the smaller image.
const LOBES: f64 = 3.0;
/// Fraction bits of a weight: 32 bits less 8 for the pixel and 2 for sums that exceed its range.
const FRACTION: u32 = 32 - 8 - 2;

/// A filter that shrinks square images from one size to another.
#[derive(Clone, Debug)]
pub(crate) struct Lanczos {
    from: usize,
    to: usize,
    channels: usize,
    /// For each pixel of the result, the first source pixel and the weights from there.
    taps: Vec<(usize, Vec<i32>)>,
}

impl Lanczos {
    /// A filter for images of `from` x `from` pixels.
    pub(crate) fn new(from: usize, to: usize, channels: usize) -> Self {
        let scale = from as f64 / to as f64;
        let (support, inverse) = (LOBES * scale, 1.0 / scale);
        let taps = (0..to).map(|pixel| {
            let centre = (pixel as f64 + 0.5) * scale;
            let first = (centre - support + 0.5).max(0.0) as usize;
            let end = ((centre + support + 0.5) as usize).min(from);
            let weights: Vec<f64> =
                (first..end).map(|source| kernel((source as f64 - centre + 0.5) * inverse)).collect();
            let normaliser = 1.0 / weights.iter().sum::<f64>();
            let fixed = |weight: &f64| (weight * normaliser * f64::from(1 << FRACTION)).round() as i32;
            (first, weights.iter().map(fixed).collect())
        });
        Self { from, to, channels, taps: taps.collect() }
    }

    /// The number of values of an image before.
    pub(crate) fn values_before(&self) -> usize {
        self.from * self.from * self.channels
    }

    /// The number of values of an image after.
    pub(crate) fn values_after(&self) -> usize {
        self.to * self.to * self.channels
    }

    /// Shrinks one image; `between` is a buffer that is reused.
    ///
    /// # Panics
    /// If an image has the wrong size.
    pub(crate) fn shrink(&self, before: &[u8], between: &mut Vec<u8>, after: &mut [u8]) {
        assert_eq!((before.len(), after.len()), (self.values_before(), self.values_after()));
        let Self { from, to, channels, .. } = *self;
        between.resize(from * to * channels, 0);
        for (row, out) in before.chunks_exact(from * channels).zip(between.chunks_exact_mut(to * channels)) {
            for ((first, weights), pixel) in self.taps.iter().zip(out.chunks_exact_mut(channels)) {
                for (channel, value) in pixel.iter_mut().enumerate() {
                    let sources = row[first * channels + channel..].iter().step_by(channels);
                    *value = weighted(sources, weights);
                }
            }
        }
        let width = to * channels;
        for ((first, weights), out) in self.taps.iter().zip(after.chunks_exact_mut(width)) {
            for (column, value) in out.iter_mut().enumerate() {
                *value = weighted(between[first * width + column..].iter().step_by(width), weights);
            }
        }
    }
}

fn weighted<'a>(sources: impl Iterator<Item = &'a u8>, weights: &[i32]) -> u8 {
    let half = 1 << (FRACTION - 1);
    let sum = sources.zip(weights).fold(half, |sum, (&source, &weight)| sum + i32::from(source) * weight);
    (sum >> FRACTION).clamp(0, 255) as u8
}

fn kernel(x: f64) -> f64 {
    if (-LOBES..LOBES).contains(&x) { sinc(x) * sinc(x / LOBES) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights sum to one, so a uniform image does not change. The result is compared with Pillow's
    /// in `tests/data/smallnorb.rs` and `tests/data/cars3d.rs`.
    #[test]
    fn a_uniform_image_stays_uniform() {
        for value in [0, 1, 128, 255] {
            let filter = Lanczos::new(96, 64, 3);
            let mut after = vec![7; filter.values_after()];
            filter.shrink(&vec![value; filter.values_before()], &mut Vec::new(), &mut after);
            assert!(after.iter().all(|&pixel| pixel == value), "{value}");
        }
    }
}
