//! Products of matrices whose columns are whole vectors, in register tiles.

use crate::kernel::pack::panels;
use crate::kernel::rows::{tiles, with_rows};
use crate::simd::{Kernel, Simd, TILE_VECTORS};

/// The product of two matrices, summed over several pairs of them:
/// `target[r][c] = sum over s and d of left[s][r][d] * right[s][d][c]`.
///
/// Each float of `left` is broadcast to a vector and multiplied with `TILE_VECTORS` vectors of a row of `right`. The terms
/// are added in the order of `s` and then `d`, whatever the tile, so that a row of the result does not depend on the
/// number of rows.
pub(crate) struct Product<'a> {
    /// Rows of `left` and of the target.
    pub(crate) rows: usize,
    /// Columns of `right` and of the target: a multiple of the lanes.
    pub(crate) columns: usize,
    /// Columns of `left` and rows of `right`.
    pub(crate) depth: usize,
    /// Number of pairs.
    pub(crate) pairs: usize,
    pub(crate) left: Left<'a>,
    pub(crate) right: Right<'a>,
    pub(crate) target: &'a mut [f32],
    /// Floats between rows of the target.
    pub(crate) target_row: usize,
    /// Whether to add to the target instead of overwriting it.
    pub(crate) add: bool,
}

/// The floats that are broadcast, and the distances between neighbours.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) floats: &'a [f32],
    pub(crate) row: usize,
    pub(crate) depth: usize,
    pub(crate) pair: usize,
}

/// The floats that are read as vectors, and the distances between neighbours.
#[derive(Clone, Copy)]
pub(crate) struct Right<'a> {
    pub(crate) floats: &'a [f32],
    /// From one panel of `TILE_VECTORS` vectors to the next.
    pub(crate) panel: usize,
    pub(crate) depth: usize,
    pub(crate) pair: usize,
}

/// The index of the last of several items on nested axes of `(count, stride)`; saturates, so that a span that overflows
/// lies outside every slice.
fn span<const AXES: usize>(axes: [(usize, usize); AXES]) -> usize {
    axes.into_iter().map(|(count, stride)| (count - 1).saturating_mul(stride)).fold(0, usize::saturating_add)
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Self { rows, columns, depth, pairs, left, right, .. } = self;
        if rows == 0 || columns == 0 {
            return;
        }
        assert!(depth > 0 && pairs > 0, "an empty sum");
        assert!(columns.is_multiple_of(S::LANES), "columns are whole vectors");
        let width = TILE_VECTORS * S::LANES;
        let last_panel = columns.div_ceil(width) - 1;
        let last_width = columns - last_panel * width;
        assert!(
            span([(rows, left.row), (depth, left.depth), (pairs, left.pair)]) < left.floats.len(),
            "left factor"
        );
        // Panels may overlap the rows of earlier ones, so the last panel alone does not bound all of them.
        let right_rows = span([(depth, right.depth), (pairs, right.pair)]);
        let last_end = last_panel.saturating_mul(right.panel).saturating_add(last_width);
        let full_end = last_panel.checked_sub(1).map_or(0, |panel| panel.saturating_mul(right.panel) + width);
        assert!(right_rows.saturating_add(last_end.max(full_end)) <= right.floats.len(), "right factor");
        assert!(
            span([(rows, self.target_row)]).saturating_add(columns) <= self.target.len(),
            "target of a product"
        );
        for (number, panel) in panels(columns, S::LANES).enumerate() {
            for (first, height) in tiles(rows, S::TILE_ROWS) {
                with_rows!(height, ROWS => {
                    // SAFETY: all elements of the factors and of the target lie inside their slices, as checked above;
                    // the tile ends at the last row, and the panel at the last column.
                    unsafe {
                        if panel.vectors == TILE_VECTORS {
                            self.tile::<S, ROWS, TILE_VECTORS>(simd, first, number);
                        } else {
                            self.tile::<S, ROWS, 1>(simd, first, number);
                        }
                    }
                });
            }
        }
    }
}

impl Product<'_> {
    /// Computes `ROWS` rows from `first` on, for the columns of one panel.
    ///
    /// # Safety
    /// The rows and the columns belong to the product, and all its elements lie inside the slices.
    #[inline(always)]
    unsafe fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(
        &mut self,
        simd: S,
        first: usize,
        panel: usize,
    ) {
        let Self { depth, pairs, left, right, target_row, add, .. } = *self;
        // SAFETY: the caller promises that all elements lie inside the slices.
        let tile = unsafe {
            Tile::<ROWS, VECTORS> {
                depth,
                pairs,
                left: left.floats.as_ptr().add(first * left.row),
                left_strides: [left.row, left.depth, left.pair],
                right: right.floats.as_ptr().add(panel * right.panel),
                right_strides: [right.depth, right.pair],
                target: self.target.as_mut_ptr().add(first * target_row + panel * TILE_VECTORS * S::LANES),
                target_row,
                add,
            }
        };
        simd.vectorize(tile);
    }
}

/// A register tile of a [`Product`], whose elements all lie inside its slices.
struct Tile<const ROWS: usize, const VECTORS: usize> {
    depth: usize,
    pairs: usize,
    left: *const f32,
    /// Row, depth, pair.
    left_strides: [usize; 3],
    right: *const f32,
    /// Depth, pair.
    right_strides: [usize; 2],
    target: *mut f32,
    target_row: usize,
    add: bool,
}

impl<const ROWS: usize, const VECTORS: usize> Kernel for Tile<ROWS, VECTORS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let [left_row, left_depth, left_pair] = self.left_strides;
        let [right_depth, right_pair] = self.right_strides;
        // SAFETY: the elements of a tile lie inside the slices of its product, as in every block below.
        let at = |row: usize, v: usize| unsafe { self.target.add(row * self.target_row + v * S::LANES) };
        let mut sums = [[simd.splat(0.0); VECTORS]; ROWS];
        if self.add {
            // SAFETY: see above.
            sums = std::array::from_fn(|row| std::array::from_fn(|v| unsafe { simd.load(at(row, v)) }));
        }
        for pair in 0..self.pairs {
            // SAFETY: see above.
            let values: [*const f32; ROWS] =
                std::array::from_fn(|row| unsafe { self.left.add(pair * left_pair + row * left_row) });
            // SAFETY: see above.
            let mut factors_at = unsafe { self.right.add(pair * right_pair) };
            let mut step = 0;
            for _ in 0..self.depth {
                // SAFETY: see above.
                let factors: [S::Vector; VECTORS] =
                    std::array::from_fn(|v| unsafe { simd.load(factors_at.add(v * S::LANES)) });
                for (sums, value) in sums.iter_mut().zip(&values) {
                    // SAFETY: see above.
                    let value = simd.splat(unsafe { *value.add(step) });
                    for (sum, factor) in sums.iter_mut().zip(&factors) {
                        *sum = simd.multiply_add(value, *factor, *sum);
                    }
                }
                step += left_depth;
                factors_at = factors_at.wrapping_add(right_depth);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                // SAFETY: see above.
                unsafe { simd.store(at(row, v), *sum) };
            }
        }
    }
}
