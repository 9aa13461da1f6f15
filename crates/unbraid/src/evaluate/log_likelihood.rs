//! ln p(x) of images under a model, estimated by importance sampling. Depends on data, model and prior.
//!
//! `ln p(x) >= E ln 1/K sum_k w_k` with `w_k = p(x|z_k) p(z_k) / q(z_k|x)` and z_k from the posterior (Burda
//! et al. 2016, eq. 8; thesis, section 3.4, where the logarithm is missing in print). For K = 1 this is the
//! evidence lower bound, and it approaches ln p(x) from below as K grows.

use super::aggregate_posterior::class_of;
use crate::error::Result;
use crate::model::{Draw, Network, Pass, Posterior, Sample};
use crate::prior::Prior;
use burn::tensor::{Device, Tensor, TensorData};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::progress::Progress;
use unbraid_data::random::{Generator, Stream};
use unbraid_data::{DataError, DataSet};

/// Settings of the estimate.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// K, the number of samples per posterior.
    pub samples: usize,
    /// Samples decoded at once. This affects memory and speed, but the result only by rounding.
    pub rows: usize,
    /// The seed; each random number also depends on the indices of image and sample.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { samples: 100, rows: 512, seed: 0 }
    }
}

/// Estimates of ln p(x) of some images, in nats.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLikelihood {
    /// ln 1/K sum_k w_k of each image.
    pub images: Vec<f64>,
    /// 1/K sum_k ln w_k of each image: its evidence lower bound.
    pub bounds: Vec<f64>,
    /// 1/K sum_k -ln p(x|z_k) of each image: its distortion. The rate is the negative bound minus the distortion.
    pub distortions: Vec<f64>,
}

impl LogLikelihood {
    /// The mean over the images.
    pub fn mean(&self) -> f64 {
        mean(&self.images)
    }

    /// The mean of the evidence lower bounds.
    pub fn mean_bound(&self) -> f64 {
        mean(&self.bounds)
    }

    /// The mean of the distortions.
    pub fn mean_distortion(&self) -> f64 {
        mean(&self.distortions)
    }

