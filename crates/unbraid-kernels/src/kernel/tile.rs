//! The micro-kernels: register tiles of `ROWS x VECTORS` accumulators, where all the multiplications happen.
//!
//! [`WindowTile`] holds target pixels x target channels and runs along a window; [`OuterTile`] holds weights x channels
//! and runs over the pixels. In both, each step broadcasts `ROWS` floats of one operand and multiplies them with
//! `VECTORS` vectors of the other: with 12 x 2 accumulators, 24 multiply-adds for 14 loads, so that the multipliers are
//! the bottleneck.

use std::mem::MaybeUninit;

use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, MAXIMUM_LANES, Simd, TILE_VECTORS};

/// `ROWS` target pixels times `VECTORS` vectors of target channels.
pub(crate) struct WindowTile<'a, const ROWS: usize, const VECTORS: usize> {
    /// Padded source images.
    pub(crate) source: &'a [f32],
    /// Start of each pixel's window in `source`.
    pub(crate) source_offsets: &'a [u32; ROWS],
    /// Rows of the window, and how far they lie apart in `source`.
    pub(crate) rows: usize,
    pub(crate) row_stride: usize,
    /// Contiguous floats in a row of the window.
    pub(crate) run: usize,
    /// `[rows * run, VECTORS * LANES]`
    pub(crate) weights: &'a [f32],
    /// `[VECTORS * LANES]`
    pub(crate) bias: &'a [f32],
    pub(crate) target: WriteOnly<'a>,
    /// Where each pixel's first channel goes in `target`.
    pub(crate) target_offsets: &'a [u32; ROWS],
    /// Channels to store, at most `VECTORS * LANES`.
    pub(crate) channels: usize,
    pub(crate) relu: bool,
}

impl<const ROWS: usize, const VECTORS: usize> Kernel for WindowTile<'_, ROWS, VECTORS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let width = VECTORS * S::LANES;
        debug_assert!(self.weights.len() >= self.rows * self.run * width && self.bias.len() >= width);
        debug_assert!(
            self.rows == 0 || self.run == 0 || {
                let reach = (self.rows - 1) * self.row_stride + self.run;
                self.source_offsets.iter().all(|offset| *offset as usize + reach <= self.source.len())
            }
        );
        debug_assert!(self.channels <= width);
        debug_assert!(
            self.target_offsets.iter().all(|offset| *offset as usize + self.channels <= self.target.len())
        );

        // SAFETY: `bias` holds `width` floats.
        let bias: [S::Vector; VECTORS] =
            std::array::from_fn(|v| unsafe { simd.load(self.bias.as_ptr().add(v * S::LANES)) });
        let mut sums = [bias; ROWS];
        let mut weights = self.weights.as_ptr();
        for row in 0..self.rows {
            // SAFETY: each window lies inside `source`.
            let pixels: [*const f32; ROWS] = self
                .source_offsets
                .map(|offset| unsafe { self.source.as_ptr().add(offset as usize + row * self.row_stride) });
            for k in 0..self.run {
                // SAFETY: `weights` has advanced by `width` for each of fewer than `rows * run` steps.
                let factors: [S::Vector; VECTORS] =
                    std::array::from_fn(|v| unsafe { simd.load(weights.add(v * S::LANES)) });
                for (sums, pixel) in sums.iter_mut().zip(&pixels) {
                    // SAFETY: `k` is less than the window's `run`.
                    let value = simd.splat(unsafe { *pixel.add(k) });
                    for (sum, factor) in sums.iter_mut().zip(&factors) {
                        *sum = simd.multiply_add(value, *factor, *sum);
                    }
                }
                // SAFETY: at most one past the end of `weights`.
                weights = unsafe { weights.add(width) };
            }
        }

        let zero = simd.splat(0.0);
        for (row, offset) in self.target_offsets.iter().enumerate() {
            // In this order a NaN stays one, as in PyTorch. The sums are read by value: a reference to them would keep
            // them in memory all through the loop above.
            let sums = if self.relu { sums[row].map(|sum| simd.maximum(zero, sum)) } else { sums[row] };
            // SAFETY: `channels` floats from `offset` on lie inside `target`.
            let target = unsafe { self.target.as_mut_ptr().add(*offset as usize) };
            if self.channels == width {
                for (v, sum) in sums.iter().enumerate() {
                    // SAFETY: as above; all `width` floats are wanted.
                    unsafe { simd.store(target.add(v * S::LANES), *sum) };
                }
            } else {
                let mut whole = [0.0; TILE_VECTORS * MAXIMUM_LANES];
                for (v, sum) in sums.iter().enumerate() {
                    // SAFETY: `whole` has room for the widest tile.
                    unsafe { simd.store(whole.as_mut_ptr().add(v * S::LANES), *sum) };
                }
                // SAFETY: as above; `whole` is a local, so they do not overlap.
                unsafe { target.copy_from_nonoverlapping(whole.as_ptr(), self.channels) };
            }
        }
    }
}

