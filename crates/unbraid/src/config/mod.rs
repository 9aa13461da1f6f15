//! What a run is: data, model, objective, optimiser and length, as TOML. Knows nothing of tensors.
//!
//! A configuration is put together from layers, each overriding the one before: a preset or the defaults, a file, and
//! single keys ([`Source`]). The resolved configuration, written out by [`Config::to_toml`], repeats the run alone.

mod check;
mod diagnosis;
mod discriminator;
mod layers;
mod model;
mod objective;
mod presets;
mod prior;
mod schedule;
mod source;
mod suggestion;
mod text;

pub use discriminator::{DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss};
pub use layers::Layers;
pub use model::{
    Activation, ArchitectureConfig, Initializer, LatentsConfig, Learned, LikelihoodConfig, ModelConfig,
    Output, Scale,
};
pub use objective::{
    DipConfig, DivergenceConfig, Encoder, Estimator, Kernel, KlForm, MmdConfig, ObjectiveConfig,
};
pub use presets::{PRESETS, Preset};
pub use prior::{PriorConfig, VarianceRule, Variances};
pub use schedule::{Linear, Schedule};
pub use source::Source;
pub use source::parse_assignment;
pub use suggestion::{explain, nearest};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use unbraid_data::DataSpec;

/// Everything that determines a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// All random numbers of the run are functions of this one.
    #[serde(default)]
    pub seed: u64,
    /// The images.
    pub data: DataSpec,
    /// The networks and distributions.
    #[serde(default)]
    pub model: ModelConfig,
    /// What is minimised.
    pub objective: ObjectiveConfig,
    /// How it is minimised.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
    /// For how long, and what is written on the way.
    #[serde(default)]
    pub training: TrainingConfig,
    /// What is measured in the end. It has no influence on training, and none on the fingerprint.
    #[serde(default, skip_serializing_if = "EvaluationConfig::is_default")]
    pub evaluation: EvaluationConfig,
}

/// Adam (Kingma & Ba 2015) with PyTorch's names and defaults, except for the learning rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimizerConfig {
    /// Size of a step.
    pub learning_rate: f64,
    /// Decay of the mean of the gradients.
    pub beta1: f64,
    /// Decay of the mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Whether to divide by the largest mean of squares so far (Reddi et al. 2018).
    pub amsgrad: bool,
    /// The largest norm of the whole gradient; longer ones are scaled down to it. Off if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_clip: Option<f64>,
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        Self {
            learning_rate: 1e-4,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            amsgrad: false,
            gradient_clip: None,
        }
    }
}

/// The length of a run, and what it writes on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingConfig {
    /// Images of one step.
    pub batch_size: usize,
    /// Number of steps; each draws its batch with replacement from all images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Or number of passes over the data, in a new order each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// Steps between rows of `metrics.jsonl`.
    pub log_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// How many of the newest `step-*.safetensors` are kept; `last.safetensors` always is.
    pub keep_checkpoints: usize,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            batch_size: 64,
            steps: None,
            epochs: None,
            log_every: 100,
            checkpoint_every: 5000,
            keep_checkpoints: 3,
        }
    }
}

/// What is done with a run once it is trained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluationConfig {
    /// Metrics by name; all that apply if there are none.
    pub metrics: Vec<String>,
    /// Whether `unbraid train` ends by scoring the run.
    pub after_training: bool,
    /// Whether `unbraid train` ends by drawing figures and writing `report.html`.
    pub report: bool,
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self { metrics: Vec::new(), after_training: true, report: true }
    }
}

impl EvaluationConfig {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl TrainingConfig {
    /// The number of steps on data of `images` images: of `epochs`, those whose batch lies wholly in them, and at least
    /// one.
    pub fn total_steps(&self, images: usize) -> u64 {
        match (self.steps, self.epochs) {
            (Some(steps), _) => steps,
            (None, Some(epochs)) => {
                (epochs.saturating_mul(images as u64) / self.batch_size.max(1) as u64).max(1)
            }
            (None, None) => 0,
        }
    }
}

impl Config {
    /// A SHA-256 of the canonical text without `[evaluation]`: equal exactly if the same model is trained.
    pub fn fingerprint(&self) -> String {
        let training = Self { evaluation: EvaluationConfig::default(), ..self.clone() };
        Sha256::digest(training.to_toml()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Every value by its dotted key, such as `objective.beta`.
    pub fn values(&self) -> std::collections::BTreeMap<String, String> {
        text::flattened(self)
    }

    /// The keys in which two configurations differ, with both values, such as ``objective.beta: 4.0 and 6.0``.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let (ours, theirs) = (text::flattened(self), text::flattened(other));
        let keys: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        let show = |value: Option<&String>| value.cloned().unwrap_or_else(|| "nothing".to_owned());
        keys.into_iter()
            .filter(|key| ours.get(*key) != theirs.get(*key))
            .map(|key| format!("{key}: {} and {}", show(ours.get(key)), show(theirs.get(key))))
            .collect()
    }
}
