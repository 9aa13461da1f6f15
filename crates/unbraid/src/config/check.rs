//! Checks of a configuration: impossible values are refused before any work starts.

use super::{
    ArchitectureConfig, Config, HeldOutSplit, LatentsConfig, Learned, LikelihoodConfig, OptimizerConfig,
    Output, PosteriorConfig, PosteriorNeed, PriorConfig, Scale, ValidationConfig,
};
use crate::error::{Error, Result};
use unbraid_data::{DataSet, ImageShape};
use unbraid_metrics::registry;

impl Config {
    /// Checks every value that can be judged without the data.
    ///
    /// # Errors
    /// On the first impossible value, by its key.
    pub fn check(&self) -> Result {
        self.check_model()?;
        self.check_posterior()?;
        self.check_closed_form()?;
        self.check_optimizer()?;
        self.check_training()?;
        self.objective.check(&self.model.prior, self.training.batch_size)?;
        self.evaluation.check()
    }

    /// Checks what depends on the data.
    ///
    /// # Errors
    /// If a batch is larger than the data or too small for its images, if too few images are held out, or if a metric needs
    /// factors that the data does not have.
    pub fn check_against(&self, data: &dyn DataSet) -> Result {
        let batch = self.training.batch_size;
        let held_out = self.training.held_out(data.len());
        let left = data.len() - held_out;
        if batch > left {
            let but = if held_out == 0 { "" } else { " that are not held out" };
            let expected = format!("at most {left}, the number of images of `{}`{but}", data.name());
            return Err(Error::value("training.batch_size", batch, expected));
        }
        if held_out > 0 {
            self.check_held_out(held_out)?;
        }
        let architecture = &self.model.architecture;
        if batch < 2 && architecture.normalises_one_pixel(data.shape()) {
            let ImageShape { height, width, .. } = data.shape();
            let expected = format!(
                "at least 2, since `{}` brings images of {height} x {width} down to one pixel, and batch \
                 normalisation needs two values",
                architecture.name()
            );
            return Err(Error::value("training.batch_size", batch, expected));
        }
        // Fail now rather than after a night of training.
        let has_factors = data.factors().is_some_and(|space| !space.latent().is_empty());
        let names = &self.evaluation.metrics;
        let needy = |name: &&String| registry::find(name).is_ok_and(|metric| metric.needs.factors);
        if let Some(name) = names.iter().find(needy).filter(|_| !has_factors) {
            let expected = format!("metrics that need no factors, since `{}` has none", data.name());
            return Err(Error::value("evaluation.metrics", name, expected));
        }
        Ok(())
    }

    /// Checks the number of held-out images, which are a part of the data or the test split.
    ///
    /// # Errors
    /// If a loss would compare a single image with itself.
    pub(crate) fn check_held_out(&self, images: usize) -> Result {
        if images >= 2 || !self.objective.compares_images() {
            return Ok(());
        }
        let found = match self.training.validation {
            Some(ValidationConfig::Fraction(fraction)) => fraction.to_string(),
            Some(ValidationConfig::Split(HeldOutSplit::Test)) => "test".to_owned(),
            None => return Ok(()),
        };
        let expected = format!(
            "at least 2 held-out images in place of {images}, since objective `{}` compares images",
            self.objective.name()
        );
        Err(Error::value("training.validation", found, expected))
    }

    fn check_model(&self) -> Result {
        let model = &self.model;
        check_latents(&model.latents)?;
        self.objective.check_units(&model.latents)?;
        model.prior.check(model.latents.continuous)?;
        match &model.architecture {
            ArchitectureConfig::Mlp { encoder, decoder, .. } => {
                check_widths("model.architecture.encoder", encoder)?;
                check_widths("model.architecture.decoder", decoder)?;
            }
            ArchitectureConfig::Burgess { channels, hidden } => {
                size("model.architecture.channels", *channels)?;
                size("model.architecture.hidden", *hidden)?;
            }
            ArchitectureConfig::Conv {}
            | ArchitectureConfig::Dlib {}
            | ArchitectureConfig::Dupont32 {}
            | ArchitectureConfig::Dupont64 {}
            | ArchitectureConfig::Mathieu {}
            | ArchitectureConfig::Dcgan {}
            | ArchitectureConfig::Linear {} => {}
        }
        match model.likelihood {
            LikelihoodConfig::Gaussian { scale: Scale::Fixed(scale), .. }
            | LikelihoodConfig::Laplace { scale: Scale::Fixed(scale), .. } => {
                positive("model.likelihood.scale", scale)
            }
            LikelihoodConfig::Gaussian { scale: Scale::Learned(_), .. }
            | LikelihoodConfig::Laplace { scale: Scale::Learned(_), .. }
            | LikelihoodConfig::Bernoulli {} => Ok(()),
        }
    }

