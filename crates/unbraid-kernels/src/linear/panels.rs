//! Panels: parts of a matrix copied to where they are multiplied, as wide as a register tile.

use crate::simd::{Kernel, Simd, TILE_VECTORS};

/// The width of a panel: that of a register tile.
pub(super) const fn panel_width<S: Simd>() -> usize {
    TILE_VECTORS * S::LANES
}

/// A panel to be filled.
pub(super) struct Panel<'a> {
    pub(super) width: usize,
    /// Its rows, `[.., width]`.
    pub(super) floats: &'a mut [f32],
}

/// Copies rows of length `length` into a panel whose rows are their columns; missing ones are zeros.
pub(super) struct PackTransposed<'a> {
    pub(super) source: &'a [f32],
    pub(super) length: usize,
    pub(super) panel: Panel<'a>,
}

impl Kernel for PackTransposed<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        /// Floats of a row that are copied at once: a cache line.
        const RUN: usize = 16;
        let Self { source, length, panel: Panel { width, floats } } = self;
        let present = source.len() / length;
        for (number, target) in floats.chunks_mut(RUN * width).enumerate() {
            let run = target.len() / width;
            for (lane, row) in source.chunks_exact(length).enumerate() {
                let row = &row[number * RUN..][..run];
                for (target, value) in target[lane..].iter_mut().step_by(width).zip(row) {
                    *target = *value;
                }
            }
            if present < width {
                target.chunks_exact_mut(width).for_each(|row| row[present..].fill(0.0));
            }
        }
    }
}

/// A part of a matrix.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) source: &'a [f32],
    /// Floats between rows.
    pub(super) stride: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Rows<'_> {
    /// Fetches the columns from `start` on, `length` of them, of a share of the rows: part `number` of `count`.
    ///
    /// Short runs of floats far apart are nothing that a processor would fetch by itself.
    #[inline(always)]
    pub(super) fn prefetch<S: Simd>(
        &self,
        simd: S,
        (start, length): (usize, usize),
        (number, count): (usize, usize),
    ) {
        /// Floats of a cache line.
        const LINE: usize = 16;
        for row in number * self.rows / count..(number + 1) * self.rows / count {
            for column in (start..start + length).step_by(LINE) {
                simd.prefetch(self.source.as_ptr().wrapping_add(row * self.stride + column));
            }
        }
    }
}

/// Copies the columns of one panel; missing ones are zeros.
pub(super) struct PackRows<'a> {
    pub(super) rows: Rows<'a>,
    /// Which panel of the rows it is.
    pub(super) number: usize,
    pub(super) panel: Panel<'a>,
}

impl Kernel for PackRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rows: Rows { source, stride, rows, columns }, number, panel } = self;
        let Panel { width, floats } = panel;
        let first = number * width;
        let present = width.min(columns - first);
        assert!(floats.len() == rows * width && width == panel_width::<S>(), "a panel");
        if present < width {
            for (row, target) in floats.chunks_exact_mut(width).enumerate() {
                target[..present].copy_from_slice(&source[row * stride + first..][..present]);
                target[present..].fill(0.0);
            }
            return;
        }
        assert!(rows == 0 || (rows - 1) * stride + first + width <= source.len(), "rows of a panel");
        for row in 0..rows {
            for v in 0..TILE_VECTORS {
                // SAFETY: the columns of each row lie inside the source, and the panel has as many rows.
                unsafe {
                    let vector = simd.load(source.as_ptr().add(row * stride + first + v * S::LANES));
                    simd.store(floats.as_mut_ptr().add(row * width + v * S::LANES), vector);
                }
            }
        }
    }
}
