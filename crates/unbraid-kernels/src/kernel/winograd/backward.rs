//! The backward pass of a layer: input gradients block by block, the weight gradient position by position.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::geometry::ImageShape;
use crate::kernel::backward::{self, DirectBackward, Gradients, PartSums};
use crate::kernel::gradient::PrepareGradient;
use crate::kernel::product::{Left, Product, Right};
use crate::kernel::scratch::{PooledBuffer, aligned, with_scratch};
use crate::kernel::winograd::grid::{Grid, Transformed};
use crate::kernel::winograd::images::{FinishFine, ReadCoarse, ReadFine, WriteCoarse, WriteFine};
use crate::kernel::winograd::weights::{CollectWeights, TransformWeights, TransformedWeights};
use crate::kernel::winograd::{Products, block_size, own_copies, padded};
use crate::kernel::write_only::WriteOnly;
use crate::kernel::{Backward, Direction};
use crate::simd::{Simd, TILE_VECTORS};

/// Floats of transformed tiles that are kept for the weight gradient, at most, for each part of the batch: 2 MB, which stays
/// close to the core. Larger chunks would wait for memory, smaller ones start threads more often.
const CHUNK_FLOATS: usize = 512 << 10;

/// Floats of a task that adds the weight gradients of both halves of the batch.
const SUM_CHUNK: usize = 1 << 12;

/// The layer next to the images, which goes through the same blocks: the convolution before this one, or the transposed
/// convolution after it. The gradient of the images between them stays in the cache.
pub(crate) struct Neighbour<'a> {
    pub(crate) layer: &'a DirectBackward<'a>,
    /// The input of the convolution, or the gradient of the output of the transposed convolution.
    pub(crate) images: &'a [f32],
    /// For each block.
    pub(crate) sums: Vec<PartSums<'a>>,
}

/// Some images of the batch, and the memory for their results.
struct Part<'a> {
    /// Gradient of the output, unless it comes from the neighbour.
    gradient: Option<&'a [f32]>,
    output: Option<&'a [f32]>,
    input: &'a [f32],
    /// Written if it is wanted.
    input_gradient: Option<&'a mut [MaybeUninit<f32>]>,
    /// For each block.
    bias: &'a mut [f64],
    neighbour: Option<Neighbour<'a>>,
}

impl Part<'_> {
    /// The first images and the others. Blocks are not divided.
    fn split_at(self, images: usize, prepared: &Prepared) -> (Self, Self) {
        let Prepared { block_size, gradient_side, input_side, .. } = prepared;
        let (of_gradient, of_input) = (images * gradient_side.image.len(), images * input_side.image.len());
        let all_images = self.image_count(prepared);
        let (gradient, other_gradient) = self.gradient.map(|gradient| gradient.split_at(of_gradient)).unzip();
        let (output, other_output) = self.output.map(|output| output.split_at(of_gradient)).unzip();
        let (input, other_input) = self.input.split_at(of_input);
        let (input_gradient, other_input_gradient) =
            self.input_gradient.map(|values| values.split_at_mut(of_input)).unzip();
        let blocks = images.div_ceil(*block_size);
        let (bias, other_bias) = self.bias.split_at_mut(blocks * gradient_side.image.channels);
        let (neighbour, other_neighbour) = self
            .neighbour
            .map(|Neighbour { layer, images: values, mut sums }| {
                let other_sums = sums.split_off(blocks);
                let (first, others) = values.split_at(values.len() / all_images.max(1) * images);
                (
                    Neighbour { layer, images: first, sums },
                    Neighbour { layer, images: others, sums: other_sums },
                )
            })
            .unzip();
        (
            Self { gradient, output, input, input_gradient, bias, neighbour },
            Self {
                gradient: other_gradient,
                output: other_output,
                input: other_input,
                input_gradient: other_input_gradient,
                bias: other_bias,
                neighbour: other_neighbour,
            },
        )
    }

    fn image_count(&self, prepared: &Prepared) -> usize {
        self.input.len() / prepared.input_side.image.len()
    }

    /// Two parts of nearly as many blocks.
    fn halves(self, prepared: &Prepared) -> (Self, Self) {
        let blocks = self.image_count(prepared).div_ceil(prepared.block_size);
        self.split_at(blocks / 2 * prepared.block_size, prepared)
    }

    /// The parts of one block each.
    fn blocks(self, prepared: &Prepared) -> impl Iterator<Item = Self> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let part = rest.take().filter(|part| !part.input.is_empty())?;
            let images = prepared.block_size.min(part.image_count(prepared));
            let (block, others) = part.split_at(images, prepared);
            rest = Some(others);
            Some(block)
        })
    }
}

/// A block of images, and the memory for the transformed tiles of its gradient and, for the weight gradient, of its input.
struct Block<'a> {
    part: Part<'a>,
    gradient_tiles: &'a mut [f32],
    input_tiles: &'a mut [f32],
}

