//! The time of a training step on this machine.

use super::Trainer;
use crate::error::Result;
use std::time::{Duration, Instant};

/// Steps before the clock starts, to exclude allocations, page faults and frequency changes.
const WARM_UP: usize = 5;

/// Does the warm-up steps, which are not measured.
///
/// # Errors
/// As [`Trainer::advance`].
pub fn warm_up(trainer: &mut Trainer<'_>) -> Result {
    (0..WARM_UP).try_for_each(|_| trainer.advance().map(drop))
}

/// Seconds per step: the mean over as many steps as fit into `at_least`, but at least one.
///
/// # Errors
/// As [`Trainer::advance`].
pub fn seconds_per_step(trainer: &mut Trainer<'_>, at_least: Duration) -> Result<f64> {
    let start = Instant::now();
    let mut steps = 0_u32;
    loop {
        trainer.take_step()?;
        steps += 1;
        let is_last = start.elapsed() >= at_least;
        // As in training: a device other than the CPU is waited for now and then.
        if is_last || trainer.waiting.is_due() {
            trainer.read_losses()?;
        }
        if is_last {
            return Ok(start.elapsed().as_secs_f64() / f64::from(steps));
        }
    }
}

/// Seconds of the fastest of as many steps as fit into `at_least`, but at least two. Other programs can only slow a
/// step down.
///
/// # Errors
/// As [`Trainer::advance`].
pub fn fastest_step(trainer: &mut Trainer<'_>, at_least: Duration) -> Result<f64> {
    let start = Instant::now();
    let mut fastest = seconds_per_step(trainer, Duration::ZERO)?;
    loop {
        fastest = fastest.min(seconds_per_step(trainer, Duration::ZERO)?);
        if start.elapsed() >= at_least {
            return Ok(fastest);
        }
    }
}
