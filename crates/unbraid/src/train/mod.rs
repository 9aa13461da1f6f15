//! Training: the loop, to be read from top to bottom, and its parts. Depends on data, model, prior and objective. It
//! reports to a [`Journal`], and so is independent of files and terminals.

mod batches;
pub mod cost;
mod measurements;
mod memory;
mod validation;
mod waiting;

pub use batches::Batches;
pub use measurements::{Means, Row};
pub use memory::check_memory;

use crate::config::{Config, ObjectiveConfig};
use crate::device::{Device, is_cpu};
use crate::error::{Error, Result};
use crate::model::principal_components::{
    Fit, PrincipalComponents, independent_components, probabilistic_pca,
};
use crate::model::{
    Draw, NamedParameter, Network, NoiseSource, Pass, Posterior, Sample, StateTensor, upload,
};
use crate::objective::{ForwardPass, Latent, Losses, Objective, Setting};
use crate::optimizer::Adam;
use crate::prior::{Prior, PriorFamily};
use burn::tensor::Tensor;
use unbraid_data::DataSet;
use unbraid_data::random::{Position, Stream};
use unbraid_data::sampling::uniform;
use unbraid_kernels::with_threads_awake;
use validation::Validation;
use waiting::WaitingLosses;

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps are done.
    Complete,
    /// The loss on held-out images no longer improves; everything is saved.
    StoppedEarly,
    /// The journal asked to stop; everything is saved.
    Interrupted,
}

/// Keeps the record of training: a run directory, or whatever a caller provides.
pub trait Journal {
    /// A step is done; called after every one. On a device other than the CPU, the loss may be that of an earlier step, since to read
    /// each would make the device wait.
    fn step(&mut self, step: u64, loss: f64) -> Result;

    /// The means since the last row.
    fn row(&mut self, row: &Row) -> Result;

    /// The state to resume from. `snapshot` says whether to keep it in addition to later ones.
    fn checkpoint(&mut self, trainer: &Trainer<'_>, snapshot: bool) -> Result;

    /// The weights with the lowest loss so far on held-out images.
    fn best(&mut self, _trainer: &Trainer<'_>) -> Result {
        Ok(())
    }

    /// Whether to save and stop.
    fn should_stop(&self) -> bool;
}

/// The state of training, and the data.
#[derive(Debug)]
pub struct Trainer<'a> {
    data: &'a dyn DataSet,
    network: Network,
    prior: Prior,
    objective: Objective,
    optimizer: Adam,
    /// What to fit in one step instead of gradient descent; for `pca` and `ica`.
    closed_form: Option<Fit>,
    /// Whether the principal components are rotated to independent ones; for `ica`.
    rotates: bool,
    batches: Batches,
    streams: Streams,
    temperature: f64,
    means: Means,
    waiting: WaitingLosses,
    validation: Option<Validation<'a>>,
    step: u64,
}

/// Replacements of parts that a configuration describes.
#[derive(Debug, Default)]
pub struct Parts {
    /// The objective; [`Objective::from_terms`] makes one from any terms.
    pub objective: Option<Objective>,
    /// The family of the prior.
    pub prior: Option<Box<dyn PriorFamily>>,
}

/// The random streams of a step, other than the order of the images.
#[derive(Clone, Copy, Debug)]
struct Streams {
    posterior: NoiseSource,
    pixels: Stream,
    prior: Stream,
    second_batch: Stream,
    second_posterior: NoiseSource,
    second_pixels: Stream,
}

impl Streams {
    fn new(seed: u64) -> Self {
        Self {
            posterior: NoiseSource::new(seed, "posterior noise"),
            pixels: Stream::new(seed, "pixel noise"),
            prior: Stream::new(seed, "prior samples"),
            second_batch: Stream::new(seed, "second batches"),
            second_posterior: NoiseSource::new(seed, "second posterior noise"),
            second_pixels: Stream::new(seed, "second pixel noise"),
        }
    }
}

fn closed_form(config: &Config) -> Option<Fit> {
    let images = config.objective.closed_form()?;
    Some(Fit { components: config.model.latents.continuous, images, tolerance: 1e-7, centred: true })
}

