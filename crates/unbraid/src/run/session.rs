//! Training, scoring and reporting a run, as far as that is still to be done.

use super::checkpoint::{self, LogPosition};
use super::directory::{RunDirectory, Start};
use super::journal::FileJournal;
use super::meta::Meta;
use super::paths::RunPaths;
use super::signal::{NeverStop, StopSignal};
use super::status::{State, Status};
use super::trained::{OpenOptions, Run};
use crate::config::{Config, Source};
use crate::device::Device;
use crate::error::{AfterTraining, BoxedError, Error, Result};
use crate::evaluate::{self, Settings};
use crate::model::{Blueprint, NamedParameter};
use crate::observer::{Observer, TrainingStart};
use crate::prior::PriorFamily;
use crate::train::{Ending, Parts, Trainer, train};
use std::fmt;
use std::path::PathBuf;
use unbraid_data::DataSet;

/// Draws the report of a trained run; gives the path of the page. `unbraid-report` has the one that the command uses.
pub trait Reporter: Sync {
    /// Draws it into the run directory.
    ///
    /// # Errors
    /// Whatever keeps it from doing so. The run itself is safe.
    fn write_report(
        &self,
        run: &Run,
        data: &dyn DataSet,
        observer: &dyn Observer,
    ) -> Result<PathBuf, BoxedError>;
}

/// A run to be trained, scored and reported.
///
/// Work is done on the threads of the current rayon pool. Whatever has been done before, by a run that was interrupted or
/// killed, is not done again; the result is the same to the bit.
///
/// ```no_run
/// use unbraid::config::Source;
/// use unbraid::data::progress::Silent;
/// use unbraid::run::Session;
///
/// let config = Source::preset("default").set("training.steps=2000").resolve()?;
/// let run = Session::new(config).out("runs/first").execute(&Silent)?;
/// println!("{:?}", run.scores()?.and_then(|scores| scores.get("mig")));
/// # Ok::<(), unbraid::Error>(())
/// ```
pub struct Session<'a> {
    config: Option<Config>,
    out: Option<PathBuf>,
    start: Start,
    device: Device,
    evaluate: bool,
    reporter: Option<&'a dyn Reporter>,
    stop: &'a dyn StopSignal,
    data: Option<&'a dyn DataSet>,
    parts: Parts,
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("out", &self.out).field("start", &self.start).finish_non_exhaustive()
    }
}

impl<'a> Session<'a> {
    /// A new run with this configuration, in a new directory under `runs/` unless [`Session::out`] names another.
    pub fn new(config: Config) -> Self {
        Self::with(Some(config), None, Start::Fresh)
    }

    /// The run in this directory, with its own configuration.
    pub fn resume(path: impl Into<PathBuf>) -> Self {
        Self::with(None, Some(path.into()), Start::Resume)
    }

    fn with(config: Option<Config>, out: Option<PathBuf>, start: Start) -> Self {
        Self {
            config,
            out,
            start,
            device: Device::default(),
            evaluate: true,
            reporter: None,
            stop: &NeverStop,
            data: None,
            parts: Parts::default(),
        }
    }

    /// The run directory.
    #[must_use]
    pub fn out(mut self, path: impl Into<PathBuf>) -> Self {
        self.out = Some(path.into());
        self
    }

    /// What to do if the directory already holds a run.
    #[must_use]
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Where to compute.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Whether to score the run once it is trained, if its configuration says so too. On by default.
    #[must_use]
    pub fn evaluation(mut self, evaluate: bool) -> Self {
        self.evaluate = evaluate;
        self
    }

    /// Draws a report at the end, if the configuration says so too. Off by default.
    #[must_use]
    pub fn report(mut self, reporter: &'a dyn Reporter) -> Self {
        self.reporter = Some(reporter);
        self
    }

    /// Saves and stops when this signal arrives.
    #[must_use]
    pub fn stop_on(mut self, stop: &'a dyn StopSignal) -> Self {
        self.stop = stop;
        self
    }

