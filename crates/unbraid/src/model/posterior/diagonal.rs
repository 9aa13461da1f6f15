//! `diagonal`: q(z|x) = N(mu(x), diag(sigma^2(x))).

use super::{ContinuousPosterior, Draw, Marginals};
use burn::tensor::{Device, Tensor};
use std::f64::consts::PI;
use std::sync::Arc;

/// Log-variances within this distance of zero pass unchanged: variances from 2e-9 to 5e8.
const FREE: f64 = 20.0;

/// How far beyond that they can go.
const MARGIN: f64 = 20.0;

/// A diagonal Gaussian for each image of a batch.
#[derive(Clone, Debug)]
pub struct DiagonalGaussian {
    /// mu, `[batch, units]`.
    pub mean: Tensor<2>,
    /// ln sigma^2, `[batch, units]`; always finite unless the encoder's output is NaN.
    pub log_variance: Tensor<2>,
}

impl DiagonalGaussian {
    /// From the encoder's two outputs; the log-variance is passed through `bounded`, which keeps it finite.
    pub fn new(mean: Tensor<2>, log_variance: Tensor<2>) -> Self {
        Self { mean, log_variance: bounded(log_variance) }
    }

    /// z = mu + sigma * noise (Kingma & Welling 2014, eq. 4), for standard normal noise.
    pub fn sample(&self, noise: Tensor<2>) -> Tensor<2> {
        self.mean.clone() + (self.log_variance.clone() * 0.5).exp() * noise
    }

    /// The same posteriors repeated `times` times, as a whole.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        if times == 1 {
            return self.clone();
        }
        let repeated = |tensor: &Tensor<2>| tensor.clone().repeat_dim(0, times);
        Self { mean: repeated(&self.mean), log_variance: repeated(&self.log_variance) }
    }

    /// The same as constants.
    #[must_use]
    pub(super) fn detached(&self) -> Self {
        Self { mean: self.mean.clone().detach(), log_variance: self.log_variance.clone().detach() }
    }

    /// ln q(z|x) for each image and unit, with one row of `z` per image: -1/2 ((z - mu)^2 / sigma^2 + ln sigma^2 + ln 2
    /// pi), `[batch, units]`.
    pub fn log_density(&self, z: Tensor<2>) -> Tensor<2> {
        let deviation = (z - self.mean.clone()) * (self.log_variance.clone() * -0.5).exp();
        (deviation.clone() * deviation + self.log_variance.clone() + (2.0 * PI).ln()) * -0.5
    }

    /// KL(q(z|x) || N(0, 1)) = 1/2 (mu^2 + sigma^2 - ln sigma^2 - 1) for each image and unit (Kingma & Welling 2014,
    /// appendix B), `[batch, units]`.
    pub fn divergence_from_standard_normal(&self) -> Tensor<2> {
        let mean = self.mean.clone();
        let log_variance = self.log_variance.clone();
        (mean.clone() * mean + log_variance.clone().exp() - log_variance - 1.0) * 0.5
    }
}

impl ContinuousPosterior for DiagonalGaussian {
    fn dims(&self) -> [usize; 2] {
        self.mean.dims()
    }

    fn device(&self) -> Device {
        self.mean.device()
    }

    fn draw(&self, noise: Tensor<2>) -> Draw {
        Draw { value: self.sample(noise), log_density: None }
    }

    fn log_density(&self, draw: &Draw) -> Option<Tensor<2>> {
        Some(Self::log_density(self, draw.value.clone()))
    }

    fn marginals(&self) -> Option<Marginals> {
        Some(Marginals { units: self.clone(), total_correlation: None })
    }

    fn repeated(&self, times: usize) -> Arc<dyn ContinuousPosterior> {
        Arc::new(Self::repeated(self, times))
    }

    fn detached(&self) -> Arc<dyn ContinuousPosterior> {
        Arc::new(Self::detached(self))
    }

    fn as_diagonal(&self) -> Option<&DiagonalGaussian> {
        Some(self)
    }
}

/// Keeps a logarithm in the range where its exponential is finite: exactly the identity between -20 and 20, and beyond
/// that a tanh that continues with slope one and saturates at -40 and 40.
///
/// Unlike with a clamp, the gradient does not vanish at once, so that a unit which leaves the range is pulled back.
pub(in crate::model) fn bounded<const D: usize>(logarithm: Tensor<D>) -> Tensor<D> {
    let inside = logarithm.clone().clamp(-FREE, FREE);
    let excess = logarithm - inside.clone();
    inside + (excess / MARGIN).tanh() * MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_into_vec().unwrap()
    }

    #[test]
    fn logarithms_in_the_normal_range_are_untouched() {
        let device = Device::flex().autodiff();
        let values = [-20.0, -7.123_456, -1e-7, 0.0, 3.3e-5, 19.999_99_f32];
        let x = Tensor::<1>::from_floats(values, &device).require_grad();
        let y = bounded(x.clone());
        let gradients = y.clone().sum().backward();
        assert_eq!(floats(y), values);
        assert_eq!(floats(x.grad(&gradients).unwrap()), [1.0; 6]);
    }

    #[test]
    fn no_output_of_the_encoder_overflows() {
        let device = Device::flex().autodiff();
        let x = Tensor::<1>::from_floats([-1e30, -50.0, 50.0, 1e30, f32::INFINITY], &device).require_grad();
        let y = bounded(x.clone());
        let gradients = y.clone().exp().sum().backward();
        let bounds = floats(y);
        // 20 + 20 tanh(30 / 20) by hand.
        assert!((bounds[2] - 38.102_97).abs() < 1e-3, "{bounds:?}");
        assert_eq!([bounds[0], bounds[3], bounds[4]], [-40.0, 40.0, 40.0]);
        let slopes = floats(x.grad(&gradients).unwrap());
        assert!(slopes.iter().all(|slope| slope.is_finite()) && slopes[2] > 0.0, "{slopes:?}");
    }

    /// By hand: at z = mu + sigma, -(1 + ln sigma^2 + ln 2 pi) / 2.
    #[test]
    fn the_density_matches_a_hand_computation() {
        let device = Device::flex();
        let posterior = DiagonalGaussian::new(
            Tensor::from_floats([[2.0]], &device),
            Tensor::from_floats([[1.0]], &device),
        );
        let z = posterior.sample(Tensor::from_floats([[1.0]], &device));
        let by_hand = -0.5 * (2.0 + (2.0 * PI).ln());
        assert!((f64::from(floats(posterior.log_density(z))[0]) - by_hand).abs() < 1e-6);
    }

    /// By hand: mu = 2, sigma^2 = e gives (4 + e - 1 - 1) / 2 = 1 + e / 2.
    #[test]
    fn the_divergence_matches_a_hand_computation() {
        let device = Device::flex();
        let posterior = DiagonalGaussian::new(
            Tensor::from_floats([[2.0, 0.0]], &device),
            Tensor::from_floats([[1.0, 0.0]], &device),
        );
        let divergence = floats(posterior.divergence_from_standard_normal());
        assert!((divergence[0] - (1.0 + std::f32::consts::E / 2.0)).abs() < 1e-6);
        assert_eq!(divergence[1], 0.0);
        let noise = Tensor::from_floats([[-1.0, 3.0]], &device);
        let sample = floats(posterior.sample(noise));
        assert!((sample[0] - (2.0 - 0.5_f32.exp())).abs() < 1e-6 && sample[1] == 3.0);
    }
}
