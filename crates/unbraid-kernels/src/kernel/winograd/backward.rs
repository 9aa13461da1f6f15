//! The backward pass of a layer: input gradients block by block, the weight gradient position by position.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::geometry::ImageShape;
use crate::kernel::backward::Gradients;
use crate::kernel::pad::PrepareGradient;
use crate::kernel::product::{Left, Product, Right};
use crate::kernel::scratch::{aligned, with_batch_scratch, with_scratch};
use crate::kernel::winograd::grid::{Grid, Transformed};
use crate::kernel::winograd::images::{FinishFine, ReadCoarse, ReadFine, WriteCoarse, WriteFine};
use crate::kernel::winograd::points::POSITIONS;
use crate::kernel::winograd::weights::{CollectWeights, TransformWeights, TransformedWeights};
use crate::kernel::winograd::{Products, block_size, padded};
use crate::kernel::write_only::WriteOnly;
use crate::kernel::{Backward, Direction};
use crate::simd::{Simd, TILE_VECTORS};

/// Floats of transformed tiles that are kept for the weight gradient, at most: 2 MB, which the second-level caches of two
/// cores hold. Larger chunks would wait for memory, smaller ones start threads more often.
const CHUNK_FLOATS: usize = 512 << 10;

/// Tasks for each position of the weight gradient, so that threads finish at nearly the same time.
const TASKS_PER_POSITION: usize = 2;

/// One block of images, and the memory for its results.
struct Block<'a> {
    gradient: &'a [f32],
    output: Option<&'a [f32]>,
    input: &'a [f32],
    input_gradient: Option<&'a mut [MaybeUninit<f32>]>,
    bias: &'a mut [f64],
    /// Transformed tiles of the gradient, and of the input if the weight gradient is wanted.
    gradient_tiles: &'a mut [f32],
    input_tiles: &'a mut [f32],
}

/// Computed once for all blocks.
struct Prepared {
    grid: Grid,
    /// Images of a block.
    block_size: usize,
    /// For the input gradient, if it is wanted.
    weights: Option<TransformedWeights>,
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
        let Self { layer, weights, needs_input, needs_weights, .. } = *self;
        let grid = Grid::new(layer);
        let (input_side, gradient_side, opposite) = match self.direction {
            Direction::Contract => (Side::fine(&grid), Side::coarse(&grid), Direction::Expand),
            Direction::Expand => (Side::coarse(&grid), Side::fine(&grid), Direction::Contract),
        };
        assert_eq!(self.gradient.len(), layer.batch_len(gradient_side.image), "gradient of the output");
        assert_eq!(self.input.len(), layer.batch_len(input_side.image), "input images");
        let block_size = block_size(&grid, layer.batch_size);
        let weights =
            needs_input.then(|| simd.vectorize(TransformWeights { layer, direction: opposite, weights }));
        let prepared = Prepared { grid, block_size, weights, gradient_side, input_side };

        let channels = gradient_side.image.channels;
        let mut bias = vec![0.0; layer.batch_size.div_ceil(block_size) * channels];
        let input_length = if needs_input { self.input.len() } else { 0 };
        let mut input_gradient = Vec::with_capacity(input_length);
        let transformed =
            if needs_weights { POSITIONS * grid.fine_width() * grid.coarse.channels } else { 0 };

