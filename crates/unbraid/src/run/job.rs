//! The work of a [`Session`](super::Session) once its request is resolved: training, then scoring and reporting what is
//! missing.

use super::checkpoint::{self, LogPosition};
use super::directory::RunDirectory;
use super::features;
use super::init;
use super::journal::FileJournal;
use super::meta::Meta;
use super::paths::RunPaths;
use super::session::Reporter;
use super::signal::StopSignal;
use super::status::{State, Status};
use super::trained::{OpenOptions, Run};
use crate::config::Config;
use crate::device::Device;
use crate::error::{AfterTraining, BoxedError, Error, Result, error_chain};
use crate::evaluate::{self, Earlier, Settings};
use crate::model::NamedParameter;
use crate::observer::{Observer, Trained, TrainingStart};
use crate::prior::PriorFamily;
use crate::train::{Ending, Parts, Trainer, train};
use unbraid_data::{DataSet, Standardised, Subset};

/// What follows training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stages {
    pub(super) evaluation: bool,
    pub(super) report: bool,
}

/// Which of these stages are still to be done for a run at `step`. If scores are missing, or `other_scores` than the
/// present ones are wanted, an existing report lacks them.
fn missing(run: &RunPaths, step: u64, wanted: Stages, other_scores: bool) -> Stages {
    let about = evaluate::read_about(&run.scores());
    let scored = about.is_some_and(|about| about.step == step) && !other_scores;
    let evaluation = wanted.evaluation && !scored;
    Stages { evaluation, report: wanted.report && (evaluation || !run.report().exists()) }
}

/// Some images of a data set.
type Part<'a> = Subset<&'a dyn DataSet>;

/// The same images are held out whatever the seed of a run, so that runs can be compared.
const HELD_OUT_SEED: u64 = 0;

/// The step of the best weights, if a run keeps them: it is then used with them.
fn kept_best(config: &Config, trainer: &Trainer<'_>) -> Option<u64> {
    trainer.best_step().filter(|_| config.training.keep_best)
}

/// The step of the weights that a trained run is used with.
fn scored_step(config: &Config, trainer: &Trainer<'_>) -> u64 {
    kept_best(config, trainer).unwrap_or_else(|| trainer.steps_done())
}

/// A session after its request has been resolved.
pub(super) struct Job<'a> {
    pub(super) directory: &'a RunDirectory,
    pub(super) config: &'a Config,
    /// Whether other scores are wanted than those that exist.
    pub(super) other_scores: bool,
    pub(super) data: &'a dyn DataSet,
    pub(super) data_sha256: String,
    /// Images that scores are computed on in place of `data`.
    pub(super) test_data: Option<&'a dyn DataSet>,
    /// Held-out images, if they are not part of `data`.
    pub(super) held_out: Option<&'a dyn DataSet>,
    pub(super) stages: Stages,
    pub(super) device: &'a Device,
    pub(super) prior: Option<Box<dyn PriorFamily>>,
    pub(super) reporter: Option<&'a dyn Reporter>,
    pub(super) stop: &'a dyn StopSignal,
    pub(super) observer: &'a dyn Observer,
}

