//! Requests to stop a study while it runs.

use unbraid::run::{NeverStop, Signal, StopSignal};

/// Where a runner looks for requests to stop, of which there may be several: the first one saves and stops the runs in
/// progress, a second one that insists ends them at once.
pub trait StopRequests: StopSignal {
    /// The latest request since the last call, if there was one.
    fn take(&self) -> Option<StopRequest>;
}

/// A request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopRequest {
    /// What it counts as.
    pub signal: Signal,
    /// Whether a second one like it means "at once". That of a scheduler's warning does not: it may come on top of the
    /// SIGTERM that the scheduler sends to every process of a job.
    pub insists: bool,
}

impl StopRequests for NeverStop {
    fn take(&self) -> Option<StopRequest> {
        None
    }
}
