//! Metrics that hold a factor and look at what the units do.

use super::{BASE, json};
use crate::registry::Metric;
use crate::registry::report::Outcome;
use crate::scores;

pub(super) const BETA_VAE_SCORE: Metric = Metric {
    name: "beta_vae_score",
    keys: &["beta_vae_score"],
    meaning: "which factor two points share can be told from how far apart their units are",
    interventional: true,
    parameters: |parameters| json(&parameters.beta_vae_score),
    run: |input| {
        let found = scores::beta_vae_score(input.sampler()?.as_ref(), &input.parameters.beta_vae_score)?;
        Ok(Outcome::of("beta_vae_score", found.value).list("beta_vae_train_accuracy", vec![found.train]))
    },
    ..BASE
};

pub(super) const FACTOR_VAE_SCORE: Metric = Metric {
    name: "factor_vae_score",
    keys: &["factor_vae_score"],
    meaning: "the unit that varies least tells which factor was held",
    interventional: true,
    parameters: |parameters| json(&parameters.factor_vae_score),
    run: |input| {
        let found = scores::factor_vae_score(input.sampler()?.as_ref(), &input.parameters.factor_vae_score)?;
        Ok(Outcome::of("factor_vae_score", found.value).list("factor_vae_train_accuracy", vec![found.train]))
    },
    ..BASE
};

pub(super) const IRS: Metric = Metric {
    name: "irs",
    keys: &["irs"],
    details: &["irs_matrix"],
    meaning: "units stay put when the factor they follow is held and the others change",
    // Factors with more values than bins have neighbouring values merged.
    factor_values_are_numbers: true,
    parameters: |parameters| json(&parameters.irs),
    run: |input| {
        let found = scores::irs(&input.codes.labelled()?, &input.parameters.irs)?;
        Ok(Outcome::of("irs", found.value).matrix("irs_matrix", found.matrix))
    },
    ..BASE
};
