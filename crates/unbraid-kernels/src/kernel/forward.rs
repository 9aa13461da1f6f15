//! The forward pass of a layer, divided among threads by images.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::geometry::Layer;
use crate::kernel::pack::PackedWeights;
use crate::kernel::pad::copy_padded;
use crate::kernel::plan::Plan;
use crate::kernel::scratch::with_scratch;
use crate::kernel::window::Windows;
use crate::kernel::{Direction, group, images_in_part};
use crate::simd::{InstructionSet, Kernel, Simd};

/// What a forward pass needs.
pub(crate) struct Forward<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) direction: Direction,
    pub(crate) relu: bool,
    /// All images, `[batch, height, width, channels]`.
    pub(crate) input: &'a [f32],
    /// `[coarse, fine, kernel height, kernel width]`
    pub(crate) weights: &'a [f32],
    pub(crate) bias: Option<&'a [f32]>,
}

/// The output images of a layer.
pub(crate) fn forward(work: Forward<'_>) -> Vec<f32> {
    InstructionSet::current().run(work)
}

impl Kernel for Forward<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<f32> {
        let plan = match self.direction {
            Direction::Contract => Plan::contract(self.layer),
            Direction::Expand => Plan::expand(self.layer),
        };
        let (batch, source, padded) = (self.layer.batch, plan.source, plan.padded);
        assert_eq!(self.input.len(), batch * source.len(), "input images");
        assert_eq!(self.weights.len(), self.layer.weights(), "weights");
        let weights = PackedWeights::new(&plan, S::LANES, self.weights, self.bias);

        let mut output = Vec::with_capacity(batch * plan.target.len());
        let images = group(padded.len(), images_in_part(batch));
        output.spare_capacity_mut()[..batch * plan.target.len()]
            .par_chunks_mut(images * plan.target.len())
            .zip(self.input.par_chunks(images * source.len()))
            .for_each(|(target, input)| {
                let images = input.len() / source.len();
                with_scratch(images * padded.len(), |scratch| {
                    copy_padded(input, source, scratch, padded, plan.before);
                    simd.vectorize(Windows {
                        plan: &plan,
                        weights: &weights,
                        relu: self.relu,
                        images,
                        source: scratch,
                        target,
                    });
                });
            });
        // SAFETY: the phases of a plan cover every pixel of the target, and the panels every channel, so that all floats
        // of all images were written.
        unsafe { output.set_len(batch * plan.target.len()) };
        output
    }
}

/// Memory to write to that may hold anything.
pub(crate) type Uninitialised<'a> = &'a mut [MaybeUninit<f32>];
