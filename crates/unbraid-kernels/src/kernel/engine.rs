//! One direction of a layer, prepared: its plan, its packed weights, and the faster of two algorithms.

use std::mem::MaybeUninit;

use crate::geometry::Layer;
use crate::kernel::Direction;
use crate::kernel::pack::PackedWeights;
use crate::kernel::plan::Plan;
use crate::kernel::taps::{Gather, Taps};
use crate::kernel::window::Windows;
use crate::kernel::write_only::WriteOnly;
use crate::simd::Simd;

/// Computes target images from padded source images.
pub(crate) struct Engine {
    pub(crate) plan: Plan,
    algorithm: Algorithm,
}

enum Algorithm {
    /// Register tiles of target pixels x channels, see [`Windows`].
    Windows(PackedWeights),
    /// For an expansion to few channels, see [`Gather`].
    Taps(Taps),
}

/// The plan of a direction.
pub(crate) fn plan(layer: &Layer, direction: Direction) -> Plan {
    match direction {
        Direction::Contract => Plan::contract(layer),
        Direction::Expand => Plan::expand(layer),
    }
}

impl Engine {
    /// Prepares the weights, `[coarse, fine, kernel height, kernel width]`, and the bias.
    ///
    /// # Panics
    /// If their lengths do not fit the layer.
    pub(crate) fn new(
        layer: &Layer,
        direction: Direction,
        lanes: usize,
        weights: &[f32],
        bias: Option<&[f32]>,
    ) -> Self {
        let plan = plan(layer, direction);
        assert_eq!(weights.len(), layer.weights(), "weights");
        assert!(bias.is_none_or(|bias| bias.len() == plan.shapes().target.channels), "bias");
        let algorithm = if direction == Direction::Expand && 2 * layer.fine.channels <= lanes {
            Algorithm::Taps(Taps::new(&plan, layer, lanes, weights, bias))
        } else {
            Algorithm::Windows(PackedWeights::new(&plan, lanes, weights, bias))
        };
        Self { plan, algorithm }
    }

    /// Prepares for calls of [`Engine::run`] with at most `image_count` images.
    pub(crate) fn for_images(mut self, image_count: usize) -> Self {
        match self.algorithm {
            Algorithm::Windows(_) => self.plan.repeat(image_count),
            Algorithm::Taps(_) => {}
        }
        self
    }

    /// Floats of scratch memory that [`Engine::run`] needs.
    pub(crate) fn scratch_len(&self) -> usize {
        match &self.algorithm {
            Algorithm::Windows(_) => 0,
            Algorithm::Taps(taps) => taps.scratch_len(),
        }
    }

    /// Writes every float of `target`, the target images of `image_count` padded source images.
    ///
    /// # Panics
    /// If a slice does not have the right length, or if there are more images than [`Engine::for_images`] prepared for.
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        relu: bool,
        image_count: usize,
        source: &[f32],
        scratch: &mut [f32],
        target: &mut [MaybeUninit<f32>],
    ) {
        assert_eq!(target.len(), image_count * self.plan.shapes().target.len(), "target images");
        match &self.algorithm {
            Algorithm::Windows(weights) => {
                let (plan, target) = (&self.plan, WriteOnly::from(target));
                simd.vectorize(Windows { plan, weights, relu, image_count, source, target });
            }
            Algorithm::Taps(taps) => {
                simd.vectorize(Gather { plan: &self.plan, taps, relu, image_count, source, target, scratch });
            }
        }
    }
}
