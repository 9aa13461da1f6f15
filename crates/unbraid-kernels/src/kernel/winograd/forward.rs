//! The forward pass of a layer, block by block.

use rayon::prelude::*;

use crate::kernel::scratch::{aligned, with_scratch};
use crate::kernel::winograd::grid::{Grid, Transformed};
use crate::kernel::winograd::images::{FinishFine, ReadCoarse, ReadFine, WriteCoarse, WriteFine};
use crate::kernel::winograd::weights::{TransformWeights, TransformedWeights};
use crate::kernel::winograd::{Products, block_size, padded};
use crate::kernel::write_only::WriteOnly;
use crate::kernel::{Direction, Forward};
use crate::simd::Simd;

impl Forward<'_> {
    /// The output images by Winograd's algorithm.
    pub(crate) fn by_winograd<S: Simd>(&self, simd: S) -> Vec<f32> {
        let Self { layer, direction, weights, .. } = *self;
        let grid = Grid::new(layer);
        let weights = simd.vectorize(TransformWeights { layer, direction, weights });
        let (source, target) = match direction {
            Direction::Contract => (layer.fine, layer.coarse),
            Direction::Expand => (layer.coarse, layer.fine),
        };
        assert_eq!(self.input.len(), layer.batch_len(source), "input images");
        let output_length = layer.batch_len(target);
        let mut output = Vec::with_capacity(output_length);
        let block_size = block_size(&grid, layer.batch_size);
        output.spare_capacity_mut()[..output_length]
            .par_chunks_mut(block_size * target.len())
            .zip(self.input.par_chunks(block_size * source.len()))
            .for_each(|(target, input)| self.block(simd, &grid, &weights, input, target));
        // SAFETY: input and output have the same number of images and so of blocks, and a block writes every float of its
        // part of the output.
        unsafe { output.set_len(output_length) };
        output
    }

    /// The output of one block of images; writes every float of `target`.
    fn block<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        weights: &TransformedWeights,
        input: &[f32],
        target: &mut [std::mem::MaybeUninit<f32>],
    ) {
        let Self { bias, relu, .. } = *self;
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
            match self.direction {
                Direction::Contract => {
                    let images = padded(input, grid.fine, copy, grid.padded_fine, grid.before);
                    simd.vectorize(ReadFine { grid, image_count, source: images, target: source });
                    simd.vectorize(Products { weights, tiles, source, target: sums });
                    let target = WriteOnly::from(target);
                    simd.vectorize(WriteCoarse { grid, image_count, source: sums, bias, relu, target });
                }
                Direction::Expand => {
                    let images = padded(input, grid.coarse, copy, grid.padded_coarse, [0, 0]);
                    simd.vectorize(ReadCoarse { grid, image_count, source: images, target: source });
                    simd.vectorize(Products { weights, tiles, source, target: sums });
                    simd.vectorize(WriteFine { grid, image_count, source: sums, target: copy });
                    simd.vectorize(FinishFine { grid, source: copy, bias, relu, target });
                }
            }
        });
    }
}
