//! From a definition to its runs: every point of the grids resolved into a configuration, for every seed.

use super::axes::{Combination, combinations};
use super::error::DefinitionError;
use super::naming::{data_label, run_name, short_keys, short_value};
use super::{Definition, Method, layer, wrong};
use crate::error::Result;
use crate::manifest::Entry;
use rayon::prelude::*;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use toml::Value;
use unbraid::config::Config;

/// A point of a method's grid.
struct Point<'a> {
    method: &'a Method,
    values: Combination<'a>,
    /// With the first seed.
    configuration: Config,
}

impl Point<'_> {
    fn label(&self) -> &str {
        self.method.label.as_deref().unwrap_or_else(|| self.configuration.objective.name())
    }
}

/// The runs of a study in their order: methods as in the file, then zip groups, then grid keys in
/// alphabetical order, values as in their lists, seeds innermost. Their names are what a new study gives them.
///
/// # Errors
/// If a point is no valid configuration, or two runs would train the same model.
pub(crate) fn entries(definition: &Definition) -> Result<Vec<Entry>> {
    numbered(definition).map_err(|source| wrong(&definition.origin, source))
}

fn numbered(definition: &Definition) -> Result<Vec<Entry>, DefinitionError> {
    let points = points(definition)?;
    check_labels(&points)?;
    let labels = data_labels(&points);
    let short = short_keys(points.iter().flat_map(|point| point.values.iter().map(|(key, _)| *key)));
    let runs: Vec<Vec<Entry>> = points
        .par_iter()
        .map(|point| {
            let data = labels.get(&point.configuration.data.to_string()).map(String::as_str);
            definition
                .seeds
                .iter()
                .map(|seed| entry(point, *seed, data, &short, &definition.directory))
                .collect()
        })
        .collect();
    let mut entries: Vec<Entry> = runs.into_iter().flatten().collect();
    let mut hashes: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut names = BTreeSet::new();
    for number in 0..entries.len() {
        entries[number].number = number;
        if let Some(earlier) = hashes.insert(entries[number].hash.clone(), number) {
            return Err(DefinitionError::SameModel {
                first: earlier,
                second: number,
                first_settings: describe(&entries[earlier]),
                second_settings: describe(&entries[number]),
            });
        }
        // Eight digits of the hash can agree by chance.
        let Entry { name, hash, .. } = &mut entries[number];
        if names.contains(name.as_str()) {
            name.push_str(&hash[8..24]);
        }
        names.insert(name.clone());
    }
    Ok(entries)
}

fn points(definition: &Definition) -> Result<Vec<Point<'_>>, DefinitionError> {
    let asked: Vec<(&Method, Combination<'_>)> = definition
        .methods
        .iter()
        .flat_map(|method| combinations(&method.axes).map(move |values| (method, values)))
        .collect();
    let resolved: Vec<unbraid::Result<Config>> = asked
        .par_iter()
        .map(|(method, values)| {
            let mut layers = method.layers.clone();
            layers.put(layer(values.iter().copied())?);
            let mut configuration = layers.resolve()?;
            unbraid::data::registry::check(&configuration.data)?;
            configuration.seed = definition.seeds.first().copied().unwrap_or_default();
            Ok(configuration)
        })
        .collect();
    asked
        .into_iter()
        .zip(resolved)
        .map(|((method, values), configuration)| match configuration {
            Ok(configuration) => Ok(Point { method, values, configuration }),
            Err(error) => {
                let mut place: Vec<String> =
                    method.label.iter().map(|label| format!("method `{label}`")).collect();
                place.extend(values.iter().map(|(key, value)| format!("{key} = {value}")));
                let error = DefinitionError::from(error);
                Err(if place.is_empty() { error } else { error.within(place.join(", ")) })
            }
        })
        .collect()
}

/// Tables and figures tell methods apart by their labels, so that two may share one only on purpose.
fn check_labels(points: &[Point<'_>]) -> Result<(), DefinitionError> {
    let mut owners: BTreeMap<&str, &Method> = BTreeMap::new();
    for point in points {
        let owner = *owners.entry(point.label()).or_insert(point.method);
        let unnamed = owner.label.is_none() || point.method.label.is_none();
        if unnamed && !std::ptr::eq(owner, point.method) {
            return Err(DefinitionError::RepeatedLabel { label: point.label().to_owned() });
        }
    }
    Ok(())
}

/// What each data set is called, if there is more than one.
fn data_labels(points: &[Point<'_>]) -> BTreeMap<String, String> {
    let sets: BTreeMap<String, String> = points
        .iter()
        .map(|point| &point.configuration.data)
        .map(|data| (data.to_string(), data_label(data)))
        .collect();
    if sets.len() < 2 {
        return BTreeMap::new();
    }
    let unique = |label: &String| sets.values().filter(|other| *other == label).count() == 1;
    sets.iter()
        .map(|(data, label)| (data.clone(), if unique(label) { label } else { data }.clone()))
        .collect()
}

fn entry(
    point: &Point<'_>,
    seed: u64,
    data: Option<&str>,
    short: &BTreeMap<&str, String>,
    directory: &Path,
) -> Entry {
    let configuration = Config { seed, ..point.configuration.clone() };
    let hash = configuration.fingerprint_from(directory);
    let mut settings: BTreeMap<String, Json> =
        point.values.iter().map(|(key, value)| ((*key).to_owned(), json(value))).collect();
    settings.extend(data.map(|data| ("data".to_owned(), Json::from(data))));
    settings.insert("method".to_owned(), Json::from(point.label()));
    settings.insert("seed".to_owned(), Json::from(seed));
    let shown = |(key, value): &(&str, &Value)| {
        let value = data.filter(|_| *key == "data").map_or_else(|| short_value(value), str::to_owned);
        (short[key].clone(), value)
    };
    let name = run_name(point.label(), &point.values.iter().map(shown).collect::<Vec<_>>(), seed, &hash);
    let paths = configuration.relative_paths(directory);
    Entry { number: 0, name, hash, settings, configuration, paths }
}

/// A value as JSON has it; `4.0` and `4` are one number.
fn json(value: &Value) -> Json {
    match value {
        Value::Integer(number) => Json::from(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Json::from(*number as i64),
        Value::Float(number) => Json::from(*number),
        Value::Boolean(value) => Json::from(*value),
        Value::String(text) => Json::from(text.as_str()),
        Value::Array(values) => values.iter().map(json).collect(),
        Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
        Value::Datetime(time) => Json::from(time.to_string()),
    }
}

/// A run by its settings.
fn describe(entry: &Entry) -> String {
    entry.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}
