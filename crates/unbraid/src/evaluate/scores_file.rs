//! `scores.json` and `codes.npz` of a run: how they are written, and what may be replaced by them.

use super::codes_file;
use super::evaluation::{Evaluation, Settings};
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use crate::run::{Run, RunPaths};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_metrics::registry::Report;

/// What `scores.json` says of itself, under `evaluation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of unbraid.
    pub unbraid: String,
    /// Training steps that the weights had seen.
    pub step: u64,
    /// `mean` or `sample`.
    pub representation: String,
    /// The seed of everything that was drawn.
    pub seed: u64,
    /// Points that most scores were computed on and learners fitted to.
    pub train_points: usize,
    /// Points that learners were judged on.
    pub test_points: usize,
    /// Whether they come from the test split, which the run was not trained on.
    #[serde(default)]
    pub test_split: bool,
    /// Images that were encoded.
    pub images_encoded: usize,
    /// How long that took.
    pub encoding_seconds: f64,
    /// SHA-256 of the data.
    pub data_sha256: String,
}

/// `{"evaluation": {...}, "scores": {"mig": {"value": ..., "parts": ..., ...}, ...}}`
#[derive(Serialize)]
struct ScoresFile<'a> {
    evaluation: &'a About,
    scores: ByName<'a>,
}

/// Scores under their names, in order.
struct ByName<'a>(&'a Report);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.scores.len()))?;
        for score in &self.0.scores {
            map.serialize_entry(score.name, score)?;
        }
        map.end()
    }
}

/// The two files of an evaluation, known to be ours to write.
#[derive(Debug)]
pub(super) struct Outputs {
    scores: PathBuf,
    codes: PathBuf,
    /// What the `scores.json` that is there says of itself.
    earlier: Option<About>,
}

impl Outputs {
    /// In a run directory. An earlier evaluation may be replaced, anything else may not.
    ///
    /// # Errors
    /// If one of the files exists and was not written by an evaluation.
    pub(super) fn in_run(run: &RunPaths) -> Result<Self> {
        let (scores, codes) = (run.scores(), run.codes());
        let foreign = |path: &Path| Error::ForeignFile { path: path.to_owned(), expected: "evaluation" };
        let earlier =
            if scores.exists() { Some(read_about(&scores).ok_or_else(|| foreign(&scores))?) } else { None };
        if codes.exists() && !codes_file::is_ours(&codes) {
            return Err(foreign(&codes));
        }
        for file in [&scores, &codes] {
            files::check_output(file, Existing::Replace)?;
        }
        Ok(Self { scores, codes, earlier })
    }

    /// The earlier evaluation that is going to be replaced.
    pub(super) fn replaces(&self) -> Option<&About> {
        self.earlier.as_ref()
    }

    /// Writes both.
    ///
    /// # Errors
    /// If one cannot be written; each is then as it was.
    pub(super) fn write(
        &self,
        run: &Run,
        settings: &Settings,
        evaluation: &Evaluation,
        data_sha256: &str,
    ) -> Result {
        codes_file::write(&self.codes, Existing::Replace, &evaluation.codes)?;
        let about = About {
            unbraid: env!("CARGO_PKG_VERSION").to_owned(),
            step: run.step(),
            representation: settings.representation.word().to_owned(),
            seed: settings.seed,
            train_points: evaluation.codes.codes_train.nrows(),
            test_points: evaluation.codes.codes_test.nrows(),
            test_split: evaluation.has_test_data,
            images_encoded: evaluation.encoded,
            encoding_seconds: evaluation.encoding_seconds,
            data_sha256: data_sha256.to_owned(),
        };
        let content = ScoresFile { evaluation: &about, scores: ByName(&evaluation.report) };
        files::write(&self.scores, Existing::Replace, |file| {
            serde_json::to_writer_pretty(&mut *file, &content)?;
            writeln!(file)
        })
    }
}

/// What a `scores.json` says of itself; `None` if it is something else.
pub fn read_about(path: &Path) -> Option<About> {
    #[derive(Deserialize)]
    struct Header {
        evaluation: About,
    }
    let text = std::fs::read_to_string(path).ok()?;
    serde_json::from_str::<Header>(&text).ok().map(|header| header.evaluation)
}
