//! Training: one file to read from top to bottom, and its parts. Depends on data, model, prior and objective; what it
//! has to say goes to a [`Journal`], so that it knows nothing of files or terminals.

mod batches;
pub mod cost;
mod measurements;

pub use batches::Batches;
pub use measurements::{Means, Row};

use crate::config::{Config, ObjectiveConfig};
use crate::failure::Failure;
use crate::model::principal_components::{Fit, PrincipalComponents, probabilistic_pca};
use crate::model::{ModelError, NamedParameter, Network, NoiseSource, Pass, Posterior, Sample, StateTensor};
use crate::objective::{Evidence, Latent, Losses, Objective, Setting};
use crate::optimizer::Adam;
use crate::prior::Prior;
use burn::tensor::{Device, Tensor, TensorData};
use std::fmt;
use unbraid_data::random::{Moment, Stream};
use unbraid_data::sampling::uniform;
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
    prior: Prior,
    objective: Objective,
    optimizer: Adam,
    /// What to fit in one step instead of descending; for `pca`.
    closed_form: Option<Fit>,
    batches: Batches,
    streams: Streams,
    temperature: f64,
    means: Means,
    step: u64,
}

/// Where the random numbers of a step come from, besides the order of the images.
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
    match config.objective {
        ObjectiveConfig::Pca { images } => {
            Some(Fit { components: config.model.latents.continuous, images, tolerance: 1e-7 })
        }
        _ => None,
    }
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
    /// If the architecture cannot take the images of the data, or the prior cannot be made from them.
    pub fn new(config: &Config, data: &'a dyn DataSet, device: &Device) -> Result<Self, ModelError> {
        let device = device.clone().autodiff();
        let network = Network::new(&config.model, data.shape(), config.seed, &device)?;
        let units = config.model.latents.continuous;
        let prior = Prior::new(&config.model.prior, units, Some(data), &device)?;
        let initializer = config.model.initializer;
        let setting = Setting { seed: config.seed, units, initializer, device };
        let objective = Objective::new(&config.objective, &setting);
        Ok(Self {
            optimizer: Adam::new(&config.optimizer, &[network.parameters(), prior.parameters()].concat()),
            closed_form: closed_form(config),
            batches: Batches::new(&config.training, data.len(), config.seed),
            streams: Streams::new(config.seed),
            temperature: config.model.latents.temperature_or_default(),
            means: Means::new(&objective, &config.model.latents),
            data,
            network,
            prior,
            objective,
            step: 0,
        })
    }

    /// One step of gradient descent; gives the loss before it. For `pca`, the one step there is: the fit, and the loss
    /// after it.
    ///
    /// # Errors
    /// If the loss is not finite, in which case the weights are left as they were, or an image cannot be read.
    pub fn advance(&mut self) -> Result<f64, TrainError> {
        // Every random number is a function of the seed and the step, so that a resumed run draws the same ones.
        let step = self.step;
        self.fit_at_once()?;
        let indices = self.batches.at(step).to_vec();
        let images = self.read(&indices, self.streams.pixels.at(step))?;
        let batch = images.dims()[0];

        let mut statistics = Vec::new();
        let mut pass = Pass::Training(&mut statistics);
        let posterior = self.network.encode(images.clone(), &mut pass);
        let (sample, images) = self.draw(&posterior, images);
        let outputs = self.network.decode(sample.joined(), &mut pass);
        let reconstruction = self.network.likelihood().negative_log_likelihood(outputs, images);

        let place = (step, self.data.len());
        let Posterior { continuous, categorical } = posterior;
        let mut evidence = Evidence::new(place, &self.prior, continuous, sample.continuous, reconstruction);
        evidence.categorical = categorical;
        let needs = self.objective.needs();
        if needs.prior_sample {
            evidence.prior_sample = Some(self.prior.sample(self.streams.prior.at(step), batch));
        }
        if needs.second_batch {
            evidence.second_sample = Some(self.second_sample(batch)?);
        }
        let losses = self.objective.evaluate(&evidence);
        let mut gradients = losses.total.backward();
        let lessons = self.objective.learn(&evidence);
        let loss = self.measure(losses, lessons)?;

        if self.closed_form.is_none() {
            let mut parameters = self.network.parameters_mut();
            parameters.extend(self.prior.parameters_mut());
            self.optimizer.step(parameters, &mut gradients);
        }
        self.network.absorb(&statistics);
        self.step += 1;
        Ok(loss)
    }

    /// Gives the network the weights of an objective that has a closed form.
    fn fit_at_once(&mut self) -> Result<(), TrainError> {
        let Some(fit) = self.closed_form else { return Ok(()) };
        let components = PrincipalComponents::fit(self.data, fit).map_err(TrainError::Data)?;
        let weights = probabilistic_pca(&components, fit.components, self.data.shape());
        self.network.set_state(weights).expect("the configuration was checked to have a linear network");
        Ok(())
    }

    /// Images by their places in the data, `[batch, height, width, channels]`.
    fn read(&self, indices: &[usize], noise: Moment) -> Result<Tensor<4>, TrainError> {
        let shape = self.data.shape();
        let mut pixels = vec![0.0; indices.len() * shape.values()];
        self.data.write_batch_parallel(indices, noise, &mut pixels).map_err(TrainError::Data)?;
        let dimensions = [indices.len(), shape.height, shape.width, shape.channels];
        Ok(Tensor::from_data(TensorData::new(pixels, dimensions), self.network.device()))
    }

    /// What the objective wants decoded of the posteriors, and the image that belongs to each row of it.
    fn draw(&self, posterior: &Posterior, images: Tensor<4>) -> (Sample, Tensor<4>) {
        match self.objective.latent() {
            Latent::Mean => (posterior.mean(), images),
            Latent::Samples(1) => (self.noisy(posterior, self.streams.posterior), images),
            Latent::Samples(samples) => {
                let posterior = posterior.repeated(samples);
                (self.noisy(&posterior, self.streams.posterior), images.repeat_dim(0, samples))
            }
        }
    }

    /// One sample of each posterior.
    fn noisy(&self, posterior: &Posterior, noise: NoiseSource) -> Sample {
        posterior.sample(noise.at(self.step, posterior), self.temperature)
    }

    /// Samples of the posteriors of a second batch, drawn with replacement and independently of the first. The network
    /// is not trained on it: no gradient and no statistics of batch normalisation come from here.
    fn second_sample(&self, batch: usize) -> Result<Tensor<2>, TrainError> {
        let mut indices = vec![0; batch];
        uniform(self.data.len(), &mut self.streams.second_batch.at(self.step).generator(), &mut indices);
        let images = self.read(&indices, self.streams.second_pixels.at(self.step))?;
        let posterior = self.network.encode(images, &mut Pass::Training(&mut Vec::new()));
        Ok(self.noisy(&posterior, self.streams.second_posterior).continuous.detach())
    }

    /// Adds the losses to the means of the row in progress; gives the total.
    fn measure(&mut self, losses: Losses, lessons: Vec<Tensor<1>>) -> Result<f64, TrainError> {
        let Losses { total, reconstruction, kl, terms, kl_of_units } = losses;
        let terms = self.objective.term_names().zip(terms).filter(|(name, _)| *name != "kl");
        let mut all = vec![total, reconstruction, kl];
        all.extend(terms.map(|(_, value)| value));
        all.extend(lessons);
        let scalars = all.len();
        all.push(kl_of_units);
        // One read for all of them: on a device other than the CPU, each would wait for the queue.
        let values: Vec<f32> =
            Tensor::cat(all, 0).inner().into_data().try_into_vec().expect("losses are in single precision");
        let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
        values.splice(scalars..scalars, self.objective.schedules(self.step).map(|(_, value)| value));
        match self.means.add(&values) {
            Ok(()) => Ok(values[0]),
            Err((term, value)) => Err(TrainError::NotFinite { step: self.step + 1, term, value }),
        }
    }

    /// The model as it is now.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Its prior.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// All that is trained: the network's parameters, then the prior's.
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

    /// What a resumed run needs besides the weights: the optimiser's moments, what terms keep, and the row in
    /// progress.
    pub fn state(&self) -> Vec<StateTensor> {
        let mut state = self.optimizer.state(&self.parameters());
        state.extend(self.objective.state());
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
        let rest = self.prior.set_state(weights)?;
        self.network.set_state(rest)?;
        let parameters = [self.network.parameters(), self.prior.parameters()].concat();
        let rest = self.optimizer.set_state(&parameters, state)?;
        let rest = self.objective.set_state(rest)?;
        self.means.set_state(rest)?;
        self.optimizer.set_steps_done(step);
        self.step = step;
        Ok(())
    }
}