impl Neighbour<'_> {
    /// The gradients of the convolution before a block of this layer, from that of its output.
    fn contract<S: Simd>(mut self, simd: S, output: &[f32], gradient: &[f32]) {
        let part =
            backward::Part { gradient, input: self.images, output: Some(output), input_gradient: None };
        self.layer.part(simd, part, self.sums.remove(0));
    }

    /// The gradients of the transposed convolution after a block of this layer; writes every float of that of its input.
    fn expand<S: Simd>(mut self, simd: S, input: &[f32], input_gradient: &mut [f32]) {
        // SAFETY: `MaybeUninit<f32>` has the layout of `f32`, and `DirectBackward::part` writes initialised floats only.
        let floats = unsafe { &mut *(std::ptr::from_mut(input_gradient) as *mut [MaybeUninit<f32>]) };
        let part =
            backward::Part { gradient: self.images, input, output: None, input_gradient: Some(floats) };
        self.layer.part(simd, part, self.sums.remove(0));
    }
}

/// Computed once for all blocks.
struct Prepared {
    grid: Grid,
    /// Images of a block.
    block_size: usize,
    gradient_side: Side,
    input_side: Side,
}

/// The input or the output images of the layer.
#[derive(Clone, Copy)]
struct Side {
    image: ImageShape,
    padded: ImageShape,
    before: [usize; 2],
    /// Floats of a tile at each position.
    width: usize,
}

impl Side {
    fn fine(grid: &Grid) -> Self {
        let Grid { fine, padded_fine, before, .. } = *grid;
        Self { image: fine, padded: padded_fine, before, width: grid.fine_width() }
    }

    fn coarse(grid: &Grid) -> Self {
        let Grid { coarse, padded_coarse, .. } = *grid;
        Self { image: coarse, padded: padded_coarse, before: [0, 0], width: coarse.channels }
    }

    /// Floats of the transformed tiles of a block.
    fn tiles_length(self, tiles: usize) -> usize {
        aligned(Transformed { tiles, width: self.width }.len())
    }
}

