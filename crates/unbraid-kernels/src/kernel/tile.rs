//! The micro-kernels: register tiles of `ROWS x VECTORS` accumulators, which do nearly all of the arithmetic.
//!
//! [`WindowTile`] holds target pixels x target channels and runs along a window. [`OuterTile`] holds fine values x coarse
//! channels and runs over the pixels. In both, each step broadcasts `ROWS` floats of one operand and multiplies them with
//! `VECTORS` vectors of the other. With 12 x 2 accumulators this is 24 multiply-adds for 14 loads, so that arithmetic and
//! not memory limits the speed.

use crate::kernel::write_only::WriteOnly;
use crate::simd::{Kernel, MAXIMUM_LANES, Simd, TILE_VECTORS};

/// The windows of `ROWS` target pixels in padded source images.
pub(crate) struct SourceWindows<'a, const ROWS: usize> {
    pub(crate) images: &'a [f32],
    /// Start of each window.
    pub(crate) offsets: &'a [u32; ROWS],
    /// Rows of a window, and how far they lie apart.
    pub(crate) rows: usize,
    pub(crate) row_stride: usize,
    /// Contiguous floats in a row of a window.
    pub(crate) run: usize,
}

/// `ROWS` pixels to write.
pub(crate) struct TargetPixels<'a, const ROWS: usize> {
    pub(crate) images: WriteOnly<'a>,
    /// Index of each pixel's first channel.
    pub(crate) offsets: &'a [u32; ROWS],
    /// Channels to store, at most `VECTORS * LANES`.
    pub(crate) channels: usize,
}

/// `ROWS` target pixels times `VECTORS` vectors of target channels.
pub(crate) struct WindowTile<'a, const ROWS: usize, const VECTORS: usize> {
    source: SourceWindows<'a, ROWS>,
    /// `[rows * run, VECTORS * LANES]`
    weights: &'a [f32],
    /// `[VECTORS * LANES]`
    bias: &'a [f32],
    target: TargetPixels<'a, ROWS>,
    relu: bool,
}

impl<'a, const ROWS: usize, const VECTORS: usize> WindowTile<'a, ROWS, VECTORS> {
    /// The tile itself checks everything but the offsets; to check those for every tile would take too long.
    ///
    /// # Safety
    /// * `offset + row * row_stride + run <= source.images.len()` for each of `source.offsets` and each `row < rows`.
    /// * `offset + channels <= target.images.len()` for each of `target.offsets`.
    #[inline(always)]
    pub(crate) unsafe fn new(
        source: SourceWindows<'a, ROWS>,
        weights: &'a [f32],
        bias: &'a [f32],
        target: TargetPixels<'a, ROWS>,
        relu: bool,
    ) -> Self {
        debug_assert!(source.offsets.iter().all(|offset| {
            let end = |row| *offset as usize + row * source.row_stride + source.run;
            source.rows.checked_sub(1).is_none_or(|last| end(last) <= source.images.len())
        }));
        debug_assert!(
            target.offsets.iter().all(|offset| *offset as usize + target.channels <= target.images.len())
        );
        Self { source, weights, bias, target, relu }
    }
}

impl<const ROWS: usize, const VECTORS: usize> Kernel for WindowTile<'_, ROWS, VECTORS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        const { assert!(VECTORS <= TILE_VECTORS) };
        let width = VECTORS * S::LANES;
        let SourceWindows { images: source, offsets: source_offsets, rows, row_stride, run } = self.source;
        assert!(self.weights.len() >= rows.saturating_mul(run).saturating_mul(width), "weights of a tile");
        assert!(self.bias.len() >= width && self.target.channels <= width, "channels of a tile");

        // SAFETY: `bias` holds `width` floats.
        let bias: [S::Vector; VECTORS] =
            std::array::from_fn(|v| unsafe { simd.load(self.bias.as_ptr().add(v * S::LANES)) });
        let mut sums = [bias; ROWS];
        let mut weights = self.weights.as_ptr();
        for row in 0..rows {
            // SAFETY: `new` requires that each row of each window lies inside `source`.
            let pixels: [*const f32; ROWS] = source_offsets
                .map(|offset| unsafe { source.as_ptr().add(offset as usize + row * row_stride) });
            for k in 0..run {
                // SAFETY: fewer than `rows * run` steps have been taken, each over `width` of the weights.
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
        let channels = self.target.channels;
        for (row, offset) in self.target.offsets.iter().enumerate() {
            // This order of the arguments keeps NaN, as PyTorch does. The sums are read by value, because a reference to
            // them would keep them in memory during the loop above.
            let sums = if self.relu { sums[row].map(|sum| simd.maximum(zero, sum)) } else { sums[row] };
            // SAFETY: `new` requires that `channels` floats from `offset` on lie inside the images.
            let target = unsafe { self.target.images.as_mut_ptr().add(*offset as usize) };
            if channels == width {
                for (v, sum) in sums.iter().enumerate() {
                    // SAFETY: as above, and `channels` is `width`.
                    unsafe { simd.store(target.add(v * S::LANES), *sum) };
                }
            } else {
                let mut whole = [0.0; TILE_VECTORS * MAXIMUM_LANES];
                for (v, sum) in sums.iter().enumerate() {
                    // SAFETY: `VECTORS` is at most `TILE_VECTORS`, and no vector has more than `MAXIMUM_LANES`.
                    unsafe { simd.store(whole.as_mut_ptr().add(v * S::LANES), *sum) };
                }
                // SAFETY: as above; `channels` is at most `width`, and `whole` is a local, so they do not overlap.
                unsafe { target.copy_from_nonoverlapping(whole.as_ptr(), channels) };
            }
        }
    }
}

