//! What is measured once a run is trained: metrics, their options, and on which images.

use super::layers::{Layers, merge};
use super::source::parse_assignment;
use super::suggestion::{explain, nearest};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::{Table, Value};
use unbraid_data::one_line;
use unbraid_metrics::Registry;
use unbraid_metrics::registry::{self, DEFAULT};

/// What is done with a run once it is trained.
///
/// Options of a metric are a table under its name: `[evaluation.sap]` with `predictor = "threshold"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvaluationConfig {
    /// Metrics by name; all that apply if there are none, or where the name is `default`.
    pub metrics: Vec<String>,
    /// The images that scores are computed on.
    #[serde(skip_serializing_if = "EvaluationSplit::is_train")]
    pub split: EvaluationSplit,
    /// Whether scores are also computed on shuffled factors, which gives their chance level.
    #[serde(skip_serializing_if = "is_true")]
    pub chance: bool,
    /// Number of bootstrap resamples for the confidence intervals of scores; 0 for no intervals.
    #[serde(skip_serializing_if = "is_zero")]
    pub bootstrap: usize,
    /// Whether `unbraid train` ends by scoring the run.
    pub after_training: bool,
    /// Whether `unbraid train` ends by drawing figures and writing `report.html`.
    pub report: bool,
    /// The size up to which a page carries its model, in megabytes (10^6 bytes) of weights.
    #[serde(skip_serializing_if = "is_default_limit")]
    pub model_limit: f64,
    /// All other keys: options of metrics.
    #[serde(flatten)]
    pub options: BTreeMap<String, Value>,
}

/// The images that scores are computed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvaluationSplit {
    /// Those that the run was trained on.
    #[default]
    Train,
    /// Those of the test split of its data, which it was not trained on.
    Test,
}

impl EvaluationSplit {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_train(&self) -> bool {
        *self == Self::Train
    }

    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_true(flag: &bool) -> bool {
    *flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The fewest resamples whose 2.5 % quantile means anything.
const FEWEST_RESAMPLES: usize = 20;

/// More of them than this tell nothing new, and would never end.
pub const MOST_RESAMPLES: usize = 100_000;

/// The keys that are not names of metrics.
const KEYS: [&str; 7] =
    ["metrics", "split", "chance", "bootstrap", "after_training", "report", "model_limit"];

/// Room for every network of the papers but the fully connected one of 1200 units in each layer.
const MODEL_LIMIT: f64 = 8.0;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_default_limit(limit: &f64) -> bool {
    *limit == MODEL_LIMIT
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            metrics: Vec::new(),
            split: EvaluationSplit::Train,
            chance: true,
            bootstrap: 0,
            after_training: true,
            report: true,
            model_limit: MODEL_LIMIT,
            options: BTreeMap::new(),
        }
    }
}

impl EvaluationConfig {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether another configuration asks for the same scores: the same metrics with the same options on the same images.
    pub fn same_scores(&self, other: &Self) -> bool {
        (&self.metrics, self.split, &self.options) == (&other.metrics, other.split, &other.options)
    }

    /// The same with single keys set, `sap.predictor=threshold`, with or without `evaluation.` in front.
    ///
    /// # Errors
    /// If a key is unknown, or a value is invalid.
    pub fn with_assignments(&self, assignments: &[String]) -> Result<Self> {
        let mut table = Table::try_from(self).expect("it holds nothing that TOML cannot say");
        for assignment in assignments {
            let (key, value) = parse_assignment(assignment)?;
            let key = key.strip_prefix("evaluation.").unwrap_or(key);
            merge(&mut table, Layers::of_keys([(key, value)])?.into_table());
        }
        let result = Self::deserialize(table.clone()).map_err(|error| {
            // A flattened table does not always know which of its keys an error is about.
            let alone = |key: &&&str| {
                let value = table.get(**key).cloned();
                let alone = value.map(|value| Table::from_iter([((**key).to_owned(), value)]));
                alone.is_some_and(|alone| Self::deserialize(alone).is_err())
            };
            let explained = explain(&error);
            let message = match KEYS.iter().find(alone) {
                Some(key) if explained.starts_with(&format!("{key}: ")) => format!("evaluation.{explained}"),
                Some(key) => format!("evaluation.{key}: {explained}"),
                None => format!("evaluation: {explained}"),
            };
            Error::ConfigShape { message }
        })?;
        result.check()?;
        Ok(result)
    }

