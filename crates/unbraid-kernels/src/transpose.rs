//! Many small matrices transposed: images from channels last to channels first and back.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::simd::{InstructionSet, Kernel, Simd};

/// The matrices of a batch, `[matrices, rows, columns]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrices {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Matrices {
    /// The shape of the same matrices transposed.
    pub(crate) fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows }
    }

    fn len(self) -> usize {
        self.rows * self.columns
    }
}

/// Floats of a task, about.
const TASK_FLOATS: usize = 8192;

/// Transposes each matrix.
///
/// # Panics
/// If `values` are not whole matrices.
pub(crate) fn transpose(values: &[f32], matrices: Matrices) -> Vec<f32> {
    if values.is_empty() {
        return Vec::new();
    }
    assert!(values.len().is_multiple_of(matrices.len()), "whole matrices");
    let task = (TASK_FLOATS / matrices.len()).max(1) * matrices.len();
    let mut target = Vec::with_capacity(values.len());
    let parts = target.spare_capacity_mut()[..values.len()].par_chunks_mut(task);
    parts.zip(values.par_chunks(task)).for_each(|(target, source)| {
        InstructionSet::current().run(Transpose { matrices, source, target });
    });
    // SAFETY: the parts cover the target, and each has been written.
    unsafe { target.set_len(values.len()) };
    target
}

/// Transposes some matrices; writes every float of `target`.
struct Transpose<'a> {
    matrices: Matrices,
    source: &'a [f32],
    target: &'a mut [MaybeUninit<f32>],
}

impl Kernel for Transpose<'_> {
    type Output = ();

    // The compiler gathers with the instructions of the set.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { matrices: Matrices { rows, columns }, source, target } = self;
        let each = source.chunks_exact(rows * columns).zip(target.chunks_exact_mut(rows * columns));
        for (source, target) in each {
            for (column, target) in target.chunks_exact_mut(rows).enumerate() {
                for (row, target) in target.iter_mut().enumerate() {
                    target.write(source[row * columns + column]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let matrices = Matrices { rows: 2, columns: 3 };
        let values: Vec<f32> = (0..12).map(|value| value as f32).collect();
        let expected = [0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 6.0, 9.0, 7.0, 10.0, 8.0, 11.0];
        assert_eq!(transpose(&values, matrices), expected);
        assert!(transpose(&[], matrices).is_empty());
    }

    /// Sizes below and above a task, and those that no vector divides.
    #[test]
    fn twice_is_nothing() {
        for (batch, rows, columns) in [(1, 1, 1), (3, 1, 7), (5, 17, 33), (64, 16, 64), (2, 129, 70)] {
            let matrices = Matrices { rows, columns };
            let values: Vec<f32> = (0..batch * rows * columns).map(|value| value as f32).collect();
            let transposed = transpose(&values, matrices);
            let place = (batch - 1) * rows * columns + (columns - 1) * rows;
            assert_eq!(transposed[place], values[(batch - 1) * rows * columns + columns - 1]);
            assert_eq!(transpose(&transposed, matrices.transposed()), values);
        }
    }
}
