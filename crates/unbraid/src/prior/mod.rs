//! The prior p(z) of the continuous units: one file for each. Depends on the model and the configuration.
//!
//! Every prior has a density, samples, and a divergence from the posterior: in closed form if there is one, otherwise
//! estimated from the decoded sample. Priors with parameters keep them under `prior.*` next to the network's weights.

mod anisotropic;
mod family;
mod mixture;
mod sparse;
pub mod special;
mod standard_normal;
mod student_t;

use crate::error::Result;
use family::sum_over_units;
pub use family::{CloneFamily, PriorFamily};

use crate::config::PriorConfig;
use crate::model::{
    ContinuousPosterior, DiagonalGaussian, Draw, Marginals, NamedParameter, StateTensor, matched,
};
use anisotropic::Anisotropic;
use burn::tensor::{Device, Tensor, TensorData};
use mixture::Mixture;
use ndarray::{ArrayRef, Ix2};
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
    is_standard_normal: bool,
}

/// KL(q(z|x) || p(z)), exact or estimated from one sample.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// For each image, over all units together, `[batch]`. This is what objectives use.
    pub images: Tensor<1>,
    /// For each image and unit, from the unit's own marginals, KL(q(z_i|x) || p(z_i)), `[batch, units]`. Their sum is the
    /// whole divergence if the units are independent both given the image and under the prior. A Gaussian posterior with
    /// correlated units adds their total correlation given the image to the whole; a mixture as prior adds the mean of
    /// sum_i ln p(z_i) - ln p(z), which may be negative. For posteriors that are not Gaussian, these are instead the shares
    /// of the units in ln q(z|x) - sum_i ln p(z_i) at the sample.
    pub units: Tensor<2>,
}

