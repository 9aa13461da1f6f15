//! What is minimised: reconstruction plus weighted terms. Depends on the model, the prior and the configuration.
//!
//! Every method of the papers is `L = reconstruction + sum_i weight_i(t) * term_i`. A [`Term`] is a small struct that
//! turns the results of a forward pass through the network ([`ForwardPass`]) into one number with a name; an [`Objective`] is a
//! list of them with weights that may change from step to step. Reductions are always the same: sum over pixels,
//! channels and units, mean over the batch, in nats.

mod adversarial_prior;
mod adversary;
mod aggregate;
mod covariance;
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
mod term;
mod third_moment;
mod total_correlation;
mod weight;

pub use adversarial_prior::AdversarialPrior;
pub use adversary::Adversary;
pub use aggregate::Aggregate;
pub use covariance::{Covariance, CovarianceOf, Entries};
pub use factor_vae::DiscriminatedTotalCorrelation;
pub use forward_pass::ForwardPass;
pub use inclusive_kl::InclusiveKl;
pub use iwae::IwaeKl;
pub use joint_vae::{CategoricalKlFromCapacity, ContinuousKlFromCapacity};
pub use kl::{Kl, KlFromCapacity};
pub use methods::Setting;
pub use mmd::Mmd;
pub use moments::Moments;
pub use term::{Needs, Term};
pub use third_moment::ThirdMoment;
pub use total_correlation::{DimensionWiseKl, MutualInformation, TotalCorrelation};
pub use weight::Weight;

use crate::config::Schedule;
use crate::error::{Error, Result};
use crate::model::StateTensor;
use burn::tensor::Tensor;
use std::collections::BTreeSet;

/// What is decoded of each posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latent {
    /// Its mean.
    Mean,
    /// This many samples of it.
    Samples(usize),
}

/// Reconstruction plus weighted terms.
#[derive(Debug)]
pub struct Objective {
    latent: Latent,
    terms: Vec<Weighted>,
    /// The weights and capacities that change, by their keys in the configuration.
    schedules: Vec<(&'static str, Schedule)>,
}

/// A term and its weight.
#[derive(Debug)]
struct Weighted {
    weight: Weight,
    term: Box<dyn Term>,
}

/// The value of an objective on one batch, and of what it consists of.
#[derive(Clone, Debug)]
pub struct Losses {
    /// What is minimised.
    pub total: Tensor<1>,
    /// Mean over the batch of -ln p(x|z).
    pub reconstruction: Tensor<1>,
    /// Mean over the batch of KL(q(z, c|x) || p(z) p(c)), whether or not it is a term.
    pub kl: Tensor<1>,
    /// Each term before weighting.
    pub terms: Vec<Tensor<1>>,
    /// KL of each unit, mean over the batch; continuous units first.
    pub kl_of_units: Tensor<1>,
}

impl Objective {
    /// Reconstruction plus these terms with their weights, which may be terms of your own.
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
    /// If two terms have one name, or one has the name of the loss or the reconstruction: they share a log.
    pub fn from_terms(
        latent: Latent,
        terms: impl IntoIterator<Item = (Weight, Box<dyn Term>)>,
    ) -> Result<Self> {
        let terms: Vec<Weighted> =
            terms.into_iter().map(|(weight, term)| Weighted { weight, term }).collect();
        let mut names = BTreeSet::from(["loss", "reconstruction"]);
        for Weighted { term, .. } in &terms {
            for name in [term.name()].iter().chain(term.auxiliary_losses()) {
                if !names.insert(name) {
                    let expected = "names that differ from each other, from `loss` and from `reconstruction`";
                    return Err(Error::argument("terms", format!("`{name}` twice"), expected));
                }
            }
        }
        Ok(Self { latent, terms, schedules: Vec::new() })
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

    /// The names of what [`Objective::update`] gives.
    pub fn auxiliary_loss_names(&self) -> impl Iterator<Item = &'static str> {
        self.terms.iter().flat_map(|weighted| weighted.term.auxiliary_losses().iter().copied())
    }

    /// The weights and capacities that change in the course of the run, by their keys, at a step.
    pub fn schedules(&self, step: u64) -> impl Iterator<Item = (&'static str, f64)> {
        self.schedules.iter().map(move |(key, schedule)| (*key, schedule.at(step)))
    }

    /// Its value.
    pub fn evaluate(&self, forward: &ForwardPass<'_>) -> Losses {
        let reconstruction = forward.reconstruction.clone().mean();
        let mut total = reconstruction.clone();
        let mut terms = Vec::with_capacity(self.terms.len());
        for Weighted { weight, term } in &self.terms {
            let value = term.value(forward);
            // Exact for a weight of one, and a weight of zero still leaves the term in the metrics.
            total = total + value.clone() * weight.at(forward.step);
            terms.push(value);
        }
        let kl_of_units = forward.kl_of_units();
        Losses { total, reconstruction, kl: Kl.value(forward), terms, kl_of_units }
    }

    /// Updates what the terms keep from step to step, discriminators for instance; gives the auxiliary losses that
    /// [`Objective::auxiliary_loss_names`] names.
    pub fn update(&mut self, forward: &ForwardPass<'_>) -> Vec<Tensor<1>> {
        self.terms.iter_mut().flat_map(|weighted| weighted.term.update(forward)).collect()
    }

    /// What its terms keep, for a checkpoint: `objective.<term>.<tensor>`.
    pub fn state(&self) -> Vec<StateTensor> {
        let mut state = Vec::new();
        for Weighted { term, .. } in &self.terms {
            let prefix = prefix(term.as_ref());
            let renamed = |tensor: StateTensor| StateTensor { name: prefix.clone() + &tensor.name, ..tensor };
            state.extend(term.state().into_iter().map(renamed));
        }
        state
    }

    /// Takes its own part out of a saved state and gives back the rest.
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
