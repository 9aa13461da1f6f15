//! Measures of a generative model: likelihood, rate, distortion, mutual information, active units.

use super::aggregate_posterior::AggregatePosterior;
use super::log_likelihood::{LogLikelihood, Sampling};
use crate::config::PosteriorNeed;
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

/// How many images and samples to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Images to encode; all if there are fewer.
    pub images: usize,
    /// How many of these the likelihood is estimated for: the first ones.
    pub likelihood_images: usize,
    /// Samples per posterior for the likelihood.
    pub samples: usize,
    /// The seed of the choice of images and of all samples.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { images: 5000, likelihood_images: 200, samples: 100, seed: 0 }
    }
}

/// The results. All except the first and the counts are in nats per image.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measures {
    /// Mean squared error per pixel value between images and their reconstructions by [`Run::reconstruct`];
    /// of a table, whose columns have different units, that of standardised values, as everything else here.
    pub mean_squared_error: f64,
    /// E -ln p(x|z), z from the posterior: the distortion D (Alemi et al. 2018).
    pub distortion: f64,
    /// E KL(q(z|x) || p(z)), from the same samples: the rate R (Alemi et al. 2018). It and the three below
    /// are `None` if the posterior has no density, or no width because its mean is decoded.
    pub rate: Option<f64>,
    /// The evidence lower bound, -(R + D).
    pub elbo: Option<f64>,
    /// ln p(x) by importance sampling (Burda et al. 2016, eq. 8); never below the bound.
    pub log_likelihood: Option<f64>,
    /// Its standard error over the images.
    pub log_likelihood_error: Option<f64>,
    /// Lower bound of I(x; z) in expectation. It and the three below are `None` unless the posterior is
    /// diagonal, since they need its density at samples of others.
    pub mutual_information_lower: Option<f64>,
    /// Upper bound of I(x; z) in expectation.
    pub mutual_information_upper: Option<f64>,
    /// ln M for M encoded images, which the lower bound never exceeds.
    pub information_ceiling: f64,
    /// Total correlation of the aggregate posterior, the smaller of two estimates.
    pub total_correlation_lower: Option<f64>,
    /// The larger one.
    pub total_correlation_upper: Option<f64>,
    /// Continuous units whose mean has a variance above [`ACTIVE`].
    pub active_units: usize,
    /// The variance of the posterior mean over the images, for each continuous unit.
    pub mean_variance: Vec<f64>,
    /// KL divergence of each unit from its prior, continuous ones first.
    pub kl_unit: Vec<f64>,
    /// Images encoded, for all but distortion, rate, bound and likelihood.
    pub images: usize,
    /// Images used for distortion, rate, bound and likelihood.
    pub likelihood_images: usize,
    /// Samples per posterior for these.
    pub samples: usize,
    /// The seed of the choice of images and of all samples.
    pub seed: u64,
    /// Training steps of the weights.
    pub step: u64,
    /// Whether the images are rows of a table.
    #[serde(skip)]
    is_table: bool,
}

impl Run {
    /// Measures the model on a data set, usually its own. The formulas are in [`Measures`] and
    /// [`AggregatePosterior`](super::AggregatePosterior).
    ///
    /// # Errors
    /// If the images do not have the size of the run's or cannot be read, if there are fewer than two, or if a number
    /// in `effort` is zero.
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
        let errors = self.squared_errors(data, &images, noise, &self.latents_of(&posteriors), progress)?;
        let values = (count * data.shape().values()) as f64;
        let squared = errors.iter().sum::<f64>() / values;
        let provides = self.config().model.posterior.provides();
        let has_posterior = !self.decodes_means();
        let aggregate = (has_posterior && provides == PosteriorNeed::DiagonalGaussian)
            .then(|| AggregatePosterior::estimate(&posteriors, self.layout(), data.len(), effort.seed));
        let of_aggregate = |part: fn(&AggregatePosterior) -> f64| aggregate.as_ref().map(part);
        let seen = self.standardised(data);
        let sampling = Sampling { samples: effort.samples, seed: effort.seed, ..Sampling::default() };
        let likelihood_images = &images[..effort.likelihood_images.min(count)];
        let likelihood = LogLikelihood::measure(
            self.network(),
            self.prior(),
            &seen,
            likelihood_images,
            sampling,
            progress,
        )?;
        let with_density =
            |value: f64| (has_posterior && provides >= PosteriorNeed::Density).then_some(value);
        let mean_variance = posteriors.mean_variances();
        Ok(Measures {
            mean_squared_error: squared,
            distortion: likelihood.mean_distortion(),
            rate: with_density(-likelihood.mean_bound() - likelihood.mean_distortion()),
            elbo: with_density(likelihood.mean_bound()),
            log_likelihood: with_density(likelihood.mean()),
            log_likelihood_error: with_density(likelihood.standard_error()),
            mutual_information_lower: of_aggregate(|aggregate| aggregate.mutual_information.lower),
            mutual_information_upper: of_aggregate(|aggregate| aggregate.mutual_information.upper),
            information_ceiling: (count as f64).ln(),
            total_correlation_lower: of_aggregate(|aggregate| aggregate.total_correlation.lower),
            total_correlation_upper: of_aggregate(|aggregate| aggregate.total_correlation.upper),
            active_units: mean_variance.iter().filter(|variance| **variance > ACTIVE).count(),
            mean_variance,
            kl_unit: self.divergences(&posteriors, effort.seed),
            images: count,
            likelihood_images: likelihood_images.len(),
            samples: effort.samples,
            seed: effort.seed,
            step: self.step(),
            is_table: data.columns().is_some(),
        })
    }

    /// How far images are from their reconstructions by [`Run::reconstruct`]: the mean squared error of a
    /// pixel's value, for each of these images. Where images are made with noise, image `i` has that of lane
    /// `i` of `noise`.
    pub(super) fn reconstruction_errors(
        &self,
        data: &dyn DataSet,
        images: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Result<Vec<f64>> {
        let posteriors = self.encode_data(data, images, noise, progress)?;
        let mut errors = self.squared_errors(data, images, noise, &self.latents_of(&posteriors), progress)?;
        let values = data.shape().values() as f64;
        errors.iter_mut().for_each(|error| *error /= values);
        Ok(errors)
    }

    /// The squared error of each image, summed over its values.
    fn squared_errors(
        &self,
        data: &dyn DataSet,
        images: &[usize],
        noise: Stream,
        latents: &ndarray::Array2<f32>,
        progress: &dyn Progress,
    ) -> Result<Vec<f64>> {
        progress.start("decoding", images.len() as u64);
        let data = self.standardised(data);
        let mut pixels = vec![0.0; data.shape().values()];
        let mut errors = Vec::with_capacity(images.len());
        for (images, latents) in images.chunks(PIECE).zip(latents.axis_chunks_iter(Axis(0), PIECE)) {
            for (&image, decoded) in images.iter().zip(self.decode_standardised(&latents)?.outer_iter()) {
                data.write_image(image, noise.at(0).lane(image as u64), &mut pixels)?;
                let error = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
                errors.push(pixels.iter().zip(&decoded).map(error).sum::<f64>());
            }
            progress.advance(images.len() as u64);
        }
        progress.finish();
        Ok(errors)
    }
}

