//! The interface of all priors, and what most of them share.

use super::Divergence;
use crate::model::{DiagonalGaussian, NamedParameter, StateTensor, Values};
use burn::tensor::{Device, Tensor, TensorData};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::fmt::Debug;
use unbraid_data::random::{Generator, Position};

/// A family of distributions of the continuous latent units, from which a [`Prior`](super::Prior) is made. The defaults
/// suit independent units without a closed-form divergence and without parameters.
///
/// A family of your own is used by [`Prior::from_family`](super::Prior::from_family):
///
/// ```
/// use burn::tensor::{Device, Tensor, TensorData};
/// use rand::RngExt;
/// use unbraid::data::random::Position;
/// use unbraid::prior::{Prior, PriorFamily};
///
/// /// The logistic distribution: ln p(z) = -z - 2 ln(1 + e^-z) for each unit.
/// #[derive(Clone, Debug)]
/// struct Logistic;
///
/// impl PriorFamily for Logistic {
///     fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
///         -z.clone() - z.neg().exp().log1p() * 2.0
///     }
///     fn distribution_function(&self, _unit: usize, x: f64) -> f64 {
///         1.0 / (1.0 + (-x).exp())
///     }
///     fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
///         let mut generator = position.generator();
///         let mut draw = || {
///             let uniform: f64 = generator.random_range(f64::EPSILON..1.0);
///             (uniform / (1.0 - uniform)).ln() as f32
///         };
///         let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| draw()).collect();
///         Tensor::from_data(TensorData::new(values, shape), device)
///     }
///     fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
///         Tensor::eye(units, device) * (std::f64::consts::PI.powi(2) / 3.0)
///     }
/// }
///
/// let prior = Prior::from_family(Box::new(Logistic), 3, &Device::flex());
/// assert!((prior.quantile(0, 0.75) - 3_f64.ln()).abs() < 1e-12);
/// ```
pub trait PriorFamily: Debug + Send + Sync + CloneFamily {
    /// ln p(z_i), `[batch, units]`.
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2>;

    /// The probability that a unit is at most `x`.
    fn distribution_function(&self, unit: usize, x: f64) -> f64;

    /// Samples of this shape, `[samples, units]`; the same position always gives the same samples.
    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2>;

    /// E\[z\], `[1, units]`.
    fn mean(&self, units: usize, device: &Device) -> Tensor<2> {
        Tensor::zeros([1, units], device)
    }

    /// Cov\[z\], `[units, units]`.
    fn covariance(&self, units: usize, device: &Device) -> Tensor<2>;

    /// ln p(z), `[batch]`.
    fn log_density(&self, z: Tensor<2>) -> Tensor<1> {
        sum_over_units(self.log_density_of_units(z))
    }

    /// KL(q(z|x) || p(z)); by default ln q(z|x) - ln p(z) at the sample.
    fn divergence(&self, posterior: &DiagonalGaussian, sample: &Tensor<2>) -> Divergence {
        let units = posterior.log_density(sample.clone()) - self.log_density_of_units(sample.clone());
        Divergence::of_independent(units)
    }

    /// Whether [`PriorFamily::divergence`] has a closed form and leaves the sample alone.
    fn has_closed_form(&self) -> bool {
        false
    }

    /// The parameters that are trained with the network's weights.
    fn parameters(&self) -> Vec<&dyn NamedParameter> {
        Vec::new()
    }

    /// The same, mutable.
    fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        Vec::new()
    }

    /// The state for a checkpoint, by names that start with `prior.`; learned or not.
    fn state(&self) -> Vec<StateTensor> {
        Vec::new()
    }

    /// Restores it from tensors with the names, shapes and order of [`PriorFamily::state`].
    fn set_state(&mut self, values: Vec<Values>) {
        debug_assert!(values.is_empty(), "a family that has state restores it");
    }
}

/// Clones a boxed family. Implemented for every family that is [`Clone`].
pub trait CloneFamily {
    /// A copy in a box.
    fn boxed_clone(&self) -> Box<dyn PriorFamily>;
}

impl<F: PriorFamily + Clone + 'static> CloneFamily for F {
    fn boxed_clone(&self) -> Box<dyn PriorFamily> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn PriorFamily> {
    fn clone(&self) -> Self {
        // Through the reference, since the box itself is not a family.
        (**self).boxed_clone()
    }
}

impl Divergence {
    /// The divergence from a prior under which the units are independent.
    pub fn of_independent(units: Tensor<2>) -> Self {
        Self { images: sum_over_units(units.clone()), units }
    }
}

pub(super) fn sum_over_units(values: Tensor<2>) -> Tensor<1> {
    let batch = values.dims()[0];
    values.sum_dim(1).reshape([batch])
}

/// A tensor of standard normal numbers.
pub(super) fn normal_tensor(position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
    drawn(position, shape, device, |generator| StandardNormal.sample(generator))
}

/// A tensor of independent numbers.
pub(super) fn drawn(
    position: Position,
    shape: [usize; 2],
    device: &Device,
    mut draw: impl FnMut(&mut Generator) -> f64,
) -> Tensor<2> {
    let mut generator = position.generator();
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| draw(&mut generator) as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Uniform in \[0, 1\) from 53 random bits.
pub(super) fn uniform(generator: &mut Generator) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// ln sum exp along a dimension, which is kept with length one; the maximum is factored out.
pub(super) fn log_sum_exp<const D: usize>(values: Tensor<D>, dimension: usize) -> Tensor<D> {
    let largest = values.clone().detach().max_dim(dimension);
    (values - largest.clone()).exp().sum_dim(dimension).log() + largest
}