impl Job<'_> {
    pub(super) fn execute(&self, parts: Parts) -> Result<Run> {
        let Self { directory, config, data, observer, .. } = *self;
        let paths = directory.paths();
        let steps = config.training.total_steps(data.len());
        let parts_of_data = self.parts_of_data();
        let (training_data, held_out): (&dyn DataSet, Option<&dyn DataSet>) = match &parts_of_data {
            Some((training, held_out)) => (training, Some(held_out)),
            None => (data, self.held_out),
        };
        let features = features::read_or_compute(paths, training_data)?;
        let training_data = Standardised::new(training_data, features.as_ref());
        let held_out = held_out.map(|held_out| Standardised::new(held_out, features.as_ref()));
        let mut trainer = Trainer::with_parts(config, &training_data, self.device, parts)?;
        if let Some(held_out) = &held_out {
            trainer = trainer.validate_on(held_out, &config.training, config.seed);
        }
        let earlier = Meta::read(&paths.meta());
        if let Some(earlier) = &earlier
            && earlier.data_sha256 != self.data_sha256
        {
            return Err(Error::DataChanged {
                path: directory.path().to_owned(),
                found: self.data_sha256.clone(),
                expected: earlier.data_sha256.clone(),
            });
        }
        let position = match checkpoint::load(paths, config)? {
            None => {
                if let Some(init) = &config.training.init {
                    trainer.start_from(init::load(init, &trainer.weights())?)?;
                }
                LogPosition::default()
            }
            Some(checkpoint) => {
                trainer
                    .restore(checkpoint.step, checkpoint.weights, checkpoint.state)
                    .map_err(|error| Error::Resume(Box::new(error)))?;
                checkpoint.position
            }
        };
        let step = trainer.steps_done();
        let is_complete = step >= steps || trainer.has_stopped_early();
        if is_complete && Status::read(&paths.status()).is_some_and(|status| status.state == State::Done) {
            match trainer.best_step().filter(|_| step < steps) {
                Some(best) => observer.already_stopped_early(directory.path(), step, best),
                None => observer.already_trained(directory.path(), step),
            }
            let step = scored_step(config, &trainer);
            drop(trainer);
            return self.catch_up(step);
        }
        directory.prepare(config)?;
        features::write(paths, features.as_ref())?;
        self.describe(earlier, &trainer).write(&paths.meta())?;

        self.stop.defer();
        observer.training_started(&TrainingStart {
            run: directory.path(),
            objective: config.objective.name(),
            data: data.name(),
            dataset_len: training_data.len(),
            image_shape: data.shape(),
            step,
            steps,
        });
        let mut journal = FileJournal::open(paths, config, (step, steps), position, observer, self.stop)?;
        match train(&mut trainer, config, steps, &mut journal) {
            Ok(ending @ (Ending::Complete | Ending::StoppedEarly)) => {
                journal.complete()?;
                if let (Ending::StoppedEarly, Some(best)) = (ending, trainer.best_step()) {
                    observer.stopped_early(trainer.steps_done(), best);
                }
                observer.trained(&Trained {
                    run: directory.path(),
                    steps: trainer.steps_done(),
                    best: kept_best(config, &trainer),
                    row: journal.last_row(),
                });
                // Everything is saved; the weights on disk are the ones to be scored.
                self.stop.resume_default();
                if let Some(signal) = self.stop.received() {
                    let path = directory.path().to_owned();
                    return Err(Error::InterruptedAfterTraining { path, signal });
                }
                drop(trainer);
                self.finish(self.stages, Earlier::Replace)
            }
            Ok(Ending::Interrupted) => Err(journal.interrupted()),
            Err(error) => Err(journal.failed(error)),
        }
    }

    /// The images to train on and those to hold out, if a fraction is.
    fn parts_of_data(&self) -> Option<(Part<'_>, Part<'_>)> {
        let held_out = self.config.training.held_out(self.data.len());
        (held_out > 0).then(|| Subset::split(self.data, held_out, HELD_OUT_SEED))
    }

    /// Completes a trained run. Its `config.toml` describes its scores, so it is written after them: whenever the
    /// process dies, the next one can tell what is missing.
    fn catch_up(&self, step: u64) -> Result<Run> {
        let Self { directory, config, .. } = *self;
        let missing = missing(directory.paths(), step, self.stages, self.other_scores);
        let scored = self.finish(Stages { report: false, ..missing }, Earlier::Keep);
        let scores_fit = missing.evaluation || !self.other_scores;
        if scored.is_ok() && scores_fit && directory.read_config()? != *config {
            directory.write_config(config)?;
        }
        let reported = self.finish(Stages { evaluation: false, ..missing }, Earlier::Keep);
        match (scored, reported) {
            (Ok(_), reported) => reported,
            (Err(first), Ok(_)) => Err(first),
            (Err(first), Err(second)) => {
                // A run that cannot be opened fails twice for the same reason.
                if error_chain(&first) != error_chain(&second) {
                    self.observer.also_failed(&second);
                }
                Err(first)
            }
        }
    }

    /// Scores the trained run by the configured metrics, or all that apply if there are none, and draws its report, as
    /// requested. The first error is returned after everything else was tried.
    fn finish(&self, stages: Stages, earlier: Earlier) -> Result<Run> {
        let options = OpenOptions { step: None, device: self.device.clone(), prior: self.prior.clone() };
        let run = Run::open_with(self.directory.path(), options)?;
        let failed = |stage: AfterTraining, source: BoxedError| Error::AfterTraining {
            path: run.path().to_owned(),
            stage,
            source,
        };
        let mut first = None;
        if stages.evaluation {
            self.observer.evaluation_started();
            let data = evaluate::Source { data: self.data, test: self.test_data, sha256: &self.data_sha256 };
            let scored = Settings::of(&self.config.evaluation).and_then(|settings| {
                evaluate::evaluate_and_write(&run, data, &settings, earlier, self.observer)
            });
            if let Err(error) = scored {
                first = Some(failed(AfterTraining::Evaluation, error.into()));
            }
        }
        if let Some(reporter) = self.reporter.filter(|_| stages.report) {
            match reporter.write_report(&run, self.data, self.observer) {
                Ok(page) => self.observer.reported(&page),
                Err(error) => {
                    let error = failed(AfterTraining::Report, error);
                    match &first {
                        Some(_) => self.observer.also_failed(&error),
                        None => first = Some(error),
                    }
                }
            }
        }
        first.map_or(Ok(run), Err)
    }

    fn describe(&self, earlier: Option<Meta>, trainer: &Trainer<'_>) -> Meta {
        let shape = self.data.shape();
        let count = |parameter: &&dyn NamedParameter| parameter.shape().iter().product::<usize>();
        let mut meta = match earlier {
            Some(earlier) => earlier.resumed_now(),
            None => Meta::new(self.config.seed),
        };
        meta.data_sha256.clone_from(&self.data_sha256);
        meta.data_paths = self.directory.paths().relative_paths_of(self.config);
        meta.data_images = self.data.len();
        meta.image_shape = [shape.height, shape.width, shape.channels];
        meta.parameters = trainer.parameters().iter().map(count).sum();
        meta.threads = rayon::current_num_threads();
        meta.device = self.device.to_string();
        meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_done() {
        let directory = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(directory.path());
        let both = Stages { evaluation: true, report: true };
        let neither = Stages { evaluation: false, report: false };
        assert_eq!(missing(&paths, 5, both, false), both);
        assert_eq!(missing(&paths, 5, neither, false), neither);
        let scores = |step: u64| {
            let text = format!(
                r#"{{"evaluation": {{"unbraid": "", "step": {step}, "representation": "mean", "seed": 0,
                "train_points": 1, "test_points": 1, "images_encoded": 1, "encoding_seconds": 1, "data_sha256": ""}}}}"#
            );
            std::fs::write(paths.scores(), text).unwrap();
        };
        scores(5);
        assert_eq!(missing(&paths, 5, both, false), Stages { evaluation: false, report: true });
        std::fs::write(paths.report(), "").unwrap();
        assert_eq!(missing(&paths, 5, both, false), neither);
        assert_eq!(missing(&paths, 5, both, true), both);
        // Scores of an earlier step do not count.
        scores(4);
        assert_eq!(missing(&paths, 5, both, false), both);
    }
}
