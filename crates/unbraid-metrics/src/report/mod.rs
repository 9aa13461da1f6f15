//! Scores in memory, and their JSON forms.

pub mod by_name;
mod chance;
mod stored;

pub(crate) use chance::NEGLIGIBLE;
pub use chance::{Bootstrap, Chance, Level};

use ndarray::Array2;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::collections::BTreeSet;

/// The numbers that a metric computes, with lists and matrices as details.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::ScoreValues;
///
/// let values = ScoreValues::new("mig", 0.4)
///     .with_list("mig_per_factor", vec![0.3, 0.5])
///     .with_matrix("mutual_information", array![[0.5, 0.1], [0.1, 0.7]]);
/// assert_eq!(values.get("mig"), Some(0.4));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreValues {
    numbers: Vec<(String, f64)>,
    lists: Vec<(String, Vec<f64>)>,
    matrices: Vec<(String, Array2<f64>)>,
    majorities: Vec<(String, f64)>,
    undefined: Vec<(String, String)>,
}

impl ScoreValues {
    /// The main number of a metric.
    pub fn new(key: impl Into<String>, value: f64) -> Self {
        Self { numbers: vec![(key.into(), value)], ..Self::default() }
    }

    /// Adds a number.
    #[must_use]
    pub fn with_number(mut self, key: impl Into<String>, value: f64) -> Self {
        self.numbers.push((key.into(), value));
        self
    }

    /// Adds a list, with one entry for each factor or unit.
    #[must_use]
    pub fn with_list(mut self, key: impl Into<String>, list: Vec<f64>) -> Self {
        self.lists.push((key.into(), list));
        self
    }

    /// Adds a matrix \[units, factors\].
    #[must_use]
    pub fn with_matrix(mut self, key: impl Into<String>, matrix: Array2<f64>) -> Self {
        self.matrices.push((key.into(), matrix));
        self
    }

    /// Adds the majority baseline of the accuracy with this key: that of always predicting the most common class.
    #[must_use]
    pub fn with_majority(mut self, key: impl Into<String>, share: f64) -> Self {
        self.majorities.push((key.into(), share));
        self
    }

    /// Marks the number with this key as undefined or trivial for these codes, and says why: it becomes NaN and is shown as
    /// `n/a`. Adds the number if it is missing.
    #[must_use]
    pub fn with_undefined(mut self, key: impl Into<String>, why: impl Into<String>) -> Self {
        let key = key.into();
        match self.numbers.iter_mut().find(|(name, _)| *name == key) {
            Some((_, value)) => *value = f64::NAN,
            None => self.numbers.push((key.clone(), f64::NAN)),
        }
        self.majorities.retain(|(name, _)| *name != key);
        self.undefined.push((key, why.into()));
        self
    }

    /// Numbers by their keys, the main one first.
    pub fn numbers(&self) -> &[(String, f64)] {
        &self.numbers
    }

    /// Numbers by their keys, the main one first.
    pub fn into_numbers(self) -> Vec<(String, f64)> {
        self.numbers
    }

    /// Lists by their keys.
    pub fn lists(&self) -> &[(String, Vec<f64>)] {
        &self.lists
    }

    /// Matrices by their keys.
    pub fn matrices(&self) -> &[(String, Array2<f64>)] {
        &self.matrices
    }

    /// The number with this key.
    pub fn get(&self, key: &str) -> Option<f64> {
        lookup(&self.numbers, key).copied()
    }

    /// The majority baseline of the accuracy with this key: that of always predicting the most common class.
    pub fn majority(&self, key: &str) -> Option<f64> {
        lookup(&self.majorities, key).copied()
    }

    /// Why the number with this key is undefined or trivial for these codes; `None` if it is not.
    pub fn why_undefined(&self, key: &str) -> Option<&str> {
        lookup(&self.undefined, key).map(String::as_str)
    }

    /// The list with this key.
    pub fn list(&self, key: &str) -> Option<&[f64]> {
        lookup(&self.lists, key).map(Vec::as_slice)
    }

    /// The matrix with this key.
    pub fn matrix(&self, key: &str) -> Option<&Array2<f64>> {
        lookup(&self.matrices, key)
    }
}

fn lookup<'a, T>(entries: &'a [(String, T)], key: &str) -> Option<&'a T> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// One metric's numbers, with what is needed to compute them again.
///
/// Serialised in the form of `scores.json`. NaN is written as null, and null is read as NaN. When a score is read, its numbers
/// are put into the order of the built-in metric's description, followed by any others. Unknown fields and kinds of details
/// are skipped.
///
/// ```
/// use unbraid_metrics::Score;
///
/// let score: Score = serde_json::from_str(r#"{"name": "mig", "parts": {"mig": 0.25}, "seed": 3}"#)?;
/// assert_eq!((score.name.as_str(), score.value(), score.seed), ("mig", 0.25, 3));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// The name of the metric.
    pub name: String,
    /// What it computed.
    pub values: ScoreValues,
    /// The parameters it was computed with.
    pub parameters: serde_json::Value,
    /// The seed it was computed with.
    pub seed: u64,
    /// Wall-clock seconds, not counting chance levels and intervals.
    pub seconds: f64,
    /// Chance levels of its numbers; `None` if they were not computed, or it does not depend on factors.
    pub chance: Option<Chance>,
    /// Intervals of its numbers; `None` if they were not computed.
    pub bootstrap: Option<Bootstrap>,
}

impl Score {
    /// The main number.
    pub fn value(&self) -> f64 {
        self.values.numbers.first().map_or(f64::NAN, |(_, value)| *value)
    }
}

