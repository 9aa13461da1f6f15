//! How good a model is as a model: what it loses, what it keeps, how likely it finds the data.

use super::aggregate_posterior::AggregatePosterior;
use super::log_likelihood::{LogLikelihood, Sampling};
use crate::error::{Error, Result};
use crate::run::Run;
use ndarray::Axis;
use rand::seq::SliceRandom;
use serde::Serialize;
use std::fmt::Write;
use unbraid_data::DataSet;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;

/// A unit is active if the variance of its posterior mean over the data exceeds this (Burda et al. 2016, section 5.2).
pub const ACTIVE: f64 = 0.01;

/// Images that are decoded together.
const PIECE: usize = 512;

/// How much work to put into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Images that are encoded; all if there are fewer.
    pub images: usize,
    /// The first of these, whose likelihood is estimated.
    pub likelihood_images: usize,
    /// Samples of each of their posteriors.
    pub samples: usize,
    /// Decides which images, and all samples.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { images: 5000, likelihood_images: 200, samples: 100, seed: 0 }
    }
}

/// What was measured. All but the first and the counts in nats per image.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measures {
    /// Mean squared error of a pixel's value, from images to their reconstructions by [`Run::reconstruct`].
    pub mean_squared_error: f64,
    /// E -ln p(x|z), z from the posterior: the distortion D (Alemi et al. 2018).
    pub distortion: f64,
    /// E KL(q(z|x) || p(z)), from the same samples: the rate R (Alemi et al. 2018).
    pub rate: f64,
    /// The evidence lower bound, -(R + D).
    pub elbo: f64,
    /// ln p(x) by importance sampling (Burda et al. 2016, eq. 8); at least the bound.
    pub log_likelihood: f64,
    /// Its standard error, from one image to the next.
    pub log_likelihood_error: f64,
    /// I(x; z): its expectation is at most that.
    pub mutual_information_lower: f64,
    /// I(x; z): its expectation is at least that.
    pub mutual_information_upper: f64,
    /// Total correlation of the aggregate posterior, the smaller of two estimates.
    pub total_correlation_lower: f64,
    /// The larger one.
    pub total_correlation_upper: f64,
    /// Continuous units whose mean varies by more than [`ACTIVE`].
    pub active_units: usize,
    /// The variance over the images of the posterior mean of each continuous unit.
    pub mean_variance: Vec<f64>,
    /// KL divergence of each unit from its prior, continuous ones first.
    pub kl_unit: Vec<f64>,
    /// Images that were encoded: for all but the next four.
    pub images: usize,
    /// Images behind distortion, rate, bound and likelihood.
    pub likelihood_images: usize,
    /// Samples of each of their posteriors.
    pub samples: usize,
    /// Decides which images, and all samples.
    pub seed: u64,
    /// Training steps of the weights.
    pub step: u64,
}

impl Run {
    /// Measures the model on a data set, usually its own. The formulas stand with [`Measures`] and
    /// [`AggregatePosterior`](super::AggregatePosterior).
    ///
    /// # Errors
    /// If the images are of another size than those of the run, or cannot be read; if there are fewer than two, or
    /// nothing is asked for.
    pub fn measure(&self, data: &dyn DataSet, effort: Effort, progress: &dyn Progress) -> Result<Measures> {
        if effort.images < 2 || effort.samples == 0 || effort.likelihood_images == 0 || data.len() < 2 {
            let found = format!(
                "{} of {} images, {} for the likelihood with {} samples",
                effort.images,
                data.len(),
                effort.likelihood_images,
                effort.samples
            );
            return Err(Error::argument("effort", found, "at least 2 images and 1 of the others"));
        }
        let mut order: Vec<usize> = (0..data.len()).collect();
        let count = effort.images.min(order.len());
        let mut generator = Stream::new(effort.seed, "measured images").at(0).generator();
        let images = order.partial_shuffle(&mut generator, count).0.to_vec();
        let noise = Stream::new(effort.seed, "measured pixels");
        let posteriors = self.encode_data(data, &images, noise, progress)?;
        let squared =
            self.mean_squared_error(data, &images, noise, &self.latents_of(&posteriors), progress)?;
        let aggregate = AggregatePosterior::estimate(&posteriors, self.layout(), data.len(), effort.seed);
        let sampling = Sampling { samples: effort.samples, seed: effort.seed, ..Sampling::default() };
        let likelihood_images = &images[..effort.likelihood_images.min(count)];
        let likelihood = LogLikelihood::measure(
            self.network(),
            self.prior(),
            data,
            likelihood_images,
            sampling,
            progress,
        )?;
        let mean_variance: Vec<f64> =
            posteriors.mean.mapv(f64::from).var_axis(Axis(0), 0.0).into_iter().collect();
        Ok(Measures {
            mean_squared_error: squared,
            distortion: likelihood.mean_distortion(),
            rate: -likelihood.mean_bound() - likelihood.mean_distortion(),
            elbo: likelihood.mean_bound(),
            log_likelihood: likelihood.mean(),
            log_likelihood_error: likelihood.standard_error(),
            mutual_information_lower: aggregate.mutual_information.lower,
            mutual_information_upper: aggregate.mutual_information.upper,
            total_correlation_lower: aggregate.total_correlation.lower,
            total_correlation_upper: aggregate.total_correlation.upper,
            active_units: mean_variance.iter().filter(|variance| **variance > ACTIVE).count(),
            mean_variance,
            kl_unit: self.divergences(&posteriors, effort.seed),
            images: count,
            likelihood_images: likelihood_images.len(),
            samples: effort.samples,
            seed: effort.seed,
            step: self.step(),
        })
    }