/// Trains until `steps` steps are done, from the trainer's current step. On a device other than the CPU, losses are read when a row
/// or a checkpoint is due.
///
/// # Errors
/// If a loss is not finite, an image cannot be read, or the journal cannot be written.
pub fn train(
    trainer: &mut Trainer<'_>,
    config: &Config,
    steps: u64,
    journal: &mut dyn Journal,
) -> Result<Ending> {
    let training = &config.training;
    while trainer.step < steps && !trainer.has_stopped_early() {
        trainer.take_step()?;
        let step = trainer.step;
        let is_row = step.is_multiple_of(training.log_every);
        if is_row || trainer.waiting.is_due() {
            trainer.read_losses()?;
        }
        journal.step(step, trainer.waiting.latest())?;

        if is_row {
            let mut row = trainer.means.take(step);
            let is_best = trainer.validate(&mut row)?;
            journal.row(&row)?;
            if is_best {
                journal.best(trainer)?;
            }
        }
        let last = step == steps || trainer.has_stopped_early();
        let snapshot = step.is_multiple_of(training.checkpoint_every);
        let stop = !last && journal.should_stop();
        if last || snapshot || stop {
            trainer.read_losses()?;
            journal.checkpoint(trainer, snapshot)?;
        }
        if stop {
            return Ok(Ending::Interrupted);
        }
    }
    // A last row of fewer steps than the others. It is not in the checkpoint, so that a run that is extended completes it
    // like one that was planned to be longer.
    if let Some(row) = trainer.means.in_progress(trainer.step) {
        journal.row(&row)?;
    }
    Ok(if trainer.has_stopped_early() { Ending::StoppedEarly } else { Ending::Complete })
}

impl<'a> Trainer<'a> {
    /// A trainer before its first step.
    ///
    /// # Errors
    /// If the architecture does not fit the images of the data, or the prior cannot be computed from them.
    pub fn new(config: &Config, data: &'a dyn DataSet, device: &Device) -> Result<Self> {
        Self::with_parts(config, data, device, Parts::default())
    }

    /// As [`Trainer::new`], with the caller's own objective or prior instead of the configured one.
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn with_parts(config: &Config, data: &'a dyn DataSet, device: &Device, parts: Parts) -> Result<Self> {
        check_memory(config, data.shape())?;
        let device = device.tensor_device().autodiff();
        let network = Network::new(&config.model, data.shape(), config.seed, &device)?;
        let units = config.model.latents.continuous;
        let prior = match parts.prior {
            Some(family) => Prior::from_family(family, units, &device),
            None => Prior::new(&config.model.prior, units, Some(data), &device)?,
        };
        let initializer = config.model.initializer;
        let setting =
            Setting { seed: config.seed, units, pixels: data.shape().values(), initializer, device };
        let is_configured = parts.objective.is_none();
        let objective = parts.objective.unwrap_or_else(|| Objective::new(&config.objective, &setting));
        Ok(Self {
            optimizer: Adam::new(&config.optimizer, &[network.parameters(), prior.parameters()].concat()),
            closed_form: closed_form(config).filter(|_| is_configured),
            rotates: matches!(config.objective, ObjectiveConfig::Ica { .. }),
            batches: Batches::new(&config.training, data.len(), config.seed),
            streams: Streams::new(config.seed),
            temperature: config.model.latents.temperature_or_default(),
            means: Means::new(&objective, &config.model),
            waiting: WaitingLosses::default(),
            data,
            network,
            prior,
            objective,
            validation: None,
            step: 0,
        })
    }

    /// One step of gradient descent; returns the loss before it. For `pca` and `ica`, the only step is the fit, and the loss is
    /// the one after it.
    ///
    /// # Errors
    /// If the loss is not finite, in which case the weights of the network are unchanged on the CPU, or an image cannot be read.
    pub fn advance(&mut self) -> Result<f64> {
        self.take_step()?;
        self.read_losses()?;
        Ok(self.waiting.latest())
    }

    /// A step whose losses, on a device other than the CPU, wait there for [`Trainer::read_losses`].
    fn take_step(&mut self) -> Result {
        if is_cpu(self.network.device()) {
            with_threads_awake(|| self.compute_step())
        } else {
            self.compute_step()
        }
    }