/// The pixels of a sum: `image_count` images of `rows` rows of `columns` pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pixels {
    pub(crate) image_count: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Distances between consecutive images, rows and columns of [`Pixels`] in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides {
    pub(crate) image: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Strides {
    /// Distance from the first pixel to the last. It saturates, so a distance that overflows is outside every array.
    fn span(&self, pixels: Pixels) -> usize {
        [(pixels.image_count, self.image), (pixels.rows, self.row), (pixels.columns, self.column)]
            .into_iter()
            .map(|(count, stride)| (count - 1).saturating_mul(stride))
            .fold(0, usize::saturating_add)
    }
}

/// `ROWS` values of the fine images times `VECTORS` vectors of coarse channels, summed over all pixels.
pub(crate) struct OuterTile<'a, const ROWS: usize, const VECTORS: usize> {
    pub(crate) pixels: Pixels,
    /// Padded fine images.
    pub(crate) fine: &'a [f32],
    pub(crate) fine_strides: Strides,
    /// Offset of each row's value for the first pixel.
    pub(crate) fine_offsets: [usize; ROWS],
    /// Coarse images, from the first channel of the tile on.
    pub(crate) coarse: &'a [f32],
    pub(crate) coarse_strides: Strides,
    /// `ROWS` rows `sums_stride` apart.
    pub(crate) sums: Sums<'a>,
    pub(crate) sums_stride: usize,
}

/// Memory for sums over pixels.
pub(crate) enum Sums<'a> {
    /// The sums overwrite what is there.
    Write(WriteOnly<'a>),
    /// The sums are added to those of other pixels.
    Add(&'a mut [f32]),
}

impl Sums<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Write(sums) => sums.len(),
            Self::Add(sums) => sums.len(),
        }
    }

    /// The sums from `start` on.
    #[inline(always)]
    pub(crate) fn skip(&mut self, start: usize) -> Sums<'_> {
        match self {
            Self::Write(sums) => Sums::Write(sums.skip(start)),
            Self::Add(sums) => Sums::Add(&mut sums[start..]),
        }
    }
}

impl<const ROWS: usize, const VECTORS: usize> Kernel for OuterTile<'_, ROWS, VECTORS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        const { assert!(ROWS > 0) };
        let width = VECTORS * S::LANES;
        let Pixels { image_count, rows, columns } = self.pixels;
        assert!(image_count > 0 && rows > 0 && columns > 0, "no pixels");
        assert!(
            self.coarse_strides.span(self.pixels).saturating_add(width) <= self.coarse.len(),
            "coarse images"
        );
        let fine_span = self.fine_strides.span(self.pixels);
        assert!(
            self.fine_offsets.iter().all(|offset| offset.saturating_add(fine_span) < self.fine.len()),
            "fine images"
        );
        let sums_end = (ROWS - 1).saturating_mul(self.sums_stride).saturating_add(width);
        assert!(sums_end <= self.sums.len(), "sums");

        let index = |row: usize, v: usize| row * self.sums_stride + v * S::LANES;
        let mut sums = [[simd.splat(0.0); VECTORS]; ROWS];
        let start = match &mut self.sums {
            Sums::Write(sums) => sums.as_mut_ptr(),
            Sums::Add(previous) => {
                let start = previous.as_mut_ptr();
                sums = std::array::from_fn(|row| {
                    // SAFETY: all `ROWS` rows of `width` floats lie inside the sums.
                    std::array::from_fn(|v| unsafe { simd.load(start.add(index(row, v)).cast_const()) })
                });
                start
            }
        };
        for image in 0..image_count {
            for row in 0..rows {
                let fine = image * self.fine_strides.image + row * self.fine_strides.row;
                let coarse = image * self.coarse_strides.image + row * self.coarse_strides.row;
                // SAFETY: the last pixel lies inside both arrays, and no pixel comes after it.
                let values: [*const f32; ROWS] =
                    self.fine_offsets.map(|offset| unsafe { self.fine.as_ptr().add(fine + offset) });
                // SAFETY: as above.
                let mut factors_at = unsafe { self.coarse.as_ptr().add(coarse) };
                let mut step = 0;
                for _ in 0..columns {
                    // SAFETY: as above, and `width` floats from the last pixel on lie inside `coarse`.
                    let factors: [S::Vector; VECTORS] =
                        std::array::from_fn(|v| unsafe { simd.load(factors_at.add(v * S::LANES)) });
                    for (sums, value) in sums.iter_mut().zip(&values) {
                        // SAFETY: as above.
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
                // SAFETY: all `ROWS` rows of `width` floats lie inside the sums.
                unsafe { simd.store(start.add(index(row, v)), *sum) };
            }
        }
    }
}