    /// Refuses a posterior with which the objective is not defined.
    fn check_posterior(&self) -> Result {
        let posterior = &self.model.posterior;
        let key = "model.posterior";
        if !posterior.is_diagonal() && self.model.latents.continuous == 0 {
            let expected = "diagonal, since there are no continuous units";
            return Err(Error::value(key, posterior.name(), expected));
        }
        match posterior {
            PosteriorConfig::Diagonal {} | PosteriorConfig::FullCovariance {} => {}
            PosteriorConfig::Iaf { steps, hidden, context } => {
                layer_count("model.posterior.steps", *steps)?;
                size("model.posterior.context", *context)?;
                check_widths("model.posterior.hidden", hidden)?;
            }
            PosteriorConfig::Implicit { noise, hidden } => {
                size("model.posterior.noise", *noise)?;
                check_widths("model.posterior.hidden", hidden)?;
            }
        }
        let (need, term) = self.objective.posterior_need();
        if need <= posterior.provides() {
            return Ok(());
        }
        let (expected, needed) = match need {
            PosteriorNeed::Samples => return Ok(()),
            PosteriorNeed::Density => ("diagonal, full-covariance or iaf", "its density"),
            PosteriorNeed::Gaussian => ("diagonal or full-covariance", "its exact moments"),
            PosteriorNeed::DiagonalGaussian => ("diagonal", "the density of independent Gaussians"),
        };
        let objective = self.objective.name();
        let reason = match term {
            Some(term) => format!("the term `{term}` of `{objective}` needs {needed}"),
            None if need == PosteriorNeed::Gaussian => format!("`{objective}` decodes its mean"),
            None => format!("`{objective}` is defined for no other"),
        };
        Err(Error::value(key, posterior.name(), format!("{expected}, since {reason}")))
    }

    /// `pca` and `ica` are fitted by linear algebra; only a linear network with a Gaussian likelihood can represent the
    /// result.
    fn check_closed_form(&self) -> Result {
        if self.objective.closed_form().is_none() {
            return Ok(());
        }
        let name = self.objective.name();
        let refuse = |key: &str, found: &str, expected: &str| {
            Err(Error::value(key, found, format!("{expected}, since the objective is `{name}`")))
        };
        let model = &self.model;
        if model.architecture != (ArchitectureConfig::Linear {}) {
            return refuse("model.architecture", model.architecture.name(), "linear");
        }
        let scale = Scale::Learned(Learned::Learned);
        if model.likelihood != (LikelihoodConfig::Gaussian { scale, output: Output::Linear }) {
            let expected = "{ name = \"gaussian\", scale = \"learned\", output = \"linear\" }";
            let found = toml::Value::try_from(&model.likelihood)
                .map_or_else(|error| error.to_string(), |value| value.to_string());
            return refuse("model.likelihood", &found, expected);
        }
        if model.prior != (PriorConfig::StandardNormal {}) {
            return refuse("model.prior", model.prior.name(), "standard-normal");
        }
        if self.training.steps != Some(1) {
            let found = self.training.steps.map_or_else(|| "nothing".to_owned(), |steps| steps.to_string());
            return refuse("training.steps", &found, "1");
        }
        Ok(())
    }

    fn check_optimizer(&self) -> Result {
        Self::check_adam("optimizer", &self.optimizer)
    }

    /// Checks the settings of an Adam optimiser; `table` is their key.
    pub(super) fn check_adam(table: &str, optimizer: &OptimizerConfig) -> Result {
        let key = |name: &str| format!("{table}.{name}");
        positive(&key("learning_rate"), optimizer.learning_rate)?;
        for (name, beta) in [("beta1", optimizer.beta1), ("beta2", optimizer.beta2)] {
            if !(0.0..1.0).contains(&beta) {
                return Err(Error::value(key(name), beta, "a number from 0 to below 1"));
            }
        }
        // With zero, a gradient that was always zero would be divided by zero.
        positive(&key("epsilon"), optimizer.epsilon)?;
        optimizer.gradient_clip.map_or(Ok(()), |norm| positive(&key("gradient_clip"), norm))
    }

