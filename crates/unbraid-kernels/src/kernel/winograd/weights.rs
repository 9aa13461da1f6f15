//! Weights to transformed weights, and the gradient of transformed weights back to that of the weights.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;

use crate::geometry::Layer;
use crate::kernel::Direction;
use crate::kernel::scratch::PooledBuffer;
use crate::kernel::winograd::grid::{PHASES, Transformed};
use crate::kernel::winograd::points::{FromTaps, SPAN, TAPS, ToTaps, on_both_axes};
use crate::simd::{Kernel, MAXIMUM_LANES, Simd, TILE_VECTORS};

/// Taps of the whole kernel along one axis.
const KERNEL: usize = 4;

/// Index in a kernel of the tap `(a, b)` of a phase.
const fn tap(phase: usize, a: usize, b: usize) -> usize {
    (2 * a + phase / 2) * KERNEL + 2 * b + phase % 2
}

/// Transformed weights in the order in which products read them: `[positions][panels][depth][panel width]`, with the gaps of
/// [`Transformed`] between positions.
pub(super) struct TransformedWeights {
    values: PooledBuffer,
    depth: usize,
    columns: usize,
}

impl TransformedWeights {
    /// The panels of one position.
    pub(super) fn at(&self, position: usize) -> &[f32] {
        let layout = Transformed { tiles: self.depth, width: self.columns };
        &self.values.as_slice()[position * layout.stride()..][..self.depth * self.columns]
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }
}

/// Transforms weights, `[coarse, fine, 4, 4]`, for one direction.
pub(super) struct TransformWeights<'a> {
    pub(super) layer: &'a Layer,
    pub(super) direction: Direction,
    pub(super) weights: &'a [f32],
}

impl Kernel for TransformWeights<'_> {
    type Output = TransformedWeights;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> TransformedWeights {
        let (fine, coarse) = (self.layer.fine.channels, self.layer.coarse.channels);
        assert_eq!(self.weights.len(), coarse * fine * KERNEL * KERNEL, "weights");
        // Products run over the source channels and their columns are the target channels. Fine channels count once for
        // each phase.
        let (depth, columns) = match self.direction {
            Direction::Contract => (PHASES * fine, coarse),
            Direction::Expand => (coarse, PHASES * fine),
        };
        assert!(
            fine.is_multiple_of(S::LANES) && coarse.is_multiple_of(S::LANES),
            "channels are whole vectors"
        );
        // Every float of it is written: each pair of a source and a target channel, at each position.
        let mut values = PooledBuffer::new(Transformed { tiles: depth, width: columns }.len());
        let target = SharedTarget(values.as_mut_slice().as_mut_ptr());
        let rows = depth / if self.direction == Direction::Contract { PHASES } else { 1 };
        // Small layers are one task.
        let task = if depth * columns < SMALL { rows } else { rows.div_ceil(TASKS) };
        (0..rows.div_ceil(task)).into_par_iter().for_each(|number| {
            let rows = number * task..rows.min((number + 1) * task);
            simd.vectorize(TransformSome { weights: &self, rows, depth, columns, target });
        });
        TransformedWeights { values, depth, columns }
    }
}

/// Products of the depth and the columns of the largest layer that is transformed by one thread.
const SMALL: usize = 2048;

/// Tasks of a larger layer.
const TASKS: usize = 8;

/// Transformed weights that several tasks write, each its own rows.
#[derive(Clone, Copy)]
struct SharedTarget(*mut f32);

// SAFETY: tasks write different floats, and nobody reads them before all tasks have ended.
unsafe impl Send for SharedTarget {}
// SAFETY: as above.
unsafe impl Sync for SharedTarget {}

/// The part of [`TransformWeights`] for some source channels.
struct TransformSome<'a> {
    weights: &'a TransformWeights<'a>,
    /// Source channels.
    rows: Range<usize>,
    depth: usize,
    columns: usize,
    /// `[positions][panels][depth][panel width]`
    target: SharedTarget,
}

impl Kernel for TransformSome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { weights: TransformWeights { layer, direction, weights }, rows, depth, columns, target } =
            self;
        let (fine, width) = (layer.fine.channels, TILE_VECTORS * S::LANES);
        let position_stride = Transformed { tiles: depth, width: columns }.stride();
        // The vectors run along the target channels, which an expansion has once for each phase.
        let channels = match direction {
            Direction::Contract => columns,
            Direction::Expand => fine,
        };
        for other in rows {
            for channel in (0..channels).step_by(S::LANES) {
                let taps = match direction {
                    Direction::Contract => load_kernels(simd, weights, channel * fine + other, fine),
                    Direction::Expand => load_kernels(simd, weights, other * fine + channel, 1),
                };
                for phase in 0..PHASES {
                    let (row, column) = match direction {
                        Direction::Contract => (phase * fine + other, channel),
                        Direction::Expand => (other, phase * fine + channel),
                    };
                    let taps: [[S::Vector; TAPS]; TAPS] =
                        std::array::from_fn(|a| std::array::from_fn(|b| taps[tap(phase, a, b)]));
                    let square = on_both_axes::<FromTaps, S, TAPS, SPAN>(simd, taps);
                    // The last panel may be narrower.
                    let panel = column / width;
                    let panel_width = width.min(columns - panel * width);
                    let start = panel * width * depth + row * panel_width + column % width;
                    assert!(row < depth && column % width + S::LANES <= panel_width, "a vector of a panel");
                    for (position, vector) in square.as_flattened().iter().enumerate() {
                        // SAFETY: `start` and the floats after it lie inside the panels of one position, and no other
                        // task has this row.
                        unsafe { simd.store(target.0.add(position * position_stride + start), *vector) };
                    }
                }
            }
        }
    }
}

