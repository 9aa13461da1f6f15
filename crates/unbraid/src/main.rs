//! The `unbraid` binary.
fn main() {}
