//! Where a configuration comes from: a preset, a file, and single keys from the command line.

use super::Config;
use super::layers::Layers;
use super::paths::working_directory;
use crate::error::{Error, Result};
use std::path::PathBuf;
use toml::{Table, Value};
use unbraid_data::{DataSpec, registry};

/// Where a configuration comes from; later layers override earlier ones, key by key.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The first layer. If absent, it is empty if there is a file with an objective, else the preset that suits the data,
    /// or `default` without data.
    pub preset: Option<String>,
    /// The second layer.
    pub file: Option<PathBuf>,
    /// The third layer: a data set.
    pub data: Option<DataSpec>,
    /// The fourth layer: `key=value`, each a TOML value or a bare word.
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

    /// A data set, with the preset that suits it.
    pub fn data(data: DataSpec) -> Self {
        Self { data: Some(data), ..Self::default() }
    }

    /// The same with one more assignment `key=value`.
    #[must_use]
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.assignments.push(assignment.into());
        self
    }

    /// Whether it has no layers.
    pub fn is_empty(&self) -> bool {
        self.preset.is_none() && self.file.is_none() && self.data.is_none() && self.assignments.is_empty()
    }

    /// Reads and merges the layers, and checks the result.
    ///
    /// # Errors
    /// If a layer cannot be read, a key is unknown, or a value is impossible.
    pub fn resolve(&self) -> Result<Config> {
        let file = self.file.as_deref().map(Layers::of_file_or_pipe).transpose()?;
        let mut layers = self.base(file.as_ref())?;
        if let Some(file) = file {
            layers.put(file);
        }
        if let Some(data) = &self.data {
            layers.put(Layers::of_data(data));
        }
        for assignment in &self.assignments {
            let (key, value) = parse_assignment(assignment)?;
            layers.put(Layers::of_keys([(key, value)])?.with_absolute_options(&working_directory()));
        }
        layers.resolve()
    }

    /// The first layer.
    fn base(&self, file: Option<&Layers>) -> Result<Layers> {
        if let Some(name) = &self.preset {
            return Layers::of_preset(name);
        }
        let data = self.data.clone().or_else(|| self.assigned_data()).or_else(|| file?.data());
        match (file, data) {
            (Some(file), _) if file.has("objective") => Ok(Layers::default()),
            (_, Some(data)) => preset_for(&data),
            (Some(_), None) => Ok(Layers::default()),
            (None, None) => Layers::of_preset("default"),
        }
    }

    /// The data set that the assignments name, if it is a known one: what is wrong with another is said when it is opened.
    fn assigned_data(&self) -> Option<DataSpec> {
        let mut layers = Layers::default();
        for assignment in &self.assignments {
            let (key, value) = parse_assignment(assignment).ok()?;
            if key.split('.').next() == Some("data") {
                layers.put(Layers::of_keys([(key, value)]).ok()?);
            }
        }
        layers.data().filter(|data| entry_of(data).is_ok_and(|entry| entry.is_some()))
    }

    /// A whole configuration from text; `origin` names it in messages.
    ///
    /// # Errors
    /// As [`Source::resolve`].
    pub fn parse(text: &str, origin: &str) -> Result<Config> {
        Layers::of_text(text, origin)?.resolve()
    }
}

/// The preset that suits a data set, with that data set in the place of its own.
fn preset_for(data: &DataSpec) -> Result<Layers> {
    let Some(entry) = entry_of(data)? else { return Layers::of_preset("default") };
    let preset = if entry.is_table() {
        "vectors"
    } else if entry.is_folder_of_pictures() || entry.name == "npz" {
        "photographs"
    } else {
        "images"
    };
    Ok(Layers::of_preset(preset)?.with_data(&DataSpec::named(entry.name)))
}

/// The type of a data set, by its name or path; `None` if it has neither.
fn entry_of(data: &DataSpec) -> Result<Option<&'static registry::Entry>> {
    Ok(match (&data.name, &data.path) {
        (Some(name), _) => Some(registry::entry(name)?),
        (None, Some(path)) => Some(registry::recognise(path)?),
        (None, None) => None,
    })
}