/// The taps of as many kernels as a vector has lanes, one vector for each tap: from the kernel `first` on, every `stride`-th.
///
/// A kernel is one cache line and is read at once. Kernels that are 4 KB apart share a few lines of the first-level cache, and
/// would not stay there from one tap to the next.
#[inline(always)]
fn load_kernels<S: Simd>(
    simd: S,
    weights: &[f32],
    first: usize,
    stride: usize,
) -> [S::Vector; KERNEL * KERNEL] {
    let mut taps = [[0.0; MAXIMUM_LANES]; KERNEL * KERNEL];
    for lane in 0..S::LANES {
        let kernel = &weights[(first + lane * stride) * KERNEL * KERNEL..][..KERNEL * KERNEL];
        for (tap, value) in taps.iter_mut().zip(kernel) {
            tap[lane] = *value;
        }
    }
    // SAFETY: an array holds the largest vector.
    std::array::from_fn(|tap| unsafe { simd.load(taps[tap].as_ptr()) })
}

/// The gradient of the weights, `[coarse, fine, 4, 4]`, from those of the transformed weights, `[positions][phases *
/// fine][coarse]` with the gaps of [`Transformed`].
pub(super) struct CollectWeights<'a> {
    pub(super) layer: &'a Layer,
    pub(super) source: &'a [f32],
}

impl Kernel for CollectWeights<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<f32> {
        let (fine, coarse) = (self.layer.fine.channels, self.layer.coarse.channels);
        let transformed = Transformed { tiles: PHASES * fine, width: coarse }.len();
        assert_eq!(self.source.len(), transformed, "transformed gradients");
        assert!(coarse.is_multiple_of(S::LANES), "channels are whole vectors");
        let length = self.layer.weights();
        let mut weights = Vec::with_capacity(length);
        let kernels = fine * KERNEL * KERNEL;
        let parts = weights.spare_capacity_mut()[..length].par_chunks_mut(S::LANES * kernels);
        parts.enumerate().for_each(|(number, weights)| {
            let (source, first) = (self.source, number * S::LANES);
            simd.vectorize(CollectSome { source, first, fine, coarse, weights });
        });
        // SAFETY: the parts cover the weights, and each has been written: all fine channels of a vector of coarse ones.
        unsafe { weights.set_len(length) };
        weights
    }
}

/// The part of [`CollectWeights`] for one vector of coarse channels.
struct CollectSome<'a> {
    source: &'a [f32],
    /// The first of the coarse channels.
    first: usize,
    fine: usize,
    coarse: usize,
    /// Every float of them is written.
    weights: &'a mut [MaybeUninit<f32>],
}

impl Kernel for CollectSome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { source, first, fine, coarse, weights } = self;
        let stride = Transformed { tiles: PHASES * fine, width: coarse }.stride();
        for channel in 0..fine {
            let mut taps = [[0.0; MAXIMUM_LANES]; KERNEL * KERNEL];
            for phase in 0..PHASES {
                let row = phase * fine + channel;
                let square = std::array::from_fn(|y| {
                    std::array::from_fn(|x| {
                        let start = (y * SPAN + x) * stride + row * coarse + first;
                        // SAFETY: the slice holds a vector.
                        unsafe { simd.load(source[start..][..S::LANES].as_ptr()) }
                    })
                });
                let square = on_both_axes::<ToTaps, S, SPAN, TAPS>(simd, square);
                for (a, line) in square.iter().enumerate() {
                    for (b, vector) in line.iter().enumerate() {
                        // SAFETY: an array holds the largest vector.
                        unsafe { simd.store(taps[tap(phase, a, b)].as_mut_ptr(), *vector) };
                    }
                }
            }
            // Whole kernels, each of which is a cache line; see `load_kernels`.
            for lane in 0..S::LANES {
                let kernel = &mut weights[(lane * fine + channel) * KERNEL * KERNEL..][..KERNEL * KERNEL];
                for (value, tap) in kernel.iter_mut().zip(&taps) {
                    value.write(tap[lane]);
                }
            }
        }
    }
}
