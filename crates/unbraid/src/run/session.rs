//! Training, scoring and reporting a run, skipping what is already done.

use super::checkpoint::{self, LogPosition};
use super::data::test_part;
use super::directory::{RunDirectory, Start};
use super::features;
use super::init;
use super::journal::FileJournal;
use super::locate;
use super::meta::Meta;
use super::paths::RunPaths;
use super::signal::{NeverStop, StopSignal};
use super::status::{State, Status};
use super::trained::{OpenOptions, Run};
use crate::config::{Config, EvaluationSplit, HeldOutSplit, Length, Source, ValidationConfig};
use crate::device::Device;
use crate::error::{AfterTraining, BoxedError, Error, Result};
use crate::evaluate::{self, Earlier, Settings};
use crate::model::NamedParameter;
use crate::observer::{Observer, TrainingStart};
use crate::prior::PriorFamily;
use crate::train::{Ending, Parts, Trainer, check_memory, train};
use std::fmt;
use std::path::PathBuf;
use unbraid_data::{DataSet, DataSpec, Standardised, Subset};

/// Some images of a data set.
type Part<'a> = Subset<&'a dyn DataSet>;

/// Draws the report of a trained run and returns the path of the page. `unbraid-report` has the implementation that the
/// command uses.
pub trait Reporter: Sync {
    /// Draws it into the run directory.
    ///
    /// # Errors
    /// If it cannot be drawn. The run itself is not affected.
    fn write_report(
        &self,
        run: &Run,
        data: &dyn DataSet,
        observer: &dyn Observer,
    ) -> Result<PathBuf, BoxedError>;
}

