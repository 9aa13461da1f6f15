//! Expansion to few channels, where a register tile of target pixels x channels would be almost empty.
//!
//! The contributions of every source pixel through every tap are computed first: a matrix product with as many columns as
//! the kernel has taps. Each target pixel then adds up the few contributions that reach it.

use std::mem::MaybeUninit;

use crate::geometry::Layer;
use crate::kernel::pack::PackedWeights;
use crate::kernel::plan::{Phase, Plan, Shapes};
use crate::kernel::window::Windows;
use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, Simd};

/// An expansion to few channels, prepared.
pub(crate) struct Taps {
    contributions: Plan,
    weights: PackedWeights,
    bias: Vec<f32>,
    /// Taps in the kernel, which is the distance between the contributions to neighbouring channels.
    taps: usize,
    phases: Vec<Sum>,
}

/// The contributions to the target pixels of one phase.
struct Sum {
    /// For each target pixel, the offset of the contributions of the first pixel of its window, and its own offset.
    pixels: Vec<(usize, usize)>,
    /// Offset of the contribution through each tap, relative to the first pixel of the window.
    offsets: Vec<usize>,
}

impl Taps {
    /// Prepares the expansion of `layer`; `plan` is its [`Plan::expand`].
    pub(crate) fn new(
        plan: &Plan,
        layer: &Layer,
        lanes: usize,
        weights: &[f32],
        bias: Option<&[f32]>,
    ) -> Self {
        let contributions = plan.contributions(layer);
        let weights = PackedWeights::new(&contributions, lanes, weights, None);
        let bias = bias.map_or_else(|| vec![0.0; layer.fine.channels], <[f32]>::to_vec);
        let per_pixel = contributions.shapes().target.channels;
        let phases = plan.phases().iter().map(|phase| Sum::new(plan, phase, per_pixel)).collect();
        Self { contributions, weights, bias, taps: layer.filter.size[0] * layer.filter.size[1], phases }
    }

    /// Floats of scratch memory, enough for one image.
    pub(crate) fn scratch_len(&self) -> usize {
        self.contributions.shapes().target.len()
    }
}

/// Computes the target images of a few padded source images by their contributions; writes every float of `target`.
pub(crate) struct Gather<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) taps: &'a Taps,
    pub(crate) relu: bool,
    pub(crate) image_count: usize,
    /// Padded source images.
    pub(crate) source: &'a [f32],
    pub(crate) target: &'a mut [MaybeUninit<f32>],
    /// At least [`Taps::scratch_len`] floats.
    pub(crate) scratch: &'a mut [f32],
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Shapes { padded, target, .. } = self.plan.shapes();
        let contributions = &mut self.scratch[..self.taps.scratch_len()];
        for image in 0..self.image_count {
            simd.vectorize(Windows {
                plan: &self.taps.contributions,
                weights: &self.taps.weights,
                relu: false,
                image_count: 1,
                source: &self.source[image * padded.len()..][..padded.len()],
                target: WriteOnly::from(&mut *contributions),
            });
            let target = &mut self.target[image * target.len()..][..target.len()];
            for sum in &self.taps.phases {
                // Four taps are the common case (a 4 x 4 kernel with stride 2), and the compiler unrolls a loop over four.
                match <&[usize; 4]>::try_from(sum.offsets.as_slice()) {
                    Ok(four) => sum.gather(self.taps, four, contributions, self.relu, target),
                    Err(_) => sum.gather(self.taps, &sum.offsets, contributions, self.relu, target),
                }
            }
        }
    }
}

impl Sum {
    fn new(plan: &Plan, phase: &Phase, per_pixel: usize) -> Self {
        let padded = plan.shapes().padded;
        let contributions = |source: &u32| *source as usize / padded.channels * per_pixel;
        let window = (0..phase.rows())
            .flat_map(|row| (0..phase.columns()).map(move |column| (row, column)))
            .map(|(row, column)| row * padded.width + column);
        let taps = phase.taps(plan.kernel_width);
        Self {
            pixels: phase
                .source_offsets()
                .iter()
                .map(contributions)
                .zip(phase.target_offsets().iter().map(|offset| *offset as usize))
                .collect(),
            offsets: window.zip(taps).map(|(pixel, tap)| pixel * per_pixel + tap).collect(),
        }
    }

    #[inline(always)]
    fn gather<'a>(
        &self,
        taps: &Taps,
        offsets: impl IntoIterator<Item = &'a usize> + Copy,
        contributions: &[f32],
        relu: bool,
        target: &mut [MaybeUninit<f32>],
    ) {
        for (start, offset) in &self.pixels {
            let contributions = &contributions[*start..];
            let pixel = &mut target[*offset..][..taps.bias.len()];
            for (channel, (value, bias)) in pixel.iter_mut().zip(&taps.bias).enumerate() {
                let mut sum = *bias;
                for offset in offsets {
                    sum += contributions[offset + channel * taps.taps];
                }
                // This comparison keeps NaN.
                value.write(if relu && sum <= 0.0 { 0.0 } else { sum });
            }
        }
    }
}
