//! The run directory: everything that a run writes, and how it is opened again. Depends on training and what it rests on.
//!
//! [`RunDirectory`] is the place that a run being trained owns, [`Run`] what it has learned, to be used.
//!
//! ```text
//! config.toml      resolved, repeats the run          status.json    state, step, heartbeat, error
//! meta.json        version, host, data hash, times    run.log        what happened, with times
//! metrics.jsonl    one object for each logged step    tensorboard/   the same for TensorBoard
//! checkpoints/     last.safetensors, step-*.safetensors, and the optimiser's state of the last
//! scores.json, codes.npz        written by an evaluation
//! report.html, figures/         written by a report
//! ```

mod checkpoint;
mod clock;
mod crc32c;
mod directory;
mod interrupt;
mod journal;
mod log;
mod meta;
mod metrics;
mod prior_range;
mod status;
mod tensorboard;
mod trained;

pub use checkpoint::{Checkpoint, Position, load, save};
pub(crate) use clock::{now, timestamp};
pub use directory::{RunDirectory, Start};
pub(crate) use interrupt::name as signal_name;
pub use interrupt::{Interrupt, Noted};
pub use journal::{FileJournal, Watcher};
pub use meta::Meta;
pub(crate) use meta::host;
pub use metrics::{last_row, loss_rank, unit_of_loss};
pub use status::{State, Status};
pub use trained::Run;
