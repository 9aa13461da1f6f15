//! Progress of long work: the library itself never prints.

use crate::train::Row;
use std::path::Path;
use unbraid_data::ImageShape;
use unbraid_data::progress::{Progress, Silent};
use unbraid_metrics::Report;

/// Receives the events of a run while it is trained, scored and reported. Every method does nothing by default;
/// [`Silent`] ignores all events.
pub trait Observer: Progress {
    /// Training starts or resumes.
    fn training_started(&self, _training: &TrainingStart<'_>) {}

    /// A step is done.
    fn step(&self, _step: u64, _loss: f64) {}

    /// A row of losses was logged.
    fn row(&self, _row: &Row, _images_per_second: f64) {}

    /// Training has stopped, whether it is complete or not.
    fn training_stopped(&self) {}

    /// Training ended after `step`, since the loss on held-out images has not improved after `best_step`.
    fn stopped_early(&self, _step: u64, _best_step: u64) {}

    /// All steps are done.
    fn trained(&self, _trained: &Trained<'_>) {}

    /// The run was already trained.
    fn already_trained(&self, _run: &Path, _step: u64) {}

    /// The run had already ended early, after `step`: the loss on held-out images had not improved after `best_step`.
    fn already_stopped_early(&self, _run: &Path, _step: u64, _best_step: u64) {}

    /// The run is about to be scored.
    fn evaluation_started(&self) {}

    /// The images that the scores need are encoded.
    fn encoded(&self, _encoding: &Encoding<'_>) {}

    /// This many scores of an earlier evaluation are kept, and this many were computed, again or for the first time.
    fn kept(&self, _run: &Path, _kept: usize, _computed: usize) {}

    /// The scores are written.
    fn scored(&self, _scores: &Report) {}

    /// The report is written.
    fn reported(&self, _page: &Path) {}

    /// A second failure, after the one whose error is returned.
    fn also_failed(&self, _error: &(dyn std::error::Error + 'static)) {}
}

impl Observer for Silent {}

/// What is about to be trained.
#[derive(Clone, Copy, Debug)]
pub struct TrainingStart<'a> {
    /// The run directory.
    pub run: &'a Path,
    /// The objective's name.
    pub objective: &'a str,
    /// The data set's name.
    pub data: &'a str,
    /// How many images it has.
    pub dataset_len: usize,
    /// Their size.
    pub image_shape: ImageShape,
    /// Steps that were done before.
    pub step: u64,
    /// Total number of steps.
    pub steps: u64,
}

/// What was trained.
#[derive(Clone, Copy, Debug)]
pub struct Trained<'a> {
    /// The run directory.
    pub run: &'a Path,
    /// Steps done.
    pub steps: u64,
    /// The step with the lowest loss on held-out images, if the run is used with the weights of that step.
    pub best: Option<u64>,
    /// The losses of the last step.
    pub row: Option<&'a Row>,
}

/// Images that were encoded for an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Encoding<'a> {
    /// The run directory.
    pub run: &'a Path,
    /// How many images, or rows of a table.
    pub images: usize,
    /// Their size.
    pub image_shape: ImageShape,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Training steps of the weights.
    pub step: u64,
    /// The earlier evaluation that is replaced, if any.
    pub replaces: Option<&'a crate::evaluate::About>,
}
