#![doc = include_str!("../README.md")]

pub mod analysis;
mod cost;
mod definition;
mod directory;
mod edit;
mod error;
pub mod lease;
mod manifest;
mod plan;
pub mod presets;
pub mod quote;
mod ranking;
mod run_status;
mod runner;
mod selection;
pub mod slurm;
mod table;
pub mod tasks;
mod udr;

pub use cost::{CostClass, StepTime};
pub use definition::{Definition, DefinitionError, Method};
pub use directory::StudyDirectory;
pub use error::{Error, ManifestError, Result};
pub use manifest::{Entry, Manifest};
pub use plan::{OutdatedManifest, Plan, RunProgress};
pub use ranking::{Criterion, RankedRun, Ranking, rank, runs_at};
pub use run_status::{RunStatus, Stage};
pub use runner::{
    Counts, EndedRun, InProgress, Message, RunEnd, Runner, StopRequest, StopRequests, StudyObserver, Tally,
    WorkerCommand,
};
pub use selection::Selection;
pub use table::{ImportError, Results, Row, Spread, Table, TableFormat, imported};
pub use udr::{StudyUdr, UdrLimits, study_udr};
