//! What every prior can do, and what most do alike.

use super::Divergence;
use crate::model::DiagonalGaussian;
use burn::tensor::{Device, Tensor, TensorData};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::fmt::Debug;
use unbraid_data::random::{Generator, Moment};

/// A distribution of latent units. The defaults are those of independent units without a closed form.
pub(super) trait Family: Debug {
    /// ln p(z_i), `[batch, units]`.
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2>;

    /// The probability that a unit is at most `x`.
    fn distribution_function(&self, unit: usize, x: f64) -> f64;

    /// Samples of this shape, `[samples, units]`.
    fn sample(&self, moment: Moment, shape: [usize; 2], device: &Device) -> Tensor<2>;

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

    /// ln q(z|x) - ln p(z) at the sample.
    fn divergence(&self, posterior: &DiagonalGaussian, sample: &Tensor<2>) -> Divergence {
        let units = posterior.log_density(sample.clone()) - self.log_density_of_units(sample.clone());
        Divergence::of_independent(units)
    }
}

impl Divergence {
    /// Of a prior under which the units are independent.
    pub(super) fn of_independent(units: Tensor<2>) -> Self {
        Self { images: sum_over_units(units.clone()), units }
    }
}

pub(super) fn sum_over_units(values: Tensor<2>) -> Tensor<1> {
    let batch = values.dims()[0];
    values.sum_dim(1).reshape([batch])
}

/// A tensor of standard normal numbers.
pub(super) fn normal_tensor(moment: Moment, shape: [usize; 2], device: &Device) -> Tensor<2> {
    drawn(moment, shape, device, |generator| StandardNormal.sample(generator))
}

/// A tensor of independent numbers.
pub(super) fn drawn(
    moment: Moment,
    shape: [usize; 2],
    device: &Device,
    mut draw: impl FnMut(&mut Generator) -> f64,
) -> Tensor<2> {
    let mut generator = moment.generator();
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| draw(&mut generator) as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Uniform in \[0, 1\) from 53 random bits.
pub(super) fn uniform(generator: &mut Generator) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// ln sum exp along a dimension, which stays with length one; the largest summand is taken out first.
pub(super) fn log_sum_exp<const D: usize>(values: Tensor<D>, dimension: usize) -> Tensor<D> {
    let largest = values.clone().detach().max_dim(dimension);
    (values - largest.clone()).exp().sum_dim(dimension).log() + largest
}
