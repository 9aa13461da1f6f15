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

/// A buffer that is kept for later when it is dropped, so that large ones are neither cleared nor mapped again in every
/// step.
pub(crate) struct PooledBuffer {
    buffer: AlignedBuffer,
    length: usize,
}

/// Buffers from this length on, 4 MB, are shared by all threads: no second-level cache holds them, and one for each thread
/// would add up.
const SHARED: usize = 1 << 20;

/// As many buffers as were ever in use at the same time.
static SHARED_POOL: Mutex<Pool> = Mutex::new(Pool(Vec::new()));

thread_local! {
    /// The same for the smaller buffers of this thread. Threads do not exchange them: most of a buffer is in the cache of the
    /// core that used it last, and the way from one core to another may be as slow as that to memory.
    static POOL: RefCell<Pool> = const { RefCell::new(Pool(Vec::new())) };
}

/// Buffers that are not in use.
struct Pool(Vec<AlignedBuffer>);

impl Pool {
    /// The smallest that is large enough, so that a small request does not hold a large buffer; else the last one, which has
    /// to grow.
    fn take(&mut self, length: usize) -> Option<AlignedBuffer> {
        let floats = |place: &usize| self.0[*place].as_slice().len();
        let fitting = (0..self.0.len()).filter(|place| floats(place) >= length).min_by_key(floats);
        fitting.map(|place| self.0.swap_remove(place)).or_else(|| self.0.pop())
    }
}

/// The pool of all threads. A thread that panics leaves it as it was.
fn shared_pool() -> MutexGuard<'static, Pool> {
    SHARED_POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PooledBuffer {
    /// `length` floats with arbitrary values.
    pub(crate) fn new(length: usize) -> Self {
        let kept = if length >= SHARED {
            shared_pool().take(length)
        } else {
            POOL.with_borrow_mut(|pool| pool.take(length))
        };
        let mut buffer = kept.unwrap_or_default();
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
        let buffer = std::mem::take(&mut self.buffer);
        if buffer.as_slice().len() >= SHARED {
            shared_pool().0.push(buffer);
        } else {
            // A thread that is ending has no pool any more, and the buffer is freed.
            let _ = POOL.try_with(|pool| pool.borrow_mut().0.push(buffer));
        }
    }
}

/// Calls `work` with `length` floats of a [`PooledBuffer`], which have arbitrary values.
pub(crate) fn with_scratch<T>(length: usize, work: impl FnOnce(&mut [f32]) -> T) -> T {
    work(PooledBuffer::new(length).as_mut_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back() {
        let address = |length| PooledBuffer::new(length).as_slice().as_ptr();
        std::thread::spawn(move || {
            let (small, large) = (PooledBuffer::new(100), PooledBuffer::new(5000));
            let addresses = [&small, &large].map(|buffer| buffer.as_slice().as_ptr());
            drop((small, large));
            assert_eq!([address(60), address(2000)], addresses, "each to the request that it fits");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_smallest_buffer_that_fits_is_taken() {
        let lengths = [32, 128, 64];
        let mut pool = Pool(lengths.map(AlignedBuffer::zeros).into());
        let mut take = |length| pool.take(length).map(|buffer| buffer.as_slice().len());
        assert_eq!([take(50), take(200), take(20), take(1)], [Some(64), Some(128), Some(32), None]);
    }
}
