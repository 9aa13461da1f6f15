//! One file per subcommand. Commands are thin: they turn arguments into checked values, call the library, and print.

pub mod bench;
pub mod compare;
mod configuration;
pub mod data;
pub mod decode;
pub mod edit;
pub mod encode;
pub mod evaluate;
mod finish;
pub mod interpolate;
pub mod measure;
mod model;
pub mod presets;
pub mod reconstruct;
pub mod report;
pub mod sample;
pub mod study;
pub mod train;
pub mod traverse;
