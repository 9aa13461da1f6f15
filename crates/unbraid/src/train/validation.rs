//! The loss on images that are held out from training: when it was best, and whether it still improves.

use super::{Row, Trainer};
use crate::config::TrainingConfig;
use crate::error::{Error, Result};
use crate::model::{Draw, NoiseSource, Pass, Posterior, StateTensor, Values};
use crate::objective::{ForwardPass, Losses};
use burn::tensor::Tensor;
use unbraid_data::DataSet;
use unbraid_data::random::Stream;

/// The key of the loss that decides which weights are the best.
const CRITERION: &str = "loss";
/// Its key where weights change during the run: a loss with a growing beta may rise while the model improves.
const FINAL_CRITERION: &str = "final_loss";

/// Names in a checkpoint.
const BEST: &str = "validation.best";
const STEPS: &str = "validation.steps";

/// Held-out images, and how the losses on them have developed.
#[derive(Debug)]
pub(super) struct Validation<'a> {
    data: &'a dyn DataSet,
    every: u64,
    /// Training stops after this many validations in a row without a new best.
    patience: Option<u64>,
    batch_size: usize,
    noise: Noise,
    history: History,
}

/// The course of the criterion so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct History {
    best: f64,
    best_step: u64,
    /// Validations since the best.
    without_improvement: u64,
}

/// The random numbers of a validation. They are the same each time, so that only the weights make a difference.
#[derive(Clone, Copy, Debug)]
struct Noise {
    posterior: NoiseSource,
    pixels: Stream,
    prior: Stream,
}

impl<'a> Validation<'a> {
    fn new(data: &'a dyn DataSet, training: &TrainingConfig, seed: u64) -> Self {
        Self {
            data,
            every: training.validate_every_or_default(),
            patience: training.early_stop.map(|stop| stop.patience),
            batch_size: training.batch_size.min(data.len()),
            noise: Noise {
                posterior: NoiseSource::new(seed, "validation posterior noise"),
                pixels: Stream::new(seed, "validation pixel noise"),
                prior: Stream::new(seed, "validation prior samples"),
            },
            history: History { best: f64::INFINITY, best_step: 0, without_improvement: 0 },
        }
    }

    /// Takes note of the criterion after a step; returns whether it is the best so far.
    fn judge(&mut self, step: u64, criterion: f64) -> bool {
        let improved = criterion < self.history.best;
        if improved {
            self.history = History { best: criterion, best_step: step, without_improvement: 0 };
        } else {
            self.history.without_improvement += 1;
        }
        improved
    }

    fn has_stopped(&self) -> bool {
        self.patience.is_some_and(|patience| self.history.without_improvement >= patience)
    }

    /// The state for a checkpoint.
    pub(super) fn state(&self) -> [StateTensor; 2] {
        let History { best, best_step, without_improvement } = self.history;
        let integer = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        [
            StateTensor { name: BEST.to_owned(), shape: Vec::new(), values: Values::Doubles(vec![best]) },
            StateTensor {
                name: STEPS.to_owned(),
                shape: vec![2],
                values: Values::Integers(vec![integer(best_step), integer(without_improvement)]),
            },
        ]
    }

    /// Restores its own part of a saved state and returns the rest.
    ///
    /// # Errors
    /// If it is missing or of another kind.
    pub(super) fn set_state(&mut self, state: Vec<StateTensor>) -> Result<Vec<StateTensor>> {
        let (own, rest) = state.into_iter().partition(|tensor| [BEST, STEPS].contains(&tensor.name.as_str()));
        let values = crate::model::matched(&self.state(), own)?;
        if let [Values::Doubles(best), Values::Integers(steps)] = &values[..]
            && let ([best], [best_step, without_improvement]) = (&best[..], &steps[..])
        {
            self.history = History {
                best: *best,
                best_step: best_step.unsigned_abs(),
                without_improvement: without_improvement.unsigned_abs(),
            };
        }
        Ok(rest)
    }
}

impl<'a> Trainer<'a> {
    /// Validates on these images while training, as the configuration says: their losses are logged as `validation/*`.
    #[must_use]
    pub fn validate_on(mut self, data: &'a dyn DataSet, training: &TrainingConfig, seed: u64) -> Self {
        self.validation = Some(Validation::new(data, training, seed));
        self
    }

    /// Whether training has ended early, since the loss on held-out images no longer improves.
    pub fn has_stopped_early(&self) -> bool {
        self.validation.as_ref().is_some_and(Validation::has_stopped)
    }

    /// The step with the lowest loss on held-out images; `None` before the first validation.
    pub fn best_step(&self) -> Option<u64> {
        let history = self.validation.as_ref()?.history;
        history.best.is_finite().then_some(history.best_step)
    }

    /// Adds the losses on held-out images to a row, if they are due. Returns whether they are the best so far.
    ///
    /// # Errors
    /// If a loss is not finite, or an image cannot be read.
    pub(super) fn validate(&mut self, row: &mut Row) -> Result<bool> {
        let Some(validation) = self.validation.as_ref().filter(|own| row.step.is_multiple_of(own.every))
        else {
            return Ok(false);
        };
        let (sums, batches) = self.held_out_sums(validation)?;
        let means: Vec<(String, f64)> =
            sums.into_iter().map(|(name, sum)| (name, sum / batches as f64)).collect();
        if let Some((name, value)) = means.iter().find(|(_, value)| !value.is_finite()) {
            let term = format!("validation/{name}");
            return Err(Error::LossNotFinite { step: row.step, term, value: *value, checkpoint: None });
        }
        let value = |wanted: &str| means.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
        let criterion = value(FINAL_CRITERION).or_else(|| value(CRITERION)).unwrap_or(f64::INFINITY);
        row.values.extend(means.into_iter().map(|(name, value)| (format!("validation/{name}"), value)));
        Ok(self.validation.as_mut().is_some_and(|validation| validation.judge(row.step, criterion)))
    }

