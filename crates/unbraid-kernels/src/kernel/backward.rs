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
        let Self { layer, direction, needs_input, needs_weights, .. } = *self;
        let (input_image, gradient_image) = direction.between(layer);
        assert_eq!(self.gradient.len(), layer.batch_len(gradient_image), "gradient of the output");
        assert_eq!(self.input.len(), layer.batch_len(input_image), "input images");
        let part_size = part_size(layer.batch_size, self.weights.len()).max(1);
        let wanted = Wanted { input: needs_input, weights: needs_weights };
        let prepared = DirectBackward::new::<S>(layer, direction, self.weights, wanted, part_size);
        let mut sums = prepared.sums(layer.batch_size.div_ceil(part_size));
        let input_length = if needs_input { self.input.len() } else { 0 };
        let mut input_gradient = Vec::with_capacity(input_length);
        let mut input_parts =
            input_gradient.spare_capacity_mut()[..input_length].chunks_mut(part_size * input_image.len());
        let of_gradient = part_size * gradient_image.len();
        let mut output_parts = self.output.map(|output| output.chunks(of_gradient));
        let parts: Vec<(Part<'_>, PartSums<'_>)> = self
            .gradient
            .chunks(of_gradient)
            .zip(self.input.chunks(part_size * input_image.len()))
            .map(|(gradient, input)| Part {
                gradient,
                input,
                output: output_parts.as_mut().and_then(Iterator::next),
                input_gradient: input_parts.next(),
            })
            .zip(sums.parts())
            .collect();
        parts.into_par_iter().for_each(|(part, sums)| prepared.part(simd, part, sums));

        // SAFETY: the parts cover the input gradient if it is wanted, and `DirectBackward::part` writes every float of it;
        // otherwise the length is 0.
        unsafe { input_gradient.set_len(input_length) };
        // SAFETY: `DirectBackward::part` has been called with the sums of every part.
        let (weights, bias) = unsafe { prepared.collect(sums) };
        Gradients { input: needs_input.then_some(input_gradient), weights, bias }
    }
}

/// The input or output images of the layer, as stored and with the border that the kernels need.
#[derive(Clone, Copy)]
struct Side {
    image: ImageShape,
    padded: ImageShape,
    before: [usize; 2],
}

/// Gradients to compute, beside that of the bias.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) input: bool,
    pub(crate) weights: bool,
}

/// The backward pass of a layer by the definition, prepared for parts of a batch.
pub(crate) struct DirectBackward<'a> {
    layer: &'a Layer,
    direction: Direction,
    /// For the input gradient, if it is wanted.
    engine: Option<Engine>,
    needs_weights: bool,
    lanes: usize,
    /// Images that are computed at once.
    group_size: usize,
    gradient_side: Side,
    input_side: Side,
    /// See [`fine_offsets`].
    offsets: Vec<usize>,
}

/// Some images of the batch.
pub(crate) struct Part<'a> {
    /// Gradient of the output.
    pub(crate) gradient: &'a [f32],
    pub(crate) input: &'a [f32],
    /// The output, if the layer has a ReLU.
    pub(crate) output: Option<&'a [f32]>,
    /// Where to write the gradient of the input, if it is wanted.
    pub(crate) input_gradient: Option<&'a mut [MaybeUninit<f32>]>,
}

/// Weight and bias gradients of all parts, which are added in the order of the parts.
pub(crate) struct DirectSums {
    /// Of one part.
    length: usize,
    channels: usize,
    weights: Vec<f32>,
    bias: Vec<f64>,
}

/// Where a part writes its gradients of the weights and the bias.
pub(crate) struct PartSums<'a> {
    weights: &'a mut [MaybeUninit<f32>],
    bias: &'a mut [f64],
}

impl DirectSums {
    /// For each part.
    pub(crate) fn parts(&mut self) -> impl Iterator<Item = PartSums<'_>> {
        let length = self.bias.len() / self.channels * self.length;
        let mut weights = self.weights.spare_capacity_mut()[..length].chunks_mut(self.length.max(1));
        self.bias
            .chunks_mut(self.channels)
            .map(move |bias| PartSums { weights: weights.next().unwrap_or_default(), bias })
    }
}

