//! Products of a matrix with the transpose of another: both are read along their rows.

use crate::simd::{Kernel, Simd};

/// `target[r][c]` is the sum over `k` of `left[r][k] * right[c][k]`; all three are contiguous.
pub(crate) struct Dots<'a> {
    /// Columns of both factors.
    pub(crate) depth: usize,
    pub(crate) left: &'a [f32],
    pub(crate) right: &'a [f32],
    pub(crate) target: &'a mut [f32],
}

impl Kernel for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let (rows, columns) = (self.left.len() / self.depth, self.right.len() / self.depth);
        assert!(self.left.len() == rows * self.depth && self.right.len() == columns * self.depth, "factors");
        assert!(self.target.len() == rows * columns, "target of dot products");
        // As many accumulators as the registers can hold beside one row of the tile.
        if S::TILE_ROWS >= 12 {
            self.tiles::<S, 4, 6>(simd, rows, columns);
        } else {
            self.tiles::<S, 3, 4>(simd, rows, columns);
        }
    }
}

/// The starts of tiles of `size` that cover `length`: the last overlaps the one before, so that all are whole. With fewer
/// than `size` in all, there are none.
fn starts(length: usize, size: usize) -> impl Iterator<Item = usize> + Clone {
    let count = if length < size { 0 } else { length.div_ceil(size) };
    (0..count).map(move |number| (number * size).min(length - size))
}

impl Dots<'_> {
    #[inline(always)]
    fn tiles<S: Simd, const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        simd: S,
        rows: usize,
        columns: usize,
    ) {
        let (row_tiles, column_tiles) = (starts(rows, ROWS), starts(columns, COLUMNS));
        for row in row_tiles {
            for column in column_tiles.clone() {
                self.tile::<S, ROWS, COLUMNS>(simd, row, column, columns);
            }
            for column in 0..if columns < COLUMNS { columns } else { 0 } {
                self.tile::<S, ROWS, 1>(simd, row, column, columns);
            }
        }
        for row in 0..if rows < ROWS { rows } else { 0 } {
            for column in column_tiles.clone() {
                self.tile::<S, 1, COLUMNS>(simd, row, column, columns);
            }
            for column in 0..if columns < COLUMNS { columns } else { 0 } {
                self.tile::<S, 1, 1>(simd, row, column, columns);
            }
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
        target_row: usize,
    ) {
        let sums = simd.vectorize(Tile::<ROWS, COLUMNS> {
            depth: self.depth,
            left: &self.left[row * self.depth..][..ROWS * self.depth],
            right: &self.right[column * self.depth..][..COLUMNS * self.depth],
        });
        for (number, sums) in sums.iter().enumerate() {
            self.target[(row + number) * target_row + column..][..COLUMNS].copy_from_slice(sums);
        }
    }
}

/// The dot products of `ROWS` rows with `COLUMNS` rows.
struct Tile<'a, const ROWS: usize, const COLUMNS: usize> {
    depth: usize,
    left: &'a [f32],
    right: &'a [f32],
}

impl<const ROWS: usize, const COLUMNS: usize> Kernel for Tile<'_, ROWS, COLUMNS> {
    type Output = [[f32; COLUMNS]; ROWS];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> [[f32; COLUMNS]; ROWS] {
        let depth = self.depth;
        assert!(self.left.len() == ROWS * depth && self.right.len() == COLUMNS * depth, "rows of a tile");
        let (left, right) = (self.left.as_ptr(), self.right.as_ptr());
        let mut sums = [[simd.splat(0.0); COLUMNS]; ROWS];
        let whole = depth / S::LANES * S::LANES;
        let mut k = 0;
        while k < whole {
            let mut values = [simd.splat(0.0); ROWS];
            for (row, value) in values.iter_mut().enumerate() {
                // SAFETY: a vector from `k` on lies inside each of the rows.
                *value = unsafe { simd.load(left.add(row * depth + k)) };
            }
            for column in 0..COLUMNS {
                // SAFETY: as above.
                let factor = unsafe { simd.load(right.add(column * depth + k)) };
                for (sums, value) in sums.iter_mut().zip(&values) {
                    sums[column] = simd.multiply_add(*value, factor, sums[column]);
                }
            }
            k += S::LANES;
        }
        let mut results = [[0.0; COLUMNS]; ROWS];
        for (row, (results, sums)) in results.iter_mut().zip(&sums).enumerate() {
            for (column, (result, sum)) in results.iter_mut().zip(sums).enumerate() {
                *result = simd.sum(*sum);
                for k in whole..depth {
                    *result += self.left[row * depth + k] * self.right[column * depth + k];
                }
            }
        }
        results
    }
}
