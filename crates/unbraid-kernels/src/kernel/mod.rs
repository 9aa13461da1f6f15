//! Convolutions on slices: plans, packed weights, micro-kernels, and the division of work among threads.
//!
//! Knows nothing of burn. [`forward`] and [`backward`] are the way in.

mod backward;
mod engine;
mod forward;
mod outer;
mod pack;
mod pad;
mod plan;
mod scratch;
mod taps;
#[cfg(test)]
mod tests;
mod tile;
mod window;
mod write_only;

pub(crate) use backward::{Backward, backward};
pub(crate) use forward::{Forward, forward};

/// Which way a layer reads its [relation](crate::geometry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A convolution: fine images in, coarse images out.
    Contract,
    /// A transposed convolution: coarse images in, fine images out.
    Expand,
}

/// Bytes of padded images that a thread works on at once; a part of the second-level cache.
const GROUP_BYTES: usize = 128 << 10;

/// Images that a thread works on together: several small ones fill the register tiles better than one.
fn group(image_floats: usize, limit: usize) -> usize {
    let largest = (GROUP_BYTES / (image_floats * size_of::<f32>()).max(1)).clamp(1, limit.max(1));
    // As many groups as the largest size would give, but of nearly equal size.
    limit.max(1).div_ceil(limit.max(1).div_ceil(largest))
}

/// Parts into which a batch is cut, whatever the number of threads: sums of a part are added in the order of the parts.
const PARTS: usize = 16;

/// The same for layers whose weights are many: every part has its own sums of them.
const PARTS_OF_LARGE_LAYERS: usize = 8;

/// Weights from which on a layer is large.
const LARGE_LAYER: usize = 32 << 10;

/// Images of one part of a batch, for a layer with so many weights.
fn images_in_part(batch: usize, weights: usize) -> usize {
    batch.div_ceil(if weights < LARGE_LAYER { PARTS } else { PARTS_OF_LARGE_LAYERS })
}
