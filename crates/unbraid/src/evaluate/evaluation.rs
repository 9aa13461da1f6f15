//! The evaluation of a run: points, codes, scores.

use super::code_source::CodeSource;
use super::codes_file::{Posteriors, ScoredPoints};
use super::encoded::{Encoded, Representation};
use super::points::{Points, sorted};
use super::sampler::{DataSampler, varying_factors};
use crate::config::EvaluationConfig;
use crate::error::{Error, Result};
use crate::run::{Run, divergence_of_images};
use ndarray::Array2;
use std::time::Instant;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;
use unbraid_data::{DataSet, FactorSpace};
use unbraid_metrics::scores::InterventionSampler;
use unbraid_metrics::{Codes, FactorKind, Needs, Options, Registry, Report};

/// How to evaluate.
#[derive(Debug)]
pub struct Settings {
    /// Metrics by name; all that apply if there are none, or where the name is `default`.
    pub metrics: Vec<String>,
    /// The metrics with their options.
    pub registry: Registry,
    /// The seed of everything that is drawn at random.
    pub seed: u64,
    /// Training points; there are half as many test points.
    pub samples: usize,
    /// What is taken as the code of an image.
    pub representation: Representation,
    /// Whether scores are also computed on shuffled factors, which gives their chance level.
    pub chance: bool,
    /// Number of bootstrap resamples for the confidence intervals of scores; 0 for no intervals.
    pub resamples: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            metrics: Vec::new(),
            registry: Registry::builtin(),
            seed: 0,
            samples: 10_000,
            representation: Representation::default(),
            chance: true,
            resamples: 0,
        }
    }
}

