//! Putting a configuration together from its layers.

use super::diagnosis::diagnose;
use super::{Config, Preset};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};
use toml::{Table, Value};
use unbraid_data::DataSpec;
use unbraid_data::OptionValue;

/// What a configuration will be, while layers are put on each other. Layers are read once and may be resolved often, as
/// a study of thousands of runs does.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    /// Relative paths start here; in the working directory if it is absent.
    directory: Option<PathBuf>,
}

/// Tables that say what they are by `name`. A bare word stands for a table with only that, and a layer that gives
/// another name replaces the whole table: the options of one objective mean nothing to the next.
const COMPONENTS: [&[&str]; 6] = [
    &["data"],
    &["objective"],
    &["objective", "divergence"],
    &["model", "architecture"],
    &["model", "likelihood"],
    &["model", "prior"],
];

impl Layers {
    /// A preset.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn of_preset(name: &str) -> Result<Self> {
        Self::of_text(Preset::find(name)?.toml, name)
    }

    /// A configuration file.
    ///
    /// # Errors
    /// If it cannot be read, or is not TOML.
    pub fn of_file(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path, "read the configuration"))?;
        Self::of_text(&text, &path.display().to_string())
    }

    /// TOML; `origin` names it in messages.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn of_text(text: &str, origin: &str) -> Result<Self> {
        let merged = text.parse().map_err(|error: toml::de::Error| Error::ConfigSyntax {
            origin: origin.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        Ok(Self::of_table(merged))
    }

    /// Values by their dotted keys, as one layer: `objective.beta` with `objective.name` means the beta of that objective,
    /// in whatever order they come.
    ///
    /// # Errors
    /// If a key is empty or has an empty part.
    pub fn of_keys<'a>(keys: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let mut keys: Vec<(&str, Value)> = keys.into_iter().collect();
        // What a table is comes before what it holds: another name empties it.
        let is_name = |key: &str| key.rsplit('.').next() == Some("name");
        keys.sort_by_key(|(key, _)| (key.split('.').count(), !is_name(key)));
        let mut layers = Self::default();
        for (key, value) in keys {
            let mut parts = key.rsplit('.').map(str::trim);
            let nested = parts.try_fold(value, |value, part| {
                (!part.is_empty()).then(|| Value::Table(Table::from_iter([(part.to_owned(), value)])))
            });
            match nested {
                Some(Value::Table(table)) => layers.put(Self::of_table(table)),
                _ => {
                    return Err(Error::value(
                        format!("`{key}`"),
                        "an empty part",
                        "a key such as objective.beta",
                    ));
                }
            }
        }
        Ok(layers)
    }

    fn of_table(mut merged: Table) -> Self {
        expand_words(&mut merged);
        Self { merged, directory: None }
    }

    /// The same with relative paths that start in `directory`, which has to be absolute.
    #[must_use]
    pub fn with_paths_in(self, directory: &Path) -> Self {
        Self { directory: Some(directory.to_owned()), ..self }
    }

    /// Puts a layer on top.
    pub fn put(&mut self, above: Self) {
        merge(&mut self.merged, above.merged);
    }

    /// The checked configuration.
    ///
    /// # Errors
    /// If a key is unknown, or a value cannot be right.
    pub fn resolve(self) -> Result<Config> {
        let mut config = Config::deserialize(self.merged.clone())
            .map_err(|error| Error::ConfigShape { message: diagnose(&self.merged, &error) })?;
        make_absolute(&mut config.data, self.directory.as_deref());
        let latents = &mut config.model.latents;
        if !latents.categorical.is_empty() {
            latents.temperature = Some(latents.temperature_or_default());
        }
        config.check()?;
        Ok(config)
    }
}

fn expand_words(table: &mut Table) {
    for path in COMPONENTS {
        let (last, parents) = path.split_last().expect("no path is empty");
        let parent = parents.iter().try_fold(&mut *table, |table, key| table.get_mut(*key)?.as_table_mut());
        if let Some(value) = parent.and_then(|parent| parent.get_mut(*last))
            && let Some(word) = value.as_str()
        {
            // Data sets have a short form of their own: a path, or `shapes(positions=16)`.
            let data = if path == ["data"] { word.parse::<DataSpec>().ok() } else { None };
            let table = data.and_then(|data| Table::try_from(data).ok());
            *value =
                Value::Table(table.unwrap_or_else(|| {
                    Table::from_iter([("name".to_owned(), Value::String(word.to_owned()))])
                }));
        }
    }
}

fn merge(below: &mut Table, above: Table) {
    // A run is measured in steps or in epochs; the layer that speaks last decides.
    if let (Some(Value::Table(training)), Some(Value::Table(new))) =
        (below.get_mut("training"), above.get("training"))
    {
        for (one, other) in [("steps", "epochs"), ("epochs", "steps")] {
            if new.contains_key(one) && !new.contains_key(other) {
                training.remove(other);
            }
        }
    }
    merge_at(&mut Vec::new(), below, above);
}