    /// The step itself.
    fn compute_step(&mut self) -> Result {
        // Every random number depends on the seed and the step only, so that a resumed run draws the same ones.
        let step = self.step;
        self.fit_at_once()?;
        let indices = self.batches.at(step).to_vec();
        let images = self.read(self.data, &indices, self.streams.pixels.at(step))?;
        let (batch, rows) = (images.dims()[0], images.clone());

        let mut statistics = Vec::new();
        let mut pass = Pass::Training(&mut statistics);
        let posterior = self.network.encode(images.clone(), &mut pass);
        let (sample, images) = self.draw(&posterior, images, (self.streams.posterior, step));
        let outputs = self.network.decode(sample.joined(), &mut pass);
        let reconstruction = self.network.likelihood().negative_log_likelihood(outputs, images);

        let place = (step, self.data.len());
        let Posterior { continuous, categorical } = posterior;
        let draw = Draw { value: sample.continuous, log_density: sample.log_density };
        let mut forward = ForwardPass::with_posterior(place, &self.prior, continuous, draw, reconstruction);
        forward.categorical = categorical;
        let needs = self.objective.needs();
        if needs.images {
            forward.images = Some(rows.reshape([batch, self.data.shape().values()]));
        }
        if needs.divergence {
            forward.average_divergence();
        }
        if needs.prior_sample {
            forward.prior_sample = Some(self.prior.sample(self.streams.prior.at(step), batch));
        }
        if needs.second_batch {
            forward.second_sample = Some(self.second_sample(batch)?);
        }
        let losses = self.objective.evaluate(&forward);
        let mut gradients = losses.total.backward();
        let auxiliary_losses = self.objective.update(&forward);
        // Its handles to weights would have them copied when they are updated.
        drop(forward);
        self.measure(losses, auxiliary_losses)?;

        if self.closed_form.is_none() {
            let mut parameters = self.network.parameters_mut();
            parameters.extend(self.prior.parameters_mut());
            self.optimizer.step(parameters, &mut gradients);
        }
        self.network.absorb(&statistics);
        self.step += 1;
        Ok(())
    }

    /// Sets the weights of an objective that has a closed form.
    fn fit_at_once(&mut self) -> Result {
        let Some(fit) = self.closed_form else { return Ok(()) };
        let shape = self.data.shape();
        let weights = if self.rotates {
            independent_components(self.data, fit, shape)?
        } else {
            probabilistic_pca(&PrincipalComponents::fit(self.data, fit)?, fit.components, shape)
        };
        self.network.set_state(weights).expect("the configuration was checked to have a linear network");
        Ok(())
    }

    /// Images by index, `[batch, height, width, channels]`.
    fn read(&self, data: &dyn DataSet, indices: &[usize], noise: Position) -> Result<Tensor<4>> {
        let shape = data.shape();
        let mut pixels = vec![0.0; indices.len() * shape.values()];
        data.write_batch_parallel(indices, noise, &mut pixels)?;
        let dimensions = [indices.len(), shape.height, shape.width, shape.channels];
        Ok(upload(pixels, dimensions, self.network.device()))
    }

    /// The latent values that the objective decodes, and the target image of each row.
    fn draw(
        &self,
        posterior: &Posterior,
        images: Tensor<4>,
        noise: (NoiseSource, u64),
    ) -> (Sample, Tensor<4>) {
        match self.objective.latent() {
            Latent::Mean => (posterior.mean(), images),
            Latent::Samples(1) => (self.noisy(posterior, noise), images),
            Latent::Samples(samples) => {
                let posterior = posterior.repeated(samples);
                (self.noisy(&posterior, noise), images.repeat_dim(0, samples))
            }
        }
    }

    /// One sample of each posterior, with the noise at a position.
    fn noisy(&self, posterior: &Posterior, (noise, position): (NoiseSource, u64)) -> Sample {
        posterior.sample(noise.at(position, posterior), self.temperature)
    }

    /// Samples of the posteriors of a second batch, drawn with replacement and independently of the first. The network
    /// is not trained on it: it contributes neither gradients nor statistics of batch normalisation.
    fn second_sample(&self, batch: usize) -> Result<Tensor<2>> {
        let mut indices = vec![0; batch];
        uniform(self.data.len(), &mut self.streams.second_batch.at(self.step).generator(), &mut indices);
        let images = self.read(self.data, &indices, self.streams.second_pixels.at(self.step))?;
        let posterior = self.network.encode(images, &mut Pass::Training(&mut Vec::new()));
        Ok(self.noisy(&posterior, (self.streams.second_posterior, self.step)).continuous.detach())
    }

