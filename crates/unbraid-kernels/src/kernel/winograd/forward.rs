//! The forward pass of a layer, block by block.

use std::mem::MaybeUninit;

use crate::kernel::scratch::{aligned, with_scratch};
use crate::kernel::winograd::grid::{Grid, Transformed};
use crate::kernel::winograd::images::{FinishFine, ReadCoarse, ReadFine, WriteCoarse, WriteFine};
use crate::kernel::winograd::weights::{TransformWeights, TransformedWeights};
use crate::kernel::winograd::{Products, padded};
use crate::kernel::write_only::WriteOnly;
use crate::kernel::{Direction, Forward};
use crate::simd::Simd;

/// A layer with its weights transformed.
pub(crate) struct WinogradForward<'a> {
    grid: Grid,
    direction: Direction,
    weights: TransformedWeights,
    bias: Option<&'a [f32]>,
    relu: bool,
}

impl<'a> WinogradForward<'a> {
    pub(crate) fn new<S: Simd>(simd: S, layer: Forward<'a>) -> Self {
        let Forward { layer, direction, relu, weights, bias } = layer;
        let weights = simd.vectorize(TransformWeights { layer, direction, weights });
        Self { grid: Grid::new(layer), direction, weights, bias, relu }
    }

    /// The output of one block of images; writes every float of `target`.
    pub(crate) fn block<S: Simd>(&self, simd: S, input: &[f32], target: &mut [MaybeUninit<f32>]) {
        let Self { grid, weights, bias, relu, .. } = self;
        let (bias, relu) = (*bias, *relu);
        let image_count = match self.direction {
            Direction::Contract => input.len() / grid.fine.len(),
            Direction::Expand => input.len() / grid.coarse.len(),
        };
        let tiles = image_count * grid.tiles_per_image();
        let source_length = aligned(Transformed { tiles, width: weights.depth() }.len());
        let sums_length = aligned(Transformed { tiles, width: weights.columns() }.len());
        let copy_length = aligned(image_count * grid.padded_fine.len().max(grid.padded_coarse.len()));
        with_scratch(source_length + sums_length + copy_length, |scratch| {
            let (source, scratch) = scratch.split_at_mut(source_length);
            let (sums, copy) = scratch.split_at_mut(sums_length);
            let target = WriteOnly::from(target);
            match self.direction {
                Direction::Contract => {
                    let images = padded(input, grid.fine, copy, grid.padded_fine, grid.before);
                    simd.vectorize(ReadFine { grid, image_count, source: images, target: source });
                    simd.vectorize(Products { weights, tiles, source, target: sums });
                    simd.vectorize(WriteCoarse { grid, image_count, source: sums, bias, relu, target });
                }
                Direction::Expand => {
                    let images = padded(input, grid.coarse, copy, grid.padded_coarse, [0, 0]);
                    simd.vectorize(ReadCoarse { grid, image_count, source: images, target: source });
                    simd.vectorize(Products { weights, tiles, source, target: sums });
                    simd.vectorize(WriteFine { grid, image_count, source: sums, target: copy });
                    simd.vectorize(FinishFine { grid, image_count, source: copy, bias, relu, target });
                }
            }
        });
    }
}
