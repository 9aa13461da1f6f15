//! A matrix that several tasks write, each some of its columns.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A matrix of `columns` columns whose rows are written in parts.
#[derive(Clone, Copy)]
pub(super) struct SharedColumns<'a> {
    start: *mut f32,
    length: usize,
    columns: usize,
    memory: PhantomData<&'a mut [MaybeUninit<f32>]>,
}

// SAFETY: it gives out no references, and those who write promise to write different floats.
unsafe impl Send for SharedColumns<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedColumns<'_> {}

impl<'a> SharedColumns<'a> {
    pub(super) fn new(memory: &'a mut [MaybeUninit<f32>], columns: usize) -> Self {
        Self { start: memory.as_mut_ptr().cast(), length: memory.len(), columns, memory: PhantomData }
    }

    /// Writes some floats of a row, from column `first` on.
    ///
    /// # Safety
    /// No other task writes them.
    ///
    /// # Panics
    /// If they are not all in that row.
    #[inline(always)]
    pub(super) unsafe fn write(&self, row: usize, first: usize, values: impl ExactSizeIterator<Item = f32>) {
        let end = first + values.len();
        assert!(end <= self.columns && row * self.columns + end <= self.length, "columns of a row");
        for (column, value) in (first..end).zip(values) {
            // SAFETY: it lies inside the memory, as checked above, and belongs to this task alone.
            unsafe { self.start.add(row * self.columns + column).write(value) };
        }
    }
}
