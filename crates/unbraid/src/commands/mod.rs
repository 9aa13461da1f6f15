//! One file per subcommand. Commands are thin: they turn arguments into checked values, call the library, and print.

pub mod data;
pub mod evaluate;