impl Measures {
    /// Whether the mutual information is at its ceiling: within 0.1 nats of ln M, all that these images can
    /// tell is that their codes do not overlap. The total correlation has the same limit, since it is
    /// estimated from the same densities.
    pub fn is_at_ceiling(&self) -> bool {
        self.mutual_information_lower.is_some_and(|lower| lower > self.information_ceiling - 0.1)
    }

    /// Every scalar with its name and a description; `None` where it is not defined for the run's posterior.
    pub fn rows(&self) -> Vec<(&'static str, Option<f64>, &'static str)> {
        let word = |of_images, of_rows| if self.is_table { of_rows } else { of_images };
        vec![
            (
                "mean_squared_error",
                Some(self.mean_squared_error),
                word("of a pixel, image to reconstruction", "of a column, row to reconstruction"),
            ),
            ("distortion", Some(self.distortion), "nats: -ln p(x|z), z from the posterior"),
            ("rate", self.rate, "nats: KL(q(z|x) || p(z))"),
            ("elbo", self.elbo, "nats: -(rate + distortion)"),
            ("log_likelihood", self.log_likelihood, "nats: ln p(x), importance-weighted"),
            (
                "log_likelihood_error",
                self.log_likelihood_error,
                word("its standard error over images", "its standard error over rows"),
            ),
            (
                "mutual_information_lower",
                self.mutual_information_lower,
                "nats: I(x; z) from below, on average",
            ),
            ("mutual_information_upper", self.mutual_information_upper, "the same from above"),
            (
                "information_ceiling",
                Some(self.information_ceiling),
                word("ln of the images: the lower one's limit", "ln of the rows: the lower one's limit"),
            ),
            ("total_correlation_lower", self.total_correlation_lower, "nats: of q(z), the smaller estimate"),
            (
                "total_correlation_upper",
                self.total_correlation_upper,
                word("the larger; more images: closer", "the larger; more rows: closer"),
            ),
            ("active_units", Some(self.active_units as f64), "variance of the mean above 0.01"),
        ]
    }

    /// A table at most 80 columns wide.
    pub fn as_text(&self) -> String {
        let mut text = String::new();
        for (name, value, meaning) in self.rows() {
            let value = match (name, value) {
                (_, None) => "undefined".to_owned(),
                ("active_units", Some(value)) => format!("{} of {}", value, self.mean_variance.len()),
                ("mean_squared_error", Some(value)) => format!("{value:.6}"),
                (_, Some(value)) => format!("{value:.4}"),
            };
            let _ = writeln!(text, "{name:25} {value:>12}  {meaning}");
        }
        if self.mutual_information_lower.is_none() {
            let reason = match self.rate {
                None => "its posterior has no density",
                Some(_) => "mutual information and total correlation need a diagonal posterior",
            };
            let _ = writeln!(text, "\nundefined for this run: {reason}");
        }
        let points = if self.is_table { "rows" } else { "images" };
        let _ = writeln!(
            text,
            "\n{} {points}; distortion to likelihood: {} {points}, {} samples each; step {}",
            self.images, self.likelihood_images, self.samples, self.step
        );
        if self.is_at_ceiling() {
            let _ = writeln!(
                text,
                "The mutual information is at its ceiling, ln {} = {:.4}: codes of different\n\
                 {points} do not overlap, so these {points} cannot show a larger value. Its true\n\
                 value and that of the total correlation may be much larger, even where two\n\
                 estimates agree.",
                self.images, self.information_ceiling
            );
        }
        text
    }

    /// One row for each number.
    pub fn as_csv(&self) -> String {
        let mut text = String::from("measure,value\n");
        for (name, value, _) in self.rows() {
            let value = value.as_ref().map(f64::to_string).unwrap_or_default();
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
