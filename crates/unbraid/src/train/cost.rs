//! The time of a training step on this machine.

use super::Trainer;
use crate::config::Config;
use crate::device::Device;
use crate::error::Result;
use std::time::{Duration, Instant};
use unbraid_data::{DataSet, Features, Standardised};

/// Steps before the clock starts, to exclude allocations, page faults and frequency changes.
pub const WARM_UP: usize = 5;

/// How long a step is measured.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Steps before the clock starts.
    pub warm_up: usize,
    /// At least so many rounds, of which the best counts.
    pub rounds: usize,
    /// A round has as many steps as fit into this, but at least one.
    pub round: Duration,
    /// There are more rounds until this has passed.
    pub at_least: Duration,
}

/// What a training step costs.
#[derive(Clone, Copy, Debug)]
pub struct StepCost {
    /// Its time.
    pub seconds: f64,
    /// Floating-point operations.
    pub operations: f64,
}

/// Measures the steps that a run with this configuration would do: on a table, with standardised columns.
///
/// # Errors
/// If the data cannot be read or does not fit, or as [`Trainer::new`] and [`Trainer::advance`].
pub fn measure_step(
    config: &Config,
    data: &dyn DataSet,
    device: &Device,
    timing: Timing,
) -> Result<StepCost> {
    let features = data.columns().map(|_| Features::of(data)).transpose()?;
    let seen = Standardised::new(data, features.as_ref());
    let mut trainer = Trainer::new(config, &seen, device)?;
    warm_up(&mut trainer, timing.warm_up)?;
    let seconds = best_round(&mut trainer, timing)?;
    let operations = trainer.network().blueprint().training_operations() as f64;
    Ok(StepCost { seconds, operations: operations * config.training.batch_size as f64 })
}

/// Does some steps that are not measured.
///
/// # Errors
/// As [`Trainer::advance`].
pub fn warm_up(trainer: &mut Trainer<'_>, steps: usize) -> Result {
    (0..steps).try_for_each(|_| trainer.advance().map(drop))
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

/// Seconds per step in the best of several rounds: other programs can only slow a step down.
///
/// # Errors
/// As [`Trainer::advance`].
fn best_round(trainer: &mut Trainer<'_>, timing: Timing) -> Result<f64> {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut rounds = 0;
    while rounds < timing.rounds || start.elapsed() < timing.at_least {
        best = best.min(seconds_per_step(trainer, timing.round)?);
        rounds += 1;
    }
    Ok(best)
}
