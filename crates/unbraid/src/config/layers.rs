//! Merging the layers of a configuration.

use super::diagnosis::diagnose;
use super::paths::{absolute_in, directory_of, working_directory};
use super::{Config, Preset};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use unbraid_data::DataSpec;
use unbraid_data::OptionValue;
use unbraid_data::files::{LONGEST_TEXT, read_piped_text, read_text};
use unbraid_data::registry;

/// A configuration in the making, to which layers are added. Layers are read once and may be resolved many times, for
/// example by a study of thousands of runs.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    /// The base of relative paths; the working directory if absent.
    directory: Option<PathBuf>,
}

/// Options of data sets that are names joined by `+`, or a list of them.
const NAMES: [&str; 5] = ["columns", "factors", "categorical", "ordered", "angles"];

/// Tables whose type is given by `name`. A bare word stands for a table with only a name, and a layer that gives
/// another name replaces the whole table, since the options of one objective mean nothing to another.
const COMPONENTS: [&[&str]; 7] = [
    &["data"],
    &["objective"],
    &["objective", "divergence"],
    &["model", "architecture"],
    &["model", "likelihood"],
    &["model", "prior"],
    &["model", "posterior"],
];

/// The list of a composed objective, whose tables are known by their names.
const TERMS: [&str; 2] = ["objective", "terms"];

/// An option of data sets that is a path, or a table with that path and the kinds of columns.
const ATTRIBUTES: [&str; 2] = ["data", "attributes"];

impl Layers {
    /// A preset.
    ///
    /// # Errors
    /// If there is no preset of that name.
    pub fn of_preset(name: &str) -> Result<Self> {
        Self::of_text(Preset::find(name)?.toml, name)
    }

    /// A configuration file. Relative paths in it start in its own directory.
    ///
    /// # Errors
    /// If it cannot be read, or is not TOML.
    pub fn of_file(path: &Path) -> Result<Self> {
        Self::of_file_read_by(read_text, path)
    }

    /// As [`Layers::of_file`], or a pipe, from which relative paths start in the working directory.
    pub(super) fn of_file_or_pipe(path: &Path) -> Result<Self> {
        Self::of_file_read_by(read_piped_text, path)
    }

    fn of_file_read_by(read: fn(&Path, u64) -> std::io::Result<String>, path: &Path) -> Result<Self> {
        let text = read(path, LONGEST_TEXT).map_err(Error::io(path, "read the configuration"))?;
        let merged = parse(&text, &path.display().to_string())?;
        let directory = if path.is_file() { directory_of(path) } else { working_directory() };
        Ok(Self::of_table_in(merged, &directory))
    }

