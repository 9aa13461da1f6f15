//! Evaluation of a run, with its results written into the run directory.

use super::evaluation::{Plan, Settings};
use super::scores_file::{About, Earlier, Outputs, Scores};
use crate::error::Result;
use crate::observer::{Encoding, Observer};
use crate::run::Run;
use std::fmt;
use unbraid_data::DataSet;
use unbraid_metrics::{Registry, Report, Score};

/// The images that a run is scored on.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Usually the data that the run was trained on.
    pub data: &'a dyn DataSet,
    /// Images that the run was not trained on, which it is scored on instead; see [`evaluate()`](super::evaluate()).
    pub test: Option<&'a dyn DataSet>,
    /// The hash of `data`.
    pub sha256: &'a str,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

/// Checks in advance that the scores of a run can be written. A run that has scores already may have all that are
/// asked for, so whether its directory can be written is left to [`evaluate_and_write`].
///
/// # Errors
/// If a file exists that is not from an earlier evaluation, or there is none and none can be written.
pub fn check_outputs(run: &Run) -> Result {
    Outputs::in_run(run.paths()).map(drop)
}

/// Scores a run as [`evaluate()`](super::evaluate()) does, and writes `scores.json` and `codes.npz` into its directory.
///
/// Scores that are there and would come out the same are kept: those of the same run, step, data, split,
/// points, seed and representation, and with the same options. What is returned is what was asked for,
/// whether it was computed now or before.
///
/// # Errors
/// As [`evaluate()`](super::evaluate()); if a file other than an earlier evaluation is in the way, or the files cannot
/// be written.
pub fn evaluate_and_write(
    run: &Run,
    source: Source<'_>,
    settings: &Settings,
    earlier: Earlier,
    observer: &dyn Observer,
) -> Result<Report> {
    let outputs = Outputs::in_run(run.paths())?;
    let plan = Plan::new(run, source.data, source.test, settings)?;
    let (train_points, test_points) = plan.counts();
    let (train_images, test_images) = plan.distinct();
    let mut about = About {
        unbraid: env!("CARGO_PKG_VERSION").to_owned(),
        step: run.step(),
        representation: settings.representation.word().to_owned(),
        seed: settings.seed,
        train_points,
        test_points,
        test_split: source.test.is_some(),
        images_encoded: 0,
        encoding_seconds: 0.0,
        data_sha256: source.sha256.to_owned(),
        test_sha256: source.test.map(DataSet::fingerprint).transpose()?,
        configuration: run.config().fingerprint(),
        train_images,
        test_images,
        notes: Vec::new(),
        factors: Vec::new(),
    };
    let same_points = |scores: &&Scores| earlier == Earlier::Keep && scores.about.is_of_the_points_of(&about);
    let usable: &[Score] = outputs.earlier().filter(same_points).map_or(&[], |scores| &scores.report.scores);
    let fits = |score: &&Score| is_same_parameters(&settings.registry, score) && has_levels(settings, score);
    let known = |name: &String| usable.iter().filter(fits).any(|score| score.name == *name);
    let missing: Vec<String> = plan.metrics.iter().filter(|name| !known(name)).cloned().collect();
    let kept: Vec<Score> = usable.iter().filter(|score| !missing.contains(&score.name)).cloned().collect();

    let report = if missing.is_empty() {
        Report::default()
    } else {
        outputs.probe()?;
        let evaluation = plan.execute(&missing, observer)?;
        observer.encoded(&Encoding {
            run: run.path(),
            images: evaluation.encoded,
            image_shape: run.image_shape(),
            seconds: evaluation.encoding_seconds,
            step: run.step(),
            replaces: outputs.earlier().filter(|_| usable.is_empty()).map(|scores| &scores.about),
        });
        about.images_encoded = evaluation.encoded;
        about.encoding_seconds = evaluation.encoding_seconds;
        about.notes.clone_from(&evaluation.report.notes);
        about.factors.clone_from(&evaluation.report.factors);
        outputs.write(about, &evaluation, &kept)?;
        evaluation.report
    };
    if !kept.is_empty() {
        observer.kept(run.path(), kept.len(), missing.len());
    }
    let find = |name: &String| report.scores.iter().chain(&kept).find(|score| score.name == *name).cloned();
    let known = outputs.earlier().filter(|_| missing.is_empty()).map(|scores| &scores.about);
    let (notes, factors) = known.map_or_else(
        || (report.notes.clone(), report.factors.clone()),
        |about| (about.notes.clone(), about.factors.clone()),
    );
    let report = Report { scores: plan.metrics.iter().filter_map(find).collect(), notes, factors };
    observer.scored(&report);
    Ok(report)
}

/// Whether a score has the chance levels and the intervals that are asked for.
fn has_levels(settings: &Settings, score: &Score) -> bool {
    let depends_on_factors = settings.registry.get(&score.name).is_some_and(|metric| metric.needs.factors);
    let is_undefined =
        score.values.numbers().iter().all(|(key, _)| score.values.why_undefined(key).is_some());
    let chance = !settings.chance || !depends_on_factors || score.chance.is_some();
    let resamples = score.bootstrap.as_ref().map_or(0, |bootstrap| bootstrap.resamples);
    is_undefined || (chance && (settings.resamples == 0 || settings.resamples == resamples))
}

/// Whether a score has the options that a registry would compute it with.
fn is_same_parameters(registry: &Registry, score: &Score) -> bool {
    let Ok(values) = registry.values(&score.name) else { return false };
    // Through text, as the scores that were read: not every number survives the round trip to the last bit.
    let read = serde_json::to_string(values).and_then(|text| serde_json::from_str(&text));
    read.is_ok_and(|values: serde_json::Value| values == score.parameters)
}

impl Run {
    /// The scores in the run directory; `None` if the run has not been evaluated.
    ///
    /// # Errors
    /// If `scores.json` is not the result of an evaluation.
    pub fn scores(&self) -> Result<Option<Scores>> {
        Scores::read(&self.paths().scores())
    }
}