    fn mean_squared_error(
        &self,
        data: &dyn DataSet,
        images: &[usize],
        noise: Stream,
        latents: &ndarray::Array2<f32>,
        progress: &dyn Progress,
    ) -> Result<f64> {
        progress.start("decoding", images.len() as u64);
        let values = data.shape().values();
        let mut pixels = vec![0.0; values];
        let mut sum = 0.0;
        for (images, latents) in images.chunks(PIECE).zip(latents.axis_chunks_iter(Axis(0), PIECE)) {
            for (&image, decoded) in images.iter().zip(self.decode(&latents)?.outer_iter()) {
                data.write_image(image, noise.at(0).lane(image as u64), &mut pixels)?;
                let error = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
                sum += pixels.iter().zip(&decoded).map(error).sum::<f64>();
            }
            progress.advance(images.len() as u64);
        }
        progress.finish();
        Ok(sum / (images.len() * values) as f64)
    }
}

impl Measures {
    /// Every single number by its name, with what it says.
    pub fn rows(&self) -> Vec<(&'static str, f64, &'static str)> {
        vec![
            ("mean_squared_error", self.mean_squared_error, "of a pixel, image to reconstruction"),
            ("distortion", self.distortion, "nats: -ln p(x|z), z from the posterior"),
            ("rate", self.rate, "nats: KL(q(z|x) || p(z))"),
            ("elbo", self.elbo, "nats: -(rate + distortion)"),
            ("log_likelihood", self.log_likelihood, "nats: ln p(x), importance-weighted"),
            ("log_likelihood_error", self.log_likelihood_error, "its standard error over images"),
            (
                "mutual_information_lower",
                self.mutual_information_lower,
                "nats: I(x; z) from below, on average",
            ),
            ("mutual_information_upper", self.mutual_information_upper, "the same from above"),
            ("total_correlation_lower", self.total_correlation_lower, "nats: of q(z), the smaller estimate"),
            ("total_correlation_upper", self.total_correlation_upper, "the larger; more images: closer"),
            ("active_units", self.active_units as f64, "variance of the mean above 0.01"),
        ]
    }

    /// A table of 80 columns.
    pub fn as_text(&self) -> String {
        let mut text = String::new();
        for (name, value, meaning) in self.rows() {
            let value = match name {
                "active_units" => format!("{} of {}", value, self.mean_variance.len()),
                "mean_squared_error" => format!("{value:.6}"),
                _ => format!("{value:.4}"),
            };
            let _ = writeln!(text, "{name:25} {value:>12}  {meaning}");
        }
        let _ = writeln!(
            text,
            "\n{} images; distortion to likelihood: {} images, {} samples each; step {}",
            self.images, self.likelihood_images, self.samples, self.step
        );
        text
    }

    /// One row for each number.
    pub fn as_csv(&self) -> String {
        let mut text = String::from("measure,value\n");
        for (name, value, _) in self.rows() {
            let _ = writeln!(text, "{name},{value}");
        }
        let counts = [
            ("images", self.images),
            ("likelihood_images", self.likelihood_images),
            ("samples", self.samples),
        ];
        for (name, count) in counts {
            let _ = writeln!(text, "{name},{count}");
        }
        for (unit, (variance, kl)) in self.mean_variance.iter().zip(&self.kl_unit).enumerate() {
            let _ = writeln!(text, "mean_variance/{unit},{variance}\nkl_unit/{unit},{kl}");
        }
        for (unit, kl) in self.kl_unit.iter().skip(self.mean_variance.len()).enumerate() {
            let _ = writeln!(text, "kl_categorical/{unit},{kl}");
        }
        text
    }
}
