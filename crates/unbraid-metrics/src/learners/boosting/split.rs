//! The search for the best split of a node: exact, but without visiting every row.
//!
//! Splitting a node with n rows and gradient sum S so that the left part has w rows and the sum s reduces the squared error by
//! `(n s - S w)^2 / (n w (n - w))`, which is Friedman's improvement. For each block of a feature, the sums over the node's
//! rows give the improvement at the end of the block, and a bound for all splits inside it: the running sum stays between
//! "all negative gradients first" and "all positive gradients first". Only the few blocks whose bound exceeds the best known
//! split are read row by row.
//!
//! Gradients are integers here (fixed point), so that sums do not depend on the order of rows, and the sums of a larger
//! child are exactly those of its parent minus those of the smaller one.

use super::columns::{Columns, mix};
use crate::numeric::vectorised;

/// Sums over the rows of a node that fall into one block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// Gradients, in fixed point.
    gradient: i64,
    /// The number of rows in the low [`COUNT_BITS`] bits; above, the sum of positive gradients, coarser and rounded up.
    positive_and_count: i64,
}

/// Bits for the number of rows: up to 16.7 million.
const COUNT_BITS: u32 = 24;
/// Bits of fixed-point gradients: the largest is below 2^36, and the sum of all below 2^60.
const GRADIENT_BITS: i32 = 36;
/// Bits that are dropped from positive gradients: their sum is then below 2^38.
const SHORTENED_BITS: u32 = 22;
/// One more than the largest number of rows that boosting accepts.
pub(super) const LARGEST_ROWS: usize = 1 << COUNT_BITS;

impl Cell {
    #[inline]
    fn of(gradient: i64) -> Self {
        let positive = if gradient > 0 { (gradient >> SHORTENED_BITS) + 1 } else { 0 };
        Self { gradient, positive_and_count: positive << COUNT_BITS | 1 }
    }

    #[inline]
    fn count(self) -> i64 {
        self.positive_and_count & ((1 << COUNT_BITS) - 1)
    }

    #[inline]
    fn positive(self) -> i64 {
        self.positive_and_count >> COUNT_BITS << SHORTENED_BITS
    }
}

/// Gradients as integers: `gradient * scale`, rounded.
#[derive(Debug, Default)]
pub(super) struct FixedPoint {
    pub values: Vec<i64>,
    pub scale: f64,
}

impl FixedPoint {
    pub(super) fn set(&mut self, gradients: &[f64]) {
        let largest =
            gradients.iter().fold(f64::MIN_POSITIVE, |largest, gradient| gradient.abs().max(largest));
        // A power of 2, so that scaling itself loses nothing.
        let exponent = GRADIENT_BITS - 1 - largest.log2().ceil() as i32;
        self.scale = 2_f64.powi(exponent.min(1000));
        // Adding 1.5 * 2^52 leaves the nearest integer in the low bits; unlike a conversion, this can be vectorised.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let scale = self.scale;
        self.values.resize(gradients.len(), 0);
        let values = &mut self.values;
        vectorised(
            #[inline(always)]
            || {
                for (value, gradient) in values.iter_mut().zip(gradients) {
                    *value = (gradient * scale + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i64;
                }
            },
        );
    }
}

/// Sums the rows of a node into its cells, which are ordered by feature, then by block.
pub(super) fn accumulate(cells: &mut [Cell], rows: &[u32], gradients: &[i64], columns: &Columns) {
    let features = columns.features();
    cells.fill(Cell::default());
    for &row in rows {
        let cell = Cell::of(gradients[row as usize]);
        for &place in &columns.cells[row as usize * features..][..features] {
            let target = &mut cells[place as usize];
            target.gradient += cell.gradient;
            target.positive_and_count += cell.positive_and_count;
        }
    }
}

/// Turns the cells of a parent into those of one child by subtracting those of the other.
pub(super) fn subtract(parent: &mut [Cell], child: &[Cell]) {
    for (parent, child) in parent.iter_mut().zip(child) {
        parent.gradient -= child.gradient;
        parent.positive_and_count -= child.positive_and_count;
    }
}

/// A split between two places in the order of a feature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub feature: usize,
    /// The last place that goes left.
    pub place: usize,
    /// `(n s - S w)^2 / (w (n - w))` in squared fixed point: the decrease of the summed squared error is this divided
    /// by n and by the square of the scale.
    pub improvement: f64,
    /// Gradient sum of the left part, in fixed point.
    pub left_gradient: i64,
    /// Rows of the left part.
    pub left_count: i64,
}

/// The sums over the rows of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeSums {
    pub id: u16,
    pub gradient: i64,
    pub count: i64,
}

/// The sums before a block, and a bound on the improvement of the splits inside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockState {
    gradient_before: i64,
    count_before: i64,
    bound: f64,
}

