//! `mixture`: Gaussians around given positions, for codes that form clusters.

use super::Divergence;
use super::family::{PriorFamily, log_sum_exp, uniform};
use super::special::normal_cdf;
use crate::model::DiagonalGaussian;
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;
use unbraid_data::random::Position;

/// p(z) = sum_c w_c N(z; m_c, v I) (Mathieu et al. 2019, eq. 9). The units depend on each other.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    /// m, `[components][units]`.
    positions: Vec<Vec<f64>>,
    /// v
    variance: f64,
    /// w, with sum one.
    weights: Vec<f64>,
    /// m as `[1, components, units]`.
    position_tensor: Tensor<3>,
    /// ln w as `[1, components, 1]`.
    log_weights: Tensor<3>,
}

impl Mixture {
    /// With equal weights if there are none.
    pub(super) fn new(positions: &[Vec<f64>], variance: f64, weights: &[f64], device: &Device) -> Self {
        let (components, units) = (positions.len(), positions.first().map_or(0, Vec::len));
        let weights = if weights.is_empty() { vec![1.0; components] } else { weights.to_vec() };
        let sum: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.into_iter().map(|weight| weight / sum).collect();
        let tensor =
            |values: Vec<f32>, shape: [usize; 3]| Tensor::from_data(TensorData::new(values, shape), device);
        let numbers = positions.iter().flatten().map(|number| *number as f32).collect();
        let logarithms = weights.iter().map(|weight| weight.ln() as f32).collect();
        Self {
            position_tensor: tensor(numbers, [1, components, units]),
            log_weights: tensor(logarithms, [1, components, 1]),
            positions: positions.to_vec(),
            variance,
            weights,
        }
    }

    /// ln N(z_i; m_ci, v) of each row, component and unit, `[batch, components, units]`.
    fn log_densities(&self, z: Tensor<2>) -> Tensor<3> {
        let deviation = z.unsqueeze_dim::<3>(1) - self.position_tensor.clone();
        let constant = (2.0 * PI * self.variance).ln();
        (deviation.clone() * deviation / self.variance + constant) * -0.5
    }

    fn joint(&self, log_densities: Tensor<3>) -> Tensor<1> {
        let batch = log_densities.dims()[0];
        log_sum_exp(log_densities.sum_dim(2) + self.log_weights.clone(), 1).reshape([batch])
    }

    fn marginals(&self, log_densities: Tensor<3>) -> Tensor<2> {
        let [batch, _, units] = log_densities.dims();
        log_sum_exp(log_densities + self.log_weights.clone(), 1).reshape([batch, units])
    }
}

impl PriorFamily for Mixture {
    /// ln p(z) = ln sum_c w_c prod_i N(z_i; m_ci, v)
    fn log_density(&self, z: Tensor<2>) -> Tensor<1> {
        self.joint(self.log_densities(z))
    }

    /// The marginal of a unit is the mixture of the components' marginals: ln sum_c w_c N(z_i; m_ci, v).
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        self.marginals(self.log_densities(z))
    }

    fn distribution_function(&self, unit: usize, x: f64) -> f64 {
        let deviation = self.variance.sqrt();
        let part =
            |(weight, position): (&f64, &Vec<f64>)| weight * normal_cdf((x - position[unit]) / deviation);
        self.weights.iter().zip(&self.positions).map(part).sum()
    }

    /// sum_c w_c m_c
    fn mean(&self, units: usize, _device: &Device) -> Tensor<2> {
        (self.position_tensor.clone() * self.log_weights.clone().exp()).sum_dim(1).reshape([1, units])
    }

    /// v I + sum_c w_c (m_c - E\[z\]) (m_c - E\[z\])^T
    fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
        let components = self.positions.len();
        let centred = self.position_tensor.clone().reshape([components, units]) - self.mean(units, device);
        let weighted = centred.clone() * self.log_weights.clone().exp().reshape([components, 1]);
        weighted.transpose().matmul(centred) + Tensor::<2>::eye(units, device) * self.variance
    }

    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
        let mut generator = position.generator();
        let deviation = self.variance.sqrt();
        let mut values = Vec::with_capacity(shape[0] * shape[1]);
        for _ in 0..shape[0] {
            let mut left = uniform(&mut generator);
            let chosen = self.weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            // Rounding may leave the sum of the weights below the number drawn.
            let position = &self.positions[chosen.unwrap_or(self.positions.len() - 1)];
            values.extend(position.iter().map(|place| {
                let normal: f64 = StandardNormal.sample(&mut generator);
                (place + deviation * normal) as f32
            }));
        }
        Tensor::from_data(TensorData::new(values, shape), device)
    }

    fn divergence(&self, posterior: &DiagonalGaussian, sample: &Tensor<2>) -> Divergence {
        let of_posterior = posterior.log_density(sample.clone());
        let densities = self.log_densities(sample.clone());
        Divergence {
            images: super::family::sum_over_units(of_posterior.clone()) - self.joint(densities.clone()),
            units: of_posterior - self.marginals(densities),
        }
    }
}
