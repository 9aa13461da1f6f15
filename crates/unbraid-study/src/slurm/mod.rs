//! Studies on a Slurm cluster: tasks cut into job arrays, a batch script, and what squeue knows of them.
//!
//! Slurm is reached through its programs only (sbatch, scontrol, squeue). The runs themselves do not need it:
//! a task is the command `unbraid study run` on some of them.

mod amounts;
mod arrays;
mod limits;
mod queue;
mod script;
mod submission;

pub use amounts::{WARNING_SECONDS, check_memory, check_time};
pub use arrays::{JobArray, cut};
pub use limits::ClusterLimits;
pub use queue::{QueueState, queued};
pub use script::Resources;
pub use submission::{Submission, lock};
