//! Reading a `scores.json`: its numbers, and its matrices where somebody wants them.

use super::scores_file::About;
use crate::error::{Error, Result};
use ndarray::Array2;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::path::Path;
use unbraid_metrics::registry;

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
    pub fn read(path: &Path) -> Result<Option<Self>> {
        Self::read_with::<BTreeMap<String, serde_json::Value>>(path)
    }

    /// As [`StoredScores::read`], without the matrices, which are most of the file and are passed over unread: for those
    /// who read thousands.
    ///
    /// # Errors
    /// As [`StoredScores::read`].
    pub fn read_numbers(path: &Path) -> Result<Option<Self>> {
        Self::read_with::<IgnoredAny>(path)
    }

    fn read_with<D: Details>(path: &Path) -> Result<Option<Self>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, "read it")(error)),
        };
        let stored = Self::parse::<D>(&text).map_err(|error| Error::Malformed {
            path: path.to_owned(),
            expected: "the scores of an evaluation",
            source: error.into(),
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
