//! The forward pass of a layer; each thread computes some of the images.

use rayon::prelude::*;

use crate::geometry::Layer;
use crate::kernel::engine::Engine;
use crate::kernel::pad::copy_padded;
use crate::kernel::plan::Shapes;
use crate::kernel::scratch::{aligned, with_scratch};
use crate::kernel::{Direction, group_size, part_size, winograd};
use crate::simd::{InstructionSet, Kernel, Simd};

/// The arguments of a forward pass.
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
        if winograd::pays(self.layer, S::LANES) { self.by_winograd(simd) } else { self.directly(simd) }
    }
}

impl Forward<'_> {
    /// The output images by the definition.
    pub(crate) fn directly<S: Simd>(&self, simd: S) -> Vec<f32> {
        let engine = Engine::new(self.layer, self.direction, S::LANES, self.weights, self.bias);
        let Shapes { source, padded, before, target } = engine.plan.shapes();
        assert_eq!(self.input.len(), self.layer.batch_len(source), "input images");

        let output_length = self.layer.batch_len(target);
        let mut output = Vec::with_capacity(output_length);
        let group_size = group_size(padded.len(), part_size(self.layer.batch_size, self.weights.len()));
        let engine = engine.for_images(group_size);
        output.spare_capacity_mut()[..output_length]
            .par_chunks_mut(group_size * target.len())
            .zip(self.input.par_chunks(group_size * source.len()))
            .for_each(|(target, input)| {
                let image_count = input.len() / source.len();
                let copy_length = aligned(image_count * padded.len());
                with_scratch(copy_length + engine.scratch_len(), |scratch| {
                    let (copy, scratch) = scratch.split_at_mut(copy_length);
                    copy_padded(input, source, copy, padded, before);
                    engine.run(simd, self.relu, image_count, copy, scratch, target);
                });
            });
        // SAFETY: input and output have the same number of images and so of chunks, and `Engine::run` writes every float
        // of a chunk of the output.
        unsafe { output.set_len(output_length) };
        output
    }
}