/// The key and value of an assignment `key=value`; the value is TOML or a bare word.
///
/// # Errors
/// If there is no `=`, or a part of the key is empty. Whether the key exists is checked when a configuration is
/// resolved.
pub fn parse_assignment(text: &str) -> Result<(&str, Value)> {
    text.split_once('=')
        .filter(|(key, _)| key.split('.').all(|part| !part.trim().is_empty()))
        .map(|(key, value)| (key.trim(), parse_value(value.trim())))
        .ok_or_else(|| Error::Assignment { found: text.to_owned() })
}

/// Parses a TOML value; anything else is a bare word.
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
    use crate::config::{ArchitectureConfig, LikelihoodConfig, ObjectiveConfig, Samples, Scale};
    use unbraid_data::{DataSpec, OptionValue};

    fn set(assignments: &[&str]) -> Result<Config> {
        let assignments = assignments.iter().map(|&text| text.to_owned()).collect();
        Source { assignments, ..Source::default() }.resolve()
    }

    /// The message on assignments that make no configuration.
    #[track_caller]
    fn refusal(assignments: &[&str]) -> String {
        let error = set(assignments).unwrap_err().to_string();
        error.strip_prefix("configuration: ").unwrap().to_owned()
    }

    #[test]
    fn assignments_take_toml_values_and_bare_words() {
        let config =
            set(&["objective.name=beta-vae", "objective.beta=6", "model.likelihood=bernoulli"]).unwrap();
        assert_eq!(
            config.objective,
            ObjectiveConfig::BetaVae { beta: 6.0.into(), samples: Samples::default() }
        );
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
        let config = set(&["data.columns=[\"x1\", \"y*\"]", "data.factors=[\"kind\"]"]).unwrap();
        assert_eq!(config.data.options["columns"], OptionValue::Text("x1+y*".to_owned()));
        assert_eq!(config.data.options["factors"], OptionValue::Text("kind".to_owned()));
    }

    #[test]
    fn another_name_leaves_the_options_of_the_old_one_behind() {
        let config = set(&["objective.beta=3", "objective.name=vae"]).unwrap();
        assert_eq!(config.objective, ObjectiveConfig::Vae { samples: Samples::default() });
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
        for (assignment, message) in [
            (
                "objective.bta=1",
                "objective: unknown key `bta`\nhint: did you mean `beta`?\nhint: the method is `beta-vae`; objective.name=... chooses another",
            ),
            ("beta=3", "unknown key `beta`\nhint: did you mean `objective.beta`?"),
            ("steps=30", "unknown key `steps`\nhint: did you mean `training.steps`?"),
            ("learning_rate=1", "unknown key `learning_rate`\nhint: did you mean `optimizer.learning_rate`?"),
            ("continuous=3", "unknown key `continuous`\nhint: did you mean `model.latents.continuous`?"),
            ("hues=8", "unknown key `hues`\nhint: did you mean `data.hues`?"),
            ("trainng.steps=1", "unknown key `trainng`\nhint: did you mean `training`?"),
            ("training.step=1", "training: unknown key `step`\nhint: did you mean `steps`?"),
            (
                "model.architecture=convv",
                "model.architecture.name: unknown value `convv`\nhint: did you mean `conv`?",
            ),
            (
                "objective.name=betavae",
                "objective.name: unknown value `betavae`\nhint: did you mean `beta-vae`?",
            ),
            (
                "model.latents.continous=3",
                "model.latents: unknown key `continous`\nhint: did you mean `continuous`?",
            ),
        ] {
            assert_eq!(refusal(&[assignment]), message, "{assignment}");
        }
    }

    #[test]
    fn an_option_of_another_method_comes_with_the_name_of_this_one() {
        assert_eq!(
            refusal(&["objective.name=vae", "objective.beta=1"]),
            "objective: unknown key `beta`\nhint: expected one of samples\n\
             hint: the method is `vae`; objective.name=... chooses another"
        );
    }

    #[test]
    fn wrong_kinds_of_values_name_the_key() {
        for (assignment, message) in [
            (
                "objective.beta=much",
                "objective.beta: found \"much\", expected a number or { from = 0.0, to = 1.0, start = 0, end = 10000 }",
            ),
            ("training.steps=-5", "training.steps: found -5, expected a whole number, 0 or more"),
            ("training.batch_size=1.5", "training.batch_size: found 1.5, expected a whole number, 0 or more"),
            ("model.latents=10", "model.latents: found 10, expected a table"),
            ("seed=-1", "seed: found -1, expected a whole number, 0 or more"),
            ("objective=3", "objective: found 3, expected a name, or a table with a `name`"),
            ("model.likelihood=1", "model.likelihood: found 1, expected a name, or a table with a `name`"),
            ("evaluation.split=3", "evaluation.split: found 3, expected train or test"),
            (
                "model.initializer=3",
                "model.initializer: found 3, expected one of pytorch, pytorch-0.4, glorot-uniform, kaiming-uniform, kaiming-normal",
            ),
            (
                "model.likelihood={ name = \"gaussian\", output = 3 }",
                "model.likelihood.output: found 3, expected sigmoid or linear",
            ),
            ("data.path=3", "data.path: found 3, expected a path"),
            ("data.size=[32]", "data.size: found [32], expected a number, a text, true or false, or a table"),
            (
                "data.columns=[1]",
                "data.columns: found [1], expected a number, a text, true or false, or a table",
            ),
            (
                "model.likelihood={ name = \"gaussian\", scale = \"wide\" }",
                "model.likelihood.scale: found \"wide\", expected a number or one of the words `learned` and `decoded`",
            ),
        ] {
            assert_eq!(refusal(&[assignment]), message, "{assignment}");
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
    fn a_data_set_is_enough() {
        let directory = tempfile::tempdir().unwrap();
        let photos = directory.path().join("photos");
        std::fs::create_dir(&photos).unwrap();
        std::fs::write(photos.join("a.png"), "only its name matters here").unwrap();
        let config = Source::data(DataSpec::at(&photos)).resolve().unwrap();
        let expected = DataSpec::named("folder").with_path(&photos);
        assert_eq!(config.data, expected);
        let preset = Source { preset: Some("photographs".into()), ..Source::default() }.resolve().unwrap();
        assert_eq!((&config.model, &config.objective), (&preset.model, &preset.objective));
        // The same from a file that has nothing else, or other keys.
        let file = directory.path().join("own.toml");
        std::fs::write(&file, "[data]\npath = \"photos\"\n").unwrap();
        assert_eq!(Source::file(&file).resolve().unwrap(), config);
        std::fs::write(&file, "seed = 3\n[data]\npath = \"photos\"\nsize = 32\n").unwrap();
        let own = Source::file(&file).resolve().unwrap();
        assert_eq!((own.seed, own.data), (3, expected.clone().with("size", 32)));
        // The same from a single key.
        let assigned = |assignment: String| Source::default().set(assignment).resolve().unwrap();
        assert_eq!(assigned(format!("data={}", photos.display())), config);
        assert_eq!(assigned(format!("data.path={}", photos.display())), config);
        let with_size = Source::default().set("data.size=32").set(format!("data.path={}", photos.display()));
        assert_eq!(with_size.resolve().unwrap().data, expected.clone().with("size", 32));
        // Another preset or objective is not replaced, and a data set that is made has the preset of its kind.
        let other = Source { preset: Some("dlib/beta-vae".into()), ..Source::data(DataSpec::at(&photos)) };
        assert_eq!(other.resolve().unwrap().data, DataSpec::at(&photos));
        let made = Source::data("shapes(positions=8)".parse().unwrap()).resolve().unwrap();
        assert_eq!(made.objective, Source::preset("images").resolve().unwrap().objective);
        assert_eq!(made.data.to_string(), "shapes(positions=8)", "without the options of the preset's data");
        let error = Source::data(DataSpec::at("no/such.npz")).resolve().unwrap_err();
        assert_eq!(error.to_string(), "no/such.npz: cannot open");
    }

    #[test]
    fn a_file_without_data_is_no_configuration() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.toml");
        std::fs::write(&path, "[objective]\nname = \"vae\"\n[training]\nsteps = 3\n").unwrap();
        let source = Source { file: Some(path), ..Source::default() };
        assert_eq!(source.resolve().unwrap_err().to_string(), "configuration: missing key `data`");
    }
}
