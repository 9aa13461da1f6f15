//! From a number of rows to a register tile of that many rows, which is a type.

/// Evaluates `$body` with the constant `$ROWS` equal to `$rows`, the rows of a register tile: at least 1
/// and at most 12.
macro_rules! with_rows {
    ($rows:expr, $ROWS:ident => $body:expr) => {
        $crate::kernel::rows::with_rows!(@match $rows, $ROWS, $body; 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    (@match $rows:expr, $ROWS:ident, $body:expr; $($count:literal)*) => {
        match $rows {
            $($count => {
                const $ROWS: usize = $count;
                $body
            })*
            rows => unreachable!("a tile of {rows} rows"),
        }
    };
}

pub(crate) use with_rows;

/// Divides `rows` into tiles of nearly equal height and at most `tile_rows` rows: the first row and the height of each.
pub(crate) fn tiles(rows: usize, tile_rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let tiles = rows.div_ceil(tile_rows);
    (0..tiles).map(move |tile| {
        let (first, end) = (tile * rows / tiles, (tile + 1) * rows / tiles);
        (first, end - first)
    })
}
