//! `full-covariance`: q(z|x) = N(mu(x), L(x) L(x)^T) (Kingma & Welling 2019, section 2.5.1; Mushom 2020, section 3.2).

use super::{ContinuousPosterior, DiagonalGaussian, Draw, Marginals};
use burn::tensor::{Device, Tensor};
use std::f64::consts::PI;
use std::sync::Arc;

/// A Gaussian with any covariance L L^T for each image of a batch. L is lower triangular, the Cholesky
/// factor: sigma on the diagonal, the encoder's further outputs below it.
#[derive(Clone, Debug)]
pub struct FullCovarianceGaussian {
    /// mu, and ln sigma^2 of the diagonal of L.
    diagonal: DiagonalGaussian,
    /// L below its diagonal and zero elsewhere, `[images, units, units]`.
    lower: Tensor<3>,
}

impl FullCovarianceGaussian {
    /// From the encoder's outputs: mean and diagonal, and a matrix of which the part below the diagonal is used,
    /// `[images, units * units]`.
    pub fn new(diagonal: DiagonalGaussian, matrix: Tensor<2>) -> Self {
        let [images, units] = diagonal.mean.dims();
        let entries = (0..units * units).map(|place| f32::from(place % units < place / units));
        let mask = burn::tensor::TensorData::new(entries.collect::<Vec<f32>>(), [1, units, units]);
        let mask = Tensor::<3>::from_data(mask, &matrix.device());
        Self { diagonal, lower: matrix.reshape([images, units, units]) * mask }
    }

    /// ln Sigma_ii = ln(sigma_i^2 + sum_{j < i} L_ij^2), `[images, units]`.
    fn log_variances(&self) -> Tensor<2> {
        let [images, units] = self.diagonal.mean.dims();
        let below = (self.lower.clone() * self.lower.clone()).sum_dim(2).reshape([images, units]);
        (self.diagonal.log_variance.clone().exp() + below).log()
    }
}

impl ContinuousPosterior for FullCovarianceGaussian {
    fn dims(&self) -> [usize; 2] {
        self.diagonal.mean.dims()
    }

    fn device(&self) -> Device {
        self.diagonal.mean.device()
    }

    /// z = mu + L noise, of density prod_i N(noise_i; 0, 1) / sigma_i.
    fn draw(&self, noise: Tensor<2>) -> Draw {
        let [images, units] = self.dims();
        let mixed = (self.lower.clone() * noise.clone().reshape([images, 1, units])).sum_dim(2);
        let log_density =
            (noise.clone() * noise.clone() + self.diagonal.log_variance.clone() + (2.0 * PI).ln()) * -0.5;
        let value = self.diagonal.sample(noise) + mixed.reshape([images, units]);
        Draw { value, log_density: Some(log_density) }
    }

    fn log_density(&self, draw: &Draw) -> Option<Tensor<2>> {
        draw.log_density.clone()
    }

    /// KL(q(z|x) || prod_i q(z_i|x)) = 1/2 (sum_i ln Sigma_ii - ln det Sigma) with ln det Sigma = sum_i ln sigma_i^2.
    fn marginals(&self) -> Option<Marginals> {
        let [images, _] = self.dims();
        let log_variance = self.log_variances();
        let difference = log_variance.clone() - self.diagonal.log_variance.clone();
        Some(Marginals {
            units: DiagonalGaussian { mean: self.diagonal.mean.clone(), log_variance },
            total_correlation: Some(difference.sum_dim(1).reshape([images]) * 0.5),
        })
    }

    fn repeated(&self, times: usize) -> Arc<dyn ContinuousPosterior> {
        let lower = self.lower.clone().repeat_dim(0, times);
        Arc::new(Self { diagonal: self.diagonal.repeated(times), lower })
    }

    fn detached(&self) -> Arc<dyn ContinuousPosterior> {
        Arc::new(Self { diagonal: self.diagonal.detached(), lower: self.lower.clone().detach() })
    }
}