    /// Trains on a data set of the caller's own instead of the configured one.
    #[must_use]
    pub fn data(mut self, data: &'a dyn DataSet) -> Self {
        self.data = Some(data);
        self
    }

    /// Trains with an objective or a prior of the caller's own. The configuration in the run directory does not know
    /// them: to resume the run, give them again, and to open it, give the prior to [`Run::open_with`].
    #[must_use]
    pub fn parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        self
    }

    /// Does what is still to be done, and gives the trained run.
    ///
    /// # Errors
    /// If the request is wrong, something fails on the way, or a signal asks to stop. An error after training, which
    /// leaves a trained run behind, is [`Error::AfterTraining`].
    pub fn execute(self, observer: &dyn Observer) -> Result<Run> {
        // Data and model are checked before anything is written, except that a run to resume has to be opened first.
        let checked = match &self.config {
            Some(config) => Some(self.open_data(config, observer)?),
            None => None,
        };
        let (directory, has_run) = match (&self.out, &self.config) {
            (Some(path), _) => RunDirectory::acquire(path, self.start)?,
            (None, Some(config)) => (RunDirectory::create_named(config)?, false),
            (None, None) => unreachable!("a session has a configuration or a directory"),
        };
        let (config, other_metrics) = resolve(&directory, has_run, self.config.clone())?;
        let opened = match checked {
            Some(opened) => opened,
            None => self.open_data(&config, observer)?,
        };
        let data: &dyn DataSet = self.data.unwrap_or_else(|| opened.as_deref().expect("it was opened"));
        let stages = Stages {
            evaluation: config.evaluation.after_training && self.evaluate,
            report: config.evaluation.report && self.reporter.is_some(),
        };
        let prior = self.parts.prior.clone();
        let job = Job {
            directory: &directory,
            config: &config,
            other_metrics,
            data,
            data_sha256: data.fingerprint()?,
            stages,
            device: &self.device,
            prior,
            reporter: self.reporter,
            stop: self.stop,
            observer,
        };
        job.execute(self.parts)
    }

    /// Opens the configured data unless there is other data, and checks the configuration against it.
    fn open_data(&self, config: &Config, observer: &dyn Observer) -> Result<Option<Box<dyn DataSet>>> {
        let opened = match self.data {
            Some(_) => None,
            None => Some(unbraid_data::open(&config.data, observer)?),
        };
        let data = self.data.unwrap_or_else(|| opened.as_deref().expect("it was just opened"));
        config.check_against(data)?;
        Blueprint::new(&config.model, data.shape())?;
        Ok(opened)
    }
}

/// The configuration to go by, and whether it asks for other metrics than the run that is there was to be scored by.
fn resolve(directory: &RunDirectory, has_run: bool, given: Option<Config>) -> Result<(Config, bool)> {
    // A run that ended before it could write its configuration has none to compare with.
    let has_config = has_run && (directory.paths().config().exists() || given.is_none());
    let stored = if has_config { Some(directory.read_config()?) } else { None };
    match (stored, given) {
        (None, None) => Ok((Source::default().resolve()?, false)),
        (None, Some(config)) | (Some(config), None) => Ok((config, false)),
        // What is measured at the end may change: the weights are the same.
        (Some(stored), Some(given)) if stored.fingerprint() == given.fingerprint() => {
            let other_metrics = stored.evaluation.metrics != given.evaluation.metrics;
            Ok((given, other_metrics))
        }
        (Some(stored), Some(given)) => Err(Error::ConfigDiffers {
            path: directory.path().to_owned(),
            differences: stored.differences(&given),
        }),
    }
}

/// What follows training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stages {
    evaluation: bool,
    report: bool,
}

/// Which of these stages have not been done yet for a run that has come to `step`. Where scores are missing, or are of
/// `other_metrics` than wanted, a report that is there lacks them.
fn missing(run: &RunPaths, step: u64, wanted: Stages, other_metrics: bool) -> Stages {
    let about = evaluate::read_about(&run.scores());
    let scored = about.is_some_and(|about| about.step == step) && !other_metrics;
    let evaluation = wanted.evaluation && !scored;
    Stages { evaluation, report: wanted.report && (evaluation || !run.report().exists()) }
}

