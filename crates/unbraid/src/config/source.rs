//! Where a configuration comes from: a preset, a file, and single keys from the command line.

use super::Config;
use super::layers::Layers;
use crate::error::{Error, Result};
use std::path::PathBuf;
use toml::{Table, Value};

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

impl Source {
    /// A preset by name.
    pub fn preset(name: impl Into<String>) -> Self {
        Self { preset: Some(name.into()), ..Self::default() }
    }

    /// A configuration file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), ..Self::default() }
    }

    /// The same with one more key set: `key=value`.
    #[must_use]
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.assignments.push(assignment.into());
        self
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.preset.is_none() && self.file.is_none() && self.assignments.is_empty()
    }

    /// Reads and merges the layers, and checks the result.
    ///
    /// # Errors
    /// If a layer cannot be read, a key is unknown, or a value cannot be right.
    pub fn resolve(&self) -> Result<Config> {
        let mut layers = match (&self.preset, &self.file) {
            (Some(name), _) => Layers::of_preset(name)?,
            (None, None) => Layers::of_preset("default")?,
            (None, Some(_)) => Layers::default(),
        };
        if let Some(path) = &self.file {
            layers.put(Layers::of_file(path)?);
        }
        for assignment in &self.assignments {
            let (key, value) = parse_assignment(assignment)?;
            layers.put(Layers::of_keys([(key, value)])?);
        }
        layers.resolve()
    }

    /// A whole configuration from text; `origin` names it in messages.
    ///
    /// # Errors
    /// As [`Source::resolve`].
    pub fn parse(text: &str, origin: &str) -> Result<Config> {
        Layers::of_text(text, origin)?.resolve()
    }
}

/// The key and the value of `key=value`; the value is one of TOML, or a bare word.
///
/// # Errors
/// If there is no `=`, or a part of the key is empty. Whether there is such a key is seen when a configuration is resolved.
pub fn parse_assignment(text: &str) -> Result<(&str, Value)> {
    text.split_once('=')
        .filter(|(key, _)| key.split('.').all(|part| !part.trim().is_empty()))
        .map(|(key, value)| (key.trim(), parse_value(value.trim())))
        .ok_or_else(|| Error::Assignment { found: text.to_owned() })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ArchitectureConfig, LikelihoodConfig, ObjectiveConfig, Scale};
    use unbraid_data::DataSpec;

    fn set(assignments: &[&str]) -> Result<Config> {
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
    fn a_whole_schedule_replaces_another_and_a_part_of_one_does_not() {
        let beta = |second: &str| {
            let first =
                "objective={ name = \"beta-vae\", beta = { from = 8, to = 3, start = 100, end = 200 } }";
            set(&[first, second]).unwrap().objective
        };
        let whole = |text: &str| {
            set(&[&format!("objective={{ name = \"beta-vae\", beta = {text} }}")]).unwrap().objective
        };
        assert_eq!(
            beta("objective.beta={ from = 0, to = 4, end = 50 }"),
            whole("{ from = 0, to = 4, end = 50 }")
        );
        assert_eq!(beta("objective.beta.to=2"), whole("{ from = 8, to = 2, start = 100, end = 200 }"));
        assert_eq!(beta("objective.beta=4"), whole("4.0"));
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
    fn an_option_of_another_method_comes_with_the_name_of_this_one() {
        let error = set(&["objective.name=vae", "objective.beta=1"]).unwrap_err().to_string();
        assert!(error.contains("unknown key `beta`") && error.contains("the method is `vae`"), "{error}");
    }

    #[test]
    fn wrong_kinds_of_values_name_the_key() {
        for (assignment, place) in [
            ("objective.beta=much", "objective.beta"),
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
            assert!(matches!(set(&[text]), Err(Error::Assignment { .. })), "{text}");
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
