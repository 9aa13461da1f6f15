//! Requests to stop: training saves a checkpoint and ends when one arrives.

/// A request to stop, named after the signal that usually carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM, or a scheduler's warning.
    Terminate,
}

impl Signal {
    /// Its name in status files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// Where training looks for a request to stop.
pub trait StopSignal: Sync {
    /// The request, once there is one.
    fn received(&self) -> Option<Signal>;

    /// From now on there is something to save: a request must wait until training has seen it.
    fn defer(&self) {}

    /// From now on there is nothing left to save: a request may end the process at once.
    fn resume_default(&self) {}
}

/// Never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct NeverStop;

impl StopSignal for NeverStop {
    fn received(&self) -> Option<Signal> {
        None
    }
}
