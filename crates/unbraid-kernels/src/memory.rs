//! What mimalloc does with freed memory.

/// The option `purge_delay`, which has no name in `libmimalloc-sys`.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// How long freed memory is kept at least, in milliseconds.
const KEPT: core::ffi::c_long = 10_000;

/// Keeps freed memory for ten seconds, instead of one, before the system gets it back.
///
/// Every training step frees all of its activations. Whatever is free when the delay has passed is given back at once, and is
/// mapped and cleared by the system when the next step wants it again: a tenth of the time of a step. For programs whose
/// allocator is mimalloc; to be called once, before there are other threads. The variable `MIMALLOC_PURGE_DELAY` has the last
/// word.
pub fn keep_freed_memory() {
    if std::env::var_os("MIMALLOC_PURGE_DELAY").is_none() {
        // SAFETY: sets a number that allocations read; no other thread sets it.
        unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, KEPT) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the default that mimalloc documents for this option, and by what it says afterwards.
    #[test]
    fn the_option_is_the_delay() {
        // SAFETY: reads a number.
        let value = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert_eq!(value(), 1000);
        keep_freed_memory();
        assert_eq!(value(), KEPT);
    }
}