/// Pixels to run over: `images` blocks of `rows` rows of `columns` pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pixels {
    pub(crate) images: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Distances between neighbouring images, rows and columns of [`Pixels`] in one array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides {
    pub(crate) image: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Strides {
    /// Distance from the first pixel to the last.
    pub(crate) fn span(&self, pixels: Pixels) -> usize {
        (pixels.images - 1) * self.image + (pixels.rows - 1) * self.row + (pixels.columns - 1) * self.column
    }
}

/// `ROWS` values of the fine images times `VECTORS` vectors of coarse channels, summed over all pixels.
pub(crate) struct OuterTile<'a, const ROWS: usize, const VECTORS: usize> {
    pub(crate) pixels: Pixels,
    /// Padded fine images.
    pub(crate) fine: &'a [f32],
    pub(crate) fine_strides: Strides,
    /// Where each row's value lies for the first pixel.
    pub(crate) fine_offsets: [usize; ROWS],
    /// Coarse images, from the first channel of the tile on.
    pub(crate) coarse: &'a [f32],
    pub(crate) coarse_strides: Strides,
    /// `ROWS` rows `sums_stride` apart.
    pub(crate) sums: &'a mut [MaybeUninit<f32>],
    pub(crate) sums_stride: usize,
    /// Whether to add to `sums`, which are initialised then, rather than to write them.
    pub(crate) add: bool,
}

impl<const ROWS: usize, const VECTORS: usize> Kernel for OuterTile<'_, ROWS, VECTORS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let width = VECTORS * S::LANES;
        debug_assert!(self.pixels.images > 0 && self.pixels.rows > 0 && self.pixels.columns > 0);
        debug_assert!(self.coarse_strides.span(self.pixels) + width <= self.coarse.len());
        debug_assert!({
            let span = self.fine_strides.span(self.pixels);
            self.fine_offsets.iter().all(|offset| offset + span < self.fine.len())
        });
        debug_assert!((ROWS - 1) * self.sums_stride + width <= self.sums.len());

        let place = |row: usize, v: usize| row * self.sums_stride + v * S::LANES;
        let start = self.sums.as_mut_ptr().cast::<f32>();
        let mut sums = [[simd.splat(0.0); VECTORS]; ROWS];
        if self.add {
            sums = std::array::from_fn(|row| {
                // SAFETY: all `ROWS` rows of `width` floats lie inside `sums`, and are initialised if there is something to
                // add to.
                std::array::from_fn(|v| unsafe { simd.load(start.add(place(row, v)).cast_const()) })
            });
        }
        for image in 0..self.pixels.images {
            for row in 0..self.pixels.rows {
                let fine = image * self.fine_strides.image + row * self.fine_strides.row;
                let coarse = image * self.coarse_strides.image + row * self.coarse_strides.row;
                // SAFETY: the first pixel of every row lies inside both arrays.
                let values: [*const f32; ROWS] =
                    self.fine_offsets.map(|offset| unsafe { self.fine.as_ptr().add(fine + offset) });
                // SAFETY: as above.
                let mut factors_at = unsafe { self.coarse.as_ptr().add(coarse) };
                let mut step = 0;
                for _ in 0..self.pixels.columns {
                    // SAFETY: the pixel lies inside `coarse`, with `width` floats behind it.
                    let factors: [S::Vector; VECTORS] =
                        std::array::from_fn(|v| unsafe { simd.load(factors_at.add(v * S::LANES)) });
                    for (sums, value) in sums.iter_mut().zip(&values) {
                        // SAFETY: the pixel lies inside `fine`.
                        let value = simd.splat(unsafe { *value.add(step) });
                        for (sum, factor) in sums.iter_mut().zip(&factors) {
                            *sum = simd.multiply_add(value, *factor, *sum);
                        }
                    }
                    step += self.fine_strides.column;
                    factors_at = factors_at.wrapping_add(self.coarse_strides.column);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                // SAFETY: as where they were loaded.
                unsafe { simd.store(start.add(place(row, v)), *sum) };
            }
        }
    }
}
