//! Training: one file to read from top to bottom, and its parts. Depends on data, model and objective; what it has to
//! say goes to a [`Journal`], so that it knows nothing of files or terminals.

mod adam;
mod batches;
pub mod cost;
mod measurements;

pub use adam::Adam;
pub use batches::Batches;
pub use measurements::{Means, Row};

use crate::config::Config;
use crate::failure::Failure;
use crate::model::{ModelError, Network, Pass, StateTensor};
use crate::objective::{Evidence, Losses, Objective};
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use std::fmt;
use unbraid_data::random::{Moment, Stream};
use unbraid_data::{DataError, DataSet};

/// Why training stopped before its end.
#[derive(Debug)]
pub enum TrainError {
    /// A loss is not a finite number any more.
    NotFinite {
        /// The step that gave it.
        step: u64,
        /// Which of the losses.
        term: String,
        /// NaN or an infinity.
        value: f64,
    },
    /// An image could not be read.
    Data(DataError),
    /// The journal could not be written.
    Journal(Failure),
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { step, term, value } => write!(f, "step {step}: the term `{term}` is {value}"),
            Self::Data(error) => error.fmt(f),
            Self::Journal(failure) => failure.fmt(f),
        }
    }
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps are done.
    Complete,
    /// The journal asked to stop; everything is saved.
    Interrupted,
}

/// Whoever keeps the record of a run.
pub trait Journal {
    /// A step is done; called after every one.
    fn step(&mut self, step: u64, loss: f64) -> Result<(), Failure>;

    /// The means since the last row.
    fn row(&mut self, row: &Row) -> Result<(), Failure>;

    /// The state to go on from. `snapshot` says whether to keep it beside later ones.
    fn checkpoint(&mut self, trainer: &Trainer<'_>, snapshot: bool) -> Result<(), Failure>;

    /// Whether to save and stop.
    fn should_stop(&self) -> bool;
}

/// Everything that changes during training, and the data it learns from.
#[derive(Debug)]
pub struct Trainer<'a> {
    data: &'a dyn DataSet,
    network: Network,
    objective: Objective,
    optimizer: Adam,
    batches: Batches,
    noise: Stream,
    pixel_noise: Stream,
    means: Means,
    step: u64,
}

/// Trains until `steps` steps are done, from wherever the trainer is.
///
/// # Errors
/// If a loss is not finite, an image cannot be read, or the journal cannot be written.
pub fn train(
    trainer: &mut Trainer<'_>,
    config: &Config,
    steps: u64,
    journal: &mut dyn Journal,
) -> Result<Ending, TrainError> {
    let training = &config.training;
    while trainer.step < steps {
        let loss = trainer.advance()?;
        let step = trainer.step;
        journal.step(step, loss).map_err(TrainError::Journal)?;

        let last = step == steps;
        if last || step.is_multiple_of(training.log_every) {
            let row = trainer.means.take(step);
            journal.row(&row).map_err(TrainError::Journal)?;
        }
        let snapshot = step.is_multiple_of(training.checkpoint_every);
        let stop = !last && journal.should_stop();
        if last || snapshot || stop {
            journal.checkpoint(trainer, snapshot).map_err(TrainError::Journal)?;
        }
        if stop {
            return Ok(Ending::Interrupted);
        }
    }
    Ok(Ending::Complete)
}

impl<'a> Trainer<'a> {
    /// A trainer before its first step.
    ///
    /// # Errors
    /// If the architecture cannot take the images of the data.
    pub fn new(config: &Config, data: &'a dyn DataSet, device: &Device) -> Result<Self, ModelError> {
        let network = Network::new(&config.model, data.shape(), config.seed, &device.clone().autodiff())?;
        let objective = Objective::new(&config.objective);
        Ok(Self {
            optimizer: Adam::new(&config.optimizer, &network.parameters()),
            batches: Batches::new(&config.training, data.len(), config.seed),
            noise: Stream::new(config.seed, "posterior noise"),
            pixel_noise: Stream::new(config.seed, "pixel noise"),
            means: Means::new(&objective, config.model.latents.continuous),
            data,
            network,
            objective,
            step: 0,
        })
    }

