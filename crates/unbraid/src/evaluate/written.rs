//! The evaluation of a run as files in its directory.

use super::evaluation::{Settings, evaluate};
use super::scores_file::{Outputs, Scores};
use crate::error::Result;
use crate::observer::{Encoding, Observer};
use crate::run::Run;
use std::fmt;
use unbraid_data::DataSet;
use unbraid_metrics::Report;

/// The images that a run is scored on.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Usually the data that the run was trained on.
    pub data: &'a dyn DataSet,
    /// Images that learners are judged on; from `data` if there are none.
    pub test: Option<&'a dyn DataSet>,
    /// The hash of `data`.
    pub sha256: &'a str,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

/// Checks early that the scores of a run can be written.
///
/// # Errors
/// If something else than an earlier evaluation is in the way.
pub fn check_outputs(run: &Run) -> Result {
    Outputs::in_run(run.paths()).map(drop)
}

/// Scores a run as [`evaluate()`] does, and writes `scores.json` and `codes.npz` into its directory.
///
/// # Errors
/// As [`evaluate()`]; if something else than an earlier evaluation is in the way, or the files cannot be written.
pub fn evaluate_and_write(
    run: &Run,
    source: Source<'_>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Report> {
    let outputs = Outputs::in_run(run.paths())?;
    let evaluation = evaluate(run, source.data, source.test, settings, observer)?;
    observer.encoded(&Encoding {
        run: run.path(),
        images: evaluation.encoded,
        seconds: evaluation.encoding_seconds,
        step: run.step(),
        replaces: outputs.replaces(),
    });
    outputs.write(run, settings, &evaluation, source.sha256)?;
    observer.scored(&evaluation.report);
    Ok(evaluation.report)
}

impl Run {
    /// The scores in its directory; `None` if it has not been evaluated.
    ///
    /// # Errors
    /// If `scores.json` is something else than the result of an evaluation.
    pub fn scores(&self) -> Result<Option<Scores>> {
        Scores::read(&self.paths().scores())
    }
}
