//! The names of the files in a run directory, defined only here.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Where the files of a run are.
///
/// ```
/// use unbraid::run::RunPaths;
///
/// let paths = RunPaths::new("runs/first");
/// assert_eq!(paths.scores(), std::path::Path::new("runs/first/scores.json"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPaths {
    root: PathBuf,
}

impl RunPaths {
    /// The files of the run in this directory, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `config.toml`: the resolved configuration, which is enough to repeat the run.
    pub fn config(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// `status.json`: state, step, heartbeat, error.
    pub fn status(&self) -> PathBuf {
        self.root.join("status.json")
    }

    /// `meta.json`: version, host, data hash, times.
    pub fn meta(&self) -> PathBuf {
        self.root.join("meta.json")
    }

    /// `metrics.jsonl`: one object for each logged step.
    pub fn metrics(&self) -> PathBuf {
        self.root.join("metrics.jsonl")
    }

    /// `run.log`: events with times.
    pub fn log(&self) -> PathBuf {
        self.root.join("run.log")
    }

    /// `checkpoints/`: weights, and the optimiser's state of the last.
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// `tensorboard/`: the losses for TensorBoard.
    pub fn tensorboard(&self) -> PathBuf {
        self.root.join("tensorboard")
    }

    /// `scores.json`: the result of an evaluation.
    pub fn scores(&self) -> PathBuf {
        self.root.join("scores.json")
    }

    /// `codes.npz`: the codes and factors that the scores were computed on.
    pub fn codes(&self) -> PathBuf {
        self.root.join("codes.npz")
    }

    /// `units.toml`: names given to latent units.
    pub fn units(&self) -> PathBuf {
        self.root.join("units.toml")
    }

    /// `features.json`: the columns of the table that the run was trained on, and how they are standardised.
    /// A run on images has none.
    pub fn features(&self) -> PathBuf {
        self.root.join("features.json")
    }

    /// `report.html`: the page of the run.
    pub fn report(&self) -> PathBuf {
        self.root.join("report.html")
    }

    /// `figures/`: every figure of the report as a file.
    pub fn figures(&self) -> PathBuf {
        self.root.join("figures")
    }

    /// `.lock`: held while a process writes to the run.
    pub(super) fn lock(&self) -> PathBuf {
        self.root.join(LOCK)
    }

    /// `.removing`: exists while a run is being removed. What is left of it is no longer a run.
    pub(super) fn removing(&self) -> PathBuf {
        self.root.join(REMOVING)
    }

    /// Whether there is a run here, finished or not.
    pub fn exists(&self) -> bool {
        (self.config().exists() || self.status().exists()) && !self.removing().exists()
    }

    /// Checks that none of its directories is a symbolic link: what is written into a run stays in it.
    ///
    /// # Errors
    /// [`Error::LinkedDirectory`].
    pub fn check_links(&self) -> Result {
        let is_link = |path: &PathBuf| path.is_symlink();
        match self.own_directories().into_iter().find(is_link) {
            Some(path) => Err(Error::LinkedDirectory { path }),
            None => Ok(()),
        }
    }

    /// The files that a run, its evaluation and its report write, the configuration last: what is removed in this order
    /// can be recognised as a run until nothing else is left.
    pub(super) fn own_files(&self) -> [PathBuf; 10] {
        [
            self.status(),
            self.meta(),
            self.metrics(),
            self.log(),
            self.scores(),
            self.codes(),
            self.units(),
            self.features(),
            self.report(),
            self.config(),
        ]
    }

    /// The directories that they write.
    pub(super) fn own_directories(&self) -> [PathBuf; 3] {
        [self.checkpoints(), self.tensorboard(), self.figures()]
    }
}

/// The name of the lock file.
pub(super) const LOCK: &str = ".lock";
/// The name of the file that marks a run that is being removed.
pub(super) const REMOVING: &str = ".removing";
