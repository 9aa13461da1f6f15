//! `student-t`: independent Student-t distributions, whose heavy tails favour axis-aligned representations.

use super::family::{PriorFamily, drawn};
use super::special::{student_t_cdf, student_t_log_constant};
use burn::tensor::{Device, Tensor};
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use unbraid_data::random::Position;

/// prod_i t_nu(z_i) (Mathieu et al. 2019, section 6.1); approaches N(0, I) with many degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub(super) struct StudentT {
    degrees_of_freedom: f64,
}

impl StudentT {
    pub(super) fn new(degrees_of_freedom: f64) -> Self {
        Self { degrees_of_freedom }
    }
}

impl PriorFamily for StudentT {
    /// ln t_nu(z) = ln Gamma((nu + 1) / 2) - ln Gamma(nu / 2) - ln(nu pi) / 2 - (nu + 1) / 2 ln(1 + z^2 / nu)
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        let nu = self.degrees_of_freedom;
        (z.clone() * z / nu).log1p() * (-0.5 * (nu + 1.0)) + student_t_log_constant(nu)
    }

    fn distribution_function(&self, _unit: usize, x: f64) -> f64 {
        student_t_cdf(self.degrees_of_freedom, x)
    }

    /// nu / (nu - 2) for each unit; it does not exist for nu <= 2.
    fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
        Tensor::eye(units, device) * (self.degrees_of_freedom / (self.degrees_of_freedom - 2.0))
    }

    /// N(0, 1) / sqrt(chi^2_nu / nu)
    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
        let nu = self.degrees_of_freedom;
        let chi_squared = ChiSquared::new(nu).expect("the configuration has checked nu > 0");
        drawn(position, shape, device, |generator| {
            let normal: f64 = StandardNormal.sample(generator);
            normal / (chi_squared.sample(generator) / nu).sqrt()
        })
    }
}
