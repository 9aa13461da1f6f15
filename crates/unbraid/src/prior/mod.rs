//! The distribution of the latent units. Depends on the model's posterior and the configuration.

use crate::config::PriorConfig;
use crate::model::DiagonalGaussian;
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;
use unbraid_data::random::Moment;

/// p(z).
#[derive(Clone, Debug)]
pub struct Prior {
    units: usize,
    device: Device,
}

/// KL(q(z|x) || p(z)).
#[derive(Clone, Debug)]
pub struct Divergence {
    /// Of each image, `[batch]`.
    pub images: Tensor<1>,
    /// Of each image and unit, `[batch, units]`.
    pub units: Tensor<2>,
}

impl Prior {
    /// The prior of a configuration.
    pub fn new(config: &PriorConfig, units: usize, device: &Device) -> Self {
        match config {
            PriorConfig::StandardNormal {} => Self { units, device: device.clone() },
        }
    }

    /// ln p(z) of rows `[rows, units]`.
    pub fn log_density(&self, z: Tensor<2>) -> Tensor<1> {
        let rows = z.dims()[0];
        self.log_density_of_units(z).sum_dim(1).reshape([rows])
    }

    /// ln p(z_j) of each unit.
    pub fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        z.clone() * z * -0.5 - 0.5 * (2.0 * PI).ln()
    }

    /// Rows drawn from p(z), `[rows, units]`.
    pub fn sample(&self, moment: Moment, rows: usize) -> Tensor<2> {
        let mut generator = moment.generator();
        let values: Vec<f32> =
            (0..rows * self.units).map(|_| StandardNormal.sample(&mut generator)).collect();
        Tensor::from_data(TensorData::new(values, [rows, self.units]), &self.device)
    }

    /// KL(q(z|x) || p(z)), in closed form or estimated from one sample of each image.
    pub fn divergence(&self, posterior: &DiagonalGaussian, _sample: &Tensor<2>) -> Divergence {
        let units = posterior.divergence_from_standard_normal();
        let rows = units.dims()[0];
        Divergence { images: units.clone().sum_dim(1).reshape([rows]), units }
    }
}
