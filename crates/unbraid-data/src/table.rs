//! The factor values of every image.

use crate::error::{DataError, Result};
use crate::factors::{FactorKind, FactorSpace};
use std::fmt;

/// The factor values of every image. A full grid in order takes no memory; anything else is stored as a table.
#[derive(Clone)]
pub struct FactorTable {
    space: FactorSpace,
    rows: Rows,
}

#[derive(Clone)]
enum Rows {
    /// Image `i` is grid point `i`.
    Grid,
    /// Every grid point occurs exactly once, in another order: `values` by image, `image` by grid point.
    Shuffled { values: Vec<u32>, image: Vec<u32> },
    /// Any other rows.
    Listed { values: Vec<u32> },
}

/// Shows the factors, not the rows of all images.
impl fmt::Debug for FactorTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FactorTable")
            .field("space", &self.space)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl FactorTable {
    /// The full grid, in order: image `i` is grid point `i`.
    pub fn grid(space: FactorSpace) -> Self {
        Self { space, rows: Rows::Grid }
    }

    /// A table with one row per image and one value per factor. If every combination occurs exactly once, in any order,
    /// the table is a full grid.
    ///
    /// # Errors
    /// If a value is outside its factor.
    ///
    /// # Panics
    /// If `space` is empty or `values` is not a whole number of rows.
    pub fn from_rows(space: FactorSpace, values: Vec<u32>) -> Result<Self> {
        assert!(!space.is_empty() && values.len().is_multiple_of(space.len()), "whole rows");
        let len = values.len() / space.len();
        let mut in_order = true;
        for (row, factors) in values.chunks_exact(space.len()).enumerate() {
            match space.index_of(factors) {
                Some(index) => in_order &= index == row,
                None => return Err(outside(&space, row, factors)),
            }
        }
        let rows = match space.grid_len() {
            Some(grid) if grid == len && in_order => Rows::Grid,
            Some(grid) if grid == len => match invert(&space, &values) {
                Some(image) => Rows::Shuffled { values, image },
                None => Rows::Listed { values },
            },
            _ => Rows::Listed { values },
        };
        Ok(Self { space, rows })
    }

    /// The factors.
    pub fn space(&self) -> &FactorSpace {
        &self.space
    }

    pub(crate) fn set_kind(&mut self, position: usize, kind: FactorKind) {
        self.space.set_kind(position, kind);
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Grid => self.space.grid_len().unwrap_or(usize::MAX),
            Rows::Shuffled { values, .. } | Rows::Listed { values } => values.len() / self.space.len(),
        }
    }

    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the factor values of image `index` to `out`.
    ///
    /// # Panics
    /// If `index` is out of range, or the length of `out` is not the number of factors.
    pub fn values_of(&self, index: usize, out: &mut [u32]) {
        match &self.rows {
            Rows::Grid => self.space.values_of(index, out),
            Rows::Shuffled { values, .. } | Rows::Listed { values } => {
                out.copy_from_slice(&values[index * self.space.len()..][..self.space.len()]);
            }
        }
    }

    /// The image with these factor values; `None` if a value is out of range or the table is not a full grid.
    pub fn index_of(&self, values: &[u32]) -> Option<usize> {
        match &self.rows {
            Rows::Grid => self.space.index_of(values),
            Rows::Shuffled { image, .. } => self.space.index_of(values).map(|point| image[point] as usize),
            Rows::Listed { .. } => None,
        }
    }

    /// Bytes of main memory in use.
    pub fn memory(&self) -> usize {
        match &self.rows {
            Rows::Grid => 0,
            Rows::Shuffled { values, image } => 4 * (values.capacity() + image.capacity()),
            Rows::Listed { values } => 4 * values.capacity(),
        }
    }
}

fn outside(space: &FactorSpace, row: usize, values: &[u32]) -> DataError {
    let (value, factor) = values
        .iter()
        .zip(space.factors())
        .find(|(value, factor)| **value as usize >= factor.size)
        .unwrap_or_else(|| unreachable!("row {row} is inside the grid"));
    let subject = format!("factor `{}` of image {row}", factor.name);
    DataError::value(subject, value, format!("a value below {}", factor.size))
}

/// The image at each grid point, or `None` if a point is missing or occurs more than once.
fn invert(space: &FactorSpace, values: &[u32]) -> Option<Vec<u32>> {
    const MISSING: u32 = u32::MAX;
    let mut image = vec![MISSING; values.len() / space.len()];
    for (row, factors) in values.chunks_exact(space.len()).enumerate() {
        let slot = image.get_mut(space.index_of(factors)?)?;
        if *slot != MISSING {
            return None;
        }
        *slot = u32::try_from(row).ok()?;
    }
    Some(image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::Factor;

    fn space() -> FactorSpace {
        FactorSpace::new(vec![Factor::new("a", 2), Factor::new("b", 2)])
    }

    #[test]
    fn a_grid_in_order_needs_no_memory() {
        let table = FactorTable::from_rows(space(), vec![0, 0, 0, 1, 1, 0, 1, 1]).unwrap();
        assert_eq!((table.memory(), table.len()), (0, 4));
        assert_eq!(table.index_of(&[1, 0]), Some(2));
    }

    #[test]
    fn a_grid_in_another_order_is_still_a_grid() {
        let table = FactorTable::from_rows(space(), vec![1, 1, 0, 1, 1, 0, 0, 0]).unwrap();
        assert_eq!(table.index_of(&[1, 0]), Some(2));
        assert_eq!(table.index_of(&[0, 0]), Some(3));
        let mut row = [9; 2];
        table.values_of(1, &mut row);
        assert_eq!(row, [0, 1]);
    }

    #[test]
    fn repeated_rows_are_not_a_grid() {
        let table = FactorTable::from_rows(space(), vec![1, 1, 1, 1, 1, 0, 0, 0]).unwrap();
        assert_eq!(table.index_of(&[1, 0]), None);
        assert_eq!(table.len(), 4);
    }

    #[test]
    fn a_value_outside_its_factor_is_located() {
        let error = FactorTable::from_rows(space(), vec![0, 0, 1, 2]).unwrap_err();
        assert_eq!(error.to_string(), "factor `b` of image 1: found 2, expected a value below 2");
    }
}
