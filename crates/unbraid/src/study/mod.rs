//! Studies: many runs made from one description, trained anywhere, brought together in one table. Depends on runs and
//! evaluations; knows a run only through its directory.
//!
//! ```text
//! study.toml       what was asked for                 manifest.jsonl   every run: number, name, hash, configuration
//! runs/NAME/       ordinary run directories           claims/NAME      who is at work on a run
//! slurm/           batch scripts and their output     logs/NAME.log    what the process of a run said, if anything
//! imported/        tables from elsewhere              report.html      written by `unbraid study report`
//! ```

pub mod claim;
pub mod directory;
pub mod heart;
pub mod holder;
pub mod manifest;
pub mod quote;
pub mod runner;
pub mod selection;
pub mod slurm;
pub mod standing;
pub mod table;
pub mod tasks;
pub mod view;
pub mod worker;

pub use claim::Claims;
pub use directory::StudyDirectory;
pub use manifest::{Entry, Manifest};
pub use selection::Selection;
pub use standing::{Stage, Standing};
pub use table::{Row, Table};
