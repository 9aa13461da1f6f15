//! What is minimised: reconstruction plus weighted terms. Depends on the model, the prior and the configuration.
//!
//! Every method of the papers is `L = reconstruction + sum_i weight_i(t) * term_i`. A [`Term`] is a small struct that
//! computes one named number from the results of a forward pass ([`ForwardPass`]); an [`Objective`] is a list of terms
//! with weights that may change from step to step. Reductions are always the same: sum over pixels, channels and units,
//! mean over the batch, in nats.

mod adversarial_kl;
mod adversarial_prior;
mod adversary;
mod aggregate;
mod covariance;
mod entropy;
mod exclusive_kl;
mod f_divergence;
mod factor_vae;
mod forward_pass;
mod inclusive_kl;
mod iwae;
mod joint_vae;
mod kl;
mod methods;
mod mixture;
mod mmd;
mod moments;
#[cfg(test)]
mod posterior_tests;
mod random_mixture;
mod sliced_wasserstein;
mod sum;
mod term;
mod third_moment;
mod total_correlation;

pub use crate::config::{CovarianceOf, Latent, Weight};
pub use adversarial_kl::AdversarialKl;
pub use adversarial_prior::AdversarialPrior;
pub use adversary::Adversary;
pub use aggregate::Aggregate;
pub use covariance::{Covariance, Entries};
pub use entropy::NegativeEntropy;
pub use exclusive_kl::ExclusiveKl;
pub use f_divergence::VariationalFDivergence;
pub use factor_vae::DiscriminatedTotalCorrelation;
pub use forward_pass::ForwardPass;
pub use inclusive_kl::InclusiveKl;
pub use iwae::IwaeKl;
pub use joint_vae::{CategoricalKlFromCapacity, ContinuousKlFromCapacity};
pub use kl::{Kl, KlFromCapacity};
pub use methods::Setting;
pub use mmd::Mmd;
pub use moments::Moments;
pub use random_mixture::RandomMixture;
pub use sliced_wasserstein::SlicedWasserstein;
pub use term::{Needs, Term};
pub use third_moment::ThirdMoment;
pub use total_correlation::{DimensionWiseKl, MutualInformation, TotalCorrelation};

use crate::config::Schedule;
use crate::error::{Error, Result};
use crate::model::StateTensor;
use burn::tensor::Tensor;
use std::collections::BTreeSet;

/// Reconstruction plus weighted terms.
#[derive(Debug)]
pub struct Objective {
    latent: Latent,
    terms: Vec<Weighted>,
    /// The weights and capacities that change, by their keys in the configuration.
    schedules: Vec<(String, Schedule)>,
}

/// A term and its weight.
#[derive(Debug)]
struct Weighted {
    weight: Weight,
    term: Box<dyn Term>,
}

/// The value of an objective on one batch, and its parts.
#[derive(Clone, Debug)]
pub struct Losses {
    /// The loss, which is minimised.
    pub total: Tensor<1>,
    /// Mean over the batch of -ln p(x|z).
    pub reconstruction: Tensor<1>,
    /// Mean over the batch of KL(q(z, c|x) || p(z) p(c)), whether or not it is a term; `None` if the posterior has no
    /// density and no term estimates it.
    pub kl: Option<Tensor<1>>,
    /// Each term before weighting.
    pub terms: Vec<Tensor<1>>,
    /// KL of each unit, mean over the batch; continuous units first. `None` if the posterior has no density.
    pub kl_of_units: Option<Tensor<1>>,
}

impl Objective {
    /// Reconstruction plus these terms with their weights; terms of your own are allowed.
    ///
    /// ```
    /// use unbraid::objective::{Kl, Latent, Objective, Term, Weight};
    ///
    /// let terms: Vec<(Weight, Box<dyn Term>)> = vec![(4.0.into(), Box::new(Kl))];
    /// let beta_vae = Objective::from_terms(Latent::Samples(1), terms)?;
    /// assert_eq!(beta_vae.term_names().collect::<Vec<_>>(), ["kl"]);
    /// # Ok::<(), unbraid::Error>(())
    /// ```
    ///
    /// # Errors
    /// If two terms have the same name, or one has the name of the loss or the reconstruction, since they share a log.
    pub fn from_terms(
        latent: Latent,
        terms: impl IntoIterator<Item = (Weight, Box<dyn Term>)>,
    ) -> Result<Self> {
        let terms: Vec<Weighted> =
            terms.into_iter().map(|(weight, term)| Weighted { weight, term }).collect();
        let objective = Self { latent, terms, schedules: Vec::new() };
        let mut names = BTreeSet::from(["loss".to_owned(), "reconstruction".to_owned()]);
        for name in objective.term_names().map(str::to_owned).chain(objective.auxiliary_loss_names()) {
            if names.contains(&name) {
                let expected = "names that differ from each other, from `loss` and from `reconstruction`";
                return Err(Error::argument("terms", format!("`{name}` twice"), expected));
            }
            names.insert(name);
        }
        Ok(objective)
    }

