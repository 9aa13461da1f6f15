//! Continuous and categorical units together: their posterior, its noise, and its samples.

use super::categorical::{Categorical, gumbel};
use super::posterior::{ContinuousPosterior, Draw};
use burn::tensor::{Tensor, TensorData};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;
use unbraid_data::random::Stream;

/// q(z, c|x) = q(z|x) prod_i q(c_i|x) (Dupont 2018, section 3) for each image of a batch.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// The continuous units; `[batch, 0]` if there are none.
    pub continuous: Arc<dyn ContinuousPosterior>,
    /// The categorical units.
    pub categorical: Vec<Categorical>,
}

/// Values of all latent units for each image of a batch.
#[derive(Clone, Debug)]
pub struct Sample {
    /// z, `[batch, units]`.
    pub continuous: Tensor<2>,
    /// ln q(z|x) as far as it was computed with the sample, `[batch, units]`.
    pub log_density: Option<Tensor<2>>,
    /// c, `[batch, classes]` of each categorical unit: one-hot, or relaxed.
    pub categorical: Vec<Tensor<2>>,
}

/// The noise of one sample of a posterior.
#[derive(Clone, Debug)]
pub struct Noise {
    /// Standard normal numbers, as many for each image as the posterior takes.
    pub normal: Tensor<2>,
    /// Standard Gumbel numbers, `[batch, classes]` of each categorical unit.
    pub gumbel: Vec<Tensor<2>>,
}

/// Draws [`Noise`] for any step of a run.
#[derive(Clone, Copy, Debug)]
pub struct NoiseSource {
    normal: Stream,
    gumbel: Stream,
}

impl Posterior {
    /// One sample of all units; `temperature` is that of the categorical ones.
    pub fn sample(&self, noise: Noise, temperature: f64) -> Sample {
        let units = self.categorical.iter().zip(noise.gumbel);
        let Draw { value, log_density } = self.continuous.draw(noise.normal);
        Sample {
            continuous: value,
            log_density,
            categorical: units.map(|(unit, gumbel)| unit.sample(gumbel, temperature)).collect(),
        }
    }

    /// The mean of all units; for a categorical unit, its probabilities. Of a Gaussian with full covariance
    /// it is the sample without noise, which comes with its density.
    pub fn mean(&self) -> Sample {
        let Draw { value, log_density } = match self.continuous.as_diagonal() {
            Some(diagonal) => Draw { value: diagonal.mean.clone(), log_density: None },
            None if self.continuous.marginals().is_some() => {
                let shape = [self.continuous.dims()[0], self.continuous.noise_width()];
                self.continuous.draw(Tensor::zeros(shape, &self.continuous.device()))
            }
            None => Draw { value: self.continuous.moments().mean, log_density: None },
        };
        Sample {
            continuous: value,
            log_density,
            categorical: self.categorical.iter().map(Categorical::probabilities).collect(),
        }
    }

    /// The same posteriors repeated `times` times, as a whole.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        Self {
            continuous: self.continuous.repeated(times),
            categorical: self.categorical.iter().map(|unit| unit.repeated(times)).collect(),
        }
    }

    /// The latent values used after training: the mean of each continuous unit and the most likely class of each
    /// categorical one.
    pub fn mode(&self) -> Sample {
        Sample {
            continuous: self.continuous.moments().mean,
            log_density: None,
            categorical: self.categorical.iter().map(Categorical::most_likely).collect(),
        }
    }
}

impl Sample {
    /// All values of an image in one row, continuous units first, as the decoder takes them.
    pub fn joined(&self) -> Tensor<2> {
        if self.categorical.is_empty() {
            return self.continuous.clone();
        }
        let continuous = (self.continuous.dims()[1] > 0).then(|| self.continuous.clone());
        Tensor::cat(continuous.into_iter().chain(self.categorical.iter().cloned()).collect(), 1)
    }
}

impl NoiseSource {
    /// The streams of a run for one purpose.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let categories = format!("{purpose} of categories");
        Self { normal: Stream::new(seed, purpose), gumbel: Stream::new(seed, &categories) }
    }

    /// The noise of one step for these posteriors.
    pub fn at(self, step: u64, posterior: &Posterior) -> Noise {
        let ([batch, _], width) = (posterior.continuous.dims(), posterior.continuous.noise_width());
        let device = posterior.continuous.device();
        let rows = |values: Vec<f32>, width: usize| {
            Tensor::from_data(TensorData::new(values, [batch, width]), &device)
        };
        let mut generator = self.normal.at(step).generator();
        let normal = (0..batch * width).map(|_| StandardNormal.sample(&mut generator)).collect();
        let gumbel = posterior.categorical.iter().enumerate().map(|(unit, categorical)| {
            let classes = categorical.classes();
            let mut generator = self.gumbel.at(step).lane(unit as u64).generator();
            // The midpoints of 2^32 equal intervals: never 0 or 1, where the Gumbel variate is infinite.
            let mut draw = || gumbel((f64::from(generator.next_u32()) + 0.5) / 4_294_967_296.0) as f32;
            rows((0..batch * classes).map(|_| draw()).collect(), classes)
        });
        Noise { normal: rows(normal, width), gumbel: gumbel.collect() }
    }
}
