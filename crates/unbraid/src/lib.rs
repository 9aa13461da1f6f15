//! unbraid learns disentangled representations with variational autoencoders, measures them, and shows them.
//!
//! The library holds what the command does; `ARCHITECTURE.md` in the repository shows its rooms and how data flows
//! through them.

pub mod apply;
pub mod cli;
pub mod commands;
pub mod config;
pub mod evaluate;
pub mod failure;
pub mod files;
pub mod model;
pub mod objective;
pub mod optimizer;
pub mod prior;
pub mod report;
pub mod run;
pub mod study;
pub mod terminal;
pub mod train;

pub use run::Run;