    /// A layer from TOML text; `origin` names it in messages.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn of_text(text: &str, origin: &str) -> Result<Self> {
        Ok(Self::of_table(parse(text, origin)?))
    }

    /// A data set. A relative path starts in the working directory.
    pub(super) fn of_data(data: &DataSpec) -> Self {
        let data = Table::try_from(data).expect("a specification holds nothing that TOML cannot say");
        Self::of_table_in(Table::from_iter([("data".to_owned(), Value::Table(data))]), &working_directory())
    }

    /// Values by their dotted keys, as one layer. Their order does not matter: `objective.beta` together with
    /// `objective.name` sets the beta of that objective.
    ///
    /// # Errors
    /// If a key is empty or has an empty part.
    pub fn of_keys<'a>(keys: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let mut keys: Vec<(&str, Value)> = keys.into_iter().collect();
        // The name of a table is set before its content, because another name empties the table.
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
        expand_words(&mut merged, Path::new(""));
        Self { merged, directory: None }
    }

    /// The same, with relative paths resolved against `directory` at once.
    fn of_table_in(mut merged: Table, directory: &Path) -> Self {
        expand_words(&mut merged, directory);
        Self { merged, directory: None }.with_absolute_paths(directory)
    }

    /// The same with the paths so far resolved against `directory`; those of later layers are not affected.
    fn with_absolute_paths(mut self, directory: &Path) -> Self {
        let training = self.merged.get_mut("training").and_then(Value::as_table_mut);
        let init = training.and_then(|training| training.get_mut("init")?.as_table_mut());
        if let Some(Value::String(path)) = init.and_then(|init| init.get_mut("path")) {
            *path = absolute_in(directory, Path::new(path)).display().to_string();
        }
        self.with_absolute(std::iter::once("path").chain(registry::PATH_OPTIONS), directory)
    }

    /// The same for the options that are paths. The path of a data set itself is resolved last, as earlier versions
    /// did, so that their runs are recognised by their configuration.
    pub(super) fn with_absolute_options(self, directory: &Path) -> Self {
        self.with_absolute(registry::PATH_OPTIONS.into_iter(), directory)
    }

    fn with_absolute(mut self, keys: impl Iterator<Item = &'static str>, directory: &Path) -> Self {
        if let Some(Value::Table(data)) = self.merged.get_mut("data") {
            for key in keys {
                let value = match data.get_mut(key) {
                    Some(Value::Table(table)) => table.get_mut("path"),
                    value => value,
                };
                if let Some(Value::String(path)) = value {
                    *path = absolute_in(directory, Path::new(path)).display().to_string();
                }
            }
        }
        self
    }

    /// The same, with relative paths resolved against `directory`, which must be absolute.
    #[must_use]
    pub fn with_paths_in(self, directory: &Path) -> Self {
        Self { directory: Some(directory.to_owned()), ..self }
    }

    /// The same with another data set, without the options of the earlier one.
    pub(super) fn with_data(mut self, data: &DataSpec) -> Self {
        self.merged.remove("data");
        self.put(Self::of_data(data));
        self
    }

    /// Whether there is anything under this top-level key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.merged.contains_key(key)
    }

    /// The data set so far, if there is one.
    pub(super) fn data(&self) -> Option<DataSpec> {
        self.merged.get("data")?.clone().try_into().ok()
    }

    /// The merged table so far.
    pub(super) fn into_table(self) -> Table {
        self.merged
    }

    /// Adds a layer on top.
    pub fn put(&mut self, above: Self) {
        merge(&mut self.merged, above.merged);
    }

    /// The checked configuration.
    ///
    /// # Errors
    /// If a key is unknown or a value impossible.
    pub fn resolve(self) -> Result<Config> {
        let mut config = Config::deserialize(self.merged.clone())
            .map_err(|error| Error::ConfigShape { message: diagnose(&self.merged, &error) })?;
        make_absolute(&mut config.data, self.directory.as_deref());
        if let Some(init) = config.training.init.as_mut().filter(|init| !init.path.is_empty()) {
            let directory = self.directory.unwrap_or_else(working_directory);
            init.path = absolute_in(&directory, Path::new(&init.path)).display().to_string();
        }
        let latents = &mut config.model.latents;
        if !latents.categorical.is_empty() {
            latents.temperature = Some(latents.temperature_or_default());
        }
        let training = &mut config.training;
        if training.validation.is_some() {
            training.validate_every = Some(training.validate_every_or_default());
        }
        config.check()?;
        Ok(config)
    }
}

fn parse(text: &str, origin: &str) -> Result<Table> {
    text.parse().map_err(|error: toml::de::Error| Error::ConfigSyntax {
        origin: origin.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    })
}

