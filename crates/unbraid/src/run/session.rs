//! Training, scoring and reporting a run, skipping what is already done.

use super::checkpoint;
use super::data::test_part;
use super::directory::{RunDirectory, Start};
use super::init;
use super::job::{Job, Stages};
use super::signal::{NeverStop, StopSignal};
use super::trained::Run;
use crate::config::{Config, EvaluationSplit, HeldOutSplit, Length, Source, ValidationConfig};
use crate::device::Device;
use crate::error::{BoxedError, Error, Result};
use crate::observer::Observer;
use crate::train::{Parts, check_memory};
use std::fmt;
use std::path::PathBuf;
use unbraid_data::DataSet;

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

    /// The run in this directory, with its own configuration, but with this total number of steps or epochs. A finished
    /// run continues from its last checkpoint and ends as if it had been planned that long: all schedules are functions
    /// of the step.
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
    /// (`evaluation.split = "test"`), instead of the test split of the configured one.
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
                // The stored paths are those of its checkpoints; the given ones are where the data is now.
                let data = directory.paths().find_data(self.config.as_ref().unwrap_or(&config), observer);
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
        if let Some(held_out) = held_out {
            config.check_held_out(held_out.len())?;
        }
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

    /// Opens the images that the run is scored or validated on but not trained on, if there are to be any.
    /// Whether they exist should be known before training, not after it.
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

/// The configuration to use, and whether it asks for other scores than that of the existing run.
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
        (Some(stored), Some(given)) if directory.paths().is_run_of(&stored, &given) => {
            let other_scores = !stored.evaluation.same_scores(&given.evaluation);
            Ok((Config { data: stored.data, ..given }, other_scores))
        }
        (Some(stored), Some(given)) => Err(Error::ConfigDiffers {
            path: directory.path().to_owned(),
            differences: stored.differences(&given),
        }),
    }
}

/// The configuration of a run that is to have another length; its checkpoints are made to fit.
fn extended(directory: &RunDirectory, config: Config, length: Length) -> Result<Config> {
    let longer = config.extended(length)?;
    if longer.fingerprint() != config.fingerprint() {
        checkpoint::forget_length(directory.paths(), &config)?;
    }
    Ok(longer)
}
