//! Codes whose aggregate posterior is a Gaussian of known covariance.
use burn::tensor::{Device, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use unbraid::config::{Estimator, PriorConfig};
use unbraid::data::random::Stream;
use unbraid::model::DiagonalGaussian;
use unbraid::objective::{ExclusiveKl, ForwardPass, Term, TotalCorrelation};
use unbraid::prior::Prior;

/// Standard normal numbers.
pub(crate) fn normal(place: u64, length: usize) -> Vec<f32> {
    let mut generator = Stream::new(11, "numbers").at(place).generator();
    (0..length).map(|_| StandardNormal.sample(&mut generator)).collect()
}

pub(crate) fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.inner().into_data().try_into_vec().unwrap()
}

/// Units of variance one. Posterior means have the variance 1 - `noise`^2 and correlate by `correlation` with
/// each other, the posteriors have the standard deviation `noise`.
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

/// -E ln q(z) by eq. 10 from one batch of posteriors N(mu, noise^2 I) with mu ~ N(0, (1 - noise^2) I), as if
/// of `images`.
pub(crate) fn entropy_estimate(units: usize, noise: f64, batch: usize, images: usize, place: u64) -> f64 {
    let device = Device::flex();
    let shape = [batch, units];
    let tensor = |lane: u64, scale: f64| {
        let values = normal((place << 8) + lane, batch * units).into_iter().map(|value| scale as f32 * value);
        Tensor::<2>::from_data(TensorData::new(values.collect::<Vec<_>>(), shape), &device)
    };
    let mean = tensor(1, (1.0 - noise * noise).sqrt());
    let log_variance = mean.ones_like() * (2.0 * noise.ln());
    let posterior = DiagonalGaussian::new(mean, log_variance);
    let sample = posterior.sample(tensor(2, 1.0));
    let prior = Prior::new(&PriorConfig::StandardNormal {}, units, None, &device).unwrap();
    let of_prior = f64::from(floats(prior.log_density(sample.clone()).mean())[0]);
    let forward = ForwardPass::new((0, images), &prior, posterior, sample, Tensor::zeros([batch], &device));
    // The divergence is minus the entropy minus the mean of ln p(z).
    -(f64::from(floats(ExclusiveKl(Estimator::Stratified).value(&forward))[0]) + of_prior)
}
