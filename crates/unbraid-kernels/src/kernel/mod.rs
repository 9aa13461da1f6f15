//! Convolutions on slices: plans, packed weights, micro-kernels, and the division of work among threads.
//!
//! The entry points are [`forward`] and [`backward`], and the same for [pairs](pair) of layers. Nothing here depends on burn.

mod axis;
mod backward;
pub(crate) mod dots;
mod engine;
mod forward;
mod gradient;
mod outer;
mod pack;
mod pad;
mod pair;
mod plan;
pub(crate) mod product;
pub(crate) mod rows;
pub(crate) mod scratch;
mod taps;
#[cfg(test)]
mod tests;
mod tile;
mod window;
mod winograd;
mod write_only;

pub(crate) use backward::{Backward, Gradients, backward};
pub(crate) use forward::{Forward, forward, forward_pair, run_all};
pub(crate) use pair::{BackwardPair, backward_pair, is_pair};
pub use winograd::{ConvolutionAlgorithm, ConvolutionCost};

use crate::geometry::{ImageShape, Layer};

/// The direction in which a layer applies its [relation](crate::geometry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A convolution: fine images in, coarse images out.
    Contract,
    /// A transposed convolution: coarse images in, fine images out.
    Expand,
}

impl Direction {
    /// The input and the output images of a layer.
    pub(crate) fn between(self, layer: &Layer) -> (ImageShape, ImageShape) {
        match self {
            Self::Contract => (layer.fine, layer.coarse),
            Self::Expand => (layer.coarse, layer.fine),
        }
    }

    /// The direction of the gradient.
    fn opposite(self) -> Self {
        match self {
            Self::Contract => Self::Expand,
            Self::Expand => Self::Contract,
        }
    }
}

/// Bytes of padded images that a thread works on at once: a part of the second-level cache.
const GROUP_BYTES: usize = 128 << 10;

/// Images that a thread works on at once, at most `limit`: several small images fill the register tiles better than one.
fn group_size(image_floats: usize, limit: usize) -> usize {
    let largest = (GROUP_BYTES / (image_floats * size_of::<f32>()).max(1)).clamp(1, limit.max(1));
    // As many groups as the largest size would give, but of nearly equal size.
    limit.max(1).div_ceil(limit.max(1).div_ceil(largest))
}

/// Parts of a batch, for any number of threads: their sums are added in the order of the parts.
const PARTS: usize = 16;

/// The same for layers with many weights, because every part has a sum for each weight.
const PARTS_OF_LARGE_LAYERS: usize = 8;

/// Weights of the smallest large layer.
const LARGE_LAYER: usize = 32 << 10;

/// Images in one part of a batch, for a layer with `weights` weights.
fn part_size(batch_size: usize, weights: usize) -> usize {
    batch_size.div_ceil(if weights < LARGE_LAYER { PARTS } else { PARTS_OF_LARGE_LAYERS })
}