    fn check_training(&self) -> Result {
        let training = &self.training;
        size("training.batch_size", training.batch_size)?;
        match (training.steps, training.epochs) {
            (Some(steps), None) => at_least_one("training.steps", steps)?,
            (None, Some(epochs)) => at_least_one("training.epochs", epochs)?,
            (Some(_), Some(_)) => {
                return Err(Error::value("training", "both steps and epochs", "one of them"));
            }
            (None, None) => {
                return Err(Error::value("training", "neither steps nor epochs", "one of them"));
            }
        }
        at_least_one("training.log_every", training.log_every)?;
        at_least_one("training.checkpoint_every", training.checkpoint_every)?;
        self.check_init()?;
        training.check_validation()
    }
}

fn check_latents(latents: &LatentsConfig) -> Result {
    let LatentsConfig { continuous, categorical, temperature } = latents;
    if *continuous == 0 && categorical.is_empty() {
        let expected = "at least 1, or a unit in model.latents.categorical";
        return Err(Error::value("model.latents.continuous", 0, expected));
    }
    if let Some(classes) = categorical.iter().find(|classes| **classes < 2) {
        let key = "model.latents.categorical";
        return Err(Error::value(key, classes, "at least 2 classes for each unit"));
    }
    if *continuous > 0 {
        size("model.latents.continuous", *continuous)?;
    }
    categorical.iter().try_for_each(|classes| size("model.latents.categorical", *classes))?;
    if categorical.len() > MOST_LAYERS {
        let found = format!("{} units", categorical.len());
        return Err(Error::value("model.latents.categorical", found, format!("at most {MOST_LAYERS}")));
    }
    match temperature {
        Some(temperature) if categorical.is_empty() => {
            let expected = "nothing, since there are no categorical units";
            Err(Error::value("model.latents.temperature", temperature, expected))
        }
        Some(temperature) => positive("model.latents.temperature", *temperature),
        None => Ok(()),
    }
}

fn check_widths(key: &str, widths: &[usize]) -> Result {
    if widths.is_empty() || widths.contains(&0) {
        return Err(Error::value(key, format!("{widths:?}"), "one width or more, each at least 1"));
    }
    layer_count(key, widths.len())?;
    widths.iter().try_for_each(|width| size(key, *width))
}

pub(super) fn at_least_one(key: &str, value: u64) -> Result {
    if value == 0 { Err(Error::value(key, value, "at least 1")) } else { Ok(()) }
}

/// The largest width, number of channels, units, classes, samples or images of a batch. Products of a few of them are
/// far from overflowing, and memory is checked before anything of that size is allocated.
const LARGEST_SIZE: usize = 1 << 24;

/// Checks a number before anything of that size is allocated.
pub(super) fn size(key: &str, value: usize) -> Result {
    at_least_one(key, value as u64)?;
    if value <= LARGEST_SIZE {
        return Ok(());
    }
    Err(Error::value(key, value, format!("at most {LARGEST_SIZE}")))
}

/// The most layers: more than any fully connected network has. Also the most categorical units, each of which has a
/// layer.
const MOST_LAYERS: usize = 1000;

/// Checks a number of layers.
pub(super) fn layer_count(key: &str, value: usize) -> Result {
    at_least_one(key, value as u64)?;
    if value <= MOST_LAYERS {
        return Ok(());
    }
    Err(Error::value(key, format!("{value} layers"), format!("at most {MOST_LAYERS}")))
}

pub(super) fn positive(key: &str, value: f64) -> Result {
    let fits = value > 0.0 && value.is_finite();
    if fits { Ok(()) } else { Err(Error::value(key, value, "a finite number above 0")) }
}

pub(super) fn finite(key: &str, value: f64) -> Result {
    if value.is_finite() { Ok(()) } else { Err(Error::value(key, value, "a finite number")) }
}

