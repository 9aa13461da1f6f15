//! Working memory that outlives a call: one buffer per thread, so that no step of training allocates it again.

use std::cell::Cell;

/// A cache line; buffers made of these are aligned for every vector load.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; Line::FLOATS]);

impl Line {
    const FLOATS: usize = 16;
    const ZERO: Self = Self([0.0; Self::FLOATS]);
}

/// Floats that start at a cache line.
#[derive(Default)]
pub(crate) struct AlignedBuffer(Vec<Line>);

impl AlignedBuffer {
    /// At least `length` zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        Self(vec![Line::ZERO; length.div_ceil(Line::FLOATS)])
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        // SAFETY: a `Line` is exactly its floats: `repr(C)`, and its size is a multiple of its alignment.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * Line::FLOATS) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        // SAFETY: as in `as_slice`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * Line::FLOATS) }
    }

    fn grow(&mut self, length: usize) {
        let lines = length.div_ceil(Line::FLOATS);
        if lines > self.0.len() {
            self.0.resize(lines, Line::ZERO);
        }
    }
}

/// `length` rounded up so that what follows starts at a cache line again.
pub(crate) const fn aligned(length: usize) -> usize {
    length.next_multiple_of(Line::FLOATS)
}

/// Lends `work` this thread's buffer, at least `length` floats with arbitrary values.
pub(crate) fn with_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    thread_local! {
        static BUFFER: Cell<AlignedBuffer> = const { Cell::new(AlignedBuffer(Vec::new())) };
    }
    // Taken out while in use: should `work` come here again on the same thread, it finds an empty buffer, not this one.
    let mut buffer = BUFFER.take();
    buffer.grow(length);
    let result = work(buffer.as_mut_slice());
    BUFFER.set(buffer);
    result
}
