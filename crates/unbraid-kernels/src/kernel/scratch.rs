//! Scratch memory: buffers of each thread that are kept between calls, so that a training step does not allocate them again.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Calls `work` with a buffer of this thread of at least `length` floats, which have arbitrary values.
pub(crate) fn with_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    thread_local! {
        /// One for each depth of nested calls, the outermost last.
        static BUFFERS: RefCell<Vec<AlignedBuffer>> = const { RefCell::new(Vec::new()) };
    }
    // A buffer is taken out while it is in use, so that `work` may call this function again.
    let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    buffer.grow(length);
    let result = work(buffer.as_mut_slice());
    BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
    result
}

/// A buffer that is kept for later when it is dropped, so that large ones are neither cleared nor mapped again in every
/// step. Unlike the buffer of [`with_scratch`], it may be shared with the tasks of other threads.
pub(crate) struct PooledBuffer {
    buffer: AlignedBuffer,
    length: usize,
}

/// As many buffers as were ever in use at the same time.
static POOL: Mutex<Vec<AlignedBuffer>> = Mutex::new(Vec::new());

fn pool() -> MutexGuard<'static, Vec<AlignedBuffer>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PooledBuffer {
    /// `length` floats with arbitrary values.
    pub(crate) fn new(length: usize) -> Self {
        // The smallest that is large enough, so that a small request does not hold a large buffer; else the last one grows.
        let mut buffers = pool();
        let floats = |buffer: &AlignedBuffer| buffer.as_slice().len();
        let fitting = (0..buffers.len())
            .filter(|place| floats(&buffers[*place]) >= length)
            .min_by_key(|place| floats(&buffers[*place]));
        let mut buffer =
            fitting.map(|place| buffers.swap_remove(place)).or_else(|| buffers.pop()).unwrap_or_default();
        drop(buffers);
        buffer.grow(length);
        Self { buffer, length }
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        &self.buffer.as_slice()[..self.length]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.buffer.as_mut_slice()[..self.length]
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        pool().push(std::mem::take(&mut self.buffer));
    }
}

/// Calls `work` with `length` floats of a [`PooledBuffer`], which have arbitrary values.
pub(crate) fn with_batch_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    work(PooledBuffer::new(length).as_mut_slice())
}
