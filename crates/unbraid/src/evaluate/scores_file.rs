//! `scores.json` and `codes.npz` of a run: how they are written, and what may be replaced by them.

use super::codes_file;
use super::evaluation::{Evaluation, Settings};
use crate::failure::{Failure, Outcome};
use crate::files::{self, Existing};
use crate::run::Run;
use ndarray::Array2;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid_metrics::registry::{self, Report};

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

/// A `scores.json` that was read.
#[derive(Clone, Debug)]
pub struct StoredScores {
    /// What it says of itself.
    pub about: About,
    /// The scores, in the order of the registry.
    pub scores: Vec<StoredScore>,
}

/// One metric's numbers.
#[derive(Clone, Debug)]
pub struct StoredScore {
    /// The metric's name in the registry.
    pub name: String,
    /// Its numbers by their keys, the main one first.
    pub values: Vec<(String, f64)>,
    /// Its matrices by their keys.
    matrices: Vec<(String, Array2<f64>)>,
}

impl StoredScores {
    /// Reads a `scores.json`; `None` if there is no such file.
    ///
    /// # Errors
    /// If it is something else than the result of an evaluation.
    pub fn read(path: &Path) -> Outcome<Option<Self>> {
        Self::read_with::<BTreeMap<String, serde_json::Value>>(path)
    }

    /// As [`StoredScores::read`], without the matrices, which are most of the file and are passed over unread: for those
    /// who read thousands.
    ///
    /// # Errors
    /// As [`StoredScores::read`].
    pub fn read_numbers(path: &Path) -> Outcome<Option<Self>> {
        Self::read_with::<IgnoredAny>(path)
    }

    fn read_with<D: Details>(path: &Path) -> Outcome<Option<Self>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::input(format!("{}: cannot read it: {error}", path.display()))),
        };
        let stored = Self::parse::<D>(&text).map_err(|error| {
            Failure::input(format!("{}: expected the scores of `unbraid evaluate`: {error}", path.display()))
        })?;
        Ok(Some(stored))
    }

    fn parse<D: Details>(text: &str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        #[serde(bound = "D: Details")]
        struct File<D> {
            evaluation: About,
            scores: BTreeMap<String, Entry<D>>,
        }
        #[derive(Deserialize)]
        #[serde(bound = "D: Details")]
        struct Entry<D> {
            // A number that is none, such as NaN, is written as null.
            parts: BTreeMap<String, Option<f64>>,
            #[serde(default)]
            details: D,
        }
        let File { evaluation: about, scores } = serde_json::from_str::<File<D>>(text)?;
        let place = |name: &str| registry::metrics().iter().position(|metric| metric.name == name);
        let mut scores: Vec<StoredScore> = scores
            .into_iter()
            .map(|(name, entry)| {
                let keys = registry::find(&name).map_or(&[][..], |metric| metric.keys);
                let mut values: Vec<(String, f64)> =
                    entry.parts.into_iter().map(|(key, value)| (key, value.unwrap_or(f64::NAN))).collect();
                values
                    .sort_by_key(|(key, _)| keys.iter().position(|known| known == key).unwrap_or(keys.len()));
                StoredScore { name, values, matrices: entry.details.matrices() }
            })
            .collect();
        scores.sort_by_key(|score| place(&score.name).unwrap_or(usize::MAX));
        Ok(Self { about, scores })
    }

    /// The number with this key.
    pub fn get(&self, key: &str) -> Option<f64> {
        let values = self.scores.iter().flat_map(|score| &score.values);
        values.into_iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The matrix with this key, units by factors.
    pub fn matrix(&self, key: &str) -> Option<&Array2<f64>> {
        let matrices = self.scores.iter().flat_map(|score| &score.matrices);
        matrices.into_iter().find(|(name, _)| name == key).map(|(_, matrix)| matrix)
    }
}

/// What is made of the `details` of a metric.
trait Details: DeserializeOwned + Default {
    /// The matrices among them.
    fn matrices(self) -> Vec<(String, Array2<f64>)>;
}

impl Details for BTreeMap<String, serde_json::Value> {
    fn matrices(self) -> Vec<(String, Array2<f64>)> {
        self.into_iter().filter_map(|(key, rows)| Some((key, matrix(rows)?))).collect()
    }
}

impl Details for IgnoredAny {
    fn matrices(self) -> Vec<(String, Array2<f64>)> {
        Vec::new()
    }
}

/// Rows of equal length; `None` for lists and anything else.
fn matrix(rows: serde_json::Value) -> Option<Array2<f64>> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(rows).ok()?;
    let columns = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != columns) {
        return None;
    }
    Array2::from_shape_vec((rows.len(), columns), rows.concat()).ok()
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

    const TEXT: &str = r#"{"evaluation": {"unbraid": "0.1.0", "step": 5, "representation": "mean", "seed": 0,
        "train_points": 10, "test_points": 5, "images_encoded": 15, "encoding_seconds": 0.1, "data_sha256": "00"},
      "scores": {
        "dci": {"value": 0.1, "parts": {"dci_completeness": 0.2, "dci_disentanglement": 0.1, "extra": null},
                "details": {"dci_importance": [[1, 0], [0, 2]]}},
        "mig": {"value": 0.3, "parts": {"mig": 0.3}, "details": {"mig_per_factor": [0.1, 0.5], "bad": [[1], [1, 2]]}}}}"#;

    #[test]
    fn scores_come_back_in_the_order_of_the_registry() {
        let stored = StoredScores::parse::<BTreeMap<_, _>>(TEXT).unwrap();
        let names: Vec<&str> = stored.scores.iter().map(|score| score.name.as_str()).collect();
        assert_eq!(names, ["mig", "dci"]);
        let keys: Vec<&str> = stored.scores[1].values.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["dci_disentanglement", "dci_completeness", "extra"]);
        assert_eq!(stored.get("mig"), Some(0.3));
        assert!(stored.get("extra").unwrap().is_nan());
        assert_eq!(stored.matrix("dci_importance").unwrap()[[1, 1]], 2.0);
        assert!(stored.matrix("mig_per_factor").is_none() && stored.matrix("bad").is_none());
    }

    #[test]
    fn numbers_alone_are_the_same_numbers() {
        let (all, numbers) = (
            StoredScores::parse::<BTreeMap<_, _>>(TEXT).unwrap(),
            StoredScores::parse::<IgnoredAny>(TEXT).unwrap(),
        );
        let listed = |stored: &StoredScores| {
            let scores = stored.scores.iter();
            scores.map(|score| format!("{} {:?}", score.name, score.values)).collect::<Vec<_>>()
        };
        assert_eq!(listed(&all), listed(&numbers));
        assert_eq!(all.about, numbers.about);
        assert!(numbers.matrix("dci_importance").is_none());
    }

    #[test]
    fn another_file_is_refused_and_a_missing_one_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.json");
        assert!(StoredScores::read(&path).unwrap().is_none());
        std::fs::write(&path, "{}").unwrap();
        assert!(
            StoredScores::read(&path).unwrap_err().to_string().contains("scores.json: expected the scores")
        );
    }
}
