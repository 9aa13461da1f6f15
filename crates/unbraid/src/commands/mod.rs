//! One file per subcommand. Commands are thin: they turn arguments into checked values, call the library, and print.

pub mod bench;
pub mod compare;
mod configuration;
pub mod data;
pub mod evaluate;
mod finish;
pub mod presets;
pub mod report;
pub mod train;
