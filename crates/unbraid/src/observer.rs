//! How long work reports progress; the library itself never prints.

use crate::train::Row;
use std::path::Path;
use unbraid_data::ImageShape;
use unbraid_data::progress::{Progress, Silent};
use unbraid_metrics::Report;

/// Receives the events of a run that is trained, scored and reported. Every method has a default that does nothing;
/// [`Silent`] ignores them all.
pub trait Observer: Progress {
    /// Training starts or resumes.
    fn training_started(&self, _training: &TrainingStart<'_>) {}

    /// A step is done.
    fn step(&self, _step: u64, _loss: f64) {}

    /// A row of losses was logged.
    fn row(&self, _row: &Row, _images_per_second: f64) {}

    /// Training has stopped, whether it is complete or not.
    fn training_stopped(&self) {}

    /// All steps are done; `row` has the last losses.
    fn trained(&self, _run: &Path, _steps: u64, _row: Option<&Row>) {}

    /// The run had been trained before.
    fn already_trained(&self, _run: &Path, _step: u64) {}

    /// The run is about to be scored.
    fn evaluation_started(&self) {}

    /// The images that the scores need are encoded.
    fn encoded(&self, _encoding: &Encoding<'_>) {}

    /// The scores are written.
    fn scored(&self, _scores: &Report) {}

    /// The report is written.
    fn reported(&self, _page: &Path) {}

    /// Something failed after something else had failed, whose error is the one returned.
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
    /// Steps done before.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
}

/// Images that were encoded for an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Encoding<'a> {
    /// The run directory.
    pub run: &'a Path,
    /// How many images.
    pub images: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Training steps of the weights.
    pub step: u64,
    /// The earlier evaluation that is replaced.
    pub replaces: Option<&'a crate::evaluate::About>,
}
