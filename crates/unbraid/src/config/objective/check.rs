//! Checks of an objective: values, units and priors with which it could not be trained.

use super::term::PriorRole;
use super::{ComposedTerm, Encoder, Latent, ObjectiveConfig, Samples, TermConfig, Terms, WeightedTerm};
use crate::config::check::size;
use crate::config::{LatentsConfig, PriorConfig, Schedule};
use crate::error::{Error, Result};

impl ObjectiveConfig {
    /// Refuses a list of units for which it is not defined, or lacks a weight.
    pub(in crate::config) fn check_units(&self, latents: &LatentsConfig) -> Result {
        if !latents.categorical.is_empty() && !self.takes_categorical_units() {
            return Err(Error::value(
                "model.latents.categorical",
                format!("{:?}", latents.categorical),
                format!("[], since `{}` is defined for continuous units only", self.name()),
            ));
        }
        let Self::JointVae { gamma_continuous, capacity_continuous, .. } = self else { return Ok(()) };
        let keys = [("gamma_continuous", gamma_continuous), ("capacity_continuous", capacity_continuous)];
        match keys.into_iter().find(|(_, schedule)| schedule.is_none()) {
            Some((key, _)) if latents.continuous > 0 => {
                Err(Error::ConfigShape { message: format!("objective: missing key `{key}`") })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses impossible values.
    pub(in crate::config) fn check(&self, prior: &PriorConfig, batch_size: usize) -> Result {
        let terms = self.terms();
        self.check_schedules()?;
        if batch_size < 2 && self.compares_images() {
            let expected = format!("at least 2, since objective `{}` compares images", self.name());
            return Err(Error::value("training.batch_size", batch_size, expected));
        }
        self.check_samples()?;
        self.check_decoded_mean(prior)?;
        self.check_learned_prior(prior)?;
        match self {
            Self::Decomposition { divergence, .. } => divergence.term().check("objective.divergence", prior),
            Self::InfoVae { alpha, lambda, mmd, .. } => {
                check_information(*alpha, *lambda)?;
                mmd.check("objective.mmd")
            }
            Self::WaeMmd { mmd, .. } => mmd.check("objective.mmd"),
            Self::MaxEntropy { beta, .. } => check_beta(*beta),
            Self::Composed { terms, .. } => check_terms(terms, prior),
            Self::Pca { images } | Self::Ica { images } => {
                images.map_or(Ok(()), |images| size("objective.images", images))
            }
            // The options of their terms have the same keys here.
            Self::Autoencoder {}
            | Self::Vae { .. }
            | Self::BetaVae { .. }
            | Self::AnnealedVae { .. }
            | Self::BetaTcvae { .. }
            | Self::DipVaeI(_)
            | Self::DipVaeIi(_)
            | Self::FactorVae { .. }
            | Self::JointVae { .. }
            | Self::WaeGan { .. }
            | Self::Aae { .. }
            | Self::Iwae { .. }
            | Self::Avb { .. } => terms.iter().try_for_each(|term| term.term.check("objective", prior)),
        }
    }

    fn check_samples(&self) -> Result {
        let (Self::WaeMmd { encoder, samples, .. }
        | Self::WaeGan { encoder, samples, .. }
        | Self::Aae { encoder, samples, .. }
        | Self::Composed { encoder, samples, .. }) = self
        else {
            return match self.latent() {
                Latent::Samples(samples) => Samples(samples).check(),
                Latent::Mean => Ok(()),
            };
        };
        if *encoder == Encoder::Deterministic && !samples.is_one() {
            let expected = "1, since the mean is decoded; objective.encoder=gaussian decodes samples";
            return Err(Error::value("objective.samples", samples.0, expected));
        }
        samples.check()
    }

    /// Refuses to decode the mean beside a term that evaluates a density at the decoded value.
    fn check_decoded_mean(&self, prior: &PriorConfig) -> Result {
        let terms = self.terms();
        let Some(WeightedTerm { term, .. }) = terms.iter().find(|term| term.term.needs_samples(prior)) else {
            return Ok(());
        };
        if let Latent::Samples(_) = self.latent() {
            return Ok(());
        }
        let expected = format!("gaussian, since the term `{}` needs samples of the posterior", term.name());
        Err(Error::value("objective.encoder", "deterministic", expected))
    }

    /// Refuses a prior that is to be learned without a term that it can be learned from.
    fn check_learned_prior(&self, prior: &PriorConfig) -> Result {
        let trains = |term: &WeightedTerm| term.term.requirements().prior == PriorRole::Trained;
        if !prior.is_learned() || self.terms().iter().any(trains) {
            return Ok(());
        }
        let expected = format!("false, since no term of `{}` has a gradient for the prior", self.name());
        Err(Error::value("model.prior.learned", true, expected))
    }

    fn check_schedules(&self) -> Result {
        let subtracted: Vec<String> = if let Self::Composed { terms, .. } = self {
            let parts = terms.0.iter().filter(|part| part.may_be_subtracted());
            parts.map(|part| format!("terms.{}.weight", part.term.name())).collect()
        } else {
            Vec::new()
        };
        for (key, schedule) in self.schedules() {
            if subtracted.contains(&key) {
                schedule.check_any_sign(&format!("objective.{key}"))?;
            } else {
                schedule.check(&format!("objective.{key}"))?;
            }
        }
        Ok(())
    }
}

/// The weight beta - 1 must never be negative.
fn check_beta(beta: Schedule) -> Result {
    match beta.turns().into_iter().map(|step| beta.at(step)).find(|beta| *beta < 1.0) {
        Some(found) => {
            let expected = "at least 1: the entropy has the weight beta - 1";
            Err(Error::value("objective.beta", found, expected))
        }
        None => Ok(()),
    }
}

/// Refuses two terms of the same name and impossible options.
fn check_terms(terms: &Terms, prior: &PriorConfig) -> Result {
    for (place, ComposedTerm { term, .. }) in terms.0.iter().enumerate() {
        let logged = |term: &TermConfig| match term {
            // Two estimates of the same quantity, logged under its name.
            TermConfig::DiscriminatedTotalCorrelation { .. } => "total-correlation",
            other => other.name(),
        };
        if terms.0[..place].iter().any(|earlier| logged(&earlier.term) == logged(term)) {
            let found = format!("`{}` twice", logged(term));
            return Err(Error::value("objective.terms", found, "each term once"));
        }
        term.check(&format!("objective.terms.{}", term.name()), prior)?;
    }
    Ok(())
}

/// The weights 1 - alpha and alpha + lambda - 1 must never be negative. Both are linear between the ends of linear ramps, so
/// that their values there suffice; a sum of geometric ramps may be smaller in between.
fn check_information(alpha: Schedule, lambda: Schedule) -> Result {
    for (key, schedule) in [("objective.alpha", alpha), ("objective.lambda", lambda)] {
        if let Schedule::Geometric(_) = schedule {
            return Err(Error::value(key, "a geometric ramp", "a number or a linear ramp"));
        }
    }
    let steps = [alpha, lambda].into_iter().flat_map(|schedule| schedule.turns());
    for step in steps {
        let (alpha, lambda) = (alpha.at(step), lambda.at(step));
        if alpha > 1.0 {
            return Err(Error::value("objective.alpha", alpha, "at most 1: the KL has the weight 1 - alpha"));
        }
        if alpha + lambda < 1.0 {
            let expected =
                format!("at least {} at step {step}: the MMD has the weight alpha + lambda - 1", 1.0 - alpha);
            return Err(Error::value("objective.lambda", lambda, expected));
        }
    }
    Ok(())
}
