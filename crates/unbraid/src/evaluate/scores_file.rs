//! `scores.json` and `codes.npz` of a run: how they are written, and what may be replaced by them.

use super::codes_file;
use super::evaluation::{Evaluation, Settings};
pub use super::stored_scores::{StoredScore, StoredScores};
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use crate::run::Run;
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
pub struct Outputs {
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
    pub fn in_run(path: &Path) -> Outcome<Self> {
        let (scores, codes) = (path.join("scores.json"), path.join("codes.npz"));
        let foreign = |path: &Path| {
            Failure::input(format!(
                "{}: found a file that `unbraid evaluate` did not write, expected none or an earlier result\nhint: move \
                 it out of the way",
                path.display()
            ))
        };
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

    /// What is going to be replaced, in words.
    pub fn replaced(&self) -> Option<String> {
        let earlier = self.earlier.as_ref()?;
        Some(format!(
            "{}: replacing the earlier scores (step {}, seed {}, {})",
            self.scores.display(),
            earlier.step,
            earlier.seed,
            earlier.representation
        ))
    }

    /// Writes both.
    ///
    /// # Errors
    /// If one cannot be written; each is then as it was.
    pub fn write(
        &self,
        run: &Run,
        settings: &Settings,
        evaluation: &Evaluation,
        data_sha256: String,
    ) -> Outcome {
        codes_file::write(&self.codes, Existing::Replace, &evaluation.codes)?;
        let representation = serde_json::to_value(settings.representation).map_err(Failure::run)?;
        let about = About {
            unbraid: env!("CARGO_PKG_VERSION").to_owned(),
            step: run.step(),
            representation: representation.as_str().unwrap_or_default().to_owned(),
            seed: settings.seed,
            train_points: evaluation.codes.codes_train.nrows(),
            test_points: evaluation.codes.codes_test.nrows(),
            test_split: evaluation.has_test_data,
            images_encoded: evaluation.encoded,
            encoding_seconds: evaluation.encoding_seconds,
            data_sha256,
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