/// A run to be trained, scored and reported.
///
/// Work is done on the threads of the current rayon pool. Work that an interrupted or killed run has completed is not
/// repeated; the result is identical to the bit.
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
    test_data: Option<&'a dyn DataSet>,
    parts: Parts,
    length: Option<Length>,
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
            test_data: None,
            parts: Parts::default(),
            length: None,
        }
    }

    /// The run in this directory, with its own configuration, but so many steps or epochs in all. A finished run goes on
    /// from its last checkpoint and ends as if it had been planned so: all schedules are functions of the step.
    pub fn extend(path: impl Into<PathBuf>, length: Length) -> Self {
        Self { length: Some(length), ..Self::resume(path) }
    }

    /// The run directory.
    #[must_use]
    pub fn out(mut self, path: impl Into<PathBuf>) -> Self {
        self.out = Some(path.into());
        self
    }

    /// What to do if the directory already contains a run.
    #[must_use]
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// The device to compute on.
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

    /// Trains on the caller's own data set instead of the configured one.
    #[must_use]
    pub fn data(mut self, data: &'a dyn DataSet) -> Self {
        self.data = Some(data);
        self
    }

    /// Scores the run on this data set if its configuration asks for images that it was not trained on
    /// (`evaluation.split = "test"`), instead of the test part of the configured one.
    #[must_use]
    pub fn test_data(mut self, data: &'a dyn DataSet) -> Self {
        self.test_data = Some(data);
        self
    }

    /// Trains with the caller's own objective or prior. They are not part of the configuration in the run directory: to
    /// resume the run, pass them again, and to open it, pass the prior to [`Run::open_with`].
    #[must_use]
    pub fn parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        self
    }

    /// Does what is not done yet, and returns the trained run.
    ///
    /// # Errors
    /// If the request is wrong, something fails, or a signal asks to stop. An error after training, which leaves a
    /// trained run behind, is [`Error::AfterTraining`].
    pub fn execute(mut self, observer: &dyn Observer) -> Result<Run> {
        self.config = self.config.map(init::with_hash).transpose()?;
        // Data and model are checked before anything is written, except that a run to be resumed must be opened first.
        let checked = match &self.config {
            Some(config) => Some(self.open_data(config, observer)?),
            None => None,
        };
        let (directory, has_run) = match (&self.out, &self.config) {
            (Some(path), _) => RunDirectory::acquire(path, self.start)?,
            (None, Some(config)) => (RunDirectory::create_named(config)?, false),
            (None, None) => unreachable!("a session has a configuration or a directory"),
        };
        let (config, other_scores) = resolve(&directory, has_run, self.config.clone())?;
        let config = match self.length {
            Some(length) => extended(&directory, config, length)?,
            None => config,
        };
        let opened = match checked {
            Some(opened) => opened,
            None => {
                let data = locate::located(&config.data, directory.paths());
                self.open_data(&Config { data, ..config.clone() }, observer)?
            }
        };
        let data: &dyn DataSet = self.data.unwrap_or_else(|| opened.data.as_deref().expect("it was opened"));
        let stages = Stages {
            evaluation: config.evaluation.after_training && self.evaluate,
            report: config.evaluation.report && self.reporter.is_some(),
        };
        let data_sha256 = data.fingerprint()?;
        let test_data = match config.evaluation.split {
            EvaluationSplit::Train => None,
            EvaluationSplit::Test => self.test_data.or(opened.test.as_deref()),
        };
        let held_out = match config.training.validation {
            Some(ValidationConfig::Split(HeldOutSplit::Test)) => self.test_data.or(opened.test.as_deref()),
            Some(ValidationConfig::Fraction(_)) | None => None,
        };
        let prior = self.parts.prior.clone();
        let job = Job {
            directory: &directory,
            config: &config,
            other_scores,
            data,
            data_sha256,
            test_data,
            held_out,
            stages,
            device: &self.device,
            prior,
            reporter: self.reporter,
            stop: self.stop,
            observer,
        };
        job.execute(self.parts)
    }

    /// Opens the images that the run is scored or validated on but not trained on, if it is: that there are some should be known before
    /// training, not after it.
    fn open_test_data(
        &self,
        config: &Config,
        data: &dyn DataSet,
        observer: &dyn Observer,
    ) -> Result<Option<Box<dyn DataSet>>> {
        let is_scored = config.evaluation.after_training && self.evaluate;
        let for_scores = is_scored && config.evaluation.split == EvaluationSplit::Test;
        let for_validation = config.training.validation == Some(ValidationConfig::Split(HeldOutSplit::Test));
        if !(for_scores || for_validation) || self.test_data.is_some() {
            return Ok(None);
        }
        let (key, instead) = if for_scores {
            ("evaluation.split", "train")
        } else {
            ("training.validation", "a fraction such as 0.1")
        };
        let refused = |reason: &str| Error::value(key, "test", format!("{instead}, {reason}"));
        if self.data.is_some() {
            return Err(refused("since the data is not the configured one and no test data is given"));
        }
        let found = test_part(&config.data, &data.fingerprint()?, observer)?;
        found.map(Some).ok_or_else(|| {
            refused("or data.split = \"train\": the run is to be trained on other images than those of `split=train`")
        })
    }

    /// Opens the configured data unless there is other data, and checks the configuration against it.
    fn open_data(&self, config: &Config, observer: &dyn Observer) -> Result<Opened> {
        let opened = match self.data {
            Some(_) => None,
            None => Some(unbraid_data::open(&config.data, observer)?),
        };
        let data = self.data.unwrap_or_else(|| opened.as_deref().expect("it was just opened"));
        config.check_against(data)?;
        check_memory(config, data.shape())?;
        if matches!(self.start, Start::Fresh | Start::Overwrite) {
            init::check(config, data.shape())?;
        }
        let test = self.open_test_data(config, data, observer)?;
        Ok(Opened { data: opened, test })
    }
}

/// Data sets that a configuration names.
struct Opened {
    /// What is trained on, unless the caller has data of their own.
    data: Option<Box<dyn DataSet>>,
    /// What is scored instead, or held out, if anything is.
    test: Option<Box<dyn DataSet>>,
}