    /// What is decoded of each posterior.
    pub fn latent(&self) -> Latent {
        self.latent
    }

    /// What its terms need.
    pub fn needs(&self) -> Needs {
        self.terms.iter().map(|weighted| weighted.term.needs()).fold(Needs::default(), Needs::and)
    }

    /// The names of its terms.
    pub fn term_names(&self) -> impl Iterator<Item = &'static str> {
        self.terms.iter().map(|weighted| weighted.term.name())
    }

    /// The names of the numbers that [`Objective::update`] returns. Where two terms have one of the same name, such as
    /// `discriminator_loss`, each is preceded by the name of its term.
    pub fn auxiliary_loss_names(&self) -> Vec<String> {
        let pairs: Vec<(&str, &str)> = self
            .terms
            .iter()
            .flat_map(|Weighted { term, .. }| term.auxiliary_losses().iter().map(|name| (term.name(), *name)))
            .collect();
        let is_unique = |name: &str| pairs.iter().filter(|(_, other)| *other == name).count() == 1;
        let named = |(term, name): &(&str, &str)| {
            if is_unique(name) { (*name).to_owned() } else { format!("{term}_{name}") }
        };
        pairs.iter().map(named).collect()
    }

    /// Whether one of its terms estimates the KL divergence of posteriors that have no density.
    pub fn estimates_kl(&self) -> bool {
        self.terms.iter().any(|weighted| weighted.term.estimates_kl())
    }

    /// The weights and capacities that change during the run, by their keys, at a step.
    pub fn schedules(&self, step: u64) -> impl Iterator<Item = (&str, f64)> {
        self.schedules.iter().map(move |(key, schedule)| (key.as_str(), schedule.at(step)))
    }

    /// Its value.
    pub fn evaluate(&self, forward: &ForwardPass<'_>) -> Losses {
        let reconstruction = forward.reconstruction.clone().mean();
        let mut total = reconstruction.clone();
        let mut terms = Vec::with_capacity(self.terms.len());
        for Weighted { weight, term } in &self.terms {
            let value = term.value(forward);
            // Exact for a weight of one; a term with a weight of zero still appears in the metrics.
            total = total + value.clone() * weight.at(forward.step);
            terms.push(value);
        }
        let kl = match &forward.divergence {
            Some(_) => Some(Kl.value(forward)),
            None => self
                .terms
                .iter()
                .position(|weighted| weighted.term.estimates_kl())
                .map(|place| terms[place].clone()),
        };
        Losses { total, reconstruction, kl, terms, kl_of_units: forward.kl_of_units() }
    }

    /// Updates the state of the terms, for instance discriminators; returns the auxiliary losses named by
    /// [`Objective::auxiliary_loss_names`].
    pub fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        self.terms.iter_mut().flat_map(|weighted| weighted.term.update(forward)).collect()
    }

    /// The state of its terms, for a checkpoint: `objective.<term>.<tensor>`.
    pub fn state(&self) -> Vec<StateTensor> {
        let mut state = Vec::new();
        for Weighted { term, .. } in &self.terms {
            let prefix = prefix(term.as_ref());
            let renamed = |tensor: StateTensor| StateTensor { name: prefix.clone() + &tensor.name, ..tensor };
            state.extend(term.state().into_iter().map(renamed));
        }
        state
    }

    /// Restores its own part of a saved state and returns the rest.
    ///
    /// # Errors
    /// If it belongs to another objective.
    pub fn set_state(&mut self, state: Vec<StateTensor>) -> Result<Vec<StateTensor>> {
        let mut rest = state;
        for Weighted { term, .. } in &mut self.terms {
            let prefix = prefix(term.as_ref());
            let (ours, others) = rest.into_iter().partition(|tensor| tensor.name.starts_with(&prefix));
            let renamed = |mut tensor: StateTensor| {
                tensor.name.drain(..prefix.len());
                tensor
            };
            term.set_state(Vec::into_iter(ours).map(renamed).collect())?;
            rest = others;
        }
        Ok(rest)
    }
}

fn prefix(term: &dyn Term) -> String {
    format!("objective.{}.", term.name())
}
