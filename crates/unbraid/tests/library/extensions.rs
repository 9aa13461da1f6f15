//! Terms and priors from outside the crate: the examples, run.

#[allow(dead_code, reason = "its main is not called")]
#[path = "../../examples/own_prior.rs"]
mod own_prior;
#[allow(dead_code, reason = "its main is not called")]
#[path = "../../examples/own_term.rs"]
mod own_term;

use unbraid::burn::tensor::Device;
use unbraid::objective::{Kl, Latent, Objective, Term, Weight};
use unbraid::prior::Prior;

#[test]
fn a_term_of_ones_own_is_trained_logged_and_checkpointed() {
    let directory = tempfile::tempdir().unwrap();
    let [without, with] = own_term::run(directory.path()).unwrap();
    // Half leaves a margin for the noise of 60 steps; a term that is not applied gives the same number twice.
    assert!(with < 0.5 * without, "the term draws codes towards zero: {without} {with}");
}

#[test]
fn two_terms_of_one_name_are_refused() {
    let kl = || (Weight::constant(1.0), Box::new(Kl) as Box<dyn Term>);
    let error = Objective::from_terms(Latent::Mean, [kl(), kl()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "terms: found `kl` twice, expected names that differ from each other, from `loss` and from `reconstruction`"
    );
}

/// The logistic distribution function reaches p at ln(p / (1 - p)); its density at 0 is 1/4, its variance pi^2 / 3.
#[test]
fn a_prior_of_ones_own_is_trained_and_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let run = own_prior::run(directory.path()).unwrap();
    assert_eq!(run.step(), 40);
    let quantile = run.prior().quantile(3, 0.9);
    assert!((quantile - 9_f64.ln()).abs() < 1e-12, "{quantile}");
    let prior = Prior::from_family(Box::new(own_prior::Logistic), 2, &Device::flex());
    let device = Device::flex();
    let density = prior.log_density_of_units(unbraid::burn::tensor::Tensor::zeros([1, 2], &device));
    let density: Vec<f32> = density.into_data().try_into_vec().unwrap();
    assert!((density[0] - 0.25_f32.ln()).abs() < 1e-6, "{density:?}");
    let sample: Vec<f32> = prior
        .sample(unbraid::data::random::Stream::new(0, "test").at(0), 20_000)
        .into_data()
        .try_into_vec()
        .unwrap();
    let variance = sample.iter().map(|value| f64::from(value * value)).sum::<f64>() / sample.len() as f64;
    // The variance of a logistic square is (16/5 - 1) (pi^2/3)^2: five deviations of the mean of 40,000 are 0.12.
    assert!((variance - std::f64::consts::PI.powi(2) / 3.0).abs() < 0.12, "{variance}");
}
