//! Scratch memory: one buffer per thread that is kept between calls, so that a training step does not allocate it again.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// A cache line. A buffer of lines is aligned for the loads of every instruction set.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; Line::FLOATS]);

impl Line {
    const FLOATS: usize = 16;
    const ZERO: Self = Self([0.0; Self::FLOATS]);
}

/// Floats that start at the beginning of a cache line.
#[derive(Default)]
pub(crate) struct AlignedBuffer(Vec<Line>);

impl AlignedBuffer {
    /// At least `length` zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        Self(vec![Line::ZERO; length.div_ceil(Line::FLOATS)])
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        // SAFETY: a `Line` is `repr(C)` and has the size of its floats, which is its alignment, so there is no padding.
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

/// `length` rounded up to whole cache lines.
pub(crate) const fn aligned(length: usize) -> usize {
    length.next_multiple_of(Line::FLOATS)
}

/// Calls `work` with this thread's buffer of at least `length` floats, which have arbitrary values.
pub(crate) fn with_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    thread_local! {
        static BUFFER: Cell<AlignedBuffer> = const { Cell::new(AlignedBuffer(Vec::new())) };
    }
    // The buffer is taken out while it is in use. If `work` calls this function again, that call starts with an empty one.
    let mut buffer = BUFFER.take();
    buffer.grow(length);
    let result = work(buffer.as_mut_slice());
    BUFFER.set(buffer);
    result
}

/// Calls `work` with a buffer of at least `length` floats, which have arbitrary values.
///
/// Unlike the buffer of [`with_scratch`], it may be shared with the tasks of other threads, and is as large as a batch.
pub(crate) fn with_batch_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    /// One buffer for each call that is under way; calls of different threads may overlap.
    static BUFFERS: Mutex<Vec<AlignedBuffer>> = Mutex::new(Vec::new());
    let buffers = || BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut buffer = buffers().pop().unwrap_or_default();
    buffer.grow(length);
    let result = work(&mut buffer.as_mut_slice()[..length]);
    buffers().push(buffer);
    result
}
