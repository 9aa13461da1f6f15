//! Prepares the gradient of a layer's output for the backward pass.

use crate::geometry::ImageShape;
use crate::kernel::pad::for_each_row;
use crate::kernel::rows::with_rows;
use crate::simd::{Kernel, Simd};

/// Sets the gradient to zero where the ReLU was inactive, copies it with a border, and sums it for the bias, all in one pass:
/// the arrays are larger than the cache.
pub(crate) struct PrepareGradient<'a> {
    pub(crate) gradient: &'a [f32],
    /// The layer's output, if it has a ReLU: the gradient is kept where it is positive.
    pub(crate) output: Option<&'a [f32]>,
    pub(crate) image: ImageShape,
    pub(crate) target: &'a mut [f32],
    pub(crate) padded: ImageShape,
    pub(crate) before: [usize; 2],
    /// The bias gradient so far: one sum per channel, in double precision, because it may have a million terms.
    pub(crate) bias: &'a mut [f64],
    /// Scratch memory, one float per channel.
    pub(crate) row_sums: &'a mut [f32],
}

/// Vectors after which the channels begin anew, at most.
const LONGEST_PERIOD: usize = 8;

impl Kernel for PrepareGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let channels = self.image.channels;
        // A pixel of several vectors, or several pixels of few channels.
        let period = if channels.is_multiple_of(S::LANES) { channels / S::LANES } else { channels };
        match period {
            1..=LONGEST_PERIOD => with_rows!(period, PERIOD => self.in_vectors::<S, PERIOD>(simd)),
            _ => self.one_by_one(),
        }
    }
}

impl PrepareGradient<'_> {
    /// The channels of `PERIOD` vectors are those of the next `PERIOD`, so that their sums stay in registers.
    #[inline(always)]
    fn in_vectors<S: Simd, const PERIOD: usize>(self, simd: S) {
        let channels = self.image.channels;
        let stride = PERIOD * S::LANES;
        assert!(stride.is_multiple_of(channels), "whole pixels");
        let zero = simd.splat(0.0);
        self.for_each_row(|gradient, output, target, row_sums| {
            let mut sums = [zero; PERIOD];
            let whole = gradient.len() / stride * stride;
            for first in (0..whole).step_by(stride) {
                for (v, sum) in sums.iter_mut().enumerate() {
                    let place = first + v * S::LANES;
                    // SAFETY: the three slices have the same length, and a vector from `place` on ends at `whole` at most.
                    unsafe {
                        let mut value = simd.load(gradient.as_ptr().add(place));
                        if let Some(output) = output {
                            value = simd.select_positive(simd.load(output.as_ptr().add(place)), value, zero);
                        }
                        simd.store(target.as_mut_ptr().add(place), value);
                        *sum = simd.add(*sum, value);
                    }
                }
            }
            for (v, sum) in sums.iter().enumerate() {
                for (lane, value) in simd.to_array(*sum)[..S::LANES].iter().enumerate() {
                    row_sums[(v * S::LANES + lane) % channels] += value;
                }
            }
            let output = output.map(|output| &output[whole..]);
            copy_rest(&gradient[whole..], output, &mut target[whole..], row_sums);
        });
    }

    fn one_by_one(self) {
        self.for_each_row(copy_rest);
    }

    /// Calls `copy` with each row of the gradient, of the output and of the target, and with sums of the channels, which are
    /// zero before.
    #[inline(always)]
    fn for_each_row(self, mut copy: impl FnMut(&[f32], Option<&[f32]>, &mut [f32], &mut [f32])) {
        let Self { gradient, output, image, target, padded, before, bias, row_sums } = self;
        assert_eq!(row_sums.len(), image.channels, "sums of channels");
        let images = gradient.chunks_exact(image.len()).zip(target.chunks_exact_mut(padded.len()));
        for (number, (gradient, target)) in images.enumerate() {
            let output = output.map(|output| &output[number * image.len()..][..image.len()]);
            for_each_row(image, target, padded, before, |row, target| {
                let range = row * image.row()..(row + 1) * image.row();
                row_sums.fill(0.0);
                let output = output.map(|output| &output[range.clone()]);
                copy(&gradient[range], output, target, row_sums);
                for (sum, row_sum) in bias.iter_mut().zip(&*row_sums) {
                    *sum += f64::from(*row_sum);
                }
            });
        }
    }
}

/// Masks, copies and sums whole pixels.
#[inline(always)]
fn copy_rest(gradient: &[f32], output: Option<&[f32]>, target: &mut [f32], row_sums: &mut [f32]) {
    match output {
        None => target.copy_from_slice(gradient),
        Some(output) => {
            for ((target, gradient), output) in target.iter_mut().zip(gradient).zip(output) {
                *target = if *output > 0.0 { *gradient } else { 0.0 };
            }
        }
    }
    for pixel in target.chunks_exact(row_sums.len()) {
        for (sum, value) in row_sums.iter_mut().zip(pixel) {
            *sum += value;
        }
    }
}