    /// One step of gradient descent; gives the loss before it.
    ///
    /// # Errors
    /// If the loss is not finite, in which case the weights are left as they were, or an image cannot be read.
    pub fn advance(&mut self) -> Result<f64, TrainError> {
        // Every random number is a function of the seed and the step, so that a resumed run draws the same ones.
        let images = self.batch(self.step).map_err(TrainError::Data)?;
        let noise = self.noise(self.step, images.dims()[0]);

        let mut statistics = Vec::new();
        let mut pass = Pass::Training(&mut statistics);
        let posterior = self.network.encode(images.clone(), &mut pass);
        let sample = posterior.sample(noise);
        let outputs = self.network.decode(sample.clone(), &mut pass);

        let reconstruction = self.network.likelihood().negative_log_likelihood(outputs, images);
        let losses = self.objective.evaluate(reconstruction, &Evidence::new(posterior, sample));
        let mut gradients = losses.total.backward();
        let loss = self.measure(losses)?;

        self.optimizer.step(self.network.parameters_mut(), &mut gradients);
        self.network.absorb(&statistics);
        self.step += 1;
        Ok(loss)
    }

    /// The images of a step, `[batch, height, width, channels]`.
    fn batch(&mut self, step: u64) -> Result<Tensor<4>, DataError> {
        let indices = self.batches.at(step);
        let shape = self.data.shape();
        let mut pixels = vec![0.0; indices.len() * shape.values()];
        self.data.write_batch_parallel(indices, self.pixel_noise.at(step), &mut pixels)?;
        let dimensions = [indices.len(), shape.height, shape.width, shape.channels];
        Ok(Tensor::from_data(TensorData::new(pixels, dimensions), self.network.device()))
    }

    /// Standard normal numbers for the posterior samples of a step, `[batch, units]`.
    fn noise(&self, step: u64, batch: usize) -> Tensor<2> {
        let units = self.network.blueprint().units;
        let values = normal(self.noise.at(step), batch * units);
        Tensor::from_data(TensorData::new(values, [batch, units]), self.network.device())
    }

    /// Adds the losses to the means of the row in progress; gives the total.
    fn measure(&mut self, losses: Losses) -> Result<f64, TrainError> {
        let Losses { total, reconstruction, terms, divergence } = losses;
        // One read for all of them: on a device other than the CPU, each would wait for the queue.
        let all: Vec<Tensor<1>> =
            [total, reconstruction].into_iter().chain(terms).chain([divergence]).collect();
        let values: Vec<f32> =
            Tensor::cat(all, 0).inner().into_data().try_into_vec().expect("losses are in single precision");
        match self.means.add(&values) {
            Ok(()) => Ok(f64::from(values[0])),
            Err((term, value)) => Err(TrainError::NotFinite { step: self.step + 1, term, value }),
        }
    }

    /// The model as it is now.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Number of steps done.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// What a resumed run needs besides the weights: the optimiser's moments and the row in progress.
    pub fn state(&self) -> Vec<StateTensor> {
        let mut state = self.optimizer.state(&self.network.parameters());
        state.extend(self.means.state());
        state
    }

    /// Goes back to where `weights` and `state` were saved, after `step` steps.
    ///
    /// # Errors
    /// If they belong to another model or optimiser.
    pub fn restore(
        &mut self,
        step: u64,
        weights: Vec<StateTensor>,
        state: Vec<StateTensor>,
    ) -> Result<(), ModelError> {
        self.network.set_state(weights)?;
        let rest = self.optimizer.set_state(&self.network.parameters(), state)?;
        self.means.set_state(rest)?;
        self.optimizer.set_steps_done(step);
        self.step = step;
        Ok(())
    }
}

/// Standard normal numbers of a moment, all from one sequence.
fn normal(moment: Moment, length: usize) -> Vec<f32> {
    let mut generator = moment.generator();
    (0..length).map(|_| StandardNormal.sample(&mut generator)).collect()
}
