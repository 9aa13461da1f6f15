//! The results of a study as one table: a row for each run, a column for each setting and each number.
//!
//! Keys stand once, not in every row: ten thousand runs with a hundred columns are a few megabytes.

use crate::run::State;
use serde_json::Value;

/// All runs, their settings and their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Dotted keys of the settings that distinguish runs, without `method`, `data` and `seed`, which have places of
    /// their own.
    pub setting_keys: Vec<String>,
    /// Names of the numbers: scores by their keys in the registry of metrics, and the last losses of training as in
    /// `metrics.jsonl` (`train/reconstruction`, `train/kl`, ...).
    pub number_keys: Vec<String>,
    /// The runs, in the order of the manifest; those from elsewhere after them.
    pub rows: Vec<Row>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the manifest; none if it comes from elsewhere.
    pub number: Option<usize>,
    /// Its name, unique within its source.
    pub name: String,
    /// The imported table that it comes from; none for the study's own runs.
    pub source: Option<String>,
    /// How far it is.
    pub state: State,
    /// The method.
    pub method: String,
    /// The data set.
    pub data: String,
    /// The seed, where it is known.
    pub seed: Option<u64>,
    /// A value, or none, for each of [`Table::setting_keys`].
    pub settings: Vec<Option<Value>>,
    /// A number for each of [`Table::number_keys`]; NaN where there is none.
    pub numbers: Vec<f64>,
}

impl Table {
    /// The place of a number's column.
    pub fn number_column(&self, key: &str) -> Option<usize> {
        self.number_keys.iter().position(|known| known == key)
    }

    /// The place of a setting's column.
    pub fn setting_column(&self, key: &str) -> Option<usize> {
        self.setting_keys.iter().position(|known| known == key)
    }
}
