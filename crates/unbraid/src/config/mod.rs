//! The configuration of a run (data, model, objective, optimiser, length) as TOML. Independent of tensors.
//!
//! A configuration is merged from layers, each overriding the one before: a preset or the defaults, a file, and single
//! keys ([`Source`]). The resolved configuration, written by [`Config::to_toml`], is enough to repeat the run.

mod check;
mod diagnosis;
mod discriminator;
mod evaluation;
mod init;
mod layers;
mod model;
mod objective;
mod paths;
mod presets;
mod prior;
mod schedule;
mod source;
mod suggestion;
mod text;
mod validation;
mod weight;

pub use discriminator::{
    AdversarialKlConfig, ContrastConfig, DiscriminatorBatch, DiscriminatorConfig, GeneratorLoss,
};
pub use evaluation::{EvaluationConfig, EvaluationSplit, MOST_RESAMPLES, check_resamples};
pub use init::InitConfig;
pub use layers::Layers;
pub use model::{
    Activation, ArchitectureConfig, Initializer, LatentsConfig, Learned, LikelihoodConfig, ModelConfig,
    Output, PosteriorConfig, Scale,
};
pub use objective::{
    CatalogueEntry, ComposedTerm, CovarianceConfig, CovarianceOf, DipConfig, DivergenceConfig, Encoder,
    Estimator, FDivergence, Kernel, KlForm, Latent, METHODS, MmdConfig, ObjectiveConfig, PosteriorNeed,
    Samples, TERMS, TermConfig, Terms, WeightedTerm,
};
pub use paths::RelativePaths;
pub use presets::{PRESETS, Preset};
pub use prior::{PriorConfig, VarianceRule, Variances};
pub use schedule::{Ramp, Schedule};
pub use source::Source;
pub use source::parse_assignment;
pub use suggestion::{explain, nearest};
pub use validation::{EarlyStop, HeldOutSplit, ValidationConfig};
pub use weight::Weight;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use unbraid_data::{DataSpec, hex};

/// Every key with its type, default and meaning, as a page of Markdown; generated from the code and checked by a test.
pub const REFERENCE: &str = include_str!("reference.md");

/// Everything that determines a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The seed of all random numbers of the run.
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
    /// The length of the run, and what it writes while training.
    #[serde(default)]
    pub training: TrainingConfig,
    /// What is measured after training. It affects neither training nor the fingerprint.
    #[serde(default, skip_serializing_if = "EvaluationConfig::is_default")]
    pub evaluation: EvaluationConfig,
}

/// Adam (Kingma & Ba 2015) with PyTorch's names and defaults, except for the learning rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimizerConfig {
    /// Learning rate.
    pub learning_rate: f64,
    /// Decay of the running mean of the gradients.
    pub beta1: f64,
    /// Decay of the running mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Whether to divide by the largest mean of squares so far (AMSGrad: Reddi et al. 2018).
    pub amsgrad: bool,
    /// The largest allowed norm of the whole gradient; longer gradients are scaled down to it. Off if absent.
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

/// The length of a run, and what it writes while training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingConfig {
    /// Images per step.
    pub batch_size: usize,
    /// Number of steps; each draws its batch with replacement from all images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Number of passes over the data, each in a new order, instead of a number of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// Steps between rows of `metrics.jsonl`.
    pub log_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// How many of the newest `step-*.safetensors` are kept; `last.safetensors` always is.
    pub keep_checkpoints: usize,
    /// Images that are held out, on which losses are logged as `validation/*`: a fraction of the data, such as 0.1, or the
    /// word `test` for the test split. Off if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationConfig>,
    /// Steps between validations, a multiple of `log_every`. If absent, five times `log_every`. A resolved configuration
    /// has it if and only if it has `validation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate_every: Option<u64>,
    /// Ends training when the loss on held-out images has not improved for `patience` validations. Off if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyStop>,
    /// Whether to keep the weights with the lowest loss on held-out images, as `best.safetensors`, and to score and use
    /// them in place of the last ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_best: bool,
    /// Weights to start from in place of random ones (`unbraid train --init`). Random if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<InitConfig>,
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
            validation: None,
            validate_every: None,
            early_stop: None,
            keep_best: false,
            init: None,
        }
    }
}

/// The length of a run in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Number of steps.
    Steps(u64),
    /// Number of passes over the data.
    Epochs(u64),
}

impl TrainingConfig {
    /// The number of steps on a data set of `images` images, those that are held out included. For `epochs`, only full
    /// batches count, but there is at least one step.
    pub fn total_steps(&self, images: usize) -> u64 {
        let images = images - self.held_out(images);
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
    /// A SHA-256 of the canonical text without `[evaluation]`. Two configurations have the same fingerprint if and only
    /// if they train the same model.
    pub fn fingerprint(&self) -> String {
        let mut training = Self { evaluation: EvaluationConfig::default(), ..self.clone() };
        // Weights are known by their hash, wherever they are.
        if let Some(InitConfig { path, sha256: Some(_) }) = &mut training.training.init {
            path.clear();
        }
        hex(&Sha256::digest(training.to_toml()))
    }

    /// As [`Config::fingerprint`], without the number of steps or epochs: equal if and only if the weights are the same
    /// after every step that both take.
    pub fn fingerprint_of_steps(&self) -> String {
        let mut any_length = self.clone();
        let training = &mut any_length.training;
        training.steps = training.steps.map(|_| 0);
        training.epochs = training.epochs.map(|_| 0);
        // Neither its end nor what is measured and kept along the way affects a step.
        (training.validate_every, training.early_stop, training.keep_best) = (None, None, false);
        any_length.fingerprint()
    }

    /// The same run, planned to be longer.
    ///
    /// # Errors
    /// If it would be shorter, or would not begin as this one did.
    pub fn extended(&self, length: Length) -> Result<Self> {
        let mut longer = self.clone();
        let (key, wanted, planned) = match (length, self.training.steps, self.training.epochs) {
            (Length::Steps(wanted), Some(planned), _) => ("training.steps", wanted, planned),
            (Length::Epochs(wanted), None, Some(planned)) => ("training.epochs", wanted, planned),
            (Length::Steps(wanted), None, _) => {
                let expected = "a number of epochs, such as 60epochs: this run draws the batches of an epoch without \
                                replacement, and one that was planned in steps would have seen other images";
                return Err(Error::value("training.steps", wanted, expected));
            }
            (Length::Epochs(wanted), _, _) => {
                let expected = "a number of steps: this run draws every batch with replacement, and one that was \
                                planned in epochs would have seen other images";
                return Err(Error::value("training.epochs", wanted, expected));
            }
        };
        if wanted < planned {
            return Err(Error::value(
                key,
                wanted,
                format!("at least {planned}, for which the run was planned"),
            ));
        }
        match length {
            Length::Steps(steps) => longer.training.steps = Some(steps),
            Length::Epochs(epochs) => longer.training.epochs = Some(epochs),
        }
        longer.check()?;
        Ok(longer)
    }

    /// Every value by its dotted key, such as `objective.beta`, as TOML.
    pub fn values(&self) -> std::collections::BTreeMap<String, String> {
        text::flattened(self)
    }

    /// As [`Config::values`], with text as it is, without quotes.
    pub fn plain_values(&self) -> std::collections::BTreeMap<String, String> {
        text::flattened_plainly(self)
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