impl Settings {
    /// What a configuration asks for. The [`Source`](super::Source) determines which images are scored.
    ///
    /// # Errors
    /// If an option of a metric is invalid.
    pub fn of(config: &EvaluationConfig) -> Result<Self> {
        let EvaluationConfig { metrics, chance, bootstrap, .. } = config;
        let registry = config.registry()?;
        Ok(Self {
            metrics: metrics.clone(),
            registry,
            chance: *chance,
            resamples: *bootstrap,
            ..Self::default()
        })
    }
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct Evaluation {
    /// The scores.
    pub report: Report,
    /// The points they were computed on. (Interventional scores draw from all images.)
    pub points: ScoredPoints,
    /// Whether the test points come from a separate data set.
    pub has_test_data: bool,
    /// Number of images encoded.
    pub encoded: usize,
    /// Seconds it took to encode them.
    pub encoding_seconds: f64,
}

/// Scores a run on a data set, usually the one it was trained on, or on images that it was not trained on, `test`.
///
/// With `test`, learners are fitted to points of `data` and tested on points of `test`. Whatever fits nothing (MIG,
/// sparsity, KL) is computed on the points of `test`, and interventional scores draw from all images of `test`.
///
/// Each image that some score needs is encoded once: the points of [`Points`], and for interventional scores all
/// images. Data without factors that vary gets the scores that need none. Scores that need posteriors (`kl`, `rmig`,
/// `mig_full_data`) apply to means only.
///
/// # Errors
/// If a metric is unknown or needs something that the data does not have, or the images do not fit the run or cannot be
/// read.
pub fn evaluate(
    run: &Run,
    data: &dyn DataSet,
    test: Option<&dyn DataSet>,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    let plan = Plan::new(run, data, test, settings)?;
    let names = plan.metrics.clone();
    plan.execute(&names, progress)
}

/// Scores an encoder of another program, as [`evaluate()`] does a run. Only what needs reconstructions has no score.
///
/// # Errors
/// As [`evaluate()`], and if the graph fails on an image.
#[cfg(feature = "onnx")]
pub fn evaluate_encoder(
    encoder: &crate::import::OnnxEncoder,
    data: &dyn DataSet,
    test: Option<&dyn DataSet>,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    let plan = Plan::new(encoder, data, test, settings)?;
    let names = plan.metrics.clone();
    plan.execute(&names, progress)
}

/// An evaluation whose images and metrics are settled, before any of them is encoded.
pub(super) struct Plan<'a> {
    source: &'a dyn CodeSource,
    data: &'a dyn DataSet,
    test: Option<&'a dyn DataSet>,
    settings: &'a Settings,
    points: Points,
    has_factors: bool,
    /// The metrics that are asked for and apply.
    pub(super) metrics: Vec<String>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        source: &'a dyn CodeSource,
        data: &'a dyn DataSet,
        test: Option<&'a dyn DataSet>,
        settings: &'a Settings,
    ) -> Result<Self> {
        let has_factors = !varying_factors(data).is_empty();
        let points = match test {
            None => Points::draw(data, settings.samples, settings.seed),
            Some(test) => Points::draw_from_two(data, test, settings.samples, settings.seed),
        };
        let test_points = has_factors && !points.test.is_empty();
        let available = Needs {
            factors: has_factors,
            test_points,
            log_variances: source.has_log_variances() && settings.representation == Representation::Mean,
            clusters: has_factors && source.has_clusters(),
            factor_kinds: has_factors,
            reconstructions: source.run().is_some(),
        };
        let chosen = settings.registry.choose_from(&settings.metrics, available);
        let metrics = chosen
            .map_err(|error| Error::Scoring { path: source.path().to_owned(), source: error })?
            .into_iter()
            .map(|metric| metric.name.clone())
            .collect();
        Ok(Self { source, data, test, settings, points, has_factors, metrics })
    }

    /// How many training and test points there are; no test points without factors.
    pub(super) fn counts(&self) -> (usize, usize) {
        let tests = if self.has_factors || self.test.is_some() { self.points.test.len() } else { 0 };
        (self.points.train.len(), tests)
    }

    /// How many distinct images the training and the test points show.
    pub(super) fn distinct(&self) -> (usize, usize) {
        let (train, test) = self.points.distinct();
        (train, if self.counts().1 > 0 { test } else { 0 })
    }

    /// Encodes what these metrics need, and computes them.
    pub(super) fn execute(&self, names: &[String], progress: &dyn Progress) -> Result<Evaluation> {
        let Self { source, data, test, settings, ref points, has_factors, .. } = *self;
        let registry = &settings.registry;
        let asks = |wanted: &dyn Fn(&unbraid_metrics::Description) -> bool| {
            names.iter().any(|name| registry.get(name).is_some_and(wanted))
        };
        let interventional = has_factors && asks(&|metric| metric.interventional);
        let reconstructing = source.run().filter(|_| asks(&|metric| metric.needs.reconstructions));

        let started = Instant::now();
        let encode = |data: &dyn DataSet, images: Option<Vec<usize>>| {
            Encoded::by(source, data, images, (settings.representation, settings.seed), progress)
        };
        let all_or = |images: Vec<usize>| (!interventional).then_some(images);
        let (encoded, encoded_test) = match test {
            None => (encode(data, all_or(points.images()))?, None),
            Some(test) => (
                encode(data, Some(sorted(points.train.clone())))?,
                Some(encode(test, all_or(sorted(points.test.clone())))?),
            ),
        };
        let encoding_seconds = started.elapsed().as_secs_f64();

        let wrong = |error: unbraid_metrics::MetricsError| Error::Scoring {
            path: source.path().to_owned(),
            source: error,
        };
        // What is not fitted is computed on images that the run has not seen, if there are any.
        let (judged, judged_codes, judged_images) = match (test, &encoded_test) {
            (Some(test), Some(encoded)) => (test, encoded, &points.test),
            _ => (data, &encoded, &points.train),
        };
        let mut scored = self.points_of(&encoded, encoded_test.as_ref());
        if let Some(run) = reconstructing {
            let errors = self.reconstruction_errors(run, judged, judged_images, progress)?;
            let posteriors = scored.unseen.as_mut().unwrap_or(&mut scored.train);
            posteriors.reconstruction_errors = Some(errors);
        }
        let codes = scored.codes().map_err(wrong)?;
        let sampler = if interventional { DataSampler::new(judged, judged_codes) } else { None };
        let options = Options {
            seed: settings.seed,
            sampler: sampler.as_ref().map(|sampler| sampler as &dyn InterventionSampler),
            chance: settings.chance,
            resamples: settings.resamples,
        };
        let report = score(registry, names, &codes, &options, progress).map_err(wrong)?;
        let has_test_data = encoded_test.is_some();
        let encoded = encoded.len() + encoded_test.as_ref().map_or(0, Encoded::len);
        Ok(Evaluation { report, points: scored, has_test_data, encoded, encoding_seconds })
    }

    /// The error of each of these images, computed once for each.
    fn reconstruction_errors(
        &self,
        run: &Run,
        data: &dyn DataSet,
        images: &[usize],
        progress: &dyn Progress,
    ) -> Result<Vec<f64>> {
        let each = sorted(images.to_vec());
        // The noise of the images that are encoded.
        let noise = Stream::new(self.settings.seed, "evaluation images");
        let errors = run.reconstruction_errors(data, &each, noise, progress)?;
        let place = |image: &usize| each.binary_search(image).expect("every image is among them");
        Ok(images.iter().map(|image| errors[place(image)]).collect())
    }

    /// The points as arrays: what the metrics see, and what is written to the codes file.
    fn points_of(&self, encoded: &Encoded, encoded_test: Option<&Encoded>) -> ScoredPoints {
        let Self { data, ref points, .. } = *self;
        let train = self.posteriors_of(encoded, &points.train);
        let unseen = encoded_test.map(|encoded| self.posteriors_of(encoded, &points.test));
        let tested = encoded_test.unwrap_or(encoded);
        let scored =
            ScoredPoints { unseen, ..ScoredPoints::unlabelled(encoded.codes_of(&points.train), train) };
        let Some(space) = data.factors().filter(|_| self.has_factors) else {
            // Without factors only unseen points are of use beside the training points.
            return match encoded_test {
                Some(tested) => ScoredPoints { codes_test: tested.codes_of(&points.test), ..scored },
                None => scored,
            };
        };
        let latent = space.latent();
        let clusters = (encoded.categories_of(&points.train), tested.categories_of(&points.test));
        let numbers = has_numbers(data, space, &latent).then(|| {
            let tested = self.test.unwrap_or(data);
            (numbers_of(data, &latent, &points.train), numbers_of(tested, &latent, &points.test))
        });
        ScoredPoints {
            numbers,
            factors_train: factors_of(data, &latent, &points.train),
            codes_test: tested.codes_of(&points.test),
            factors_test: factors_of(self.test.unwrap_or(data), &latent, &points.test),
            clusters: (clusters.0.ncols() > 0).then_some(clusters),
            factor_names: latent.iter().map(|&k| space.factors()[k].name.clone()).collect(),
            factor_kinds: latent.iter().map(|&k| kind_of(space.factors()[k].kind)).collect(),
            ..scored
        }
    }

    /// What is known of the posteriors of these images.
    fn posteriors_of(&self, encoded: &Encoded, images: &[usize]) -> Posteriors {
        let log_variances = encoded.log_variances_of(images);
        match self.settings.representation {
            // Classes as numbers have no posterior variance.
            Representation::Mean if log_variances.ncols() > 0 => {}
            Representation::Mean | Representation::Sample => return Posteriors::default(),
        }
        let prior = self.source.prior();
        let divergences = (!prior.is_standard_normal()).then(|| {
            divergence_of_images(prior, &encoded.codes_of(images), &log_variances, self.settings.seed)
        });
        Posteriors { log_variances: Some(log_variances), divergences, reconstruction_errors: None }
    }
}

