//! Numbers that cannot be right are refused before any work starts.

use super::{
    ArchitectureConfig, Config, LatentsConfig, Learned, LikelihoodConfig, ObjectiveConfig, OptimizerConfig,
    Output, PriorConfig, Scale,
};
use crate::error::{Error, Result};
use unbraid_data::DataSet;
use unbraid_metrics::registry;

impl Config {
    /// Checks every value that can be judged without the data.
    ///
    /// # Errors
    /// On the first value that cannot be right, by its key.
    pub fn check(&self) -> Result {
        self.check_model()?;
        self.check_pca()?;
        self.check_optimizer()?;
        self.check_training()?;
        self.objective.check(&self.model.prior, self.training.batch_size)?;
        self.check_evaluation()
    }

    /// Checks what depends on the data.
    ///
    /// # Errors
    /// If a batch is larger than the data, or a metric needs factors that the data does not have.
    pub fn check_against(&self, data: &dyn DataSet) -> Result {
        let batch = self.training.batch_size;
        if batch > data.len() {
            return Err(Error::value(
                "training.batch_size",
                batch,
                format!("at most {}, the number of images of `{}`", data.len(), data.name()),
            ));
        }
        // Better now than after a night of training.
        let has_factors = data.factors().is_some_and(|space| !space.latent().is_empty());
        let names = &self.evaluation.metrics;
        let needy = |name: &&String| registry::find(name).is_ok_and(|metric| metric.needs.factors);
        if let Some(name) = names.iter().find(needy).filter(|_| !has_factors) {
            let expected = format!("metrics without factors, since `{}` has none", data.name());
            return Err(Error::value("evaluation.metrics", name, expected));
        }
        Ok(())
    }