pub(super) fn not_negative(key: &str, value: f64) -> Result {
    let fits = value >= 0.0 && value.is_finite();
    if fits { Ok(()) } else { Err(Error::value(key, value, "a finite number, 0 or more")) }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Source};
    use unbraid_data::storage::{ByteImages, Pixels};
    use unbraid_data::{Fingerprint, ImageShape, StoredImages};

    /// Black images without factors.
    fn images(count: usize, height: usize, width: usize) -> StoredImages {
        let pixels = Pixels::Bytes(ByteImages::in_memory(height * width, vec![0; count * height * width]));
        let recipe = Fingerprint::Recipe("black".to_owned());
        StoredImages::new("black", ImageShape::new(height, width, 1), pixels, None, recipe)
    }

    fn config(assignments: &[&str]) -> Config {
        let source = Source::default().set("evaluation.metrics=[]");
        assignments.iter().fold(source, |source, text| source.set(*text)).resolve().unwrap()
    }

    /// Of twelve images, a tenth is one: the mean over its pairs would be 0 / 0.
    #[test]
    fn images_that_are_compared_are_held_out_in_twos() {
        let data = images(12, 8, 8);
        let check = |objective: &str, validation: &str| {
            let validation = format!("training.validation={validation}");
            let config = config(&[&format!("objective={objective}"), "training.batch_size=2", &validation]);
            config.check_against(&data).map_err(|error| error.to_string())
        };
        let expected = "at least 2 held-out images in place of 1, since objective `wae-mmd` compares images";
        assert_eq!(
            check("{ name = \"wae-mmd\", lambda = 1 }", "0.1").unwrap_err(),
            format!("configuration: training.validation: found 0.1, expected {expected}")
        );
        check("{ name = \"wae-mmd\", lambda = 1 }", "0.2").unwrap();
        check("vae", "0.1").unwrap();
        // The test split has a size of its own.
        check("{ name = \"wae-mmd\", lambda = 1 }", "test").unwrap();
        let test = config(&["objective={ name = \"wae-mmd\", lambda = 1 }", "training.validation=test"]);
        assert_eq!(
            test.check_held_out(1).unwrap_err().to_string(),
            format!("configuration: training.validation: found test, expected {expected}")
        );
        test.check_held_out(2).unwrap();
    }

    #[test]
    fn batch_normalisation_sees_more_than_one_value() {
        let check = |batch_size: &str, height, width| {
            let batch_size = format!("training.batch_size={batch_size}");
            let config = config(&["model.architecture=dcgan", &batch_size]);
            config.check_against(&images(4, height, width)).map_err(|error| error.to_string())
        };
        assert_eq!(
            check("1", 16, 16).unwrap_err(),
            "configuration: training.batch_size: found 1, expected at least 2, since `dcgan` brings images of 16 x 16 \
             down to one pixel, and batch normalisation needs two values"
        );
        check("2", 16, 16).unwrap();
        check("1", 16, 32).unwrap();
    }

    #[test]
    fn metrics_are_known_by_name() {
        let set = |names: &str| {
            let assignments = vec![format!("evaluation.metrics={names}")];
            Source { assignments, ..Source::default() }.resolve()
        };
        assert_eq!(
            set("[\"mig\", \"dcii\"]").unwrap_err().to_string(),
            "configuration: evaluation.metrics: unknown metric `dcii`\nhint: did you mean `dci`?"
        );
        let config = set("[\"mig\", \"dci\"]").unwrap();
        assert_eq!(config.evaluation.metrics, ["mig", "dci"]);
        // Other metrics do not make it a different run.
        assert_eq!(config.fingerprint(), Source::default().resolve().unwrap().fingerprint());
        assert_eq!(Source::parse(&config.to_toml(), "text").unwrap(), config);
    }

    #[test]
    fn every_impossible_number_is_refused_by_its_key() {
        for (assignment, message) in [
            ("objective.beta=-1", "objective.beta: found -1, expected a finite number, 0 or more"),
            ("objective.beta=nan", "objective.beta: found NaN, expected a finite number, 0 or more"),
            ("objective.beta=inf", "objective.beta: found inf, expected a finite number, 0 or more"),
            (
                "model.latents.continuous=0",
                "model.latents.continuous: found 0, expected at least 1, or a unit in model.latents.categorical",
            ),
            (
                "model.latents.categorical=[10, 1]",
                "model.latents.categorical: found 1, expected at least 2 classes for each unit",
            ),
            (
                "model.latents.temperature=0.5",
                "model.latents.temperature: found 0.5, expected nothing, since there are no categorical units",
            ),
            (
                "model.latents={ categorical = [2], temperature = 0 }",
                "model.latents.temperature: found 0, expected a finite number above 0",
            ),
            (
                "model.likelihood={ name = \"gaussian\", scale = 0 }",
                "model.likelihood.scale: found 0, expected a finite number above 0",
            ),
            (
                "model.architecture={ name = \"mlp\", encoder = [], decoder = [3] }",
                "model.architecture.encoder: found [], expected one width or more, each at least 1",
            ),
            (
                "model.architecture={ name = \"mlp\", encoder = [3], decoder = [0] }",
                "model.architecture.decoder: found [0], expected one width or more, each at least 1",
            ),
            (
                "optimizer.learning_rate=0",
                "optimizer.learning_rate: found 0, expected a finite number above 0",
            ),
            (
                "optimizer.learning_rate=-1e-4",
                "optimizer.learning_rate: found -0.0001, expected a finite number above 0",
            ),
            ("optimizer.beta1=1", "optimizer.beta1: found 1, expected a number from 0 to below 1"),
            ("optimizer.beta2=-0.1", "optimizer.beta2: found -0.1, expected a number from 0 to below 1"),
            ("optimizer.epsilon=-1", "optimizer.epsilon: found -1, expected a finite number above 0"),
            ("optimizer.epsilon=0", "optimizer.epsilon: found 0, expected a finite number above 0"),
            (
                "objective={ name = \"aae\", discriminator = { epsilon = 0 } }",
                "objective.discriminator.epsilon: found 0, expected a finite number above 0",
            ),
            (
                "objective={ name = \"avb\", discriminator = { epsilon = 0 } }",
                "objective.discriminator.epsilon: found 0, expected a finite number above 0",
            ),
            (
                "objective={ name = \"avb\", discriminator = { samples = 9223372036854775807 } }",
                "objective.discriminator.samples: found 9223372036854775807, expected at most 16777216",
            ),
            (
                "objective={ name = \"avb\", discriminator = { updates = 9223372036854775807 } }",
                "objective.discriminator.updates: found 9223372036854775807, expected at most 16777216",
            ),
            (
                "optimizer.gradient_clip=0",
                "optimizer.gradient_clip: found 0, expected a finite number above 0",
            ),
            ("training.batch_size=0", "training.batch_size: found 0, expected at least 1"),
            (
                "model.latents.continuous=9223372036854775807",
                "model.latents.continuous: found 9223372036854775807, expected at most 16777216",
            ),
            (
                "model.latents={ categorical = [16777217] }",
                "model.latents.categorical: found 16777217, expected at most 16777216",
            ),
            (
                "model.architecture={ name = \"burgess\", channels = 4611686018427387904 }",
                "model.architecture.channels: found 4611686018427387904, expected at most 16777216",
            ),
            (
                "model.architecture={ name = \"burgess\", hidden = 9000000000000 }",
                "model.architecture.hidden: found 9000000000000, expected at most 16777216",
            ),
            (
                "model.architecture={ name = \"mlp\", encoder = [1000000000000], decoder = [3] }",
                "model.architecture.encoder: found 1000000000000, expected at most 16777216",
            ),
            (
                "objective={ name = \"factor-vae\", gamma = 1, discriminator = { layers = 1001 } }",
                "objective.discriminator.layers: found 1001 layers, expected at most 1000",
            ),
            (
                "objective={ name = \"iwae\", samples = 9223372036854775807 }",
                "objective.samples: found 9223372036854775807, expected at most 16777216",
            ),
            (
                "training.batch_size=9223372036854775807",
                "training.batch_size: found 9223372036854775807, expected at most 16777216",
            ),
            (
                "evaluation.bootstrap=9223372036854775807",
                "evaluation.bootstrap: found 9223372036854775807, expected at most 100000",
            ),
            ("training.steps=0", "training.steps: found 0, expected at least 1"),
            ("training.epochs=0", "training.epochs: found 0, expected at least 1"),
            ("training.log_every=0", "training.log_every: found 0, expected at least 1"),
            ("training.checkpoint_every=0", "training.checkpoint_every: found 0, expected at least 1"),
        ] {
            let source = Source { assignments: vec![assignment.to_owned()], ..Source::default() };
            let error = source.resolve().expect_err(assignment).to_string();
            assert_eq!(error, format!("configuration: {message}"), "{assignment}");
        }
    }
}
