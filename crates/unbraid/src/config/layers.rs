//! Putting a configuration together from its layers.

use super::error::{nearest, with_suggestion};
use super::{Config, ConfigError, PRESETS, Preset};
use std::path::PathBuf;
use toml::{Table, Value};
use unbraid_data::DataSpec;

/// Where a configuration comes from; later layers override earlier ones, key by key.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The first layer. Without it, and without a file, it is the preset `default`; with a file, it is nothing.
    pub preset: Option<String>,
    /// The second layer.
    pub file: Option<PathBuf>,
    /// The third layer: `key=value`, each a TOML value or a bare word.
    pub assignments: Vec<String>,
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

impl Source {
    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.preset.is_none() && self.file.is_none() && self.assignments.is_empty()
    }

    /// Reads and merges the layers, and checks the result.
    ///
    /// # Errors
    /// If a layer cannot be read, a key is unknown, or a value cannot be right.
    pub fn resolve(&self) -> Result<Config, ConfigError> {
        let mut merged = match (&self.preset, &self.file) {
            (Some(name), _) => parse_table(find_preset(name)?.toml, name)?,
            (None, None) => parse_table(find_preset("default")?.toml, "default")?,
            (None, Some(_)) => Table::new(),
        };
        if let Some(path) = &self.file {
            let text = std::fs::read_to_string(path)
                .map_err(|source| ConfigError::Read { path: path.clone(), source })?;
            merge(&mut merged, parse_table(&text, &path.display().to_string())?);
        }
        for assignment in &self.assignments {
            merge(&mut merged, parse_assignment(assignment)?);
        }
        finish(merged)
    }

    /// A whole configuration from text; `origin` names it in messages.
    ///
    /// # Errors
    /// As [`Source::resolve`].
    pub fn parse(text: &str, origin: &str) -> Result<Config, ConfigError> {
        finish(parse_table(text, origin)?)
    }
}

fn find_preset(name: &str) -> Result<&'static Preset, ConfigError> {
    Preset::named(name).ok_or_else(|| ConfigError::UnknownPreset {
        name: name.to_owned(),
        hint: nearest(name, PRESETS.iter().map(|preset| preset.name)).map_or_else(
            || "`unbraid presets` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        ),
    })
}

fn parse_table(text: &str, origin: &str) -> Result<Table, ConfigError> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
        origin: origin.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    })?;
    expand_words(&mut table);
    Ok(table)
}

fn parse_assignment(text: &str) -> Result<Table, ConfigError> {
    let malformed = || ConfigError::Assignment { found: text.to_owned() };
    let (key, value) = text.split_once('=').ok_or_else(malformed)?;
    let value = parse_value(value.trim());
    let mut parts = key.trim().rsplit('.').map(str::trim);
    let innermost = parts.next().filter(|part| !part.is_empty()).ok_or_else(malformed)?;
    let mut table = Table::from_iter([(innermost.to_owned(), value)]);
    for part in parts {
        if part.is_empty() {
            return Err(malformed());
        }
        table = Table::from_iter([(part.to_owned(), Value::Table(table))]);
    }
    expand_words(&mut table);
    Ok(table)
}

