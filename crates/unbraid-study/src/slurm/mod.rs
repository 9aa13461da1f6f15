//! Studies on a Slurm cluster: tasks cut into job arrays, a batch script, and what squeue knows of them.
//!
//! Slurm is reached through its programs only (sbatch, scontrol, squeue). The runs themselves need it for nothing: a task
//! is `unbraid study run` on some of them.

mod amounts;
mod arrays;
mod limits;
mod queue;
mod script;
mod submission;

pub use amounts::{WARNING_SECONDS, check_memory, check_time};
pub use arrays::{Array, cut};
pub use limits::Limits;
pub use queue::{Queued, queued};
pub use script::{Resources, Script};
pub use submission::{Submission, lock};
