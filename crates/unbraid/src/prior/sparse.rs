//! `sparse`: units that are off most of the time.

use super::family::{PriorFamily, drawn, log_sum_exp, uniform};
use super::special::normal_cdf;
use burn::tensor::{Device, Tensor};
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;
use unbraid_data::random::Position;

/// p(z) = prod_i [gamma N(z_i; 0, sigma0^2) + (1 - gamma) N(z_i; 0, scale^2)] (Mathieu et al. 2019, section 6.3).
///
/// The paper prints sigma0 as 0.05 (appendix B) and sigma0^2 as 0.05 (section 6.3); its public code has the former.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sparse {
    /// Probability and standard deviation of the off state and of the on state.
    states: [(f64, f64); 2],
}

impl Sparse {
    pub(super) fn new(gamma: f64, sigma0: f64, scale: f64) -> Self {
        Self { states: [(gamma, sigma0), (1.0 - gamma, scale)] }
    }
}

impl PriorFamily for Sparse {
    /// The logarithm of the mixture above, for each unit.
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        let [batch, units] = z.dims();
        let squares = (z.clone() * z).reshape([1, batch, units]);
        // A state of probability zero has no logarithm.
        let occurring = self.states.iter().filter(|(probability, _)| *probability > 0.0);
        let densities = occurring.map(|(probability, deviation)| {
            let constant = probability.ln() - deviation.ln() - 0.5 * (2.0 * PI).ln();
            squares.clone() * (-0.5 / (deviation * deviation)) + constant
        });
        log_sum_exp(Tensor::cat(densities.collect(), 0), 0).reshape([batch, units])
    }

    fn distribution_function(&self, _unit: usize, x: f64) -> f64 {
        self.states.iter().map(|(probability, deviation)| probability * normal_cdf(x / deviation)).sum()
    }

    /// gamma sigma0^2 + (1 - gamma) scale^2 for each unit.
    fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
        let variance: f64 =
            self.states.iter().map(|(probability, deviation)| probability * deviation * deviation).sum();
        Tensor::eye(units, device) * variance
    }

    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
        let [(gamma, off), (_, on)] = self.states;
        drawn(position, shape, device, |generator| {
            let deviation = if uniform(generator) < gamma { off } else { on };
            let normal: f64 = StandardNormal.sample(generator);
            deviation * normal
        })
    }
}
