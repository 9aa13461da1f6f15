//! What a run of metrics gives: ordered, and serialised under fixed keys.

use ndarray::Array2;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::collections::BTreeSet;

/// The numbers that a metric computes.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Single numbers under their keys, the most important first.
    pub values: Vec<(String, f64)>,
    /// Lists, one entry for each factor or unit.
    pub lists: Vec<(&'static str, Vec<f64>)>,
    /// Matrices, units by factors.
    pub matrices: Vec<(&'static str, Array2<f64>)>,
}

impl Outcome {
    /// A metric of a single number.
    pub(super) fn of(key: &str, value: f64) -> Self {
        Self::default().value(key, value)
    }

    pub(super) fn value(mut self, key: &str, value: f64) -> Self {
        self.values.push((key.to_owned(), value));
        self
    }

    pub(super) fn list(mut self, key: &'static str, list: Vec<f64>) -> Self {
        self.lists.push((key, list));
        self
    }

    pub(super) fn matrix(mut self, key: &'static str, matrix: Array2<f64>) -> Self {
        self.matrices.push((key, matrix));
        self
    }
}

/// One metric's result, with all that is needed to compute it again.
#[derive(Clone, Debug)]
pub struct Score {
    /// The metric's name in the registry.
    pub name: &'static str,
    /// What it computed.
    pub outcome: Outcome,
    /// The parameters it was computed with.
    pub parameters: serde_json::Value,
    /// The seed it was computed with.
    pub seed: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Score {
    /// The metric's main number.
    pub fn value(&self) -> f64 {
        self.outcome.values.first().map_or(0.0, |(_, value)| *value)
    }
}

/// As it stands in `scores.json`: name, value, parts, details, parameters, seed, seconds.
impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("value", &self.value())?;
        map.serialize_entry("parts", &Values(&self.outcome.values))?;
        map.serialize_entry("details", &Details(std::slice::from_ref(self)))?;
        map.serialize_entry("parameters", &self.parameters)?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("seconds", &self.seconds)?;
        map.end()
    }
}

/// The results of several metrics in the order in which they were asked for.
///
/// Serialises to one flat object: every number under its key, and under `details` the lists and matrices, matrices as
/// lists of rows (units by factors).
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One entry for each metric.
    pub scores: Vec<Score>,
}

impl Report {
    /// The number with this key: `mig`, `dci_completeness`.
    pub fn get(&self, key: &str) -> Option<f64> {
        let values = self.scores.iter().flat_map(|score| &score.outcome.values);
        values.into_iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The matrix with this key: `dci_importance`.
    pub fn matrix(&self, key: &str) -> Option<&Array2<f64>> {
        let matrices = self.scores.iter().flat_map(|score| &score.outcome.matrices);
        matrices.into_iter().find(|(name, _)| *name == key).map(|(_, matrix)| matrix)
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for score in &self.scores {
            for (key, value) in &score.outcome.values {
                map.serialize_entry(key, value)?;
            }
        }
        map.serialize_entry("details", &Details(&self.scores))?;
        map.end()
    }
}

struct Values<'a>(&'a [(String, f64)]);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Lists and matrices of several scores. Where metrics share one (the mutual information), the first one's is kept.
struct Details<'a>(&'a [Score]);

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut seen = BTreeSet::new();
        for score in self.0 {
            for (key, matrix) in &score.outcome.matrices {
                if seen.insert(*key) {
                    let rows: Vec<Vec<f64>> = matrix.rows().into_iter().map(|row| row.to_vec()).collect();
                    map.serialize_entry(key, &rows)?;
                }
            }
            for (key, list) in &score.outcome.lists {
                if seen.insert(*key) {
                    map.serialize_entry(key, list)?;
                }
            }
        }
        map.end()
    }
}
