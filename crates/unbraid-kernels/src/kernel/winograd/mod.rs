//! Layers with kernels of 4 x 4 and stride 2 in fewer multiplications, by Winograd's algorithm.
//!
//! A fine image has four *phases*, the pixels with the same coordinates modulo 2, and a kernel of 4 x 4 has four of 2 x 2
//! taps. The contraction of a layer is a sum over the phases of convolutions with 2 x 2 taps and stride 1:
//!
//! ```text
//! coarse[y] = sum over p, a in {0, 1} of fine_p[y + a] * w[2a + p],   fine_p[r] = padded fine[2r + p]
//! ```
//!
//! and likewise for x. [`points`] turns a tile of 4 x 4 coarse pixels, and the 5 x 5 pixels of each phase under it, into 25
//! *positions*. At each position a layer is a product of matrices, for which channels are summed over as usual:
//!
//! | | at each position | before | after |
//! |---|---|---|---|
//! | contract | `[tiles x 4 fine] [4 fine x coarse]` | [`ReadFine`](images::ReadFine) | [`WriteCoarse`](images::WriteCoarse) |
//! | expand | `[tiles x coarse] [coarse x 4 fine]` | [`ReadCoarse`](images::ReadCoarse) | [`WriteFine`](images::WriteFine), [`FinishFine`](images::FinishFine) |
//! | weight gradient | `[4 fine x tiles] [tiles x coarse]` | both of the above | [`CollectWeights`](weights::CollectWeights) |
//!
//! A tile takes 25 x 4 multiplications for each pair of channels, where the definition takes 16 x 16: 2.56 times as many.
//!
//! Blocks of a few images go through all steps of a pass while they are in the cache. Only the weight gradient sums over
//! images: its operands are kept for a chunk of a half of the batch, and then each position is one product over all tiles of
//! the chunk. Only the sums of the two halves are added at the end, so that no sum depends on the number of threads.

mod backward;
mod choice;
mod forward;
mod grid;
mod images;
mod points;
#[cfg(test)]
mod tests;
mod weights;

use crate::awake::threads_are_awake;
use crate::geometry::{ImageShape, Layer};
use crate::kernel::pad::copy_padded;
use crate::kernel::product::{Left, Product, Right};
use crate::kernel::winograd::grid::{Grid, Transformed};
use crate::kernel::winograd::points::POSITIONS;
use crate::kernel::winograd::weights::TransformedWeights;
use crate::simd::{Kernel, Simd, TILE_VECTORS};

pub(crate) use backward::Neighbour;
pub(crate) use choice::pays;
pub use choice::{ConvolutionAlgorithm, ConvolutionCost};
pub(crate) use forward::WinogradForward;

/// Tiles of a block: enough to use each weight often, few enough for the second-level cache.
const BLOCK_TILES: usize = 32;

/// Images of a block.
fn block_size(grid: &Grid, batch_size: usize) -> usize {
    let largest = (BLOCK_TILES / grid.tiles_per_image()).clamp(1, batch_size.max(1));
    // As many blocks as the largest size would give, but of nearly equal size.
    batch_size.max(1).div_ceil(batch_size.max(1).div_ceil(largest))
}

/// Whether each half of a batch transforms the weights for itself, so that they need not move from one core to another: in a
/// training step of several threads. Elsewhere, as in evaluation, threads compute batches of their own.
pub(crate) fn own_copies() -> bool {
    threads_are_awake()
}

/// Blocks of a batch, and the images of each.
pub(crate) fn blocks(layer: &Layer) -> (usize, usize) {
    let block_size = block_size(&Grid::new(layer), layer.batch_size);
    (layer.batch_size.div_ceil(block_size), block_size)
}

/// The product at each position: source tiles times transformed weights.
struct Products<'a> {
    weights: &'a TransformedWeights,
    tiles: usize,
    source: &'a [f32],
    target: &'a mut [f32],
}

impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (depth, columns) = (self.weights.depth(), self.weights.columns());
        let source = Transformed { tiles: self.tiles, width: depth };
        let target = Transformed { tiles: self.tiles, width: columns };
        let width = TILE_VECTORS * S::LANES;
        for position in 0..POSITIONS {
            let weights = self.weights.at(position);
            let values = &self.source[position * source.stride()..][..self.tiles * depth];
            let sums = &mut self.target[position * target.stride()..][..self.tiles * columns];
            // The panels of the weights are as far apart as their rows are long, except that the last may be narrower.
            let whole = columns / width * width;
            for (first, columns) in [(0, whole), (whole, columns - whole)] {
                let panel_width = columns.min(width);
                Product {
                    rows: self.tiles,
                    columns,
                    depth,
                    pairs: 1,
                    left: Left { floats: values, row: depth, depth: 1, pair: 0 },
                    right: Right {
                        floats: &weights[first * depth..],
                        panel: depth * panel_width,
                        depth: panel_width,
                        pair: 0,
                    },
                    target: sums.get_mut(first..).unwrap_or_default(),
                    target_row: target.width,
                    add: false,
                }
                .run(simd);
            }
        }
    }
}

/// Images with the border of whole tiles, which are copied only if they have none.
#[inline(always)]
fn padded<'a>(
    images: &'a [f32],
    image: ImageShape,
    copy: &'a mut [f32],
    padded: ImageShape,
    before: [usize; 2],
) -> &'a [f32] {
    if image == padded {
        return images;
    }
    copy_padded(images, image, copy, padded, before);
    copy
}
