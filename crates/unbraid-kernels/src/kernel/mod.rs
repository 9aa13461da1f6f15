//! Convolutions on slices: plans, packed weights, micro-kernels, and the division of work among threads.
//!
//! Knows nothing of burn. [`forward`] and [`backward`] are the way in.

mod backward;
mod forward;
mod outer;
mod pack;
mod pad;
mod plan;
mod scratch;
mod tile;
mod window;

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
    (GROUP_BYTES / (image_floats * size_of::<f32>()).max(1)).clamp(1, limit.max(1))
}

/// Parts into which a batch is cut, whatever the number of threads: sums of a part are added in the order of the parts.
const PARTS: usize = 16;

/// Images of one part.
fn images_in_part(batch: usize) -> usize {
    batch.div_ceil(PARTS)
}