    /// Puts the losses in line to be added to the means of the row in progress. On the CPU, that is done at once, so that a loss which
    /// is not finite does not spoil the weights.
    fn measure(&mut self, losses: Losses, auxiliary_losses: Vec<Tensor<1>>) -> Result {
        let Losses { total, reconstruction, kl, terms, kl_of_units } = losses;
        let terms = self.objective.term_names().zip(terms).filter(|(name, _)| *name != "kl");
        let mut all = vec![total, reconstruction];
        all.extend(kl);
        all.extend(terms.map(|(_, value)| value));
        all.extend(auxiliary_losses);
        let scalars = all.len();
        all.extend(kl_of_units);
        // A single tensor for all of them: on a device other than the CPU, each read would wait for the queue.
        let all = all.into_iter().map(Tensor::inner).collect();
        self.waiting.push(Tensor::cat(all, 0), scalars);
        if is_cpu(self.network.device()) { self.add_losses(self.step + 1) } else { Ok(()) }
    }

    /// Reads the losses that wait on the device.
    fn read_losses(&mut self) -> Result {
        self.add_losses(self.step)
    }

    /// Adds the losses that wait to the means of the row in progress; `newest` is the number of the last of their steps.
    fn add_losses(&mut self, newest: u64) -> Result {
        let all = self.waiting.read();
        let oldest = newest + 1 - all.len() as u64;
        for (step, (mut values, scalars)) in (oldest..).zip(all) {
            // Of the number of steps that were done before.
            values.splice(scalars..scalars, self.objective.schedules(step - 1).map(|(_, value)| value));
            if let Err((term, value)) = self.means.add(&values) {
                return Err(Error::LossNotFinite { step, term, value, checkpoint: None });
            }
            self.waiting.set_latest(values[0]);
        }
        Ok(())
    }

    /// The model in its current state.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Its prior.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// All trained parameters: the network's, then the prior's.
    pub fn parameters(&self) -> Vec<&dyn NamedParameter> {
        [self.network.parameters(), self.prior.parameters()].concat()
    }

    /// The state dict of the model: the network's tensors, then the prior's.
    pub fn weights(&self) -> Vec<StateTensor> {
        [self.network.state(), self.prior.state()].concat()
    }

    /// Number of steps done.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// What a resumed run needs besides the weights: the optimiser's moments, the state of terms, and the row in
    /// progress.
    pub fn state(&self) -> Vec<StateTensor> {
        debug_assert!(self.waiting.is_empty(), "all losses are in the means");
        let mut state = self.optimizer.state(&self.parameters());
        state.extend(self.objective.state());
        state.extend(self.means.state());
        state.extend(self.validation.iter().flat_map(Validation::state));
        state
    }

    /// Replaces the initial weights with those of a state dict, as [`Trainer::weights`] gives it. Everything else is as before:
    /// the optimiser knows nothing of the steps that led to them.
    ///
    /// # Errors
    /// If they belong to another model.
    pub fn start_from(&mut self, weights: Vec<StateTensor>) -> Result {
        let rest = self.prior.set_state(weights)?;
        self.network.set_state(rest)
    }

    /// Restores the state that was saved as `weights` and `state` after `step` steps.
    ///
    /// # Errors
    /// If they belong to another model or optimiser.
    pub fn restore(&mut self, step: u64, weights: Vec<StateTensor>, state: Vec<StateTensor>) -> Result {
        let rest = self.prior.set_state(weights)?;
        self.network.set_state(rest)?;
        let parameters = [self.network.parameters(), self.prior.parameters()].concat();
        let rest = self.optimizer.set_state(&parameters, state)?;
        let mut rest = self.objective.set_state(rest)?;
        if let Some(validation) = &mut self.validation {
            rest = validation.set_state(rest)?;
        }
        self.means.set_state(rest)?;
        self.optimizer.set_steps_done(step);
        self.step = step;
        Ok(())
    }
}
