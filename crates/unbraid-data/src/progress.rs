//! How long work tells whoever waits for it; the library itself never prints.

/// Something that shows progress, such as a bar on a terminal.
pub trait Progress: Sync {
    /// Work on `total` items begins.
    fn start(&self, what: &str, total: u64);
    /// `items` more are done. May be called from any thread.
    fn advance(&self, items: u64);
    /// The work that was started last is over.
    fn finish(&self);
    /// Something worth knowing that is no error.
    fn note(&self, message: &str);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _items: u64) {}
    fn finish(&self) {}
    fn note(&self, _message: &str) {}
}
