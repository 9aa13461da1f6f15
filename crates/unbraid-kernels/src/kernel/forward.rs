//! The forward pass of a layer, or of two at once; each thread computes some of the images.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::geometry::{ImageShape, Layer};
use crate::kernel::engine::Engine;
use crate::kernel::pad::copy_padded;
use crate::kernel::plan::Shapes;
use crate::kernel::scratch::{aligned, with_scratch};
use crate::kernel::winograd::WinogradForward;
use crate::kernel::{Direction, group_size, part_size, winograd};
use crate::simd::{InstructionSet, Kernel, Simd};

/// A layer of a forward pass.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) direction: Direction,
    pub(crate) relu: bool,
    /// `[coarse, fine, kernel height, kernel width]`
    pub(crate) weights: &'a [f32],
    pub(crate) bias: Option<&'a [f32]>,
}

/// The output images of a layer; `input` has all images, `[batch, height, width, channels]`.
pub(crate) fn forward(input: &[f32], layer: Forward<'_>) -> Vec<f32> {
    let [output] = InstructionSet::current().run(Chain { input, layers: [layer] });
    output
}

/// The output images of two layers, of which the second takes those of the first while they are in the cache.
pub(crate) fn forward_pair(input: &[f32], layers: [Forward<'_>; 2]) -> [Vec<f32>; 2] {
    InstructionSet::current().run(Chain { input, layers })
}

/// Layers one after another, for each block of images.
struct Chain<'a, const LAYERS: usize> {
    input: &'a [f32],
    layers: [Forward<'a>; LAYERS],
}

impl<const LAYERS: usize> Kernel for Chain<'_, LAYERS> {
    type Output = [Vec<f32>; LAYERS];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> [Vec<f32>; LAYERS] {
        let prepared = self.layers.map(|layer| layer.prepare(simd, winograd::pays(layer.layer, S::LANES)));
        run_all(simd, self.input, &prepared)
    }
}

impl<'a> Forward<'a> {
    /// Prepares the weights, for Winograd's algorithm or for the definition.
    pub(crate) fn prepare<S: Simd>(self, simd: S, by_winograd: bool) -> PreparedForward<'a> {
        let Self { layer, direction, relu, weights, bias } = self;
        let (source, target) = direction.between(layer);
        let batch_size = layer.batch_size;
        let (algorithm, block_size) = if by_winograd {
            let prepared = WinogradForward::new(simd, self);
            let block_size = prepared.block_size(batch_size);
            (Algorithm::Winograd(prepared), block_size)
        } else {
            let engine = Engine::new(layer, direction, S::LANES, weights, bias);
            let part_size = part_size(batch_size, weights.len());
            let group_size = group_size(engine.plan.shapes().padded.len(), part_size);
            let engine = Box::new(engine.for_images(group_size));
            (Algorithm::Definition { engine, relu }, group_size)
        };
        PreparedForward { layer, source, target, block_size, algorithm }
    }
}

/// A layer with its weights prepared.
pub(crate) struct PreparedForward<'a> {
    layer: &'a Layer,
    source: ImageShape,
    target: ImageShape,
    /// Images that are computed at once.
    block_size: usize,
    algorithm: Algorithm<'a>,
}

enum Algorithm<'a> {
    Definition { engine: Box<Engine>, relu: bool },
    Winograd(WinogradForward<'a>),
}

impl PreparedForward<'_> {
    /// Writes every float of `target`, the output of some images.
    fn block<S: Simd>(&self, simd: S, input: &[f32], target: &mut [MaybeUninit<f32>]) {
        match &self.algorithm {
            Algorithm::Winograd(layer) => layer.block(simd, input, target),
            Algorithm::Definition { engine, relu } => {
                let Shapes { source, padded, before, target: image } = engine.plan.shapes();
                let groups = input
                    .chunks(self.block_size * source.len())
                    .zip(target.chunks_mut(self.block_size * image.len()));
                for (input, target) in groups {
                    let image_count = input.len() / source.len();
                    let copy_length = aligned(image_count * padded.len());
                    with_scratch(copy_length + engine.scratch_len(), |scratch| {
                        let (copy, scratch) = scratch.split_at_mut(copy_length);
                        copy_padded(input, source, copy, padded, before);
                        engine.run(simd, *relu, image_count, copy, scratch, target);
                    });
                }
            }
        }
    }
}

/// The outputs of all layers.
///
/// # Panics
/// If the input of a layer does not have the shape of its images.
pub(crate) fn run_all<S: Simd, const LAYERS: usize>(
    simd: S,
    input: &[f32],
    layers: &[PreparedForward<'_>; LAYERS],
) -> [Vec<f32>; LAYERS] {
    let Some(first) = layers.first() else { return [(); LAYERS].map(|()| Vec::new()) };
    assert_eq!(input.len(), first.layer.batch_len(first.source), "input images");
    for pair in layers.windows(2) {
        let output = (pair[0].layer.batch_size, pair[0].target);
        assert_eq!((pair[1].layer.batch_size, pair[1].source), output, "a chain of layers");
    }
    // Winograd's algorithm wants as many tiles as fit into the cache; the definition takes any number of images.
    let leading = layers.iter().find(|layer| matches!(layer.algorithm, Algorithm::Winograd(_)));
    let block_size = leading.unwrap_or(first).block_size;
    let lengths = layers.each_ref().map(|prepared| prepared.layer.batch_len(prepared.target));
    let mut outputs = lengths.map(Vec::with_capacity);
    let mut place = 0;
    let mut parts = outputs.each_mut().map(|output| {
        let part =
            output.spare_capacity_mut()[..lengths[place]].chunks_mut(block_size * layers[place].target.len());
        place += 1;
        part
    });
    let blocks: Vec<(&[f32], [_; LAYERS])> = input
        .chunks(block_size * first.source.len())
        .map(|input| (input, parts.each_mut().map(|part| part.next().unwrap_or_default())))
        .collect();
    blocks.into_par_iter().for_each(|(input, mut targets)| {
        for (place, layer) in layers.iter().enumerate() {
            let (before, rest) = targets.split_at_mut(place);
            let source = match before.last() {
                None => input,
                // SAFETY: the layer before has written every float of its block.
                Some(output) => unsafe { output.assume_init_ref() },
            };
            layer.block(simd, source, rest[0]);
        }
    });
    for (output, length) in outputs.iter_mut().zip(lengths) {
        // SAFETY: input and outputs have the same number of images and so of blocks, and each layer writes every float of
        // its block.
        unsafe { output.set_len(length) };
    }
    outputs
}
