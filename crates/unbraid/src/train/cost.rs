//! What a step costs on this machine.

use super::Trainer;
use crate::error::Result;
use std::time::{Duration, Instant};

/// Steps before the clock starts: allocations, page faults, the processor's frequency.
const WARM_UP: usize = 5;

/// Does some steps that nobody should measure.
///
/// # Errors
/// As [`Trainer::advance`].
pub fn warm_up(trainer: &mut Trainer<'_>) -> Result {
    (0..WARM_UP).try_for_each(|_| trainer.advance().map(drop))
}

/// Seconds of one step: the mean over as many as fill `at_least`, and one at the least.
///
/// # Errors
/// As [`Trainer::advance`].
pub fn seconds_per_step(trainer: &mut Trainer<'_>, at_least: Duration) -> Result<f64> {
    let start = Instant::now();
    let mut steps = 0_u32;
    loop {
        trainer.advance()?;
        steps += 1;
        let elapsed = start.elapsed();
        if elapsed >= at_least {
            return Ok(elapsed.as_secs_f64() / f64::from(steps));
        }
    }
}

/// Seconds of the fastest of as many steps as fill `at_least`, and of two at the least: other programs only ever slow one
/// down.
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