/// Writes out short forms; a word for a data set may be the name of a folder in `directory`.
fn expand_words(table: &mut Table, directory: &Path) {
    let data = table.get_mut("data").and_then(Value::as_table_mut);
    for (_, value) in data.into_iter().flatten().filter(|(key, _)| NAMES.contains(&key.as_str())) {
        let names =
            value.as_array().and_then(|names| names.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        if let Some(names) = names.filter(|names| !names.is_empty()) {
            *value = Value::String(names.join("+"));
        }
    }
    for path in COMPONENTS {
        let (last, parents) = path.split_last().expect("no path is empty");
        let parent = parents.iter().try_fold(&mut *table, |table, key| table.get_mut(*key)?.as_table_mut());
        if let Some(value) = parent.and_then(|parent| parent.get_mut(*last))
            && let Some(word) = value.as_str()
        {
            // Data sets have a short form: a path, or `shapes(positions=16)`.
            let data = if path == ["data"] { DataSpec::parse_in(word, directory).ok() } else { None };
            let table = data.and_then(|data| Table::try_from(data).ok());
            *value =
                Value::Table(table.unwrap_or_else(|| {
                    Table::from_iter([("name".to_owned(), Value::String(word.to_owned()))])
                }));
        }
    }
}

pub(super) fn merge(below: &mut Table, above: Table) {
    // The length of a run is given in steps or in epochs; the last layer to give either wins.
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
            (Some(Value::Array(old)), Value::Table(new)) if *path == TERMS => merge_terms(path, old, new),
            (Some(Value::Table(old)), value @ Value::String(_)) if *path == ATTRIBUTES => {
                old.insert("path".to_owned(), value);
            }
            (Some(old @ Value::String(_)), Value::Table(new)) if *path == ATTRIBUTES => {
                let mut table = Table::from_iter([("path".to_owned(), old.clone())]);
                merge_at(path, &mut table, new);
                *old = Value::Table(table);
            }
            (_, value) => drop(below.insert(key, value)),
        }
        path.pop();
    }
}

/// Changes single terms of a composed objective by their names, `objective.terms.kl.weight`; a term that is not there yet is
/// added.
fn merge_terms(path: &mut Vec<String>, below: &mut Vec<Value>, above: Table) {
    for (name, value) in above {
        let is_named = |term: &Value| match term {
            Value::Table(table) => table.get("name").and_then(Value::as_str) == Some(name.as_str()),
            other => other.as_str() == Some(name.as_str()),
        };
        let place = below.iter().position(is_named).unwrap_or_else(|| {
            below.push(Value::String(name.clone()));
            below.len() - 1
        });
        let term = &mut below[place];
        if term.is_str() {
            *term = Value::Table(Table::from_iter([("name".to_owned(), Value::String(name.clone()))]));
        }
        path.push(name);
        match (term, value) {
            (Value::Table(old), Value::Table(new)) => merge_at(path, old, new),
            (term, value) => *term = value,
        }
        path.pop();
    }
}

fn is_replaced(path: &[String], old: &Table, new: &Table) -> bool {
    // A whole schedule is one value: it does not inherit the `start` of an earlier one.
    if ["from", "to"].iter().all(|key| new.contains_key(*key)) {
        return true;
    }
    // Nor does a constant inherit the ends of a ramp, or a ramp a constant's `value`.
    let is_constant = |table: &Table| table.get("name").and_then(Value::as_str) == Some("constant");
    let is_weight = path.len() > 1 && path[0] == "objective" && new.contains_key("name");
    if is_weight && is_constant(old) != is_constant(new) {
        return true;
    }
    let component = COMPONENTS.iter().any(|component| path == *component);
    let renamed = new.get("name").is_some_and(|name| old.get("name") != Some(name));
    let moved = path == ["data"] && new.contains_key("path") && !new.contains_key("name") && is_made(old);
    component && (renamed || moved)
}

/// Whether a `[data]` table names a data set that is not read from files, so that a path alone must mean another data
/// set. For one that is read from files, a path is the part that was missing.
fn is_made(data: &Table) -> bool {
    let name = data.get("name").and_then(Value::as_str);
    name.is_some_and(|name| registry::entry(name).is_ok_and(|entry| entry.path.is_none()))
}