/// A TOML value; anything that is none is a word.
fn parse_value(text: &str) -> Value {
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
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

fn finish(merged: Table) -> Result<Config, ConfigError> {
    let mut config: Config = Value::Table(merged).try_into().map_err(|error: toml::de::Error| {
        let text = error.to_string();
        let mut lines = text.lines();
        let message = with_suggestion(lines.next().unwrap_or_default());
        // The second line says where: in `section.key`.
        let place =
            lines.find_map(|line| line.trim().strip_prefix("in `")?.strip_suffix('`').map(str::to_owned));
        let message = place.map_or_else(|| message.clone(), |place| format!("{place}: {message}"));
        ConfigError::Shape { message }
    })?;
    // The configuration has to mean the same from any working directory.
    if let Some(path) = &mut config.data.path
        && let Ok(absolute) = std::path::absolute(&path)
    {
        *path = absolute;
    }
    let latents = &mut config.model.latents;
    if !latents.categorical.is_empty() {
        latents.temperature = Some(latents.temperature_or_default());
    }
    config.check()?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ArchitectureConfig, LikelihoodConfig, ObjectiveConfig, Scale};

    fn set(assignments: &[&str]) -> Result<Config, ConfigError> {
        let assignments = assignments.iter().map(|&text| text.to_owned()).collect();
        Source { assignments, ..Source::default() }.resolve()
    }

    #[test]
    fn assignments_take_toml_values_and_bare_words() {
        let config =
            set(&["objective.name=beta-vae", "objective.beta=6", "model.likelihood=bernoulli"]).unwrap();
        assert_eq!(config.objective, ObjectiveConfig::BetaVae { beta: 6.0.into() });
        let config = set(&["model.likelihood=laplace", "model.likelihood.scale=0.1", "seed = 7"]).unwrap();
        assert!(
            matches!(config.model.likelihood, LikelihoodConfig::Laplace { scale: Scale::Fixed(scale), .. } if scale == 0.1)
        );
        assert_eq!(config.seed, 7);
    }

    #[test]
    fn data_takes_its_short_forms() {
        let config = set(&["data=shapes(positions=8, orientations=2)"]).unwrap();
        assert_eq!(config.data, "shapes(positions=8, orientations=2)".parse().unwrap());
        let config = set(&["data=/somewhere/dsprites.npz"]).unwrap();
        assert_eq!(config.data, DataSpec::at("/somewhere/dsprites.npz"));
    }

    #[test]
    fn another_name_leaves_the_options_of_the_old_one_behind() {
        let config = set(&["objective.beta=3", "objective.name=vae"]).unwrap();
        assert_eq!(config.objective, ObjectiveConfig::Vae {});
        let config = set(&[
            "model.architecture={ name = \"mlp\", encoder = [3], decoder = [3] }",
            "model.architecture=conv",
        ]);
        assert_eq!(config.unwrap().model.architecture, ArchitectureConfig::Conv {});
    }

    #[test]
    fn epochs_take_the_place_of_steps() {
        let config = set(&["training.steps=5", "training.epochs=2"]).unwrap();
        assert_eq!((config.training.steps, config.training.epochs), (None, Some(2)));
        assert_eq!(config.training.total_steps(100), 2 * 100 / 64);
    }

    #[test]
    fn unknown_keys_and_words_come_with_a_suggestion() {
        for (assignment, place, hint) in [
            ("objective.bta=1", "objective", "did you mean `beta`?"),
            ("trainng.steps=1", "trainng", "did you mean `training`?"),
            ("training.step=1", "training", "did you mean `steps`?"),
            ("model.architecture=convv", "model.architecture", "did you mean `conv`?"),
            ("objective.name=betavae", "objective", "did you mean `beta-vae`?"),
            ("model.latents.continous=3", "model.latents", "did you mean `continuous`?"),
        ] {
            let error = set(&[assignment]).unwrap_err().to_string();
            assert!(error.contains(place) && error.contains(hint), "{assignment}: {error}");
        }
    }

    #[test]
    fn wrong_kinds_of_values_name_the_key() {
        for (assignment, place) in [
            ("objective.beta=much", "objective"),
            ("training.steps=-5", "training.steps"),
            ("training.batch_size=1.5", "training.batch_size"),
            ("model.latents=10", "model.latents"),
            ("seed=-1", "seed"),
            ("model.likelihood={ name = \"gaussian\", scale = \"wide\" }", "model.likelihood"),
        ] {
            let error = set(&[assignment]).unwrap_err().to_string();
            assert!(error.contains(place), "{assignment}: {error}");
        }
    }

    #[test]
    fn a_path_completes_a_data_set_of_files_and_replaces_one_that_is_made() {
        let data = |preset: &str| {
            let assignments = vec!["data.path=/somewhere".to_owned()];
            let source = Source { preset: Some(preset.to_owned()), assignments, ..Source::default() };
            source.resolve().unwrap().data
        };
        let celeba = data("kumar/celeba-beta-vae");
        assert_eq!(celeba.name.as_deref(), Some("celeba"));
        assert!(celeba.options.contains_key("train_fraction") && celeba.path.is_some());
        let other = data("default");
        assert!(other.name.is_none() && other.options.is_empty() && other.path.is_some());
    }

    #[test]
    fn malformed_assignments_are_refused() {
        for text in ["objective.beta", "=3", "objective.=3", ".beta=3"] {
            assert!(matches!(set(&[text]), Err(ConfigError::Assignment { .. })), "{text}");
        }
    }

    #[test]
    fn a_file_without_data_is_no_configuration() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.toml");
        std::fs::write(&path, "[objective]\nname = \"vae\"\n[training]\nsteps = 3\n").unwrap();
        let source = Source { file: Some(path), ..Source::default() };
        assert!(source.resolve().unwrap_err().to_string().contains("data"));
    }
}