    /// The built-in metrics with these options.
    ///
    /// # Errors
    /// If there is no such metric or option, or a value is not allowed.
    pub fn registry(&self) -> Result<Registry> {
        let mut registry = Registry::builtin();
        for (name, options) in &self.options {
            if registry.position(name).is_none() {
                return Err(unknown_key(name, &registry));
            }
            let Value::Table(options) = options else {
                let expected = "a table of its options, such as { bins = 10 }";
                return Err(Error::value(format!("evaluation.{name}"), options, expected));
            };
            let options = options.iter().map(|(key, value)| (key.clone(), as_json(value))).collect();
            registry
                .configure(name, &options)
                .map_err(|error| Error::ConfigShape { message: format!("evaluation.{error}") })?;
        }
        Ok(registry)
    }

    /// Checks names, options and values.
    pub(super) fn check(&self) -> Result {
        for name in self.metrics.iter().filter(|name| *name != DEFAULT) {
            registry::find(name)
                .map_err(|error| Error::ConfigShape { message: format!("evaluation.metrics: {error}") })?;
        }
        if self.model_limit.is_nan() || self.model_limit < 0.0 {
            return Err(Error::value(
                "evaluation.model_limit",
                self.model_limit,
                "a number of megabytes, 0 or more",
            ));
        }
        check_resamples(self.bootstrap)
            .map_err(|expected| Error::value("evaluation.bootstrap", self.bootstrap, expected))?;
        self.registry().map(drop)
    }
}

/// Checks a number of bootstrap resamples.
///
/// # Errors
/// If it is not allowed: what is expected, for a message with the name that the number has where it comes from.
pub fn check_resamples(resamples: usize) -> Result<(), String> {
    match resamples {
        1..FEWEST_RESAMPLES => Err(format!("0, or {FEWEST_RESAMPLES} or more")),
        resamples if resamples > MOST_RESAMPLES => Err(format!("at most {MOST_RESAMPLES}")),
        _ => Ok(()),
    }
}