    fn check_model(&self) -> Result {
        let model = &self.model;
        check_latents(&model.latents)?;
        if !model.latents.categorical.is_empty() && !self.objective.takes_categorical_units() {
            return Err(Error::value(
                "model.latents.categorical",
                format!("{:?}", model.latents.categorical),
                format!("[], since `{}` is defined for continuous units only", self.objective.name()),
            ));
        }
        model.prior.check(model.latents.continuous)?;
        match &model.architecture {
            ArchitectureConfig::Mlp { encoder, decoder, .. } => {
                for (key, widths) in [("encoder", encoder), ("decoder", decoder)] {
                    if widths.is_empty() || widths.contains(&0) {
                        let key = format!("model.architecture.{key}");
                        let found = format!("{widths:?}");
                        return Err(Error::value(key, found, "one width or more, each at least 1"));
                    }
                }
            }
            ArchitectureConfig::Burgess { channels, hidden } => {
                at_least_one("model.architecture.channels", *channels as u64)?;
                at_least_one("model.architecture.hidden", *hidden as u64)?;
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

    /// Principal components are a model of their own, which only a linear network with Gaussian noise can be.
    fn check_pca(&self) -> Result {
        let ObjectiveConfig::Pca { images } = &self.objective else { return Ok(()) };
        let refuse = |key: &str, found: &str, expected: &str| {
            Err(Error::value(key, found, format!("{expected}, since the objective is `pca`")))
        };
        let model = &self.model;
        if model.architecture != (ArchitectureConfig::Linear {}) {
            return refuse("model.architecture", model.architecture.name(), "linear");
        }
        let scale = Scale::Learned(Learned::Learned);
        if model.likelihood != (LikelihoodConfig::Gaussian { scale, output: Output::Linear }) {
            let expected = "{ name = \"gaussian\", scale = \"learned\", output = \"linear\" }";
            return refuse("model.likelihood", "another one", expected);
        }
        if model.prior != (PriorConfig::StandardNormal {}) {
            return refuse("model.prior", model.prior.name(), "standard-normal");
        }
        if !model.latents.categorical.is_empty() {
            return refuse("model.latents.categorical", "categorical units", "[]");
        }
        if self.training.steps != Some(1) {
            let found = self.training.steps.map_or_else(|| "nothing".to_owned(), |steps| steps.to_string());
            return refuse("training.steps", &found, "1: the fit is one step");
        }
        images.map_or(Ok(()), |images| at_least_one("objective.images", images as u64))
    }

    fn check_optimizer(&self) -> Result {
        Self::check_adam("optimizer", &self.optimizer)
    }

    /// Checks an Adam by the key of its table.
    pub(super) fn check_adam(table: &str, optimizer: &OptimizerConfig) -> Result {
        let key = |name: &str| format!("{table}.{name}");
        positive(&key("learning_rate"), optimizer.learning_rate)?;
        for (name, beta) in [("beta1", optimizer.beta1), ("beta2", optimizer.beta2)] {
            if !(0.0..1.0).contains(&beta) {
                return Err(Error::value(key(name), beta, "a number from 0 to below 1"));
            }
        }
        not_negative(&key("epsilon"), optimizer.epsilon)?;
        optimizer.gradient_clip.map_or(Ok(()), |norm| positive(&key("gradient_clip"), norm))
    }

    fn check_training(&self) -> Result {
        let training = &self.training;
        at_least_one("training.batch_size", training.batch_size as u64)?;
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
        at_least_one("training.checkpoint_every", training.checkpoint_every)
    }

    fn check_evaluation(&self) -> Result {
        for name in &self.evaluation.metrics {
            registry::find(name)
                .map_err(|error| Error::ConfigShape { message: format!("evaluation.metrics: {error}") })?;
        }
        Ok(())
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
    match temperature {
        Some(temperature) if categorical.is_empty() => {
            let expected = "nothing, since there are no categorical units";
            Err(Error::value("model.latents.temperature", temperature, expected))
        }
        Some(temperature) => positive("model.latents.temperature", *temperature),
        None => Ok(()),
    }
}

pub(super) fn at_least_one(key: &str, value: u64) -> Result {
    if value == 0 { Err(Error::value(key, value, "at least 1")) } else { Ok(()) }
}

pub(super) fn positive(key: &str, value: f64) -> Result {
    let fits = value > 0.0 && value.is_finite();
    if fits { Ok(()) } else { Err(Error::value(key, value, "a finite number above 0")) }
}

pub(super) fn not_negative(key: &str, value: f64) -> Result {
    let fits = value >= 0.0 && value.is_finite();
    if fits { Ok(()) } else { Err(Error::value(key, value, "a finite number, 0 or more")) }
}

#[cfg(test)]
mod tests {
    use crate::config::Source;

    #[test]
    fn metrics_are_known_by_name() {
        let set = |names: &str| {
            let assignments = vec![format!("evaluation.metrics={names}")];
            Source { assignments, ..Source::default() }.resolve()
        };
        let error = set("[\"mig\", \"dcii\"]").unwrap_err().to_string();
        assert!(error.contains("evaluation.metrics: unknown metric `dcii`"), "{error}");
        assert!(error.contains("did you mean `dci`?"), "{error}");
        let config = set("[\"mig\", \"dci\"]").unwrap();
        assert_eq!(config.evaluation.metrics, ["mig", "dci"]);
        // Another choice of scores is no other run.
        assert_eq!(config.fingerprint(), Source::default().resolve().unwrap().fingerprint());
        assert_eq!(Source::parse(&config.to_toml(), "text").unwrap(), config);
    }

    #[test]
    fn every_impossible_number_is_refused_by_its_key() {
        for (assignment, key) in [
            ("objective.beta=-1", "objective.beta"),
            ("objective.beta=nan", "objective.beta"),
            ("objective.beta=inf", "objective.beta"),
            ("model.latents.continuous=0", "model.latents.continuous"),
            ("model.latents.categorical=[10, 1]", "model.latents.categorical"),
            ("model.latents.temperature=0.5", "model.latents.temperature"),
            ("model.latents={ categorical = [2], temperature = 0 }", "model.latents.temperature"),
            ("model.likelihood={ name = \"gaussian\", scale = 0 }", "model.likelihood.scale"),
            ("model.architecture={ name = \"mlp\", encoder = [], decoder = [3] }", "encoder"),
            ("model.architecture={ name = \"mlp\", encoder = [3], decoder = [0] }", "decoder"),
            ("optimizer.learning_rate=0", "optimizer.learning_rate"),
            ("optimizer.learning_rate=-1e-4", "optimizer.learning_rate"),
            ("optimizer.beta1=1", "optimizer.beta1"),
            ("optimizer.beta2=-0.1", "optimizer.beta2"),
            ("optimizer.epsilon=-1", "optimizer.epsilon"),
            ("optimizer.gradient_clip=0", "optimizer.gradient_clip"),
            ("training.batch_size=0", "training.batch_size"),
            ("training.steps=0", "training.steps"),
            ("training.epochs=0", "training.epochs"),
            ("training.log_every=0", "training.log_every"),
            ("training.checkpoint_every=0", "training.checkpoint_every"),
        ] {
            let source = Source { assignments: vec![assignment.to_owned()], ..Source::default() };
            let error = source.resolve().expect_err(assignment).to_string();
            assert!(error.contains(key) && error.contains("expected"), "{assignment}: {error}");
        }
    }
}
