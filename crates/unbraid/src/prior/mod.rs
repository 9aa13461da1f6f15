//! The prior p(z) of the continuous units: one file for each. Depends on the model and the configuration.
//!
//! Every prior has a density, samples, and a divergence from the posterior: in closed form where there is one, else
//! estimated from the sample that was decoded. Priors with parameters of their own keep them under `prior.*` beside the
//! network's weights.

mod anisotropic;
mod family;
mod mixture;
mod sparse;
pub mod special;
mod standard_normal;
mod student_t;

use crate::error::Result;
pub use family::{CloneFamily, PriorFamily};

use crate::config::PriorConfig;
use crate::model::{DiagonalGaussian, NamedParameter, StateTensor, matched};
use anisotropic::Anisotropic;
use burn::tensor::{Device, Tensor};
use mixture::Mixture;
use sparse::Sparse;
use standard_normal::StandardNormal;
use student_t::StudentT;
use unbraid_data::DataSet;
use unbraid_data::random::Position;

/// A distribution of the continuous units.
#[derive(Clone, Debug)]
pub struct Prior {
    family: Box<dyn PriorFamily>,
    units: usize,
    device: Device,
}

/// KL(q(z|x) || p(z)), exact or estimated from one sample.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// Of each image, over all units together, `[batch]`. This is what objectives are made of.
    pub images: Tensor<1>,
    /// Of each image and unit from the unit's own marginal, KL(q(z_i|x) || p(z_i)), `[batch, units]`. For a prior under
    /// which the units are independent, the sum over the units is the whole. For a mixture it is not: what is missing is
    /// the information that the units have about each other under the prior.
    pub units: Tensor<2>,
}

impl Prior {
    /// The prior of a configuration that was checked, for this many units. Variances from principal components are
    /// computed from `data`; without it they are equal until [`Prior::set_state`] brings those that were saved.
    ///
    /// # Errors
    /// If an image cannot be read, or the data has fewer principal components than there are units.
    pub fn new(
        config: &PriorConfig,
        units: usize,
        data: Option<&dyn DataSet>,
        device: &Device,
    ) -> Result<Self> {
        let family: Box<dyn PriorFamily> = match config {
            PriorConfig::StandardNormal {} => Box::new(StandardNormal),
            PriorConfig::Anisotropic { variances, learned, scale } => {
                Box::new(Anisotropic::new(variances, *learned, scale.unwrap_or(1.0), units, data, device)?)
            }
            PriorConfig::StudentT { degrees_of_freedom } => Box::new(StudentT::new(*degrees_of_freedom)),
            PriorConfig::Mixture { positions, variance, weights } => {
                Box::new(Mixture::new(positions, *variance, weights, device))
            }
            PriorConfig::Sparse { gamma, sigma0, scale } => Box::new(Sparse::new(*gamma, *sigma0, *scale)),
        };
        Ok(Self::from_family(family, units, device))
    }

    /// A prior of any family, for this many units.
    pub fn from_family(family: Box<dyn PriorFamily>, units: usize, device: &Device) -> Self {
        Self { family, units, device: device.clone() }
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.units
    }

    /// ln p(z) of each row of `[batch, units]`.
    pub fn log_density(&self, z: Tensor<2>) -> Tensor<1> {
        self.family.log_density(z)
    }

    /// ln p(z_i) of each row and unit, from the marginal of each unit, `[batch, units]`.
    pub fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        self.family.log_density_of_units(z)
    }

    /// KL(q(z|x) || p(z)): in closed form for the Gaussian priors, else ln q(z|x) - ln p(z) at `sample`, an unbiased
    /// estimate from one sample of the posterior.
    pub fn divergence(&self, posterior: &DiagonalGaussian, sample: &Tensor<2>) -> Divergence {
        self.family.divergence(posterior, sample)
    }

    /// Samples of the prior, `[samples, units]`; those of one position are always the same. Where variances are learned, the
    /// samples carry their gradient.
    pub fn sample(&self, position: Position, samples: usize) -> Tensor<2> {
        self.family.sample(position, [samples, self.units], &self.device)
    }

    /// E\[z\], `[1, units]`.
    pub fn mean(&self) -> Tensor<2> {
        self.family.mean(self.units, &self.device)
    }

    /// Cov\[z\], `[units, units]`; not finite where there is none, which is so for Student-t distributions with up to two
    /// degrees of freedom.
    pub fn covariance(&self) -> Tensor<2> {
        self.family.covariance(self.units, &self.device)
    }

    /// The probability that unit `unit` is at most `x`.
    pub fn distribution_function(&self, unit: usize, x: f64) -> f64 {
        self.family.distribution_function(unit, x)
    }

    /// The value that unit `unit` exceeds with probability 1 - `probability`: the inverse of its distribution function,
    /// found by bisection to double precision.
    ///
    /// # Panics
    /// Unless `probability` lies between 0 and 1, both excluded.
    pub fn quantile(&self, unit: usize, probability: f64) -> f64 {
        assert!(probability > 0.0 && probability < 1.0, "a quantile of probability {probability}");
        special::inverse(|x| self.distribution_function(unit, x), probability)
    }

    /// What is trained with the weights; nothing for most priors.
    pub fn parameters(&self) -> Vec<&dyn NamedParameter> {
        self.family.parameters()
    }

    /// The same, to be changed.
    pub fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        self.family.parameters_mut()
    }

    /// What its configuration does not say, by names that start with `prior.`: the logarithms of an anisotropic prior's
    /// variances, learned or not. Nothing for most priors.
    pub fn state(&self) -> Vec<StateTensor> {
        self.family.state()
    }

    /// Takes its own part out of a state dict and gives back the rest, which is the network's.
    ///
    /// # Errors
    /// If the part is missing, or belongs to another prior; the prior is then unchanged.
    pub fn set_state(&mut self, state: Vec<StateTensor>) -> Result<Vec<StateTensor>> {
        let (ours, rest) = state.into_iter().partition(|tensor| tensor.name.starts_with("prior."));
        self.family.set_state(matched(&self.state(), ours)?);
        Ok(rest)
    }
}