/// The search for the best split of one node.
pub(super) struct Search<'a> {
    pub columns: &'a Columns,
    pub gradients: &'a [i64],
    pub node_of_row: &'a [u16],
    pub node: NodeSums,
    /// Breaks ties between features with the same improvement; scikit-learn visits features in random order.
    pub tie_seed: u64,
    best: Option<Split>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        columns: &'a Columns,
        gradients: &'a [i64],
        node_of_row: &'a [u16],
        node: NodeSums,
        tie_seed: u64,
    ) -> Self {
        Self { columns, gradients, node_of_row, node, tie_seed, best: None }
    }

    /// The best split, or `None` if all rows of the node are equal. `states` has one entry for each cell.
    pub(super) fn run(mut self, cells: &[Cell], states: &mut [BlockState]) -> Option<Split> {
        let stride = self.columns.stride;
        for feature in 0..self.columns.features() {
            let range = feature * stride..(feature + 1) * stride;
            self.scan_blocks(feature, &cells[range.clone()], &mut states[range]);
        }
        // The most promising block first: the better the best known split, the fewer blocks remain to be read.
        let mut promising: Option<(usize, usize, f64)> = None;
        for feature in 0..self.columns.features() {
            let blocks = self.columns.columns[feature].block_splits.len();
            for (block, state) in states[feature * stride..][..blocks].iter().enumerate() {
                if state.bound > promising.map_or(0.0, |(_, _, bound)| bound) {
                    promising = Some((feature, block, state.bound));
                }
            }
        }
        if let Some((feature, block, _)) = promising {
            let state = &mut states[feature * stride + block];
            self.scan_rows(feature, block, *state);
            state.bound = 0.0;
        }
        for feature in 0..self.columns.features() {
            let blocks = self.columns.columns[feature].block_splits.len();
            for (block, state) in states[feature * stride..][..blocks].iter().enumerate() {
                // The slack covers the rounding of the bound itself.
                if state.bound * (1.0 + 1e-9) >= self.best.map_or(0.0, |best| best.improvement)
                    && state.bound > 0.0
                {
                    self.scan_rows(feature, block, *state);
                }
            }
        }
        self.best
    }

    /// Tries the ends of all blocks of a feature, and bounds the splits inside them.
    fn scan_blocks(&mut self, feature: usize, cells: &[Cell], states: &mut [BlockState]) {
        let column = &self.columns.columns[feature];
        let (total_gradient, total) = (self.node.gradient as f64, self.node.count as f64);
        let (mut gradient, mut count) = (0_i64, 0_i64);
        for (block, &splits) in column.block_splits.iter().enumerate() {
            let cell = cells[block];
            let rows = cell.count();
            let mut bound = 0.0;
            if splits && rows > 1 {
                let (least, most) = ((count + 1) as f64, (count + rows - 1) as f64);
                let positive = cell.positive();
                let highest = (gradient + positive) as f64 * total
                    - (total_gradient * least).min(total_gradient * most);
                let lowest = (gradient + cell.gradient - positive) as f64 * total
                    - (total_gradient * least).max(total_gradient * most);
                let weight = (least * (total - least)).min(most * (total - most));
                bound = (highest * highest).max(lowest * lowest) / weight;
                // Even a split without any improvement must be found if it is the only one.
                bound = bound.max(f64::MIN_POSITIVE);
            }
            states[block] = BlockState { gradient_before: gradient, count_before: count, bound };
            gradient += cell.gradient;
            count += rows;
            if rows > 0 && count < self.node.count {
                self.offer(feature, column.block_starts[block + 1] as usize - 1, gradient, count);
            }
        }
    }

    /// Tries every split inside a block.
    fn scan_rows(&mut self, feature: usize, block: usize, state: BlockState) {
        let column = &self.columns.columns[feature];
        let (total_gradient, total) = (self.node.gradient as f64, self.node.count as f64);
        let (mut gradient, mut count) = (state.gradient_before, state.count_before);
        let range = column.block_starts[block] as usize..column.block_starts[block + 1] as usize;
        // The improvement to reach, minus some slack, so that rounding never hides a split that is equally good.
        let enough = |best: Option<Split>| best.map_or(-1.0, |best| best.improvement * (1.0 - 1e-12));
        let mut least = enough(self.best);
        let places = column.order[range.clone()].iter().zip(&column.ends_group[range.clone()]);
        for (offset, (&row, &ends_group)) in places.enumerate() {
            let inside = i64::from(self.node_of_row[row as usize] == self.node.id);
            gradient += self.gradients[row as usize] & -inside;
            count += inside;
            let difference = gradient as f64 * total - total_gradient * count as f64;
            let weight = count as f64 * (total - count as f64);
            if difference * difference >= least * weight && ends_group && weight > 0.0 {
                self.offer(feature, range.start + offset, gradient, count);
                least = enough(self.best);
            }
        }
    }

    /// Keeps a split if it is better than the best so far.
    fn offer(&mut self, feature: usize, place: usize, left_gradient: i64, left_count: i64) {
        let (total_gradient, total) = (self.node.gradient as f64, self.node.count as f64);
        let difference = left_gradient as f64 * total - total_gradient * left_count as f64;
        let improvement = difference * difference / (left_count as f64 * (total - left_count as f64));
        let better = self.best.is_none_or(|best| {
            improvement > best.improvement
                || improvement == best.improvement
                    && if feature == best.feature {
                        place < best.place
                    } else {
                        self.priority(feature) > self.priority(best.feature)
                    }
        });
        if better {
            self.best = Some(Split { feature, place, improvement, left_gradient, left_count });
        }
    }

    /// A random rank of a feature in this node.
    fn priority(&self, feature: usize) -> u64 {
        mix(self.tie_seed ^ (u64::from(self.node.id) << 32) ^ self.columns.columns[feature].key)
    }
}
