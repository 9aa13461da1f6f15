//! The backward pass of a layer: input, weight and bias gradients in one pass over the images.
//!
//! The gradient of the output is read once. While an image of it is copied into the cache, it is masked by the ReLU and
//! summed for the bias; the input and weight gradients are then computed from the copy.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::geometry::{ImageShape, Layer};
use crate::kernel::engine::{Engine, plan};
use crate::kernel::gradient::PrepareGradient;
use crate::kernel::outer::{Products, fine_offsets, sums_length};
use crate::kernel::pack::padded_channels;
use crate::kernel::pad::{Padded, copy_padded};
use crate::kernel::plan::Shapes;
use crate::kernel::scratch::{aligned, with_scratch};
use crate::kernel::tile::Sums;
use crate::kernel::write_only::WriteOnly;
use crate::kernel::{Direction, group_size, part_size, winograd};
use crate::simd::{InstructionSet, Kernel, MAXIMUM_LANES, Simd, TILE_VECTORS};

/// The arguments of a backward pass.
pub(crate) struct Backward<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) direction: Direction,
    /// The layer's input.
    pub(crate) input: &'a [f32],
    pub(crate) weights: &'a [f32],
    /// The layer's output, if it has a ReLU.
    pub(crate) output: Option<&'a [f32]>,
    /// Gradient of the output.
    pub(crate) gradient: &'a [f32],
    /// Whether to compute the gradients of the input and of the weights.
    pub(crate) needs_input: bool,
    pub(crate) needs_weights: bool,
}

/// The results of a backward pass.
pub(crate) struct Gradients {
    pub(crate) input: Option<Vec<f32>>,
    /// In the layout of the weights.
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) bias: Vec<f32>,
}

/// The gradients of a layer.
pub(crate) fn backward(work: Backward<'_>) -> Gradients {
    InstructionSet::current().run(work)
}

/// One part of the batch, and the memory for its results.
struct Part<'a> {
    first_image: usize,
    image_count: usize,
    input: Option<&'a mut [MaybeUninit<f32>]>,
    sums: &'a mut [MaybeUninit<f32>],
    bias: &'a mut [f64],
}

/// The input or output images of the layer, as stored and with the border that the kernels need.
#[derive(Clone, Copy)]
struct Side {
    image: ImageShape,
    padded: ImageShape,
    before: [usize; 2],
}

/// Computed once for all parts.
struct Prepared {
    /// For the input gradient, if it is wanted.
    engine: Option<Engine>,
    group_size: usize,
    gradient_side: Side,
    input_side: Side,
    /// See [`fine_offsets`].
    offsets: Vec<usize>,
}

/// Floats that a tile may read after the last pixel.
const SLACK: usize = TILE_VECTORS * MAXIMUM_LANES;

impl Kernel for Backward<'_> {
    type Output = Gradients;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Gradients {
        if winograd::pays(self.layer, S::LANES) { self.by_winograd(simd) } else { self.directly(simd) }
    }
}

impl Backward<'_> {
    /// All gradients by the definition.
    pub(crate) fn directly<S: Simd>(&self, simd: S) -> Gradients {
        let layer = self.layer;
        let opposite = match self.direction {
            Direction::Contract => Direction::Expand,
            Direction::Expand => Direction::Contract,
        };
        let engine = self.needs_input.then(|| Engine::new(layer, opposite, S::LANES, self.weights, None));
        let side = |direction| {
            let Shapes { source, padded, before, .. } = plan(layer, direction).shapes();
            Side { image: source, padded, before }
        };
        let gradient_side = side(opposite);
        let input_side = match self.direction {
            Direction::Contract => side(Direction::Contract),
            Direction::Expand => Side { image: layer.coarse, padded: layer.coarse, before: [0, 0] },
        };
        assert_eq!(self.weights.len(), layer.weights(), "weights");
        assert_eq!(self.gradient.len(), layer.batch_len(gradient_side.image), "gradient of the output");
        assert_eq!(self.input.len(), layer.batch_len(input_side.image), "input images");
        let fine_side = if self.direction == Direction::Contract { input_side } else { gradient_side };
        let offsets = fine_offsets(layer, fine_side.padded.row());

        let part_size = part_size(layer.batch_size, self.weights.len()).max(1);
        let group_size = group_size(gradient_side.padded.len().max(input_side.padded.len()), part_size);
        let engine = engine.map(|engine| engine.for_images(group_size));
        let parts = layer.batch_size.div_ceil(part_size);
        let sums_length = if self.needs_weights { sums_length(layer, S::LANES) } else { 0 };
        let channels = gradient_side.image.channels;
        let mut sums = Vec::with_capacity(parts * sums_length);
        let mut bias = vec![0.0; parts * channels];
        let input_length = if self.needs_input { self.input.len() } else { 0 };
        let mut input_gradient = Vec::with_capacity(input_length);
        let mut input_parts = input_gradient.spare_capacity_mut()[..input_length]
            .chunks_mut(part_size * input_side.image.len());
        let mut sums_parts = sums.spare_capacity_mut()[..parts * sums_length].chunks_mut(sums_length.max(1));
        let work: Vec<Part<'_>> = bias
            .chunks_mut(channels)
            .enumerate()
            .map(|(number, bias)| Part {
                first_image: number * part_size,
                image_count: part_size.min(layer.batch_size - number * part_size),
                input: input_parts.next(),
                sums: sums_parts.next().unwrap_or_default(),
                bias,
            })
            .collect();
        let prepared = Prepared { engine, group_size, gradient_side, input_side, offsets };
        work.into_par_iter().for_each(|part| {
            self.part(simd, part, &prepared);
        });

        // SAFETY: the parts cover the input gradient if it is wanted, and `Engine::run` writes every float of the images of
        // a part; otherwise the length is 0.
        unsafe { input_gradient.set_len(input_length) };
        // SAFETY: the parts cover the sums if the weight gradient is wanted, and the first group of a part writes all of its
        // sums; otherwise the length is 0.
        unsafe { sums.set_len(parts * sums_length) };
        Gradients {
            input: self.needs_input.then_some(input_gradient),
            weights: self.needs_weights.then(|| collect_weights(layer, &sums, S::LANES)),
            bias: (0..channels)
                .map(|channel| bias.iter().skip(channel).step_by(channels).sum::<f64>() as f32)
                .collect(),
        }
    }
}

