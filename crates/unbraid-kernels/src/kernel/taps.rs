//! Expansion to few channels: with one output channel, a register tile of output pixels x channels would be almost empty.
//!
//! Instead every source pixel's contribution through every tap is computed first, a product of matrices with as many
//! columns as the kernel has taps, and each target pixel then gathers the few that reach it.

use std::mem::MaybeUninit;

use crate::geometry::Layer;
use crate::kernel::pack::PackedWeights;
use crate::kernel::plan::{Phase, Plan, Shapes};
use crate::kernel::window::Windows;
use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, Simd};

/// The plan of the contributions of an expansion, and their weights.
pub(crate) struct Taps {
    contributions: Plan,
    weights: PackedWeights,
    bias: Vec<f32>,
    /// Taps in the kernel: the distance between the contributions to neighbouring channels.
    taps: usize,
    phases: Vec<Sum>,
}

/// How the target pixels of one phase find their contributions.
struct Sum {
    /// For each pixel, the contributions of the first pixel of its window, and its own place in the target.
    places: Vec<(usize, usize)>,
    /// Where the contributions through each tap lie, seen from the first.
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

    /// Floats of working memory for one image.
    pub(crate) fn room(&self) -> usize {
        self.contributions.shapes().target.len()
    }
}

/// Computes the target images of a few padded source images by contributions.
pub(crate) struct Gather<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) taps: &'a Taps,
    pub(crate) relu: bool,
    pub(crate) images: usize,
    /// Padded source images.
    pub(crate) source: &'a [f32],
    pub(crate) target: &'a mut [MaybeUninit<f32>],
    /// At least [`Taps::room`] floats.
    pub(crate) room: &'a mut [f32],
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Shapes { padded, target, .. } = self.plan.shapes();
        let room = &mut self.room[..self.taps.room()];
        for image in 0..self.images {
            simd.vectorize(Windows {
                plan: &self.taps.contributions,
                weights: &self.taps.weights,
                relu: false,
                images: 1,
                source: &self.source[image * padded.len()..][..padded.len()],
                target: WriteOnly::from(&mut *room),
            });
            let target = &mut self.target[image * target.len()..][..target.len()];
            for sum in &self.taps.phases {
                // Four taps are the common case, a 4 x 4 kernel with stride 2; with their number known the loop unrolls.
                match <&[usize; 4]>::try_from(sum.offsets.as_slice()) {
                    Ok(four) => sum.gather(self.taps, four, room, self.relu, target),
                    Err(_) => sum.gather(self.taps, &sum.offsets, room, self.relu, target),
                }
            }
        }
    }
}

impl Sum {
    fn new(plan: &Plan, phase: &Phase, per_pixel: usize) -> Self {
        let padded = plan.shapes().padded;
        let contributions = |source: &u32| *source as usize / padded.channels * per_pixel;
        let pixels = (0..phase.rows())
            .flat_map(|row| (0..phase.columns()).map(move |column| (row, column)))
            .map(|(row, column)| row * padded.width + column);
        let taps = phase.taps(plan.kernel_width);
        Self {
            places: phase
                .source_offsets()
                .iter()
                .map(contributions)
                .zip(phase.target_offsets().iter().map(|place| *place as usize))
                .collect(),
            offsets: pixels.zip(taps).map(|(pixel, tap)| pixel * per_pixel + tap).collect(),
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
        for (start, place) in &self.places {
            let contributions = &contributions[*start..];
            let pixel = &mut target[*place..][..taps.bias.len()];
            for (channel, (value, bias)) in pixel.iter_mut().zip(&taps.bias).enumerate() {
                let mut sum = *bias;
                for offset in offsets {
                    sum += contributions[offset + channel * taps.taps];
                }
                // Written so that a NaN stays one.
                value.write(if relu && sum <= 0.0 { 0.0 } else { sum });
            }
        }
    }
}
