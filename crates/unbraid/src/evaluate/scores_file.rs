//! `scores.json` and `codes.npz` of a run: writing them, and what they may replace.

use super::codes_file;
use super::evaluation::Evaluation;
use crate::error::{Error, Result};
use crate::files::{self, Existing};
use crate::run::RunPaths;
use ndarray::Array2;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use unbraid_data::files::{longest_table, read_text};
use unbraid_metrics::{Report, Score, by_name, registry};

/// The part `evaluation` of `scores.json`: how the scores were computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of unbraid.
    pub unbraid: String,
    /// Training steps that the weights had seen.
    pub step: u64,
    /// `mean` or `sample`.
    pub representation: String,
    /// The seed of everything that was drawn at random.
    pub seed: u64,
    /// Points that most scores were computed on and learners fitted to.
    pub train_points: usize,
    /// Points that learners were tested on.
    pub test_points: usize,
    /// Whether scores were computed on the test split, which the run was not trained on.
    #[serde(default)]
    pub test_split: bool,
    /// Images that were encoded.
    pub images_encoded: usize,
    /// Seconds it took to encode them.
    pub encoding_seconds: f64,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// SHA-256 of the test split, if scores were computed on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_sha256: Option<String>,
    /// The fingerprint of the run's configuration; empty in files of versions that did not write it.
    #[serde(default)]
    pub configuration: String,
    /// Distinct images among the training points; 0 in files of versions that did not count them.
    #[serde(default)]
    pub train_images: usize,
    /// Distinct images among the test points.
    #[serde(default)]
    pub test_images: usize,
    /// Notes on all scores, a sentence each: which factors were left out, or are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The names of the factors that were scored, in the order of the columns of matrices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<String>,
}

impl About {
    /// Whether scores of this evaluation were computed from the same points as those of another one. False if the
    /// configuration is not recorded.
    pub(super) fn is_of_the_points_of(&self, other: &Self) -> bool {
        let Self {
            unbraid: _,
            step,
            representation,
            seed,
            train_points,
            test_points,
            test_split,
            images_encoded: _,
            encoding_seconds: _,
            data_sha256,
            test_sha256,
            configuration,
            train_images: _,
            test_images: _,
            notes: _,
            factors: _,
        } = self;
        let data = (test_split, data_sha256, test_sha256);
        (step, representation, seed, train_points, test_points, data, configuration)
            == (
                &other.step,
                &other.representation,
                &other.seed,
                &other.train_points,
                &other.test_points,
                (&other.test_split, &other.data_sha256, &other.test_sha256),
                &other.configuration,
            )
    }
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
    /// If it is not the result of an evaluation.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        read(path)
    }

    /// As [`Scores::read`], without lists and matrices: they are most of the file and are skipped unparsed, which
    /// matters when thousands of files are read.
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

    /// The score with this key.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.report.get(key)
    }

    /// The matrix with this key, units by factors.
    pub fn matrix(&self, key: &str) -> Option<&Array2<f64>> {
        self.report.matrix(key)
    }
}

/// Bytes of memory for each of a file: the number of a matrix, two bytes at least, becomes a value of JSON.
const EXPANSION: u64 = 32;

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match read_text(path, longest_table(EXPANSION)) {
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

/// The two output files of an evaluation, checked to be writable.
#[derive(Debug)]
pub(super) struct Outputs {
    scores: PathBuf,
    codes: PathBuf,
    /// What is in the `scores.json` that is there.
    earlier: Option<Scores>,
}

/// What to do with the scores of an earlier evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Keep those that would be computed from the same points, and compute what is missing or has other options.
    Keep,
    /// Compute everything again, and keep nothing.
    Replace,
}

impl Outputs {
    /// In a run directory. An earlier evaluation may be replaced, other files may not.
    ///
    /// # Errors
    /// If one of the files exists and was not written by an evaluation.
    pub(super) fn in_run(run: &RunPaths) -> Result<Self> {
        let (scores, codes) = (run.scores(), run.codes());
        let foreign = |path: &Path| Error::ForeignFile { path: path.to_owned(), expected: "evaluation" };
        let earlier = match Scores::read(&scores) {
            Ok(earlier) => earlier,
            // Whatever is wrong with the scores of an evaluation, they are ours to replace.
            Err(_) if read_about(&scores).is_some() => None,
            Err(_) => return Err(foreign(&scores)),
        };
        if codes.exists() && !codes_file::is_ours(&codes) {
            return Err(foreign(&codes));
        }
        let outputs = Self { scores, codes, earlier };
        if outputs.earlier.is_none() {
            outputs.probe()?;
        }
        Ok(outputs)
    }

    /// Checks that both can be written. Not needed where all scores are there already, as in a run of somebody else.
    ///
    /// # Errors
    /// If the system refuses to.
    pub(super) fn probe(&self) -> Result {
        [&self.scores, &self.codes]
            .into_iter()
            .try_for_each(|file| files::probe_output(file, Existing::Replace))
    }

    /// The earlier evaluation.
    pub(super) fn earlier(&self) -> Option<&Scores> {
        self.earlier.as_ref()
    }

    /// Writes both, the scores with those of the earlier evaluation that are kept.
    ///
    /// # Errors
    /// If one cannot be written; that file is then unchanged.
    pub(super) fn write(&self, about: About, evaluation: &Evaluation, kept: &[Score]) -> Result {
        // The points are the same as those that the kept scores were computed on; the file may say more of them.
        let adds = evaluation.points.has_reconstruction_errors();
        if kept.is_empty() || adds || !self.codes.exists() {
            evaluation.points.write(&self.codes, Existing::Replace)?;
        }
        let mut report = Report { scores: [&evaluation.report.scores, kept].concat(), ..Report::default() };
        let builtin = registry::shared();
        report.scores.sort_by_key(|score| builtin.position(&score.name).unwrap_or(usize::MAX));
        let content = Scores { about, report };
        files::write(&self.scores, Existing::Replace, |file| {
            serde_json::to_writer_pretty(&mut *file, &content)?;
            writeln!(file)
        })
    }
}

/// The part `evaluation` of a `scores.json`; `None` if it is not one.
pub fn read_about(path: &Path) -> Option<About> {
    #[derive(Deserialize)]
    struct Header {
        evaluation: About,
    }
    let text = read_text(path, longest_table(EXPANSION)).ok()?;
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