/// Runs metrics by name, or all that apply if there are none, and reports progress.
///
/// # Errors
/// As [`Registry::run`].
pub fn score(
    registry: &Registry,
    names: &[String],
    codes: &Codes,
    options: &Options<'_>,
    progress: &dyn Progress,
) -> unbraid_metrics::Result<Report> {
    let mut current = None;
    // Also called while a metric goes on, so that whoever watches can stop it.
    let report = registry.run_with_progress(names, codes, options, |_, position, count| {
        match current.replace(position) {
            None => progress.start("scoring", count as u64),
            Some(last) => progress.advance((position - last) as u64),
        }
    });
    progress.finish();
    report
}

/// The kind of a factor, as metrics know it.
fn kind_of(kind: unbraid_data::FactorKind) -> FactorKind {
    match kind {
        unbraid_data::FactorKind::Categorical => FactorKind::Categorical,
        unbraid_data::FactorKind::Ordered => FactorKind::Ordered,
        unbraid_data::FactorKind::Angle => FactorKind::Angle,
    }
}

/// Whether a factor has values that are more than their position: numbers of an attribute table. On a grid
/// positions are what published scores are computed from.
fn has_numbers(data: &dyn DataSet, space: &FactorSpace, latent: &[usize]) -> bool {
    !data.is_full_grid() && latent.iter().any(|&k| space.factors()[k].numbers().is_some())
}

/// The factors of images as numbers: their values where these are numbers, else their positions.
fn numbers_of(data: &dyn DataSet, latent: &[usize], images: &[usize]) -> Array2<f64> {
    let factors = data.factors().map_or(&[][..], FactorSpace::factors);
    let positions = factors_of(data, latent, images);
    let values: Vec<Option<Vec<f64>>> = latent.iter().map(|&k| factors[k].numbers()).collect();
    Array2::from_shape_fn(positions.dim(), |(row, factor)| {
        let position = positions[[row, factor]];
        values[factor].as_ref().map_or(position as f64, |values| values[position as usize])
    })
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