fn merge_at(path: &mut Vec<String>, below: &mut Table, above: Table) {
    for (key, value) in above {
        path.push(key.clone());
        match (below.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) if !is_replaced(path, old, &new) => {
                merge_at(path, old, new);
            }
            (_, value) => drop(below.insert(key, value)),
        }
        path.pop();
    }
}

fn is_replaced(path: &[String], old: &Table, new: &Table) -> bool {
    // A whole schedule is one value: the `start` of an earlier one means nothing to it.
    if ["from", "to"].iter().all(|key| new.contains_key(*key)) {
        return true;
    }
    let component = COMPONENTS.iter().any(|component| path == *component);
    let renamed = new.get("name").is_some_and(|name| old.get("name") != Some(name));
    let moved = path == ["data"] && new.contains_key("path") && !new.contains_key("name") && is_made(old);
    component && (renamed || moved)
}

/// Whether a `[data]` table names a data set that is made without files, so that a path alone must mean another one. To
/// one that is read from files, a path is what was missing.
fn is_made(data: &Table) -> bool {
    let name = data.get("name").and_then(Value::as_str);
    name.is_some_and(|name| unbraid_data::registry::entry(name).is_ok_and(|entry| entry.path.is_none()))
}

/// The configuration has to mean the same from any working directory.
fn make_absolute(data: &mut DataSpec, directory: Option<&Path>) {
    let Some(directory) = directory else {
        if let Some(path) = &mut data.path
            && let Ok(absolute) = std::path::absolute(&path)
        {
            *path = absolute;
        }
        return;
    };
    if let Some(path) = &mut data.path {
        *path = absolute_in(directory, path);
    }
    for option in ["picture", "attributes"] {
        if let Some(OptionValue::Text(path)) = data.options.get_mut(option) {
            *path = absolute_in(directory, Path::new(path)).display().to_string();
        }
    }
}

/// A path that starts in `directory`, without the `..` at its beginning: it is part of what identifies a run, and should
/// not depend on the way there.
fn absolute_in(directory: &Path, path: &Path) -> PathBuf {
    let mut absolute = directory.to_owned();
    let mut components = path.components().peekable();
    while let Some(Component::ParentDir | Component::CurDir) = components.peek() {
        if components.next() == Some(Component::ParentDir) {
            absolute.pop();
        }
    }
    // An absolute path takes the place of all that is before it.
    absolute.extend(components);
    absolute
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ObjectiveConfig;

    fn keys(keys: &[(&str, Value)]) -> Layers {
        Layers::of_keys(keys.iter().map(|(key, value)| (*key, value.clone()))).unwrap()
    }

    #[test]
    fn the_keys_of_one_layer_mean_the_same_in_any_order() {
        let (name, weight) = (("objective.name", "beta-tcvae".into()), ("objective.beta", Value::from(6)));
        for layer in [[name.clone(), weight.clone()], [weight, name]] {
            let mut layers = Layers::of_preset("dlib/factor-vae").unwrap();
            layers.put(keys(&layer));
            let config = layers.resolve().unwrap();
            assert!(
                matches!(config.objective, ObjectiveConfig::BetaTcvae { beta, .. } if beta == 6.0.into())
            );
        }
        let mut layers = Layers::of_preset("shapes/beta-vae").unwrap();
        layers.put(keys(&[("data.positions", 8.into()), ("data", "shapes".into())]));
        assert_eq!(layers.resolve().unwrap().data.to_string(), "shapes(orientations=10, positions=8)");
        for key in ["", "objective.", ".beta", "a..b"] {
            assert!(Layers::of_keys([(key, Value::from(1))]).is_err(), "{key}");
        }
    }

    #[test]
    fn paths_start_in_the_directory_that_is_given() {
        let data = |path: &str| {
            let mut layers = Layers::of_preset("default").unwrap().with_paths_in(Path::new("/here/study"));
            layers.put(keys(&[("data", format!("scream-dsprites(path={path}, picture=./a.png)").into())]));
            layers.resolve().unwrap().data
        };
        for (path, expected) in [
            ("x.npz", "/here/study/x.npz"),
            ("./x.npz", "/here/study/x.npz"),
            ("../data/x.npz", "/here/data/x.npz"),
            ("../../x/../y.npz", "/x/../y.npz"),
            ("/x.npz", "/x.npz"),
        ] {
            assert_eq!(data(path).path.unwrap(), Path::new(expected), "{path}");
        }
        assert_eq!(data("x").options["picture"], OptionValue::Text("/here/study/a.png".into()));
    }
}
