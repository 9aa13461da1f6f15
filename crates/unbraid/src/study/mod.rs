//! Studies: many runs made from one description, trained anywhere, brought together in one table. Depends on runs and
//! evaluations; knows a run only through its directory.
//!
//! ```text
//! study.toml       what was asked for                 manifest.jsonl   every run: number, name, hash, configuration
//! runs/NAME/       ordinary run directories           claims/NAME      who is at work on a run
//! slurm/           batch scripts and their output     imported/        tables from elsewhere
//! report.html      written by `unbraid study report`
//! ```

pub mod directory;
pub mod manifest;
pub mod quote;
pub mod slurm;
pub mod table;
pub mod tasks;

pub use directory::StudyDirectory;
pub use manifest::{Entry, Manifest};
pub use table::{Row, Table};
