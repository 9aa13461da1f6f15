//! The run directory: all files that a run writes, and how it is opened again. Depends on training.
//!
//! [`Session`] trains, scores and reports a run; [`Run`] is a trained run, ready for use.
//!
//! ```text
//! config.toml      resolved, repeats the run          status.json    state, step, heartbeat, error
//! meta.json        version, host, data hash, times    run.log        events with times
//! metrics.jsonl    one object for each logged step    tensorboard/   the same for TensorBoard
//! checkpoints/     last.safetensors, best.safetensors, step-*.safetensors, and the optimiser's state of the last
//! scores.json, codes.npz        written by an evaluation
//! units.toml                    names given to latent units
//! features.json                 columns of the table that the run was trained on, and how they are standardised
//! report.html, figures/         written by a report
//! ```

mod checkpoint;
mod clock;
mod crc32c;
mod data;
mod directory;
mod features;
mod imported;
mod init;
mod job;
mod journal;
mod locate;
mod log;
mod meta;
mod metrics;
mod names;
mod paths;
mod prior_range;
mod session;
mod signal;
mod status;
mod tensorboard;
mod trained;

pub use clock::{now, timestamp};
pub use data::{RunData, test_part};
pub use directory::{RunDirectory, Start};
pub(crate) use imported::ImportedWeights;
pub use meta::{Meta, Provenance, host};
pub use metrics::{last_row, loss_rank, unit_of_loss};
pub use names::{NameError, UnitNames};
pub use paths::RunPaths;
pub use session::{Reporter, Session};
pub use signal::{NeverStop, Signal, StopSignal};
pub use status::{State, Status};
pub(crate) use trained::divergence_of_images;
pub use trained::{OpenOptions, Run};