/// Makes paths absolute: a configuration must mean the same in any working directory.
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
    for option in registry::PATH_OPTIONS {
        if let Some(path) = data.options.get_mut(option).and_then(OptionValue::as_path_mut) {
            *path = absolute_in(directory, Path::new(path)).display().to_string();
        }
    }
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
            assert_eq!(
                Layers::of_keys([(key, Value::from(1))]).unwrap_err().to_string(),
                format!("configuration: `{key}`: found an empty part, expected a key such as objective.beta")
            );
        }
    }

    #[test]
    fn paths_in_a_file_start_in_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("sub/own.toml");
        std::fs::create_dir_all(directory.path().join("sub/photos")).unwrap();
        let data = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let mut layers = Layers::of_preset("default").unwrap();
            layers.put(Layers::of_file(&file).unwrap());
            layers.resolve().unwrap().data
        };
        let found = data("[data]\nname = \"folder\"\npath = \"photos\"\nattributes = \"../table.csv\"\n");
        assert_eq!(found.path.unwrap(), directory.path().join("sub/photos"));
        let table = directory.path().join("table.csv").display().to_string();
        assert_eq!(found.options["attributes"], OptionValue::Text(table));
        assert_eq!(data("data = \"photos\"\n"), DataSpec::at(directory.path().join("sub/photos")));
        assert_eq!(data("data = \"mnist\"\n"), DataSpec::named("mnist"));
    }

    #[test]
    fn the_kinds_of_attributes_stand_beside_their_table() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("own.toml");
        let resolved = |text: &str, set: &[(&str, Value)]| {
            std::fs::write(&file, text).unwrap();
            let mut layers = Layers::of_preset("default").unwrap();
            layers.put(Layers::of_file(&file).unwrap());
            layers.put(keys(set));
            layers.resolve().unwrap()
        };
        let table = directory.path().join("table.csv").display().to_string();
        let start = "[data]\nname = \"folder\"\npath = \"photos\"\n";
        let expected = DataSpec::named("folder")
            .with_path(directory.path().join("photos"))
            .with("attributes.path", &table)
            .with("attributes.kinds.weight", "number");
        let kinds = "attributes.kinds = { weight = \"number\" }";
        let weight = ("data.attributes.kinds.weight", Value::from("number"));
        for (text, set) in [
            (format!("{start}attributes.path = \"table.csv\"\n{kinds}\n"), vec![]),
            (
                format!(
                    "{start}attributes = {{ path = \"table.csv\", kinds = {{ weight = \"number\" }} }}\n"
                ),
                vec![],
            ),
            (format!("{start}attributes = \"table.csv\"\n"), vec![weight.clone()]),
            (format!("{start}{kinds}\n"), vec![("data.attributes", Value::from(table.clone()))]),
            (start.to_owned(), vec![weight, ("data.attributes", Value::from(table.clone()))]),
        ] {
            let config = resolved(&text, &set);
            assert_eq!(config.data, expected, "{text}");
            let written = super::super::Source::parse(&config.to_toml(), "text").unwrap();
            assert_eq!(written, config, "{}", config.to_toml());
        }
    }

    #[test]
    fn terms_of_a_composition_are_changed_by_their_names() {
        let mut layers = Layers::of_preset("default").unwrap();
        layers.put(
            Layers::of_text(
                "[objective]\nname = \"composed\"\nterms = [\"kl\", { name = \"mmd\", weight = 3 }]",
                "a",
            )
            .unwrap(),
        );
        layers.put(keys(&[
            ("objective.terms.kl.weight", 8.into()),
            ("objective.terms.mmd.kernel", "rbf".into()),
        ]));
        layers.put(keys(&[("objective.terms.moments.weight", 2.into())]));
        let config = layers.resolve().unwrap();
        let whole = "{ name = \"composed\", terms = [{ name = \"kl\", weight = 8 }, { name = \"mmd\", weight = 3, kernel = \
                     \"rbf\" }, { name = \"moments\", weight = 2 }] }";
        let mut expected = Layers::of_preset("default").unwrap();
        expected.put(Layers::of_text(&format!("objective = {whole}"), "b").unwrap());
        assert_eq!(config, expected.resolve().unwrap());
        assert_eq!(config.values()["objective.terms.kl.weight"], "8.0");
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
