//! Continuous and categorical units together: their posterior, the noise that samples it, and the samples.

use super::categorical::{Categorical, gumbel};
use super::posterior::DiagonalGaussian;
use burn::tensor::{Tensor, TensorData};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::random::Stream;

/// q(z, c|x) = q(z|x) prod_i q(c_i|x) (Dupont 2018, section 3) for each image of a batch.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// The continuous units; `[batch, 0]` if there are none.
    pub continuous: DiagonalGaussian,
    /// The categorical units.
    pub categorical: Vec<Categorical>,
}

/// Values of all latent units for each image of a batch.
#[derive(Clone, Debug)]
pub struct Sample {
    /// z, `[batch, units]`.
    pub continuous: Tensor<2>,
    /// c, `[batch, classes]` of each categorical unit: one-hot, or nearly so.
    pub categorical: Vec<Tensor<2>>,
}

/// What makes a sample of a posterior.
#[derive(Clone, Debug)]
pub struct Noise {
    /// Standard normal numbers, `[batch, units]`.
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
        Sample {
            continuous: self.continuous.sample(noise.normal),
            categorical: units.map(|(unit, gumbel)| unit.sample(gumbel, temperature)).collect(),
        }
    }

    /// The mean of all units: of a categorical one, its probabilities.
    pub fn mean(&self) -> Sample {
        Sample {
            continuous: self.continuous.mean.clone(),
            categorical: self.categorical.iter().map(Categorical::probabilities).collect(),
        }
    }

    /// The same posteriors `times` times: all of them, then all of them again.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        Self {
            continuous: self.continuous.repeated(times),
            categorical: self.categorical.iter().map(|unit| unit.repeated(times)).collect(),
        }
    }

    /// What stands for an image after training: the mean of the continuous units and the most likely class of the others.
    pub fn mode(&self) -> Sample {
        Sample {
            continuous: self.continuous.mean.clone(),
            categorical: self.categorical.iter().map(Categorical::most_likely).collect(),
        }
    }
}

impl Sample {
    /// All values of an image in one row, continuous units first: what the decoder takes.
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
        let [batch, units] = posterior.continuous.mean.dims();
        let device = posterior.continuous.mean.device();
        let rows = |values: Vec<f32>, width: usize| {
            Tensor::from_data(TensorData::new(values, [batch, width]), &device)
        };
        let mut generator = self.normal.at(step).generator();
        let normal = (0..batch * units).map(|_| StandardNormal.sample(&mut generator)).collect();
        let gumbel = posterior.categorical.iter().enumerate().map(|(unit, categorical)| {
            let classes = categorical.classes();
            let mut generator = self.gumbel.at(step).lane(unit as u64).generator();
            // The middles of 2^32 equal parts: never 0 or 1, where the Gumbel number is infinite.
            let mut draw = || gumbel((f64::from(generator.next_u32()) + 0.5) / 4_294_967_296.0) as f32;
            rows((0..batch * classes).map(|_| draw()).collect(), classes)
        });
        Noise { normal: rows(normal, units), gumbel: gumbel.collect() }
    }
}