    /// The sum of every loss over whole batches, and their number. The images of an incomplete batch are left out, since
    /// the estimates of some terms depend on the size of a batch.
    fn held_out_sums(&self, validation: &Validation<'_>) -> Result<(Vec<(String, f64)>, usize)> {
        let batches = validation.data.len() / validation.batch_size;
        let mut sums: Vec<(String, f64)> = Vec::new();
        for batch in 0..batches {
            let losses = self.held_out_losses(validation, batch)?;
            if batch == 0 {
                sums = losses;
            } else {
                sums.iter_mut().zip(losses).for_each(|((_, sum), (_, value))| *sum += value);
            }
        }
        Ok((sums, batches))
    }

    /// The losses on one batch with their names, and the loss with the last values of all schedules if there are any.
    fn held_out_losses(&self, validation: &Validation<'_>, batch: usize) -> Result<Vec<(String, f64)>> {
        let Validation { data, batch_size, noise, .. } = *validation;
        let indices: Vec<usize> = (batch * batch_size..(batch + 1) * batch_size).collect();
        let position = batch as u64;
        let images = self.read(data, &indices, noise.pixels.at(position))?;
        let rows = images.clone();
        let posterior = self.network.encode(images.clone(), &mut Pass::Inference);
        let (sample, images) = self.draw(&posterior, images, (noise.posterior, position));
        let outputs = self.network.decode(sample.joined(), &mut Pass::Inference);
        let reconstruction = self.network.likelihood().negative_log_likelihood(outputs, images);
        let place = (self.step, self.data.len());
        let Posterior { continuous, categorical } = posterior;
        let continuous_sample = sample.continuous.clone();
        let draw = Draw { value: sample.continuous, log_density: sample.log_density };
        let mut forward = ForwardPass::with_posterior(place, &self.prior, continuous, draw, reconstruction);
        forward.categorical = categorical;
        let needs = self.objective.needs();
        if needs.images {
            forward.images = Some(rows.reshape([batch_size, data.shape().values()]));
        }
        if needs.divergence {
            forward.average_divergence();
        }
        if needs.prior_sample {
            forward.prior_sample = Some(self.prior.sample(noise.prior.at(position), batch_size));
        }
        if needs.second_batch {
            // Any batch that is independent of the first will do; its neighbour is held out as well.
            forward.second_sample = Some(self.second_held_out(validation, batch, &continuous_sample)?);
        }
        let Losses { total, reconstruction, kl, terms, .. } = self.objective.evaluate(&forward);
        let mut all = vec![("loss", total), ("reconstruction", reconstruction)];
        all.extend(kl.map(|kl| ("kl", kl)));
        all.extend(self.objective.term_names().zip(terms).filter(|(name, _)| *name != "kl"));
        if self.objective.schedules(0).next().is_some() {
            forward.step = u64::MAX;
            all.push((FINAL_CRITERION, self.objective.evaluate(&forward).total));
        }
        let (names, losses): (Vec<&str>, Vec<Tensor<1>>) = all.into_iter().unzip();
        let values: Vec<f32> = Tensor::cat(losses, 0)
            .inner()
            .into_data()
            .try_into_vec()
            .expect("losses are in single precision");
        Ok(names.into_iter().map(str::to_owned).zip(values.into_iter().map(f64::from)).collect())
    }

    /// Samples of the posteriors of the next batch; of the same one if there is no other.
    fn second_held_out(
        &self,
        validation: &Validation<'_>,
        batch: usize,
        own: &Tensor<2>,
    ) -> Result<Tensor<2>> {
        let Validation { data, batch_size, noise, .. } = *validation;
        let batches = data.len() / batch_size;
        let next = (batch + 1) % batches;
        if next == batch {
            return Ok(own.clone().detach());
        }
        let indices: Vec<usize> = (next * batch_size..(next + 1) * batch_size).collect();
        let images = self.read(data, &indices, noise.pixels.at(next as u64))?;
        let posterior = self.network.encode(images, &mut Pass::Inference);
        Ok(self.noisy(&posterior, (noise.posterior, next as u64)).continuous.detach())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EarlyStop;
    use unbraid_data::progress::Silent;

    #[test]
    fn patience_counts_validations_without_a_new_best() {
        let data = unbraid_data::open(&"pinwheel".parse().unwrap(), &Silent).unwrap();
        let training =
            TrainingConfig { early_stop: Some(EarlyStop { patience: 2 }), ..TrainingConfig::default() };
        let mut validation = Validation::new(data.as_ref(), &training, 0);
        let course = [(1, 5.0), (2, 4.0), (3, 4.0), (4, 3.5), (5, 3.6), (6, 3.7)];
        let found: Vec<(bool, bool)> = course
            .into_iter()
            .map(|(step, loss)| (validation.judge(step, loss), validation.has_stopped()))
            .collect();
        let improved = |stopped| (true, stopped);
        let worse = |stopped| (false, stopped);
        assert_eq!(
            found,
            [improved(false), improved(false), worse(false), improved(false), worse(false), worse(true)]
        );
        assert_eq!((validation.history.best, validation.history.best_step), (3.5, 4));
        let mut restored = Validation::new(data.as_ref(), &training, 0);
        assert!(restored.set_state(validation.state().into()).unwrap().is_empty());
        assert_eq!(restored.history, validation.history);
    }
}