impl Backward<'_> {
    fn part<S: Simd>(&self, simd: S, mut part: Part<'_>, prepared: &Prepared) {
        let Prepared { engine, group_size, gradient_side, input_side, offsets } = prepared;
        let (engine, gradient_side, input_side) = (engine.as_ref(), *gradient_side, *input_side);
        let group_size = (*group_size).min(part.image_count);
        let gradient_len = aligned(group_size * gradient_side.padded.len() + SLACK);
        let input_len = aligned(group_size * input_side.padded.len() + SLACK);
        let channels = gradient_side.image.channels;
        let engine_len = aligned(engine.map_or(0, Engine::scratch_len));
        with_scratch(gradient_len + input_len + engine_len + channels, |scratch| {
            let (gradient_copy, rest) = scratch.split_at_mut(gradient_len);
            let (input_copy, rest) = rest.split_at_mut(input_len);
            let (engine_scratch, row_sums) = rest.split_at_mut(engine_len);
            for offset in (0..part.image_count).step_by(group_size) {
                let image_count = group_size.min(part.image_count - offset);
                let first = part.first_image + offset;
                let range = |image: ImageShape| first * image.len()..(first + image_count) * image.len();
                simd.vectorize(PrepareGradient {
                    gradient: &self.gradient[range(gradient_side.image)],
                    output: self.output.map(|output| &output[range(gradient_side.image)]),
                    image: gradient_side.image,
                    target: gradient_copy,
                    padded: gradient_side.padded,
                    before: gradient_side.before,
                    bias: part.bias,
                    row_sums: &mut row_sums[..channels],
                });
                if let (Some(engine), Some(target)) = (engine, &mut part.input) {
                    let length = input_side.image.len();
                    let target = &mut target[offset * length..(offset + image_count) * length];
                    engine.run(simd, false, image_count, gradient_copy, engine_scratch, target);
                }
                if self.needs_weights {
                    let Side { image, padded, before } = input_side;
                    let values = &self.input[range(image)];
                    // Images without a border and with whole vectors of channels need no copy.
                    let values = if image == padded && image.channels.is_multiple_of(S::LANES) {
                        values
                    } else {
                        copy_padded(values, image, input_copy, padded, before);
                        &*input_copy
                    };
                    let input = Padded { values, image: padded, before };
                    let Side { padded, before, .. } = gradient_side;
                    let gradient = Padded { values: gradient_copy, image: padded, before };
                    let (fine, coarse) = match self.direction {
                        Direction::Contract => (input, gradient),
                        Direction::Expand => (gradient, input),
                    };
                    let sums = if offset == 0 {
                        Sums::Write(WriteOnly::from(&mut *part.sums))
                    } else {
                        // SAFETY: the first group, with offset 0, has written all of them.
                        Sums::Add(unsafe { part.sums.assume_init_mut() })
                    };
                    simd.vectorize(Products {
                        layer: self.layer,
                        image_count,
                        fine,
                        coarse,
                        sums,
                        fine_offsets: offsets,
                    });
                }
            }
        });
    }
}

/// Adds the sums of the parts in their order and puts them into the layout of the weights.
fn collect_weights(layer: &Layer, sums: &[f32], lanes: usize) -> Vec<f32> {
    let taps = layer.filter.size[0] * layer.filter.size[1];
    let stride = padded_channels(layer.coarse.channels, lanes);
    let part = taps * layer.fine.channels * stride;
    let mut total = vec![0.0; part];
    total.par_chunks_mut(stride * 64).enumerate().for_each(|(number, total)| {
        for sums in sums.chunks_exact(part) {
            for (total, sum) in total.iter_mut().zip(&sums[number * stride * 64..]) {
                *total += sum;
            }
        }
    });
    let mut weights = vec![0.0; layer.weights()];
    weights.par_chunks_mut(layer.fine.channels * taps).enumerate().for_each(|(coarse, weights)| {
        for (fine, weights) in weights.chunks_exact_mut(taps).enumerate() {
            for (tap, weight) in weights.iter_mut().enumerate() {
                *weight = total[(tap * layer.fine.channels + fine) * stride + coarse];
            }
        }
    });
    weights
}
