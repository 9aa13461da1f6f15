//! One direction of a layer made ready: plan, packed weights, and the better of the two ways to compute it.

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
    way: Way,
}

enum Way {
    /// Register tiles of target pixels x channels.
    Windows(PackedWeights),
    /// For an expansion to few channels.
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
        let way = if direction == Direction::Expand && 2 * layer.fine.channels <= lanes {
            Way::Taps(Taps::new(&plan, layer, lanes, weights, bias))
        } else {
            Way::Windows(PackedWeights::new(&plan, lanes, weights, bias))
        };
        Self { plan, way }
    }

    /// Gets ready for at most `images` images at once.
    pub(crate) fn for_images(mut self, images: usize) -> Self {
        if let Way::Windows(_) = self.way {
            self.plan.repeat(images);
        }
        self
    }

    /// Floats of working memory that [`Engine::run`] needs.
    pub(crate) fn room(&self) -> usize {
        match &self.way {
            Way::Windows(_) => 0,
            Way::Taps(taps) => taps.room(),
        }
    }

    /// Writes every float of `target`, the target images of `images` padded source images.
    ///
    /// # Panics
    /// If `target` is not as long as those images, or if there are more of them than this is ready for.
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        relu: bool,
        images: usize,
        source: &[f32],
        room: &mut [f32],
        target: &mut [MaybeUninit<f32>],
    ) {
        assert_eq!(target.len(), images * self.plan.shapes().target.len(), "target images");
        match &self.way {
            Way::Windows(weights) => {
                let (plan, target) = (&self.plan, WriteOnly::from(target));
                simd.vectorize(Windows { plan, weights, relu, images, source, target });
            }
            Way::Taps(taps) => {
                simd.vectorize(Gather { plan: &self.plan, taps, relu, images, source, target, room });
            }
        }
    }
}
