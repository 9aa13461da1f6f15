//! The forward pass of a layer, or of two at once; each thread computes some of the images.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::geometry::Layer;
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
        let by_winograd = self.layers.map(|layer| winograd::pays(layer.layer, S::LANES));
        run_all(simd, self.input, self.layers, by_winograd)
    }
}

impl<'a> Forward<'a> {
    /// Prepares the weights, for Winograd's algorithm or for the definition.
    fn prepare<S: Simd>(self, simd: S, by_winograd: bool) -> PreparedForward<'a> {
        let Self { layer, direction, relu, weights, bias } = self;
        let batch_size = layer.batch_size;
        let (algorithm, block_size) = if by_winograd {
            (Algorithm::Winograd(WinogradForward::new(simd, self)), winograd::blocks(layer).1)
        } else {
            let engine = Engine::new(layer, direction, S::LANES, weights, bias);
            let part_size = part_size(batch_size, weights.len());
            let group_size = group_size(engine.plan.shapes().padded.len(), part_size);
            let engine = Box::new(engine.for_images(group_size));
            (Algorithm::Definition { engine, relu }, group_size)
        };
        PreparedForward { block_size, algorithm }
    }
}

/// A layer with its weights prepared.
struct PreparedForward<'a> {
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

/// The outputs of all layers, each by Winograd's algorithm or by the definition.
///
/// # Panics
/// If the input of a layer does not have the shape of its images.
pub(crate) fn run_all<S: Simd, const LAYERS: usize>(
    simd: S,
    input: &[f32],
    layers: [Forward<'_>; LAYERS],
    by_winograd: [bool; LAYERS],
) -> [Vec<f32>; LAYERS] {
    let Some(first) = layers.first() else { return [(); LAYERS].map(|()| Vec::new()) };
    let shapes = layers.map(|Forward { layer, direction, .. }| (layer.batch_size, direction.between(layer)));
    assert_eq!(input.len(), first.layer.batch_len(shapes[0].1.0), "input images");
    for pair in shapes.windows(2) {
        assert_eq!((pair[1].0, pair[1].1.0), (pair[0].0, pair[0].1.1), "a chain of layers");
    }
    let prepare = || {
        let mut by_winograd = by_winograd.into_iter();
        layers.map(|layer| layer.prepare(simd, by_winograd.next().unwrap_or_default()))
    };
    // Winograd's algorithm wants as many tiles as fit into the cache; the definition takes any number of images.
    let leading = layers.iter().zip(by_winograd).find(|(_, by_winograd)| *by_winograd);
    let leading = leading.map(|(Forward { layer, .. }, _)| winograd::blocks(layer).1);
    let shared = (leading.is_none() || !winograd::own_copies()).then(prepare);
    let by_definition = || shared.iter().flatten().map(|layer| layer.block_size).next();
    let block_size = leading.or_else(by_definition).unwrap_or(1);
    let lengths = layers.map(|Forward { layer, direction, .. }| layer.batch_len(direction.between(layer).1));
    let mut outputs = lengths.map(Vec::with_capacity);
    let mut place = 0;
    let mut parts = outputs.each_mut().map(|output| {
        let part =
            output.spare_capacity_mut()[..lengths[place]].chunks_mut(block_size * shapes[place].1.1.len());
        place += 1;
        part
    });
    let mut blocks: Vec<Block<'_, LAYERS>> = input
        .chunks(block_size * shapes[0].1.0.len())
        .map(|input| Block { input, targets: parts.each_mut().map(|part| part.next().unwrap_or_default()) })
        .collect();
    match shared {
        Some(layers) => run_blocks(simd, &layers, blocks),
        None => {
            let others = blocks.split_off(blocks.len() / 2);
            rayon::join(|| run_blocks(simd, &prepare(), blocks), || run_blocks(simd, &prepare(), others));
        }
    }
    for (output, length) in outputs.iter_mut().zip(lengths) {
        // SAFETY: input and outputs have the same number of images and so of blocks, and each layer writes every float of
        // its block.
        unsafe { output.set_len(length) };
    }
    outputs
}

/// Some images, and the memory for their output of each layer.
struct Block<'a, const LAYERS: usize> {
    input: &'a [f32],
    targets: [&'a mut [MaybeUninit<f32>]; LAYERS],
}

/// Writes every float of the outputs of some blocks.
fn run_blocks<S: Simd, const LAYERS: usize>(
    simd: S,
    layers: &[PreparedForward<'_>; LAYERS],
    blocks: Vec<Block<'_, LAYERS>>,
) {
    blocks.into_par_iter().for_each(|Block { input, mut targets }| {
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
}
