//! `standard-normal`: N(0, 1) for every unit.

use super::Divergence;
use super::family::{PriorFamily, normal_tensor};
use super::special::normal_cdf;
use crate::model::DiagonalGaussian;
use burn::tensor::{Device, Tensor};
use std::f64::consts::PI;
use unbraid_data::random::Position;

/// N(0, I) (Kingma & Welling 2014, section 3).
#[derive(Clone, Copy, Debug)]
pub(super) struct StandardNormal;

impl PriorFamily for StandardNormal {
    /// ln p(z_i) = -(z_i^2 + ln 2 pi) / 2
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        (z.clone() * z + (2.0 * PI).ln()) * -0.5
    }

    fn distribution_function(&self, _unit: usize, x: f64) -> f64 {
        normal_cdf(x)
    }

    fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
        Tensor::eye(units, device)
    }

    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
        normal_tensor(position, shape, device)
    }

    fn has_closed_form(&self) -> bool {
        true
    }

    /// In closed form: [`DiagonalGaussian::divergence_from_standard_normal`].
    fn divergence(&self, posterior: &DiagonalGaussian, _sample: &Tensor<2>) -> Divergence {
        Divergence::of_independent(posterior.divergence_from_standard_normal())
    }
}
