//! The approximate posterior q(z|x) of the continuous units: one file for each kind, one trait for all of them.

mod diagonal;
mod flow;
mod full_covariance;
mod implicit;

pub use diagonal::DiagonalGaussian;
pub(super) use diagonal::bounded;
pub use flow::FlowPosterior;
pub(super) use flow::InverseAutoregressiveFlow;
pub use full_covariance::FullCovarianceGaussian;
pub use implicit::ImplicitPosterior;
pub(super) use implicit::NoisyLayers;

use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use std::fmt::Debug;
use std::sync::Arc;
use unbraid_data::random::Stream;

/// Draws from which mean and variances are computed if they have no closed form; even, since draws come in pairs.
const DRAWS: usize = 64;

/// q(z|x) of the continuous units, for each image of a batch.
///
/// Every kind can be sampled. Its methods tell what else it can do: [`log_density`](Self::log_density) is `None` for
/// implicit distributions, [`marginals`](Self::marginals) is `None` unless it is Gaussian, and
/// [`as_diagonal`](Self::as_diagonal) unless its units are independent as well.
pub trait ContinuousPosterior: Debug + Send + Sync {
    /// Number of images and of units.
    fn dims(&self) -> [usize; 2];

    /// Where it is computed.
    fn device(&self) -> Device;

    /// Number of standard normal numbers that a draw takes for each image.
    fn noise_width(&self) -> usize {
        self.dims()[1]
    }

    /// One sample for each image from standard normal noise `[images, noise width]`, differentiable (the
    /// reparameterisation of Kingma & Welling 2014, eq. 4).
    fn draw(&self, noise: Tensor<2>) -> Draw;

    /// ln q(z|x) at one of its own draws, as a sum over units, `[images, units]`: the density of each unit given those
    /// before it. `None` if it has no density that can be computed.
    fn log_density(&self, draw: &Draw) -> Option<Tensor<2>>;

    /// Means and variances in closed form, if it is Gaussian.
    fn marginals(&self) -> Option<Marginals>;

    /// The same posteriors repeated `times` times, as a whole.
    fn repeated(&self, times: usize) -> Arc<dyn ContinuousPosterior>;

    /// The same posteriors as constants: nothing that is computed from them has a gradient for the encoder.
    fn detached(&self) -> Arc<dyn ContinuousPosterior>;

    /// Itself, if its units are independent Gaussians.
    fn as_diagonal(&self) -> Option<&DiagonalGaussian> {
        None
    }

    /// Mean and variance of each unit, which stand for an image after training: in closed form, or else of 64
    /// draws. The noise of these is the same for all images and has mean zero, so that the code of an image
    /// depends on that image alone and the mean of a linear function of the noise is exact.
    fn moments(&self) -> DiagonalGaussian {
        if let Some(Marginals { units, .. }) = self.marginals() {
            return units;
        }
        let [images, units] = self.dims();
        let many = self.repeated(DRAWS);
        let noise = paired_noise(self.noise_width(), &self.device());
        let width = self.noise_width();
        let noise = noise.reshape([DRAWS, 1, width]).repeat_dim(1, images).reshape([DRAWS * images, width]);
        let draws = many.draw(noise).value.reshape([DRAWS, images, units]);
        let mean = draws.clone().mean_dim(0);
        let centred = draws - mean.clone();
        let variance = (centred.clone() * centred).mean_dim(0).reshape([images, units]);
        // A constant unit has the variance zero, whose logarithm is not a number to compute with.
        DiagonalGaussian::new(
            mean.reshape([images, units]),
            variance.clamp_min(f64::from(f32::MIN_POSITIVE)).log(),
        )
    }
}

/// One sample of each posterior.
#[derive(Clone, Debug)]
pub struct Draw {
    /// z, `[images, units]`.
    pub value: Tensor<2>,
    /// ln q(z|x) as far as it was computed with the sample, `[images, units]`.
    pub log_density: Option<Tensor<2>>,
}

/// The units of a Gaussian posterior, each by itself, and how much they depend on each other.
#[derive(Clone, Debug)]
pub struct Marginals {
    /// Mean and variance of each unit.
    pub units: DiagonalGaussian,
    /// KL(q(z|x) || prod_i q(z_i|x)) of each image; `None` if it is zero because the units are independent.
    pub total_correlation: Option<Tensor<1>>,
}

/// Standard normal numbers in pairs of opposite sign, always the same, `[DRAWS, width]`.
fn paired_noise(width: usize, device: &Device) -> Tensor<2> {
    let mut generator = Stream::new(0, "moments of posteriors").at(0).generator();
    let half: Vec<f32> = (0..DRAWS / 2 * width).map(|_| StandardNormal.sample(&mut generator)).collect();
    let values: Vec<f32> = half.iter().copied().chain(half.iter().map(|value| -value)).collect();
    Tensor::from_data(TensorData::new(values, [DRAWS, width]), device)
}
