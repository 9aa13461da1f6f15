//! Progress of long operations. The library itself never prints.

/// Receives progress, for instance to show a bar on a terminal.
pub trait Progress: Sync {
    /// An operation on `total` items begins.
    fn start(&self, what: &str, total: u64);
    /// `items` more items are done. Called from any thread.
    fn advance(&self, items: u64);
    /// The current operation is finished.
    fn finish(&self);
    /// Reports something that is worth knowing but is not an error.
    fn note(&self, message: &str);
}

/// Ignores all progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _items: u64) {}
    fn finish(&self) {}
    fn note(&self, _message: &str) {}
}