/// The configuration to go by, and whether it asks for other scores than those that the run that is there was to have.
fn resolve(directory: &RunDirectory, has_run: bool, given: Option<Config>) -> Result<(Config, bool)> {
    // A run that ended before its configuration was written has nothing to compare with.
    let has_config = has_run && (directory.paths().config().exists() || given.is_none());
    let stored = if has_config { Some(directory.read_config()?) } else { None };
    match (stored, given) {
        (None, None) => Ok((Source::default().resolve()?, false)),
        (None, Some(config)) | (Some(config), None) => Ok((config, false)),
        // The evaluation may change, since the weights stay the same.
        (Some(stored), Some(given)) if stored.fingerprint() == given.fingerprint() => {
            let other_scores = !stored.evaluation.same_scores(&given.evaluation);
            Ok((given, other_scores))
        }
        // It may have been moved together with its data, whose paths are part of the fingerprint.
        (Some(stored), Some(given)) if is_moved(directory, &stored, &given) => {
            let other_scores = !stored.evaluation.same_scores(&given.evaluation);
            Ok((Config { data: stored.data, ..given }, other_scores))
        }
        (Some(stored), Some(given)) => Err(Error::ConfigDiffers {
            path: directory.path().to_owned(),
            differences: stored.differences(&given),
        }),
    }
}

/// Whether two configurations differ only in how they write the paths of the same data.
fn is_moved(directory: &RunDirectory, stored: &Config, given: &Config) -> bool {
    let data = |data: &DataSpec| locate::comparable(data);
    let stored_data = data(&locate::located(&stored.data, directory.paths()));
    let stored = Config { data: stored_data, ..stored.clone() };
    let given = Config { data: data(&given.data), ..given.clone() };
    stored.fingerprint() == given.fingerprint()
}

/// The configuration of a run that is to have another length; its checkpoints are made to fit.
fn extended(directory: &RunDirectory, config: Config, length: Length) -> Result<Config> {
    let longer = config.extended(length)?;
    if longer.fingerprint() != config.fingerprint() {
        checkpoint::forget_length(directory.paths(), &config)?;
    }
    Ok(longer)
}

/// What follows training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stages {
    evaluation: bool,
    report: bool,
}

/// Which of these stages have not been done yet for a run that has come to `step`. Where scores are missing, or are of
/// `other_scores` than wanted, a report that is there lacks them.
fn missing(run: &RunPaths, step: u64, wanted: Stages, other_scores: bool) -> Stages {
    let about = evaluate::read_about(&run.scores());
    let scored = about.is_some_and(|about| about.step == step) && !other_scores;
    let evaluation = wanted.evaluation && !scored;
    Stages { evaluation, report: wanted.report && (evaluation || !run.report().exists()) }
}

/// The same images are held out whatever the seed of a run, so that runs can be compared.
const HELD_OUT_SEED: u64 = 0;

/// The step of the weights that a trained run is used with.
fn scored_step(config: &Config, trainer: &Trainer<'_>) -> u64 {
    let best = trainer.best_step().filter(|_| config.training.keep_best);
    best.unwrap_or_else(|| trainer.steps_done())
}

/// A session after its request has been resolved.
struct Job<'a> {
    directory: &'a RunDirectory,
    config: &'a Config,
    /// Whether scores that are there are others than those that are wanted.
    other_scores: bool,
    data: &'a dyn DataSet,
    data_sha256: String,
    /// Images that scores are computed on in place of `data`.
    test_data: Option<&'a dyn DataSet>,
    /// Images that are held out, if they are no part of `data`.
    held_out: Option<&'a dyn DataSet>,
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
            observer.already_trained(directory.path(), step);
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
                observer.trained(directory.path(), trainer.steps_done(), journal.last_row());
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
                self.observer.also_failed(&second);
                Err(first)
            }
        }
    }

    /// Scores the trained run by the configured metrics, all that apply if there are none, and draws its report, as far as
    /// wanted. The first error is returned after everything else was tried.
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
        let (data, run) = (&self.config.data, self.directory.paths());
        meta.data_paths = locate::relative_paths(&locate::located(data, run), run.root());
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
