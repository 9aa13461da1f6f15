//! `scores.json` and `codes.npz` of a run: how they are written, and what may be replaced by them.

use super::codes_file;
use super::evaluation::{Evaluation, Settings};
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use crate::run::{Run, RunPaths};
use ndarray::Array2;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use unbraid_metrics::{Report, by_name};

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

/// A `scores.json`: `{"evaluation": {...}, "scores": {"mig": {"value": ..., "parts": ..., ...}, ...}}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scores {
    /// How they were computed.
    #[serde(rename = "evaluation")]
    pub about: About,
    /// The scores, in the order of the registry.
    #[serde(rename = "scores", with = "by_name")]
    pub report: Report,
}

impl Scores {
    /// Reads a `scores.json`; `None` if there is no such file.
    ///
    /// # Errors
    /// If it is something else than the result of an evaluation.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        read(path)
    }

    /// As [`Scores::read`], without lists and matrices, which are most of the file and are skipped unparsed: for reading
    /// thousands.
    ///
    /// # Errors
    /// As [`Scores::read`].
    pub fn read_numbers(path: &Path) -> Result<Option<Self>> {
        #[derive(Deserialize)]
        struct Numbers {
            evaluation: About,
            #[serde(deserialize_with = "by_name::deserialize_numbers")]
            scores: Report,
        }
        Ok(read::<Numbers>(path)?
            .map(|Numbers { evaluation, scores }| Self { about: evaluation, report: scores }))
    }

    /// The number with this key.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.report.get(key)
    }

    /// The matrix with this key, units by factors.
    pub fn matrix(&self, key: &str) -> Option<&Array2<f64>> {
        self.report.matrix(key)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(path, "read it")(error)),
    };
    let expected = "the scores of an evaluation";
    serde_json::from_str(&text).map(Some).map_err(|error| Error::Malformed {
        path: path.to_owned(),
        expected,
        source: error.into(),
    })
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
        evaluation.points.write(&self.codes, Existing::Replace)?;
        let about = About {
            unbraid: env!("CARGO_PKG_VERSION").to_owned(),
            step: run.step(),
            representation: settings.representation.word().to_owned(),
            seed: settings.seed,
            train_points: evaluation.points.codes_train.nrows(),
            test_points: evaluation.points.codes_test.nrows(),
            test_split: evaluation.has_test_data,
            images_encoded: evaluation.encoded,
            encoding_seconds: evaluation.encoding_seconds,
            data_sha256: data_sha256.to_owned(),
        };
        let content = Scores { about, report: evaluation.report.clone() };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::error_chain;

    const TEXT: &str = r#"{"evaluation": {"unbraid": "0.1.0", "step": 5, "representation": "mean", "seed": 0,
        "train_points": 10, "test_points": 5, "images_encoded": 15, "encoding_seconds": 0.1, "data_sha256": "00"},
      "scores": {
        "dci": {"value": 0.1, "parts": {"dci_completeness": 0.2, "dci_disentanglement": 0.1, "extra": null},
                "details": {"dci_importance": [[1, 0], [0, 2]]}},
        "mig": {"value": 0.3, "parts": {"mig": 0.3}, "details": {"mig_per_factor": [0.1, 0.5], "bad": [[1], [1, 2]]}}}}"#;

    fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.json");
        std::fs::write(&path, text).unwrap();
        (directory, path)
    }

    #[test]
    fn scores_come_back_in_the_order_of_the_registry() {
        let (_directory, path) = written(TEXT);
        let scores = Scores::read(&path).unwrap().unwrap();
        let names: Vec<&str> = scores.report.scores.iter().map(|score| score.name.as_str()).collect();
        assert_eq!(names, ["mig", "dci"]);
        let keys: Vec<&str> =
            scores.report.scores[1].values.numbers().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["dci_disentanglement", "dci_completeness", "extra"]);
        assert_eq!(scores.get("mig"), Some(0.3));
        assert!(scores.get("extra").unwrap().is_nan());
        assert_eq!(scores.matrix("dci_importance").unwrap()[[1, 1]], 2.0);
        assert!(scores.matrix("mig_per_factor").is_none() && scores.matrix("bad").is_none());
    }

    #[test]
    fn numbers_alone_are_the_same_numbers() {
        let (_directory, path) = written(TEXT);
        let (all, numbers) =
            (Scores::read(&path).unwrap().unwrap(), Scores::read_numbers(&path).unwrap().unwrap());
        let listed = |scores: &Scores| {
            let scores = scores.report.scores.iter();
            scores.map(|score| format!("{} {:?}", score.name, score.values.numbers())).collect::<Vec<_>>()
        };
        assert_eq!(listed(&all), listed(&numbers));
        assert_eq!(all.about, numbers.about);
        assert!(numbers.matrix("dci_importance").is_none());
    }

    #[test]
    fn another_file_is_refused_and_a_missing_one_is_none() {
        let (directory, path) = written("{}");
        assert!(Scores::read(&directory.path().join("none.json")).unwrap().is_none());
        let message = error_chain(&Scores::read(&path).unwrap_err());
        let expected = format!(
            "{}: expected the scores of an evaluation: missing field `evaluation` at line 1 column 2",
            path.display()
        );
        assert_eq!(message, expected);
    }
}
