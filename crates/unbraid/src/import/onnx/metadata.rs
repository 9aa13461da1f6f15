//! What files that `unbraid export` wrote say of themselves.

use super::input::Conventions;
use crate::config::{PosteriorConfig, PriorConfig};
use crate::import::refusal::{Refusal, quoted};
use crate::model::StateTensor;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use tract_onnx::pb::StringStringEntryProto;

/// The metadata that an evaluation depends on; files of other programs have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Metadata {
    pub(super) conventions: Conventions,
    pub(super) categorical_units: usize,
    pub(super) posterior: Option<PosteriorConfig>,
    pub(super) prior: Option<PriorMetadata>,
}

/// A prior with its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct PriorMetadata {
    pub(super) config: PriorConfig,
    state: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Parameter {
    name: String,
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl PriorMetadata {
    pub(super) fn state(&self) -> Vec<StateTensor> {
        let tensor =
            |part: &Parameter| StateTensor::floats(&part.name, part.shape.clone(), part.values.clone());
        self.state.iter().map(tensor).collect()
    }
}

impl Metadata {
    /// # Errors
    /// If a key that begins with `unbraid.` does not have what we write under it.
    pub(super) fn read(entries: &[StringStringEntryProto]) -> Result<Self, Refusal> {
        let ours: BTreeMap<&str, &str> = entries
            .iter()
            .filter_map(|entry| Some((entry.key.strip_prefix("unbraid.")?, entry.value.as_str())))
            .collect();
        let units: Option<Vec<serde_json::Value>> = value(&ours, "categorical_units", "a list of units")?;
        Ok(Self {
            conventions: Conventions {
                layout: value(&ours, "layout", "a word")?,
                range: value(&ours, "data_range", "two numbers")?,
                columns: value(&ours, "columns", "a list of names")?,
            },
            categorical_units: units.map_or(0, |units| units.len()),
            posterior: value(&ours, "posterior", "a table with `name`")?,
            prior: value(&ours, "prior", "tables `config` and `state`")?,
        })
    }
}

fn value<T: DeserializeOwned>(
    entries: &BTreeMap<&str, &str>,
    key: &str,
    expected: &str,
) -> Result<Option<T>, Refusal> {
    let Some(text) = entries.get(key) else { return Ok(None) };
    let wrong = |_| Refusal::new(format!("`unbraid.{key}` in its metadata: {}", quoted(text)), expected);
    serde_json::from_str(text).map(Some).map_err(wrong)
}