/// The scores of several metrics, in the order in which they were requested.
///
/// Serialises to one flat object, as `unbraid evaluate --format json` prints it: every number under its key, and lists
/// and matrices under `details`, matrices as lists of rows. Chance levels are under `chance`, intervals under `interval`,
/// majority baselines under `majority`, and reasons why a number is null under `undefined`. [`by_name`] is the other form,
/// which can be read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// One score for each metric.
    pub scores: Vec<Score>,
    /// Remarks that concern all of them, a sentence each: which factors were left out, or are treated as numbers.
    pub notes: Vec<String>,
    /// The names of the factors that were scored, in the order of the columns of matrices; empty if they have no names.
    pub factors: Vec<String>,
}

impl Report {
    /// The score of the metric with this name.
    pub fn score(&self, name: &str) -> Option<&Score> {
        self.scores.iter().find(|score| score.name == name)
    }

    /// The chance level of the number with this key.
    pub fn chance(&self, key: &str) -> Option<Level> {
        self.scores.iter().find_map(|score| score.chance.as_ref()?.get(key))
    }

    /// The interval of the number with this key.
    pub fn interval(&self, key: &str) -> Option<[f64; 2]> {
        self.scores.iter().find_map(|score| score.bootstrap.as_ref()?.get(key))
    }

    /// The majority baseline of the accuracy with this key: that of always predicting the most common class.
    pub fn majority(&self, key: &str) -> Option<f64> {
        self.scores.iter().find_map(|score| score.values.majority(key))
    }

    /// Why the number with this key is undefined or trivial for these codes.
    pub fn why_undefined(&self, key: &str) -> Option<&str> {
        self.scores.iter().find_map(|score| score.values.why_undefined(key))
    }

    /// The number with this key: `mig`, `dci_completeness`.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.scores.iter().find_map(|score| score.values.get(key))
    }

    /// The list with this key: `mig_per_factor`.
    pub fn list(&self, key: &str) -> Option<&[f64]> {
        self.scores.iter().find_map(|score| score.values.list(key))
    }

    /// The matrix with this key: `dci_importance`.
    pub fn matrix(&self, key: &str) -> Option<&Array2<f64>> {
        self.scores.iter().find_map(|score| score.values.matrix(key))
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("value", &self.value())?;
        map.serialize_entry("parts", &Entries(self.values.numbers.iter().map(|(key, value)| (key, value))))?;
        map.serialize_entry("details", &Details(std::slice::from_ref(self)))?;
        map.serialize_entry("parameters", &self.parameters)?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("seconds", &self.seconds)?;
        if let Some(chance) = &self.chance {
            map.serialize_entry("shuffles", &chance.shuffles)?;
            map.serialize_entry(
                "chance",
                &Entries(chance.levels().iter().map(|(key, level)| (key, level.mean))),
            )?;
            let deviations = chance.levels().iter().filter_map(|(key, level)| Some((key, level.deviation?)));
            if chance.shuffles > 1 {
                map.serialize_entry("chance_deviation", &Entries(deviations))?;
            }
        }
        if let Some(bootstrap) = &self.bootstrap {
            map.serialize_entry("resamples", &bootstrap.resamples)?;
            map.serialize_entry(
                "interval",
                &Entries(bootstrap.intervals().iter().map(|(key, pair)| (key, pair))),
            )?;
        }
        serialize_remarks(&mut map, std::slice::from_ref(self))?;
        map.end()
    }
}

/// Majority baselines and reasons, if there are any.
fn serialize_remarks<M: SerializeMap>(map: &mut M, scores: &[Score]) -> Result<(), M::Error> {
    let majorities =
        scores.iter().flat_map(|score| &score.values.majorities).map(|(key, share)| (key, share));
    if majorities.clone().next().is_some() {
        map.serialize_entry("majority", &Entries(majorities))?;
    }
    let undefined = scores.iter().flat_map(|score| &score.values.undefined).map(|(key, why)| (key, why));
    if undefined.clone().next().is_some() {
        map.serialize_entry("undefined", &Entries(undefined))?;
    }
    Ok(())
}

/// Pairs as an object.
struct Entries<I>(I);

impl<I, K: Serialize, V: Serialize> Serialize for Entries<I>
where
    I: Iterator<Item = (K, V)> + Clone,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.scores.iter().flat_map(|score| &score.values.numbers) {
            map.serialize_entry(key, value)?;
        }
        let levels = self.scores.iter().filter_map(|score| score.chance.as_ref()).flat_map(Chance::levels);
        if self.scores.iter().any(|score| score.chance.is_some()) {
            map.serialize_entry("chance", &Entries(levels.map(|(key, level)| (key, level.mean))))?;
        }
        let intervals =
            self.scores.iter().filter_map(|score| score.bootstrap.as_ref()).flat_map(Bootstrap::intervals);
        if self.scores.iter().any(|score| score.bootstrap.is_some()) {
            map.serialize_entry("interval", &Entries(intervals.map(|(key, pair)| (key, pair))))?;
        }
        serialize_remarks(&mut map, &self.scores)?;
        if !self.notes.is_empty() {
            map.serialize_entry("notes", &self.notes)?;
        }
        map.serialize_entry("details", &Details(&self.scores))?;
        map.end()
    }
}

/// Lists and matrices of several scores. Where metrics share a key (the mutual information), the first one's is kept.
struct Details<'a>(&'a [Score]);

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut seen = BTreeSet::new();
        for score in self.0 {
            for (key, matrix) in &score.values.matrices {
                if seen.insert(key) {
                    let rows: Vec<Vec<f64>> = matrix.rows().into_iter().map(|row| row.to_vec()).collect();
                    map.serialize_entry(key, &rows)?;
                }
            }
            for (key, list) in &score.values.lists {
                if seen.insert(key) {
                    map.serialize_entry(key, list)?;
                }
            }
        }
        map.end()
    }
}
