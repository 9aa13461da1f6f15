//! Features sorted once: the order of the rows, and blocks of neighbours in that order.
//!
//! For every node, trees need the best of all splits between two neighbouring rows. Blocks of about sqrt(n) neighbours make it
//! possible to find it without visiting every row: sums over blocks tell which of them can contain it (see
//! [`super::split`]).

use ndarray::ArrayView2;

/// Values closer than this count as equal, as in scikit-learn: no split goes between them.
const EQUAL: f64 = 1e-7;

/// One feature in increasing order.
#[derive(Debug)]
pub(super) struct Column {
    /// Rows by increasing value.
    pub order: Vec<u32>,
    /// The place of each row in `order`.
    pub rank: Vec<u32>,
    /// The value at each place.
    pub values: Vec<f64>,
    /// Whether the value at the next place is larger, so that a split may follow this place. False at the last place.
    pub ends_group: Vec<bool>,
    /// Where each block starts in `order`, followed by the number of rows. Equal values share a block.
    pub block_starts: Vec<u32>,
    /// Whether a block contains more than one value, so that a split may go through it.
    pub block_splits: Vec<bool>,
    /// Identifies the feature by the order of its values, not by its position among the features, so that how ties are
    /// broken does not depend on the latter. Copies of a feature have different keys.
    pub key: u64,
}

/// All features, sorted.
#[derive(Debug)]
pub(super) struct Columns {
    pub columns: Vec<Column>,
    /// For each row and feature, in row-major order, the cell that the row is added to: `feature * stride + block`.
    pub cells: Vec<u32>,
    /// The largest number of blocks that a feature has.
    pub stride: usize,
    pub rows: usize,
}

impl Columns {
    pub(super) fn new(features: ArrayView2<'_, f64>) -> Self {
        let rows = features.nrows();
        // Scanning all blocks should cost about as much as scanning the rows of a few of them.
        let size = ((rows as f64).sqrt() as usize).max(16);
        let mut columns: Vec<Column> =
            features.columns().into_iter().map(|column| Column::new(&column.to_vec(), size)).collect();
        for feature in 1..columns.len() {
            let (before, rest) = columns.split_at_mut(feature);
            while before.iter().any(|other| other.key == rest[0].key) {
                rest[0].key = mix(rest[0].key);
            }
        }
        let stride = columns.iter().map(|column| column.block_splits.len()).max().unwrap_or(0);
        let mut cells = vec![0; rows * columns.len()];
        for (feature, column) in columns.iter().enumerate() {
            for (block, range) in column.block_starts.windows(2).enumerate() {
                for &row in &column.order[range[0] as usize..range[1] as usize] {
                    cells[row as usize * columns.len() + feature] = (feature * stride + block) as u32;
                }
            }
        }
        Self { columns, cells, stride, rows }
    }

    pub(super) fn features(&self) -> usize {
        self.columns.len()
    }
}

impl Column {
    fn new(values: &[f64], block_size: usize) -> Self {
        let rows = values.len();
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let mut rank = vec![0; rows];
        for (place, &row) in order.iter().enumerate() {
            rank[row as usize] = place as u32;
        }
        let values: Vec<f64> = order.iter().map(|&row| values[row as usize]).collect();
        let ends_group: Vec<bool> =
            (0..rows).map(|place| place + 1 < rows && values[place + 1] > values[place] + EQUAL).collect();
        let (mut block_starts, mut block_splits) = (vec![0], Vec::new());
        let (mut block_start, mut group_start) = (0, 0);
        for place in 0..rows {
            if !ends_group[place] && place + 1 < rows {
                continue;
            }
            // A group of equal values ends here. It opens a new block where the old one would grow too large.
            if group_start > block_start && place + 1 - block_start > block_size {
                block_splits.push(ends_group[block_start..group_start - 1].contains(&true));
                block_starts.push(group_start as u32);
                block_start = group_start;
            }
            group_start = place + 1;
        }
        if rows > block_start {
            block_splits.push(ends_group[block_start..rows - 1].contains(&true));
            block_starts.push(rows as u32);
        }
        let key = order.iter().fold(0, |hash, &row| mix(hash ^ u64::from(row)));
        Self { order, rank, values, ends_group, block_starts, block_splits, key }
    }
}

/// Spreads a number over all 64 bits: the finaliser of MurmurHash3, moved off its fixed point 0.
pub(super) fn mix(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_all_rows_and_never_part_equal_values() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from((i * 7919) % 313)).collect();
        let column = Column::new(&values, 16);
        assert_eq!(column.block_starts.first(), Some(&0));
        assert_eq!(column.block_starts.last(), Some(&1000));
        assert_eq!(column.block_splits.len() + 1, column.block_starts.len());
        for &start in &column.block_starts[1..column.block_starts.len() - 1] {
            assert!(column.ends_group[start as usize - 1]);
        }
        assert!(column.block_starts.windows(2).all(|range| range[0] < range[1] && range[1] - range[0] <= 16));
    }

    #[test]
    fn features_are_known_by_what_they_hold() {
        let features = ndarray::array![[0.1, 3.0, 0.1], [0.5, 1.0, 0.5], [0.3, 2.0, 0.3]];
        let keys = |order: &[usize]| {
            let columns = Columns::new(features.select(ndarray::Axis(1), order).view());
            columns.columns.iter().map(|column| column.key).collect::<Vec<_>>()
        };
        let [first, second, copy] = keys(&[0, 1, 2])[..] else { panic!("three features") };
        assert!(first != second && first != copy && second != copy);
        assert_eq!(keys(&[1, 2, 0]), [second, first, copy]);
    }

    #[test]
    fn a_constant_is_one_block_without_splits() {
        let column = Column::new(&[2.0; 50], 16);
        assert_eq!((column.block_starts, column.block_splits), (vec![0, 50], vec![false]));
    }
}