fn unknown_key(key: &str, registry: &Registry) -> Error {
    // `evaluation.beta_vae` is not a key, but it is clear what is meant.
    let meant = registry.find(key).ok().map(|metric| metric.name.as_str());
    let near = meant
        .or_else(|| nearest(key, KEYS.into_iter().chain(registry.iter().map(|metric| metric.name.as_str()))));
    let hint = near.map_or_else(
        || format!("expected {}, or the name of a metric", KEYS.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Error::ConfigShape { message: format!("evaluation: unknown key `{}`\nhint: {hint}", one_line(key)) }
}

/// A TOML value as JSON. What JSON lacks, such as infinity, becomes a string, which no option takes for a number.
fn as_json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) if number.is_finite() => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Array(list) => list.iter().map(as_json).collect(),
        Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), as_json(value))).collect(),
        Value::Float(_) | Value::Datetime(_) => value.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};

    fn set(assignments: &[&str]) -> Result<Config> {
        let assignments = assignments.iter().map(|&text| text.to_owned()).collect();
        Source { assignments, ..Source::default() }.resolve()
    }

    #[test]
    fn options_come_from_toml_and_from_single_keys() {
        let text = "data = \"shapes\"\nobjective = \"vae\"\n[training]\nsteps = 1\n\
                    [evaluation]\nmetrics = [\"default\", \"sap_kumar\"]\nsplit = \"test\"\n\
                    [evaluation.sap]\npredictor = \"threshold\"\n";
        let config = Source::parse(text, "text").unwrap();
        assert_eq!(config.evaluation.split, EvaluationSplit::Test);
        assert_eq!(config.evaluation.registry().unwrap().values("sap").unwrap()["predictor"], "threshold");
        assert_eq!(Source::parse(&config.to_toml(), "text").unwrap(), config, "{}", config.to_toml());

        let config = set(&[
            "evaluation.factor_vae_score.prune=0.0",
            "evaluation.dci.learner=lasso",
            "evaluation.dci.alpha=1",
        ]);
        let config = config.unwrap();
        let registry = config.evaluation.registry().unwrap();
        assert_eq!(registry.values("factor_vae_score").unwrap()["prune"], 0.0);
        assert_eq!(registry.values("dci").unwrap()["alpha"], 1.0);
        // The same model is trained, and the saved configuration repeats the scores.
        assert_eq!(config.fingerprint(), Source::default().resolve().unwrap().fingerprint());
        let read = Source::parse(&config.to_toml(), "text").unwrap();
        assert_eq!(read, config);
        assert!(!read.evaluation.same_scores(&EvaluationConfig::default()));
        let quiet = EvaluationConfig { report: false, ..EvaluationConfig::default() };
        assert!(quiet.same_scores(&EvaluationConfig::default()));
    }

    #[test]
    fn wrong_keys_and_values_are_refused_in_one_message() {
        for (assignment, message) in [
            (
                "evaluation.sap.predictor=treshold",
                "configuration: evaluation.sap.predictor: found \"treshold\", expected \"svm\" or \"threshold\"\n\
                 hint: did you mean `threshold`?",
            ),
            (
                "evaluation.sap.predictr=svm",
                "configuration: evaluation.sap.predictr: unknown option of the metric `sap`\n\
                 hint: did you mean `predictor`?",
            ),
            (
                "evaluation.factor_vae_score.prune=nan",
                "configuration: evaluation.factor_vae_score.prune: found \"nan\", expected a number, 0 or more",
            ),
            (
                "evaluation.sapp.c=1",
                "configuration: evaluation: unknown key `sapp`\nhint: did you mean `sap`?",
            ),
            (
                "evaluation.metric=[\"mig\"]",
                "configuration: evaluation: unknown key `metric`\nhint: did you mean `metrics`?",
            ),
            (
                "evaluation.beta_vae.batch_size=3",
                "configuration: evaluation: unknown key `beta_vae`\nhint: did you mean `beta_vae_score`?",
            ),
            (
                "evaluation.model_limit=-1",
                "configuration: evaluation.model_limit: found -1, expected a number of megabytes, 0 or more",
            ),
            (
                "evaluation.mig=3",
                "configuration: evaluation.mig: found 3, expected a table of its options, such as { bins = 10 }",
            ),
            (
                "evaluation.split=tset",
                "configuration: evaluation.split: unknown value `tset`\nhint: did you mean `test`?",
            ),
            (
                "evaluation.report=maybe",
                "configuration: evaluation.report: found \"maybe\", expected true or false",
            ),
        ] {
            assert_eq!(set(&[assignment]).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn single_keys_are_put_on_top_of_an_evaluation() {
        let base = set(&["evaluation.sap.c=2.0", "evaluation.metrics=[\"sap\"]"]).unwrap().evaluation;
        let with = |texts: &[&str]| {
            base.with_assignments(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
        };
        let found = with(&["sap.tolerance=0.5", "evaluation.mig.bins=7", "split=test"]).unwrap();
        let registry = found.registry().unwrap();
        let sap = registry.values("sap").unwrap();
        assert_eq!((&sap["c"], &sap["tolerance"]), (&2.0.into(), &0.5.into()));
        assert_eq!(
            (registry.values("mig").unwrap()["bins"].as_u64(), found.split),
            (Some(7), EvaluationSplit::Test)
        );
        assert_eq!(found.metrics, ["sap"]);
        for (assignment, message) in [
            (
                "sap.toleranze=1",
                "configuration: evaluation.sap.toleranze: unknown option of the metric `sap`\n\
                 hint: did you mean `tolerance`?",
            ),
            ("metrics=mig", "configuration: evaluation.metrics: found \"mig\", expected a list"),
            (
                "split=tset",
                "configuration: evaluation.split: unknown value `tset`\nhint: did you mean `test`?",
            ),
            ("sap", "assignment `sap`: expected key=value, such as objective.beta=6"),
        ] {
            assert_eq!(with(&[assignment]).unwrap_err().to_string(), message);
        }
    }
}
