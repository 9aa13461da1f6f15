//! Two layers at once: the one next to the images, by the definition, and its neighbour, by Winograd's algorithm.
//!
//! The images between them are the largest arrays of a network: 8.4 MB for a batch of 64 images of 64 x 64 pixels and 32
//! channels. Layer by layer they and their gradients travel between memory and cache twelve times in a training step. A pair
//! applies both layers to a block of a few images while these are in the second-level cache of a core. The images between
//! them are then written once and read once, for the backward pass, and their gradient never leaves the cache.

use crate::geometry::Layer;
use crate::kernel::backward::{DirectBackward, Gradients, Wanted};
use crate::kernel::winograd::{self, Neighbour};
use crate::kernel::{Backward, Direction};
use crate::simd::{InstructionSet, Kernel, Simd};

/// Whether two consecutive layers with the same direction are computed as a pair; `relu` says which of them have one.
pub(crate) fn is_pair(layers: [&Layer; 2], direction: Direction, relu: [bool; 2]) -> bool {
    relu[0] && InstructionSet::current().run(Pays { layers, direction, relu })
}

struct Pays<'a> {
    layers: [&'a Layer; 2],
    direction: Direction,
    relu: [bool; 2],
}

impl Kernel for Pays<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        let by_winograd = self.layers.map(|layer| winograd::pays(layer, S::LANES));
        match self.direction {
            Direction::Contract => by_winograd == [false, true],
            Direction::Expand => by_winograd == [true, false] && !self.relu[1],
        }
    }
}

/// The arguments of a backward pass through a [pair](is_pair).
pub(crate) struct BackwardPair<'a> {
    pub(crate) layers: [&'a Layer; 2],
    pub(crate) direction: Direction,
    pub(crate) input: &'a [f32],
    pub(crate) weights: [&'a [f32]; 2],
    /// The output of the first layer, which has a ReLU.
    pub(crate) between: &'a [f32],
    /// The output of the second layer, if it has a ReLU.
    pub(crate) output: Option<&'a [f32]>,
    /// Gradient of the output of the second layer.
    pub(crate) gradient: &'a [f32],
    /// Whether to compute the gradient of the input.
    pub(crate) needs_input: bool,
}

/// The gradients of both layers; there is none for the images between them.
pub(crate) fn backward_pair(work: BackwardPair<'_>) -> [Gradients; 2] {
    InstructionSet::current().run(work)
}

impl Kernel for BackwardPair<'_> {
    type Output = [Gradients; 2];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> [Gradients; 2] {
        match self.direction {
            // The gradient of images is hardly ever wanted.
            Direction::Contract if self.needs_input => self.one_by_one(simd),
            Direction::Contract => self.contract(simd),
            Direction::Expand => self.expand(simd),
        }
    }
}

impl BackwardPair<'_> {
    /// A convolution of the images by the definition, then one by Winograd's algorithm.
    fn contract<S: Simd>(&self, simd: S) -> [Gradients; 2] {
        let Self { layers, direction, weights, .. } = *self;
        let wanted = Wanted { input: false, weights: true };
        let (blocks, block_size) = winograd::blocks(layers[1]);
        let first = DirectBackward::new::<S>(layers[0], direction, weights[0], wanted, block_size);
        let mut sums = first.sums(blocks);
        let neighbour = Neighbour { layer: &first, images: self.input, sums: sums.parts().collect() };
        let second = self.second().with_neighbour(simd, Some(neighbour));
        // SAFETY: the backward pass of the second layer calls `DirectBackward::part` for each of its blocks.
        let (weights, bias) = unsafe { first.collect(sums) };
        [Gradients { input: None, weights, bias }, second]
    }

    /// A transposed convolution by Winograd's algorithm, then one to the images by the definition.
    fn expand<S: Simd>(&self, simd: S) -> [Gradients; 2] {
        let Self { layers, direction, weights, .. } = *self;
        let wanted = Wanted { input: true, weights: true };
        let (blocks, block_size) = winograd::blocks(layers[0]);
        let second = DirectBackward::new::<S>(layers[1], direction, weights[1], wanted, block_size);
        let mut sums = second.sums(blocks);
        let neighbour = Neighbour { layer: &second, images: self.gradient, sums: sums.parts().collect() };
        let first = self.first(&[]).with_neighbour(simd, Some(neighbour));
        // SAFETY: the backward pass of the first layer calls `DirectBackward::part` for each of its blocks.
        let (weights, bias) = unsafe { second.collect(sums) };
        [first, Gradients { input: None, weights, bias }]
    }

    /// The second layer, and then the first.
    fn one_by_one<S: Simd>(&self, simd: S) -> [Gradients; 2] {
        let mut second = self.second().run(simd);
        let gradient = second.input.take().unwrap_or_default();
        [self.first(&gradient).run(simd), second]
    }

    /// The backward pass of the first layer by itself, from the gradient of its output.
    fn first<'b>(&'b self, gradient: &'b [f32]) -> Backward<'b> {
        Backward {
            layer: self.layers[0],
            direction: self.direction,
            input: self.input,
            weights: self.weights[0],
            output: Some(self.between),
            gradient,
            needs_input: self.needs_input,
            needs_weights: true,
        }
    }

    /// The backward pass of the second layer by itself.
    fn second(&self) -> Backward<'_> {
        Backward {
            layer: self.layers[1],
            direction: self.direction,
            input: self.between,
            weights: self.weights[1],
            output: self.output,
            gradient: self.gradient,
            needs_input: true,
            needs_weights: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tests::square_layer;

    /// The layers of `conv` next to images of 64 x 64 pixels with one or three channels; everything else goes one by one.
    #[test]
    fn the_layers_next_to_the_images_are_pairs() {
        let halving = |size, channels| square_layer(64, size, channels, [4, 2, 1]);
        let (outer, inner) = (halving(64, [1, 32]), halving(32, [32, 32]));
        let (colour, third) = (halving(64, [3, 32]), halving(16, [32, 64]));
        let (down, up) = (Direction::Contract, Direction::Expand);
        assert!(is_pair([&outer, &inner], down, [true, true]));
        assert!(is_pair([&colour, &inner], down, [true, true]));
        assert!(is_pair([&inner, &outer], up, [true, false]));
        assert!(!is_pair([&inner, &third], down, [true, true]), "both by Winograd's algorithm");
        assert!(!is_pair([&outer, &inner], down, [false, true]), "no ReLU between them");
        assert!(!is_pair([&inner, &outer], up, [true, true]), "a ReLU after the last");
    }
}
