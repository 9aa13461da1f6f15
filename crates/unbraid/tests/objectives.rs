//! Loss terms and their gradients against numbers computed in double precision (objectives.json).
//!
//! The file stands in the directory that UNBRAID_SHARED names, by default `shared` beside the workspace; without it the
//! tests say so and pass.
#![allow(clippy::unwrap_used)]

use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;
use std::path::PathBuf;
use unbraid::config::{LikelihoodConfig, ObjectiveConfig, Output, PriorConfig, Scale};
use unbraid::model::{DiagonalGaussian, Likelihood};
use unbraid::objective::{Evidence, Objective, Setting};
use unbraid::prior::Prior;

/// Relative tolerance in single precision.
const TOLERANCE: f64 = 1e-4;

fn golden() -> Option<Value> {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared =
        std::env::var_os("UNBRAID_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
    let path = shared.join("golden/objectives.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(error) => {
            eprintln!("SKIPPED: {}: {error}; set UNBRAID_SHARED", path.display());
            None
        }
    }
}

fn rows(value: &Value) -> (Vec<f32>, [usize; 2]) {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    let shape = [rows.len(), rows[0].len()];
    (rows.into_iter().flatten().map(|value| value as f32).collect(), shape)
}

fn matrix(value: &Value, device: &Device) -> Tensor<2> {
    let (values, shape) = rows(value);
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.inner().into_data().try_into_vec().unwrap()
}

fn assert_close(what: &str, found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // Entries near zero are compared with the size of the whole.
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let allowed = TOLERANCE * expected.abs().max(1e-2 * largest);
        assert!((f64::from(*found) - expected).abs() <= allowed, "{what}: {found} {expected}");
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let (values, _) = rows(value);
    values.into_iter().map(f64::from).collect()
}

#[test]
fn vae_and_beta_vae_agree_with_double_precision() {
    let Some(golden) = golden() else { return };
    let device = Device::flex().autodiff();
    let term = &golden["terms"]["kl_standard_normal"];
    let value = |value: &Value| value.as_f64().unwrap();
    for (config, weight) in
        [(ObjectiveConfig::Vae {}, 1.0), (ObjectiveConfig::BetaVae { beta: 4.0.into() }, 4.0)]
    {
        let mean = matrix(&golden["mean"], &device).require_grad();
        let log_variance = matrix(&golden["log_variance"], &device).require_grad();
        let posterior = DiagonalGaussian::new(mean.clone(), log_variance.clone());
        let sample = posterior.sample(matrix(&golden["noise"], &device));
        assert_close("sample", &floats(sample.clone()), &numbers(&golden["z"]));

        let reconstruction = Tensor::from_floats([3.0, 5.0], &device);
        let prior = Prior::new(&PriorConfig::StandardNormal {}, 4, None, &device).unwrap();
        let evidence = Evidence::new((0, 1000), &prior, posterior, sample, reconstruction);
        let setting = Setting { seed: 0, units: 4, device: device.clone() };
        let losses = Objective::new(&config, &setting).evaluate(&evidence);
        let kl = value(&term["value"]);
        assert_close("kl", &floats(losses.terms[0].clone()), &[kl]);
        assert_close("loss", &floats(losses.total.clone()), &[4.0 + weight * kl]);
        let per_unit: Vec<f64> = serde_json::from_value(term["per_unit"].clone()).unwrap();
        assert_close("kl of each unit", &floats(losses.kl_of_units.clone()), &per_unit);

        let gradients = losses.total.backward();
        for (name, tensor) in [("grad_mean", mean), ("grad_log_variance", log_variance)] {
            let expected: Vec<f64> = numbers(&term[name]).iter().map(|slope| weight * slope).collect();
            assert_close(name, &floats(tensor.grad(&gradients).unwrap()), &expected);
        }
    }
}

#[test]
fn reconstruction_losses_agree_with_double_precision() {
    let Some(golden) = golden() else { return };
    let device = Device::flex();
    let images = |key: &str| {
        let (values, [batch, pixels]) = rows(&golden[key]);
        Tensor::<4>::from_data(TensorData::new(values, [batch, 1, pixels, 1]), &device)
    };
    let loss = |config: &LikelihoodConfig, target: &str| {
        let likelihood = Likelihood::new(config, &device);
        f64::from(floats(likelihood.negative_log_likelihood(images("logits"), images(target)).mean())[0])
    };
    let expected = |key: &str| golden["reconstruction"][key].as_f64().unwrap();
    let bernoulli = LikelihoodConfig::Bernoulli {};
    assert_close("binary", &[loss(&bernoulli, "binary_target") as f32], &[expected("bernoulli_binary")]);
    assert_close("grey", &[loss(&bernoulli, "grey_target") as f32], &[expected("bernoulli_grey")]);
    // A Gaussian of variance 1/2 is the squared error and, for each of the 12 pixels, the constant ln(pi) / 2.
    let scale = Scale::Fixed(0.5_f64.sqrt());
    let gaussian = loss(&LikelihoodConfig::Gaussian { scale, output: Output::Sigmoid }, "grey_target");
    let squared = gaussian - 12.0 * 0.5 * std::f64::consts::PI.ln();
    assert_close("squared error", &[squared as f32], &[expected("squared_error_of_sigmoid")]);
}
