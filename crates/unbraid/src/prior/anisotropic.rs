//! `anisotropic`: N(0, v_i) for unit i, with variances that are given, derived from the data, or learned.

use super::Divergence;
use super::family::{PriorFamily, normal_tensor};
use super::special::normal_cdf;
use crate::config::{VarianceRule, Variances};
use crate::error::{Error, Result};
use crate::model::principal_components::{Fit, PrincipalComponents};
use crate::model::{DiagonalGaussian, NamedParameter, Parameter, StateTensor, Values};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor};
use std::f64::consts::PI;
use unbraid_data::DataSet;
use unbraid_data::random::Position;

/// N(0, diag(v)) with v = total * softmax(l) (Mathieu et al. 2019, section 6.1 and appendix B).
///
/// The softmax keeps the sum of the variances constant, so that learning them cannot reduce the KL divergence of all
/// units at once. From principal components, l_i is the logarithm of the i-th squared singular value of the centred
/// data, so that v_i is proportional to the variance along component i.
#[derive(Clone, Debug)]
pub(super) struct Anisotropic {
    /// l, `[units]`. Learned or not, it is saved with the weights: the data may not be available when they are used.
    log_variance: Parameter<1>,
    learned: bool,
    /// The sum of the variances.
    total: f64,
}

/// Images from which principal components are computed. With this many, the variance along one is known to 1.4 %.
const IMAGES: usize = 10_000;

/// A direction with less than this fraction of the largest variance is rounding error.
const SMALLEST_SHARE: f64 = 1e-9;

impl Anisotropic {
    pub(super) fn new(
        variances: &Variances,
        learned: bool,
        scale: f64,
        units: usize,
        data: Option<&dyn DataSet>,
        device: &Device,
    ) -> Result<Self> {
        let variances = match (variances, data) {
            (Variances::Given(numbers), _) => numbers.clone(),
            (Variances::Rule(VarianceRule::PrincipalComponents), Some(data)) => {
                scaled(variances_of(data, units, true)?, scale)
            }
            (Variances::Rule(VarianceRule::UncentredSingularValues), Some(data)) => {
                let squares = variances_of(data, VarianceRule::SINGULAR_VALUES, false)?;
                scaled(squares.into_iter().rev().take(units).collect(), scale)
            }
            (Variances::Rule(VarianceRule::Equal), _)
            // Without data, the prior is about to get the variances that were saved.
            | (
                Variances::Rule(VarianceRule::PrincipalComponents | VarianceRule::UncentredSingularValues),
                None,
            ) => vec![scale; units],
        };
        let logarithms = variances.iter().map(|variance| variance.ln() as f32).collect();
        Ok(Self {
            log_variance: Parameter::new("prior.log_variance".to_owned(), logarithms, [units], device),
            learned,
            total: variances.iter().sum(),
        })
    }

    /// ln v, `[1, units]`.
    fn log_variances(&self) -> Tensor<2> {
        let tensor = self.log_variance.tensor();
        let tensor = if self.learned { tensor } else { tensor.detach() };
        log_softmax(tensor, 0).unsqueeze() + self.total.ln()
    }

    fn variance(&self, unit: usize) -> f64 {
        let values: Vec<f64> = self.log_variance.values().into_iter().map(f64::from).collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = values.iter().map(|value| (value - largest).exp()).sum();
        self.total * (values[unit] - largest).exp() / sum
    }
}

/// The same, with this mean.
fn scaled(variances: Vec<f64>, mean: f64) -> Vec<f64> {
    let factor = mean * variances.len() as f64 / variances.iter().sum::<f64>();
    variances.into_iter().map(|variance| variance * factor).collect()
}

/// Variances of the data along its first principal components, or squared singular values of data that is not centred.
fn variances_of(data: &dyn DataSet, units: usize, centred: bool) -> Result<Vec<f64>> {
    let fit = Fit { components: units, images: Some(IMAGES), tolerance: 1e-4, centred };
    let found = PrincipalComponents::fit(data, fit)?.variances;
    let largest = found.first().copied().unwrap_or(0.0);
    let varied = found.iter().filter(|variance| **variance > SMALLEST_SHARE * largest).count();
    if varied < units { Err(Error::TooFewComponents { found: varied, units }) } else { Ok(found) }
}

impl PriorFamily for Anisotropic {
    /// ln p(z_i) = -(z_i^2 / v_i + ln v_i + ln 2 pi) / 2
    fn log_density_of_units(&self, z: Tensor<2>) -> Tensor<2> {
        let log_variances = self.log_variances();
        (z.clone() * z * log_variances.clone().neg().exp() + log_variances + (2.0 * PI).ln()) * -0.5
    }

    fn distribution_function(&self, unit: usize, x: f64) -> f64 {
        normal_cdf(x / self.variance(unit).sqrt())
    }

    fn covariance(&self, units: usize, device: &Device) -> Tensor<2> {
        Tensor::eye(units, device) * self.log_variances().exp()
    }

    fn sample(&self, position: Position, shape: [usize; 2], device: &Device) -> Tensor<2> {
        normal_tensor(position, shape, device) * (self.log_variances() * 0.5).exp()
    }

    fn has_closed_form(&self) -> bool {
        true
    }

    /// KL(N(mu, sigma^2) || N(0, v)) = (mu^2 / v + sigma^2 / v - ln sigma^2 + ln v - 1) / 2 of each unit.
    fn divergence(&self, posterior: &DiagonalGaussian, _sample: &Tensor<2>) -> Divergence {
        let log_variances = self.log_variances();
        let mean = posterior.mean.clone();
        let log_ratio = posterior.log_variance.clone() - log_variances.clone();
        let distance = mean.clone() * mean * log_variances.neg().exp();
        Divergence::of_independent((distance + log_ratio.clone().exp() - log_ratio - 1.0) * 0.5)
    }

    fn parameters(&self) -> Vec<&dyn NamedParameter> {
        if self.learned { vec![&self.log_variance] } else { Vec::new() }
    }

    fn parameters_mut(&mut self) -> Vec<&mut dyn NamedParameter> {
        if self.learned { vec![&mut self.log_variance] } else { Vec::new() }
    }

    fn state(&self) -> Vec<StateTensor> {
        let parameter = &self.log_variance;
        vec![StateTensor::floats(parameter.name(), parameter.shape(), parameter.values())]
    }

    fn set_state(&mut self, values: Vec<Values>) {
        for values in &values {
            self.log_variance.update(&mut |old| old.copy_from_slice(values.as_floats()));
        }
    }
}
