//! Studies: many runs made from one description, trained anywhere, brought together in one table. Depends on runs and
//! evaluations; knows a run only through its directory.
//!
//! ```text
//! study.toml       what was asked for                 manifest.jsonl   every run: number, name, hash, configuration
//! runs/NAME/       ordinary run directories           claims/NAME      who is at work on a run
//! slurm/           batch scripts and their output     logs/NAME.log    what the process of a run said, if anything
//! imported/        tables from elsewhere              report.html      written by `unbraid study report`
//! ```

pub mod analysis;
mod axes;
pub mod claim;
pub mod columns;
pub mod definition;
pub mod directory;
mod edit;
pub mod heart;
pub mod holder;
pub mod imported;
mod imported_header;
pub mod manifest;
mod naming;
pub mod plan;
mod points;
pub mod presets;
pub mod quote;
pub mod results;
pub mod runner;
pub mod selection;
pub mod slurm;
pub mod standing;
pub mod table;
pub mod table_files;
pub mod tasks;
pub mod timing;
pub mod udr;
pub mod view;
pub mod worker;

pub use claim::Claims;
pub use definition::Definition;
pub use directory::StudyDirectory;
pub use manifest::{Entry, Manifest};
pub use plan::Plan;
pub use results::Results;
pub use selection::Selection;
pub use standing::{Stage, Standing};
pub use table::{Row, Spread, Table};
