//! One file per subcommand. Commands are thin: they turn arguments into checked values, call the library, and print.

pub(crate) mod bench;
pub(crate) mod best;
pub(crate) mod cache;
pub(crate) mod compare;
pub(crate) mod config;
mod configuration;
pub(crate) mod data;
pub(crate) mod decode;
pub(crate) mod edit;
pub(crate) mod encode;
pub(crate) mod evaluate;
pub(crate) mod infer;
pub(crate) mod interpolate;
pub(crate) mod measure;
pub(crate) mod metrics;
mod model;
pub(crate) mod name;
pub(crate) mod objectives;
pub(crate) mod presets;
pub(crate) mod prior;
pub(crate) mod reconstruct;
pub(crate) mod report;
pub(crate) mod sample;
pub(crate) mod study;
pub(crate) mod train;
pub(crate) mod traverse;