impl<'a> DirectBackward<'a> {
    /// Prepares for parts of at most `part_size` images.
    pub(crate) fn new<S: Simd>(
        layer: &'a Layer,
        direction: Direction,
        weights: &[f32],
        wanted: Wanted,
        part_size: usize,
    ) -> Self {
        assert_eq!(weights.len(), layer.weights(), "weights");
        let opposite = direction.opposite();
        let engine = wanted.input.then(|| Engine::new(layer, opposite, S::LANES, weights, None));
        let side = |direction| {
            let Shapes { source, padded, before, .. } = plan(layer, direction).shapes();
            Side { image: source, padded, before }
        };
        let gradient_side = side(opposite);
        let input_side = match direction {
            Direction::Contract => side(Direction::Contract),
            Direction::Expand => Side { image: layer.coarse, padded: layer.coarse, before: [0, 0] },
        };
        let fine_side = if direction == Direction::Contract { input_side } else { gradient_side };
        let offsets = fine_offsets(layer, fine_side.padded.row());
        let group_size = group_size(gradient_side.padded.len().max(input_side.padded.len()), part_size);
        let engine = engine.map(|engine| engine.for_images(group_size));
        let lanes = S::LANES;
        Self {
            layer,
            direction,
            engine,
            needs_weights: wanted.weights,
            lanes,
            group_size,
            gradient_side,
            input_side,
            offsets,
        }
    }

    /// Memory for the gradients of `parts` parts.
    pub(crate) fn sums(&self, parts: usize) -> DirectSums {
        let length = if self.needs_weights { sums_length(self.layer, self.lanes) } else { 0 };
        let channels = self.gradient_side.image.channels;
        DirectSums {
            length,
            channels,
            weights: Vec::with_capacity(parts * length),
            bias: vec![0.0; parts * channels],
        }
    }

    /// The gradient of the weights, if it is wanted, and that of the bias.
    ///
    /// # Safety
    /// [`DirectBackward::part`] must have been called with each of [`DirectSums::parts`] and at least one image.
    pub(crate) unsafe fn collect(&self, sums: DirectSums) -> (Option<Vec<f32>>, Vec<f32>) {
        let DirectSums { length, channels, mut weights, bias } = sums;
        // SAFETY: the caller promises that all parts have been written.
        unsafe { weights.set_len(bias.len() / channels * length) };
        (
            self.needs_weights.then(|| collect_weights(self.layer, &weights, self.lanes)),
            (0..channels)
                .map(|channel| bias.iter().skip(channel).step_by(channels).sum::<f64>() as f32)
                .collect(),
        )
    }

    /// The gradients of one part; writes all of `sums`, and every float of the input gradient if it is wanted.
    pub(crate) fn part<S: Simd>(&self, simd: S, part: Part<'_>, sums: PartSums<'_>) {
        let Self { gradient_side, input_side, .. } = *self;
        let Part { gradient, input, output, mut input_gradient } = part;
        let PartSums { weights: weight_sums, bias } = sums;
        let engine = self.engine.as_ref();
        let part_size = gradient.len() / gradient_side.image.len();
        assert!(part_size > 0 && input.len() == part_size * input_side.image.len(), "images of a part");
        let group_size = self.group_size.min(part_size);
        let gradient_len = aligned(group_size * gradient_side.padded.len() + SLACK);
        let input_len = aligned(group_size * input_side.padded.len() + SLACK);
        let channels = gradient_side.image.channels;
        let engine_len = aligned(engine.map_or(0, Engine::scratch_len));
        with_scratch(gradient_len + input_len + engine_len + channels, |scratch| {
            let (gradient_copy, rest) = scratch.split_at_mut(gradient_len);
            let (input_copy, rest) = rest.split_at_mut(input_len);
            let (engine_scratch, row_sums) = rest.split_at_mut(engine_len);
            for first in (0..part_size).step_by(group_size) {
                let image_count = group_size.min(part_size - first);
                let range = |image: ImageShape| first * image.len()..(first + image_count) * image.len();
                simd.vectorize(PrepareGradient {
                    gradient: &gradient[range(gradient_side.image)],
                    output: output.map(|output| &output[range(gradient_side.image)]),
                    image: gradient_side.image,
                    target: gradient_copy,
                    padded: gradient_side.padded,
                    before: gradient_side.before,
                    bias: &mut *bias,
                    row_sums: &mut row_sums[..channels],
                });
                if let (Some(engine), Some(target)) = (engine, &mut input_gradient) {
                    let target = &mut target[range(input_side.image)];
                    engine.run(simd, false, image_count, gradient_copy, engine_scratch, target);
                }
                if self.needs_weights {
                    let Side { image, padded, before } = input_side;
                    let values = &input[range(image)];
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
                    let sums = if first == 0 {
                        Sums::Write(WriteOnly::from(&mut *weight_sums))
                    } else {
                        // SAFETY: the first group has written all of them.
                        Sums::Add(unsafe { weight_sums.assume_init_mut() })
                    };
                    simd.vectorize(Products {
                        layer: self.layer,
                        image_count,
                        fine,
                        coarse,
                        sums,
                        fine_offsets: &self.offsets,
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
