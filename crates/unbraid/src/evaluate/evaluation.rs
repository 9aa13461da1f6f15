//! The evaluation of a run: points, codes, scores.

use super::codes_file::ScoredPoints;
use super::encoded::{Encoded, Representation};
use super::points::{Points, sorted};
use super::sampler::{DataSampler, varying_factors};
use crate::error::{Error, Result};
use crate::run::Run;
use ndarray::Array2;
use std::time::Instant;
use unbraid_data::progress::Progress;
use unbraid_data::{DataSet, FactorSpace};
use unbraid_metrics::scores::InterventionSampler;
use unbraid_metrics::{Codes, Options, Report, registry};

/// What to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Metrics by name; all that apply if there are none.
    pub metrics: Vec<String>,
    /// Decides everything that is drawn at random.
    pub seed: u64,
    /// Training points; there are half as many test points.
    pub samples: usize,
    /// What of a posterior counts as the code.
    pub representation: Representation,
}

impl Default for Settings {
    fn default() -> Self {
        Self { metrics: Vec::new(), seed: 0, samples: 10_000, representation: Representation::default() }
    }
}

/// What came out.
#[derive(Debug)]
pub struct Evaluation {
    /// The scores.
    pub report: Report,
    /// The points they were computed on. (Interventional scores drew from all images.)
    pub points: ScoredPoints,
    /// Whether the test points come from a data set of their own.
    pub has_test_data: bool,
    /// How many images were encoded.
    pub encoded: usize,
    /// Seconds that took.
    pub encoding_seconds: f64,
}

/// Scores a run on a data set, which usually is the one it was trained on. With another one for `test`, the points that
/// learners are judged on come from there, so that none of them is known from training.
///
/// Each image that some score needs is encoded once: the points of [`Points::draw`], and for interventional scores all
/// images. Data without factors that vary gets the scores that need none. Scores that need posteriors (`kl`, `rmig`,
/// `mig_full_data`) apply to means only.
///
/// # Errors
/// If a metric is unknown or needs what the data does not have, or the images do not fit the run or cannot be read.
pub fn evaluate(
    run: &Run,
    data: &dyn DataSet,
    test: Option<&dyn DataSet>,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    let has_factors = !varying_factors(data).is_empty();
    let interventional = has_factors && asks_for_interventions(&settings.metrics)?;
    let (samples, seed) = (settings.samples, settings.seed);
    let (points, images) = match test {
        None => {
            let points = Points::draw(data, samples, seed);
            let images = points.images();
            (points, images)
        }
        Some(test) => {
            let points = Points::draw_from_two(data, test, samples, seed);
            let images = sorted(points.train.clone());
            (points, images)
        }
    };
    let images = (!interventional).then_some(images);

    let started = Instant::now();
    let encode = |data: &dyn DataSet, images: Option<Vec<usize>>| {
        Encoded::new(run, data, images, (settings.representation, seed), progress)
    };
    let encoded = encode(data, images)?;
    let encoded_test = test.map(|test| encode(test, Some(sorted(points.test.clone())))).transpose()?;
    let encoding_seconds = started.elapsed().as_secs_f64();

    let wrong =
        |source: unbraid_metrics::MetricsError| Error::Scoring { path: run.path().to_owned(), source };
    let test = (test.unwrap_or(data), encoded_test.as_ref().unwrap_or(&encoded));
    let points = points_of((data, &encoded), test, &points, settings.representation, has_factors);
    let codes = points.codes().map_err(wrong)?;
    let sampler = if interventional { DataSampler::new(data, &encoded) } else { None };
    let options = Options {
        seed: settings.seed,
        sampler: sampler.as_ref().map(|sampler| sampler as &dyn InterventionSampler),
    };
    let report = score(&settings.metrics, &codes, &options, progress).map_err(wrong)?;
    let has_test_data = encoded_test.is_some();
    let encoded = encoded.len() + encoded_test.as_ref().map_or(0, Encoded::len);
    Ok(Evaluation { report, points, has_test_data, encoded, encoding_seconds })
}

/// Runs metrics by name, all that apply if there are none, and shows how far they are.
///
/// # Errors
/// As [`registry::run`].
pub fn score(
    names: &[String],
    codes: &Codes,
    options: &Options<'_>,
    progress: &dyn Progress,
) -> unbraid_metrics::Result<Report> {
    let report = registry::run_with_progress(names, codes, options, |_, position, count| {
        if position == 0 {
            progress.start("scoring", count as u64);
        } else {
            progress.advance(1);
        }
    });
    progress.finish();
    report
}

/// Whether one of these metrics, or one that is run when none are named, draws interventions.
fn asks_for_interventions(names: &[String]) -> Result<bool> {
    for name in names {
        if registry::find(name)?.interventional {
            return Ok(true);
        }
    }
    Ok(names.is_empty())
}

/// The points as arrays: what the metrics see, and what is written to the codes file.
fn points_of(
    (data, encoded): (&dyn DataSet, &Encoded),
    (test, encoded_test): (&dyn DataSet, &Encoded),
    points: &Points,
    representation: Representation,
    has_factors: bool,
) -> ScoredPoints {
    let log_variances = encoded.log_variances_of(&points.train);
    let log_variances = match representation {
        // Classes as numbers have no posterior variance.
        Representation::Mean if log_variances.ncols() > 0 => Some(log_variances),
        Representation::Mean | Representation::Sample => None,
    };
    let scored = ScoredPoints::unlabelled(encoded.codes_of(&points.train), log_variances);
    let Some(space) = data.factors().filter(|_| has_factors) else { return scored };
    let latent = space.latent();
    let clusters = (encoded.categories_of(&points.train), encoded_test.categories_of(&points.test));
    ScoredPoints {
        factors_train: factors_of(data, &latent, &points.train),
        codes_test: encoded_test.codes_of(&points.test),
        factors_test: factors_of(test, &latent, &points.test),
        clusters: (clusters.0.ncols() > 0).then_some(clusters),
        factor_names: latent.iter().map(|&k| space.factors()[k].name.clone()).collect(),
        ..scored
    }
}

fn factors_of(data: &dyn DataSet, latent: &[usize], images: &[usize]) -> Array2<i64> {
    let mut row = vec![0; data.factors().map_or(0, FactorSpace::len)];
    let mut factors = Array2::zeros((images.len(), latent.len()));
    for (&image, mut values) in images.iter().zip(factors.rows_mut()) {
        data.factors_of(image, &mut row);
        values.iter_mut().zip(latent).for_each(|(value, &k)| *value = i64::from(row[k]));
    }
    factors
}