    /// The standard error of [`LogLikelihood::mean`], if these images are a sample of a larger data set.
    pub fn standard_error(&self) -> f64 {
        let (mean, count) = (self.mean(), self.images.len() as f64);
        let squares: f64 = self.images.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (count - 1.0).max(1.0) / count.max(1.0)).sqrt()
    }

    /// For the images `indices` of a data set.
    ///
    /// # Errors
    /// If an image cannot be read.
    pub fn measure(
        network: &Network,
        prior: &Prior,
        data: &dyn DataSet,
        indices: &[usize],
        sampling: Sampling,
        progress: &dyn Progress,
    ) -> Result<Self, DataError> {
        progress.start("sampling posteriors", indices.len() as u64);
        let shape = data.shape();
        let (noise, pixel_noise) = (
            Stream::new(sampling.seed, "log-likelihood"),
            Stream::new(sampling.seed, "log-likelihood pixels"),
        );
        let mut all = Self { images: Vec::new(), bounds: Vec::new(), distortions: Vec::new() };
        let mut pixels = vec![0.0; shape.values()];
        // One image at a time: its samples fill the batch, so that any K is split alike.
        for (place, &index) in indices.iter().enumerate() {
            let place = place as u64;
            data.write_image(index, pixel_noise.at(0).lane(place), &mut pixels)?;
            let dimensions = [1, shape.height, shape.width, shape.channels];
            let image = Tensor::from_data(TensorData::new(pixels.clone(), dimensions), network.device());
            let mut generator = noise.at(0).lane(place).generator();
            let weights = Weights::of_image(network, prior, image, &mut generator, sampling);
            all.images.push(weights.log_mean());
            all.bounds.push(weights.mean_log());
            all.distortions.push(weights.sum_of_losses / weights.count.max(1) as f64);
            progress.advance(1);
        }
        progress.finish();
        Ok(all)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The importance weights of one image, summed incrementally.
#[derive(Clone, Copy, Debug)]
struct Weights {
    count: usize,
    /// The largest ln w so far.
    largest: f64,
    /// Sum of w / exp(largest).
    scaled_sum: f64,
    sum_of_logs: f64,
    /// Sum of -ln p(x|z).
    sum_of_losses: f64,
}

impl Weights {
    fn of_image(
        network: &Network,
        prior: &Prior,
        image: Tensor<4>,
        generator: &mut Generator,
        sampling: Sampling,
    ) -> Self {
        let posterior = network.encode(image.clone(), &mut Pass::Inference);
        let mut weights = Self {
            count: 0,
            largest: f64::NEG_INFINITY,
            scaled_sum: 0.0,
            sum_of_logs: 0.0,
            sum_of_losses: 0.0,
        };
        while weights.count < sampling.samples {
            let rows = sampling.rows.clamp(1, sampling.samples - weights.count);
            let (sample, log_ratios) = draw(&posterior, prior, rows, generator, network.device());
            let outputs = network.decode(sample.joined(), &mut Pass::Inference);
            let images = image.clone().repeat_dim(0, rows);
            let losses = doubles(network.likelihood().negative_log_likelihood(outputs, images));
            for (loss, ratio) in losses.into_iter().zip(log_ratios) {
                weights.add(ratio - loss);
                weights.sum_of_losses += loss;
            }
        }
        weights
    }

    fn add(&mut self, log_weight: f64) {
        self.count += 1;
        self.sum_of_logs += log_weight;
        if log_weight > self.largest {
            self.scaled_sum = self.scaled_sum * (self.largest - log_weight).exp() + 1.0;
            self.largest = log_weight;
        } else if self.largest > f64::NEG_INFINITY {
            self.scaled_sum += (log_weight - self.largest).exp();
        }
    }

    fn log_mean(&self) -> f64 {
        self.largest + (self.scaled_sum / self.count.max(1) as f64).ln()
    }

    fn mean_log(&self) -> f64 {
        self.sum_of_logs / self.count.max(1) as f64
    }
}

/// Samples of the posterior of one image, and ln p(z, c) - ln q(z, c|x) of each.
fn draw(
    posterior: &Posterior,
    prior: &Prior,
    rows: usize,
    generator: &mut Generator,
    device: &Device,
) -> (Sample, Vec<f64>) {
    let ([_, units], width) = (posterior.continuous.dims(), posterior.continuous.noise_width());
    let classes: Vec<Vec<f64>> =
        posterior.categorical.iter().map(|unit| doubles(unit.log_probabilities.clone())).collect();
    let mut normal = Vec::with_capacity(rows * width);
    let mut one_hot: Vec<Vec<f32>> = classes.iter().map(|logs| vec![0.0; rows * logs.len()]).collect();
    let mut log_ratios = vec![0.0; rows];
    for (row, log_ratio) in log_ratios.iter_mut().enumerate() {
        normal.extend((0..width).map(|_| -> f32 { StandardNormal.sample(generator) }));
        for (logs, hot) in classes.iter().zip(&mut one_hot) {
            let class = class_of(logs, f64::from(generator.next_u32()) / 4_294_967_296.0);
            hot[row * logs.len() + class] = 1.0;
            // The prior of a categorical unit is uniform.
            *log_ratio -= (logs.len() as f64).ln() + logs[class];
        }
    }
    let tensor = |values: Vec<f32>, width: usize| -> Tensor<2> {
        Tensor::from_data(TensorData::new(values, [rows, width]), device)
    };
    let many = posterior.continuous.repeated(rows);
    let draw = many.draw(tensor(normal, width));
    if let Some(of_posterior) = many.log_density(&draw).filter(|_| units > 0) {
        let of_posterior = of_posterior.sum_dim(1).reshape([rows]);
        let ratios = doubles(prior.log_density(draw.value.clone()) - of_posterior);
        log_ratios.iter_mut().zip(ratios).for_each(|(sum, ratio)| *sum += ratio);
    }
    let categorical = one_hot.into_iter().zip(&classes).map(|(hot, logs)| tensor(hot, logs.len()));
    let Draw { value, log_density } = draw;
    (Sample { continuous: value, log_density, categorical: categorical.collect() }, log_ratios)
}

fn doubles<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    let values: Vec<f32> = tensor.inner().into_data().try_into_vec().expect("single precision");
    values.into_iter().map(f64::from).collect()
}