/// A session whose questions are settled.
struct Job<'a> {
    directory: &'a RunDirectory,
    config: &'a Config,
    /// Whether scores that are there are of other metrics.
    other_metrics: bool,
    data: &'a dyn DataSet,
    data_sha256: String,
    stages: Stages,
    device: &'a Device,
    prior: Option<Box<dyn PriorFamily>>,
    reporter: Option<&'a dyn Reporter>,
    stop: &'a dyn StopSignal,
    observer: &'a dyn Observer,
}

impl Job<'_> {
    fn execute(&self, parts: Parts) -> Result<Run> {
        let Self { directory, config, data, observer, .. } = *self;
        let paths = directory.paths();
        let steps = config.training.total_steps(data.len());
        let mut trainer = Trainer::with_parts(config, data, self.device, parts)?;
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
        let position = match checkpoint::load(paths, &config.fingerprint())? {
            None => LogPosition::default(),
            Some(checkpoint) => {
                trainer
                    .restore(checkpoint.step, checkpoint.weights, checkpoint.state)
                    .map_err(|error| Error::Resume(Box::new(error)))?;
                checkpoint.position
            }
        };
        let step = trainer.steps_done();
        if step >= steps && Status::read(&paths.status()).is_some_and(|status| status.state == State::Done) {
            observer.already_trained(directory.path(), step);
            drop(trainer);
            return self.catch_up(step);
        }
        directory.prepare(config)?;
        self.describe(earlier, &trainer).write(&paths.meta())?;

        self.stop.defer();
        observer.training_started(&TrainingStart {
            run: directory.path(),
            objective: config.objective.name(),
            data: data.name(),
            dataset_len: data.len(),
            image_shape: data.shape(),
            step,
            steps,
        });
        let mut journal = FileJournal::open(paths, config, (step, steps), position, observer, self.stop)?;
        match train(&mut trainer, config, steps, &mut journal) {
            Ok(Ending::Complete) => {
                journal.complete()?;
                observer.trained(directory.path(), steps, journal.last_row());
                // All is saved; the weights that are on disk are those to be scored.
                self.stop.resume_default();
                if let Some(signal) = self.stop.received() {
                    let path = directory.path().to_owned();
                    return Err(Error::InterruptedAfterTraining { path, signal });
                }
                drop(trainer);
                self.finish(self.stages)
            }
            Ok(Ending::Interrupted) => Err(journal.interrupted()),
            Err(error) => Err(journal.failed(error)),
        }
    }

    /// Does what a trained run still lacks. Its `config.toml` says what its scores are of, so it changes after them:
    /// whenever the process dies, the next one finds out what is missing.
    fn catch_up(&self, step: u64) -> Result<Run> {
        let Self { directory, config, .. } = *self;
        let missing = missing(directory.paths(), step, self.stages, self.other_metrics);
        let scored = self.finish(Stages { report: false, ..missing });
        let scores_fit = missing.evaluation || !self.other_metrics;
        if scored.is_ok() && scores_fit && directory.read_config()? != *config {
            directory.write_config(config)?;
        }
        let reported = self.finish(Stages { evaluation: false, ..missing });
        match (scored, reported) {
            (Ok(_), reported) => reported,
            (Err(first), Ok(_)) => Err(first),
            (Err(first), Err(second)) => {
                self.observer.also_failed(&second);
                Err(first)
            }
        }
    }

    /// Scores the trained run by the configured metrics, all that apply if there are none, and draws its report, as far as
    /// wanted. The first error is returned after everything else was tried.
    fn finish(&self, stages: Stages) -> Result<Run> {
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
            let settings =
                Settings { metrics: self.config.evaluation.metrics.clone(), ..Settings::default() };
            let data = evaluate::Source { data: self.data, test: None, sha256: &self.data_sha256 };
            if let Err(error) = evaluate::evaluate_and_write(&run, data, &settings, self.observer) {
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
        // Scores of fewer steps are no scores of this run.
        scores(4);
        assert_eq!(missing(&paths, 5, both, false), both);
    }
}