impl Prior {
    /// The prior of a checked configuration, for this many units. Variances from principal components are computed from
    /// `data`; without it they are equal until [`Prior::set_state`] restores the saved ones.
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
        let is_standard_normal = matches!(config, PriorConfig::StandardNormal {});
        Ok(Self { is_standard_normal, ..Self::from_family(family, units, device) })
    }

    /// A prior of any family, for this many units.
    pub fn from_family(family: Box<dyn PriorFamily>, units: usize, device: &Device) -> Self {
        Self { family, units, device: device.clone(), is_standard_normal: false }
    }

    /// Whether it is the standard normal of the configuration.
    pub fn is_standard_normal(&self) -> bool {
        self.is_standard_normal
    }

    /// The device of its tensors.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.units
    }

    /// ln p(z) of each row of `[batch, units]`.
    pub fn log_density(&self, z: Tensor<2>) -> Tensor<1> {
        self.family.log_density(z)
    }

    /// p(z) of all units together, at each row of `[points, units]`.
    ///
    /// # Panics
    /// If there is not one column for each unit.
    pub fn densities(&self, points: &ArrayRef<f64, Ix2>) -> Vec<f64> {
        assert_eq!(points.ncols(), self.units, "one column for each unit");
        let values: Vec<f32> = points.iter().map(|&value| value as f32).collect();
        let data = TensorData::new(values, [points.nrows(), points.ncols()]);
        let logarithms = self.log_density(Tensor::from_data(data, &self.device)).into_data();
        let logarithms: Vec<f32> = logarithms.try_into_vec().expect("all tensors are in single precision");
        logarithms.into_iter().map(|value| f64::from(value).exp()).collect()
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

    /// KL(q(z|x) || p(z)) of a posterior of any kind, which `draw` is a sample of; `None` if it has no density.
    ///
    /// A Gaussian with correlated units is further from any prior than its marginals are by their total correlation, in
    /// closed form: KL(q || p) = KL(prod_i q_i || p) + KL(q || prod_i q_i), where the first is linear in ln p. Other
    /// posteriors are compared at the draw.
    pub fn divergence_of(&self, posterior: &dyn ContinuousPosterior, draw: &Draw) -> Option<Divergence> {
        if let Some(Marginals { units, total_correlation }) = posterior.marginals() {
            let Divergence { images, units } = self.divergence(&units, &draw.value);
            let images = match total_correlation {
                None => images,
                Some(correlation) => images + correlation,
            };
            return Some(Divergence { images, units });
        }
        let of_posterior = posterior.log_density(draw)?;
        let value = || draw.value.clone();
        Some(Divergence {
            images: sum_over_units(of_posterior.clone()) - self.log_density(value()),
            units: of_posterior - self.log_density_of_units(value()),
        })
    }

    /// Whether its divergence from a Gaussian posterior does not depend on a sample.
    pub fn has_closed_form(&self) -> bool {
        self.family.has_closed_form()
    }

    /// Samples of the prior, `[samples, units]`; the same position always gives the same samples. If variances are
    /// learned, the samples carry their gradient.
    pub fn sample(&self, position: Position, samples: usize) -> Tensor<2> {
        self.family.sample(position, [samples, self.units], &self.device)
    }

    /// E\[z\], `[1, units]`.
    pub fn mean(&self) -> Tensor<2> {
        self.family.mean(self.units, &self.device)
    }

    /// Cov\[z\], `[units, units]`; not finite if it does not exist, as for Student-t distributions with two degrees of
    /// freedom or fewer.
    pub fn covariance(&self) -> Tensor<2> {
        self.family.covariance(self.units, &self.device)
    }

    /// The probability that unit `unit` is at most `x`.
    pub fn distribution_function(&self, unit: usize, x: f64) -> f64 {
        self.family.distribution_function(unit, x)
    }

    /// The quantile of unit `unit`: the inverse of its distribution function, found by bisection to double precision.
    ///
    /// # Panics
    /// Unless `probability` is strictly between 0 and 1.
    pub fn quantile(&self, unit: usize, probability: f64) -> f64 {
        assert!(probability > 0.0 && probability < 1.0, "a quantile of probability {probability}");
        special::inverse(|x| self.distribution_function(unit, x), probability)
    }

    /// The parameters that are trained with the weights; none for most priors.
    pub fn parameters(&self) -> Vec<&dyn NamedParameter> {
        self.family.parameters()
    }

    /// The same, mutable.
    pub fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        self.family.parameters_mut()
    }

    /// The state that its configuration does not determine, by names that start with `prior.`: the logarithms of an
    /// anisotropic prior's variances, learned or not. Empty for most priors.
    pub fn state(&self) -> Vec<StateTensor> {
        self.family.state()
    }

    /// Restores its own part of a state dict and returns the rest, which is the network's.
    ///
    /// # Errors
    /// If the part is missing, or belongs to another prior; the prior is then unchanged.
    pub fn set_state(&mut self, state: Vec<StateTensor>) -> Result<Vec<StateTensor>> {
        let (ours, rest) = state.into_iter().partition(|tensor| tensor.name.starts_with("prior."));
        self.family.set_state(matched(&self.state(), ours)?);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Variances;

    /// What a configuration is checked by is what its prior does.
    #[test]
    fn configurations_know_what_their_priors_can_do() {
        let anisotropic = |learned| PriorConfig::Anisotropic {
            variances: Variances::Given(vec![2.0, 0.5]),
            learned,
            scale: None,
        };
        for config in [
            PriorConfig::StandardNormal {},
            anisotropic(false),
            anisotropic(true),
            PriorConfig::StudentT { degrees_of_freedom: 9.0 },
            PriorConfig::Mixture { positions: vec![vec![0.0, 1.0]], variance: 0.1, weights: Vec::new() },
            PriorConfig::Sparse { gamma: 0.5, sigma0: 0.05, scale: 1.0 },
        ] {
            let prior = Prior::new(&config, 2, None, &Device::flex()).unwrap();
            assert_eq!(config.has_closed_form(), prior.has_closed_form(), "{config:?}");
            assert_eq!(config.is_learned(), !prior.parameters().is_empty(), "{config:?}");
        }
    }
}
