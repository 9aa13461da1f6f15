//! Codes whose aggregate posterior is a Gaussian of known covariance.
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use unbraid::config::{Estimator, PriorConfig};
use unbraid::data::random::Stream;
use unbraid::model::DiagonalGaussian;
use unbraid::objective::{ForwardPass, Term, TotalCorrelation};
use unbraid::prior::Prior;

/// Standard normal numbers.
pub(crate) fn normal(place: u64, length: usize) -> Vec<f32> {
    let mut generator = Stream::new(11, "numbers").at(place).generator();
    (0..length).map(|_| StandardNormal.sample(&mut generator)).collect()
}

pub(crate) fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.inner().into_data().try_into_vec().unwrap()
}

/// Units of variance one. Posterior means have the variance 1 - `noise`^2 and correlate by `correlation` with each other,
/// the posteriors have the standard deviation `noise`.
pub(crate) struct Correlated {
    pub(crate) units: usize,
    pub(crate) correlation: f64,
    pub(crate) noise: f64,
}

impl Correlated {
    /// -1/2 ln det C with C_ij = r = correlation (1 - noise^2) off the diagonal: its eigenvalues are 1 + (D - 1) r once
    /// and 1 - r otherwise.
    pub(crate) fn total_correlation(&self) -> f64 {
        let others = self.units as f64 - 1.0;
        let r = self.correlation * (1.0 - self.noise * self.noise);
        -0.5 * ((1.0 + others * r).ln() + others * (1.0 - r).ln())
    }

    /// From one batch, as if of a data set of `images` images.
    pub(crate) fn total_correlation_estimate(
        &self,
        batch: usize,
        images: usize,
        estimator: Estimator,
        place: u64,
    ) -> Tensor<1> {
        let device = Device::flex();
        let shape = [batch, self.units];
        let matrix = |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values, shape), &device);
        let draw = |lane: u64| normal((place * 3 + lane) << 20 | batch as u64, batch * self.units);
        // A part that all units share makes them correlate.
        let shared = draw(0);
        let (common, own) = (self.correlation.sqrt(), (1.0 - self.correlation).sqrt());
        let scale = (1.0 - self.noise * self.noise).sqrt();
        let mean = draw(1).into_iter().enumerate().map(|(at, value)| {
            let shared = f64::from(shared[at / self.units]);
            (scale * (common * shared + own * f64::from(value))) as f32
        });
        let mean = matrix(mean.collect());
        let log_variance = mean.ones_like() * (2.0 * self.noise.ln());
        let posterior = DiagonalGaussian::new(mean, log_variance);
        let sample = posterior.sample(matrix(draw(2)));
        let prior = Prior::new(&PriorConfig::StandardNormal {}, self.units, None, &device).unwrap();
        let reconstruction = Tensor::zeros([batch], &device);
        let forward = ForwardPass::new((0, images), &prior, posterior, sample, reconstruction);
        TotalCorrelation(estimator).value(&forward)
    }
}