        let block_tiles = block_size * grid.tiles_per_image();
        let block_length = [gradient_side, input_side].map(|side| side.tiles_length(block_tiles));
        let blocks = (CHUNK_FLOATS / (block_length[0] + block_length[1])).max(1);
        let chunk_size = (blocks * block_size).min(layer.batch_size.next_multiple_of(block_size).max(1));
        let blocks = chunk_size / block_size;
        let lengths = [blocks * block_length[0], if needs_weights { blocks * block_length[1] } else { 0 }];
        let weights = with_batch_scratch(lengths[0] + lengths[1] + transformed, |scratch| {
            let (gradient_tiles, scratch) = scratch.split_at_mut(lengths[0]);
            let (input_tiles, sums) = scratch.split_at_mut(lengths[1]);
            let mut input_gradients = input_gradient.spare_capacity_mut()[..input_length]
                .chunks_mut(chunk_size * input_side.image.len());
            let mut bias = bias.chunks_mut(blocks * channels);
            for first in (0..layer.batch_size).step_by(chunk_size) {
                let image_count = chunk_size.min(layer.batch_size - first);
                let range = |image: ImageShape| first * image.len()..(first + image_count) * image.len();
                let mut gradient_blocks =
                    input_gradients.next().map(|chunk| chunk.chunks_mut(block_size * input_side.image.len()));
                let mut input_tiles_of_blocks = input_tiles.chunks_mut(block_length[1]);
                let work: Vec<Block<'_>> = self.gradient[range(gradient_side.image)]
                    .chunks(block_size * gradient_side.image.len())
                    .zip(self.input[range(input_side.image)].chunks(block_size * input_side.image.len()))
                    .zip(gradient_tiles.chunks_mut(block_length[0]))
                    .zip(bias.next().unwrap_or_default().chunks_mut(channels))
                    .enumerate()
                    .map(|(number, (((gradient, input), gradient_tiles), bias))| Block {
                        gradient,
                        output: self.output.map(|output| {
                            let start = range(gradient_side.image).start
                                + number * block_size * gradient_side.image.len();
                            &output[start..start + gradient.len()]
                        }),
                        input,
                        input_gradient: gradient_blocks.as_mut().and_then(Iterator::next),
                        bias,
                        gradient_tiles,
                        input_tiles: input_tiles_of_blocks.next().unwrap_or_default(),
                    })
                    .collect();
                work.into_par_iter().for_each(|block| self.block(simd, block, &prepared));
                if needs_weights {
                    let tiles = [&*gradient_tiles, &*input_tiles];
                    self.add_products(simd, &prepared, image_count, tiles, sums, first > 0);
                }
            }
            needs_weights.then(|| simd.vectorize(CollectWeights { layer, source: &*sums }))
        });
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

    /// Everything that one block needs by itself: its bias and input gradients, and the transformed tiles of both sides.
    fn block<S: Simd>(&self, simd: S, block: Block<'_>, prepared: &Prepared) {
        let Prepared { grid, weights, gradient_side, input_side, .. } = prepared;
        let image_count = block.gradient.len() / gradient_side.image.len();
        let tiles = image_count * grid.tiles_per_image();
        let channels = gradient_side.image.channels;
        let copy_length = aligned(image_count * grid.padded_fine.len().max(grid.padded_coarse.len()));
        let sums_length = input_side.tiles_length(tiles);
        with_scratch(copy_length + sums_length + channels, |scratch| {
            let (copy, scratch) = scratch.split_at_mut(copy_length);
            let (sums, row_sums) = scratch.split_at_mut(sums_length);
            simd.vectorize(PrepareGradient {
                gradient: block.gradient,
                output: block.output,
                image: gradient_side.image,
                target: copy,
                padded: gradient_side.padded,
                before: gradient_side.before,
                bias: block.bias,
                row_sums: &mut row_sums[..channels],
            });
            let target = block.gradient_tiles;
            let source = &*copy;
            match self.direction {
                Direction::Contract => simd.vectorize(ReadCoarse { grid, image_count, source, target }),
                Direction::Expand => simd.vectorize(ReadFine { grid, image_count, source, target }),
            }
            if let (Some(weights), Some(input_gradient)) = (weights, block.input_gradient) {
                simd.vectorize(Products { weights, tiles, source: target, target: sums });
                let (source, bias, relu) = (&*sums, None, false);
                match self.direction {
                    Direction::Contract => {
                        simd.vectorize(WriteFine { grid, image_count, source, target: copy });
                        let target = input_gradient;
                        simd.vectorize(FinishFine { grid, source: copy, bias, relu, target });
                    }
                    Direction::Expand => {
                        let target = WriteOnly::from(input_gradient);
                        simd.vectorize(WriteCoarse { grid, image_count, source, bias, relu, target });
                    }
                }
            }
            if self.needs_weights {
                let Side { image, padded: shape, before, .. } = *input_side;
                let (source, target) = (padded(block.input, image, copy, shape, before), block.input_tiles);
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
        let rows = grid.fine_width().div_ceil(TASKS_PER_POSITION);
        let width = TILE_VECTORS * S::LANES;
        sums[..POSITIONS * grid.fine_width() * columns].par_chunks_mut(rows * columns).enumerate().for_each(
            |(task, target)| {
                let (position, half) = (task / TASKS_PER_POSITION, task % TASKS_PER_POSITION);
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
                    let fine_start = first * fine_pair + position * layout(fine_side).stride() + half * rows;
                    let coarse_start = first * coarse_pair + position * layout(coarse_side).stride();
                    simd.vectorize(Product {
                        rows: target.len() / columns,
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
            },
        );
    }
}