impl Backward<'_> {
    /// All gradients by Winograd's algorithm.
    pub(crate) fn by_winograd<S: Simd>(&self, simd: S) -> Gradients {
        self.with_neighbour(simd, None)
    }

    /// All gradients by Winograd's algorithm, and those of a neighbour. With a convolution before this one, the input gradient
    /// is handed to it, and is not a result; a transposed convolution after this one computes [`Backward::gradient`], which is
    /// not read. The input of one, and the output of the other, are after a ReLU.
    pub(crate) fn with_neighbour<S: Simd>(&self, simd: S, neighbour: Option<Neighbour<'_>>) -> Gradients {
        let layer = self.layer;
        let is_alone = neighbour.is_none();
        let needs_input = self.needs_input && (is_alone || self.direction == Direction::Expand);
        let grid = Grid::new(layer);
        let (input_side, gradient_side) = match self.direction {
            Direction::Contract => (Side::fine(&grid), Side::coarse(&grid)),
            Direction::Expand => (Side::coarse(&grid), Side::fine(&grid)),
        };
        assert_eq!(self.input.len(), layer.batch_len(input_side.image), "input images");
        let outputs = layer.batch_len(gradient_side.image);
        let gradient = (is_alone || self.direction == Direction::Contract).then_some(self.gradient);
        assert!(gradient.is_none_or(|gradient| gradient.len() == outputs), "gradient of the output");
        assert!(self.output.is_none_or(|output| output.len() == outputs), "output images");
        let block_size = block_size(&grid, layer.batch_size);
        let prepared = Prepared { grid, block_size, gradient_side, input_side };

        let channels = gradient_side.image.channels;
        let mut bias = vec![0.0; layer.batch_size.div_ceil(block_size) * channels];
        let input_length = if needs_input { self.input.len() } else { 0 };
        let mut input_gradient = Vec::with_capacity(input_length);
        // Each product of the weight gradient reads the tiles of all images, wherever they have been transformed. A half of the
        // batch that stays on one core, or on cores with a cache in common, spares them the way to the other.
        let whole = Part {
            gradient,
            output: self.output,
            input: self.input,
            input_gradient: needs_input.then(|| &mut input_gradient.spare_capacity_mut()[..input_length]),
            bias: &mut bias,
            neighbour,
        };
        let shared = if own_copies() { None } else { self.transformed_weights(simd) };
        let (first, second) = whole.halves(&prepared);
        let (first, second) = rayon::join(
            || self.gradients_of(simd, first, &prepared, shared.as_ref()),
            || self.gradients_of(simd, second, &prepared, shared.as_ref()),
        );
        let weights = match (first, second) {
            (Some(mut first), Some(second)) => {
                let chunks = first.par_chunks_mut(SUM_CHUNK).zip(second.par_chunks(SUM_CHUNK));
                chunks.for_each(|(sums, values)| {
                    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                });
                Some(first)
            }
            // A batch without images has gradients, too.
            (first, second) => {
                first.or(second).or_else(|| self.needs_weights.then(|| vec![0.0; layer.weights()]))
            }
        };
        // SAFETY: the blocks cover the input gradient if it is wanted, and each writes all of its part; otherwise the length
        // is 0.
        unsafe { input_gradient.set_len(input_length) };
        Gradients {
            input: needs_input.then_some(input_gradient),
            weights,
            bias: (0..channels)
                .map(|channel| bias.iter().skip(channel).step_by(channels).sum::<f64>() as f32)
                .collect(),
        }
    }

    /// The weights that the input gradient is computed with, if it is wanted.
    fn transformed_weights<S: Simd>(&self, simd: S) -> Option<TransformedWeights> {
        let (layer, direction, weights) = (self.layer, self.direction.opposite(), self.weights);
        self.needs_input.then(|| simd.vectorize(TransformWeights { layer, direction, weights }))
    }

    /// Everything for a part of the batch; gives its gradient of the weights if it has images and that is wanted. Without
    /// `weights`, it transforms a copy of its own.
    fn gradients_of<S: Simd>(
        &self,
        simd: S,
        mut part: Part<'_>,
        prepared: &Prepared,
        weights: Option<&TransformedWeights>,
    ) -> Option<Vec<f32>> {
        let Prepared { grid, block_size, gradient_side, input_side } = prepared;
        let image_count = part.image_count(prepared);
        if image_count == 0 {
            return None;
        }
        let own = if weights.is_none() { self.transformed_weights(simd) } else { None };
        let weights = weights.or(own.as_ref());
        let block_tiles = block_size * grid.tiles_per_image();
        let block_length = [gradient_side, input_side].map(|side| side.tiles_length(block_tiles));
        let blocks = (CHUNK_FLOATS / (block_length[0] + block_length[1])).max(1);
        let blocks = blocks.min(image_count.div_ceil(*block_size));
        let chunk_size = blocks * block_size;
        let lengths =
            [blocks * block_length[0], if self.needs_weights { blocks * block_length[1] } else { 0 }];
        let transformed = Transformed { tiles: grid.fine_width(), width: grid.coarse.channels }.len();
        let mut sums = self.needs_weights.then(|| PooledBuffer::new(transformed));
        with_scratch(lengths[0] + lengths[1], |scratch| {
            let (gradient_tiles, input_tiles) = scratch.split_at_mut(lengths[0]);
            for first in (0..image_count).step_by(chunk_size) {
                let (chunk, rest) = part.split_at(chunk_size.min(image_count - first), prepared);
                part = rest;
                let chunk_images = chunk.image_count(prepared);
                let mut input_tiles_of_blocks = input_tiles.chunks_mut(block_length[1]);
                let blocks: Vec<Block<'_>> = chunk
                    .blocks(prepared)
                    .zip(gradient_tiles.chunks_mut(block_length[0]))
                    .map(|(part, gradient_tiles)| Block {
                        part,
                        gradient_tiles,
                        input_tiles: input_tiles_of_blocks.next().unwrap_or_default(),
                    })
                    .collect();
                blocks.into_par_iter().for_each(|block| self.block(simd, block, prepared, weights));
                if let Some(sums) = &mut sums {
                    let tiles = [&*gradient_tiles, &*input_tiles];
                    self.add_products(simd, prepared, chunk_images, tiles, sums.as_mut_slice(), first > 0);
                }
            }
        });
        // Here and not for the whole batch: the gradient of the weights is six times smaller than that of the transformed
        // weights, which has not left the cache of this core.
        sums.map(|sums| simd.vectorize(CollectWeights { layer: self.layer, source: sums.as_slice() }))
    }

    /// Everything that one block needs by itself: its bias and input gradients, the transformed tiles of both sides, and the
    /// gradients of the neighbour.
    fn block<S: Simd>(
        &self,
        simd: S,
        block: Block<'_>,
        prepared: &Prepared,
        weights: Option<&TransformedWeights>,
    ) {
        let Prepared { grid, gradient_side, input_side, .. } = prepared;
        let Block { part, gradient_tiles, input_tiles } = block;
        let image_count = part.image_count(prepared);
        let tiles = image_count * grid.tiles_per_image();
        let channels = gradient_side.image.channels;
        let copy_length = aligned(image_count * grid.padded_fine.len().max(grid.padded_coarse.len()));
        let sums_length = input_side.tiles_length(tiles);
        // The images between two layers are fine in both directions.
        let between_length = if part.neighbour.is_some() { image_count * grid.fine.len() } else { 0 };
        with_scratch(copy_length + sums_length + aligned(between_length) + channels, |scratch| {
            let (copy, scratch) = scratch.split_at_mut(copy_length);
            let (sums, scratch) = scratch.split_at_mut(sums_length);
            let (between, row_sums) = scratch.split_at_mut(aligned(between_length));
            let between = &mut between[..between_length];
            let (before, after) = match self.direction {
                Direction::Contract => (part.neighbour, None),
                Direction::Expand => (None, part.neighbour),
            };
            if let Some(after) = after {
                after.expand(simd, part.output.unwrap_or_default(), between);
            }
            simd.vectorize(PrepareGradient {
                gradient: part.gradient.unwrap_or(&*between),
                output: part.output,
                image: gradient_side.image,
                target: copy,
                padded: gradient_side.padded,
                before: gradient_side.before,
                bias: part.bias,
                row_sums: &mut row_sums[..channels],
            });
            let target = gradient_tiles;
            let source = &*copy;
            match self.direction {
                Direction::Contract => simd.vectorize(ReadCoarse { grid, image_count, source, target }),
                Direction::Expand => simd.vectorize(ReadFine { grid, image_count, source, target }),
            }
            let input_gradient = match (part.input_gradient, &before) {
                (Some(target), _) => Some(WriteOnly::from(target)),
                (None, Some(_)) => Some(WriteOnly::from(&mut *between)),
                (None, None) => None,
            };
            if let (Some(weights), Some(input_gradient)) = (weights, input_gradient) {
                simd.vectorize(Products { weights, tiles, source: target, target: sums });
                let (source, bias, relu, target) = (&*sums, None, false, input_gradient);
                match self.direction {
                    Direction::Contract => {
                        simd.vectorize(WriteFine { grid, image_count, source, target: copy });
                        simd.vectorize(FinishFine { grid, image_count, source: copy, bias, relu, target });
                    }
                    Direction::Expand => {
                        simd.vectorize(WriteCoarse { grid, image_count, source, bias, relu, target });
                    }
                }
            }
            if let Some(before) = before {
                before.contract(simd, part.input, between);
            }
            if self.needs_weights {
                let Side { image, padded: shape, before, .. } = *input_side;
                let (source, target) = (padded(part.input, image, copy, shape, before), input_tiles);
                match self.direction {
                    Direction::Contract => simd.vectorize(ReadFine { grid, image_count, source, target }),
                    Direction::Expand => simd.vectorize(ReadCoarse { grid, image_count, source, target }),
                }
            }
        });
    }

    /// Adds the products of all tiles of a chunk to the gradient of the transformed weights.
    fn add_products<S: Simd>(
        &self,
        simd: S,
        prepared: &Prepared,
        image_count: usize,
        [gradient_tiles, input_tiles]: [&[f32]; 2],
        sums: &mut [f32],
        add: bool,
    ) {
        let Prepared { grid, block_size, .. } = prepared;
        let (fine, coarse) = match self.direction {
            Direction::Contract => (input_tiles, gradient_tiles),
            Direction::Expand => (gradient_tiles, input_tiles),
        };
        let (fine_side, coarse_side) = (Side::fine(grid), Side::coarse(grid));
        let tiles = block_size * grid.tiles_per_image();
        let last_tiles = image_count % block_size * grid.tiles_per_image();
        let blocks = image_count / block_size;
        let columns = grid.coarse.channels;
        let width = TILE_VECTORS * S::LANES;
        let stride = Transformed { tiles: grid.fine_width(), width: columns }.stride();
        sums.par_chunks_mut(stride).enumerate().for_each(|(position, target)| {
            let mut add = add;
            // Whole blocks, and the last one if it is smaller.
            for (first, tiles, pairs) in [(0, tiles, blocks), (blocks, last_tiles, 1)] {
                if tiles == 0 || pairs == 0 {
                    continue;
                }
                let layout = |side: Side| Transformed { tiles, width: side.width };
                let (fine_pair, coarse_pair) = (
                    fine_side.tiles_length(block_size * grid.tiles_per_image()),
                    coarse_side.tiles_length(block_size * grid.tiles_per_image()),
                );
                let fine_start = first * fine_pair + position * layout(fine_side).stride();
                let coarse_start = first * coarse_pair + position * layout(coarse_side).stride();
                simd.vectorize(Product {
                    rows: grid.fine_width(),
                    columns,
                    depth: tiles,
                    pairs,
                    left: Left {
                        floats: &fine[fine_start..],
                        row: 1,
                        depth: fine_side.width,
                        pair: fine_pair,
                    },
                    right: Right {
                        floats: &coarse[coarse_start..],
                        panel: width,
                        depth: columns,
                        pair: coarse_pair,
                    },
                    target: &mut *target,
                    target_row: columns,
                    add,
                });
                add = true;
            }
        });
    }
}
