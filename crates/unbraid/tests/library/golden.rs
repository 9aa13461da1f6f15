//! The batch of `golden/objectives.json`, whose terms and gradients were computed in double precision.

use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;
use unbraid::model::DiagonalGaussian;
use unbraid::objective::{ForwardPass, Term};
use unbraid::prior::Prior;

/// Relative tolerance in single precision.
pub(crate) const TOLERANCE: f64 = 1e-4;

pub(crate) fn golden() -> Value {
    let text = include_str!("../golden/objectives.json");
    serde_json::from_str(text).unwrap()
}

pub(crate) fn rows(value: &Value) -> (Vec<f32>, [usize; 2]) {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    let shape = [rows.len(), rows[0].len()];
    (rows.into_iter().flatten().map(|value| value as f32).collect(), shape)
}

pub(crate) fn matrix(value: &Value, device: &Device) -> Tensor<2> {
    let (values, shape) = rows(value);
    Tensor::from_data(TensorData::new(values, shape), device)
}

pub(crate) fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.inner().into_data().try_into_vec().unwrap()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    rows.into_iter().flatten().collect()
}

/// Equal to the tolerance; entries near zero are compared with the size of the whole.
pub(crate) fn assert_close(what: &str, found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let allowed = TOLERANCE * expected.abs().max(1e-2 * largest);
        assert!((f64::from(*found) - expected).abs() <= allowed, "{what}: {found} {expected}");
    }
}

/// Posteriors whose parameters are differentiable, and their samples.
pub(crate) struct Batch {
    pub(crate) mean: Tensor<2>,
    pub(crate) log_variance: Tensor<2>,
    pub(crate) posterior: DiagonalGaussian,
    pub(crate) sample: Tensor<2>,
}

impl Batch {
    pub(crate) fn new(golden: &Value, device: &Device) -> Self {
        let mean = matrix(&golden["mean"], device).require_grad();
        let log_variance = matrix(&golden["log_variance"], device).require_grad();
        let posterior = DiagonalGaussian::new(mean.clone(), log_variance.clone());
        let sample = posterior.sample(matrix(&golden["noise"], device));
        Self { mean, log_variance, posterior, sample }
    }

    /// After no step on the golden number of images.
    pub(crate) fn forward<'a>(&self, golden: &Value, prior: &'a Prior) -> ForwardPass<'a> {
        let images = usize::try_from(golden["dataset_size"].as_u64().unwrap()).unwrap();
        let reconstruction = Tensor::from_floats([3.0, 5.0], &self.mean.device());
        ForwardPass::new((0, images), prior, self.posterior.clone(), self.sample.clone(), reconstruction)
    }

    /// Compares the gradients of `loss`.
    pub(crate) fn assert_gradients(&self, what: &str, loss: &Tensor<1>, mean: &[f64], log_variance: &[f64]) {
        let gradients = loss.backward();
        for (name, tensor, expected) in
            [("mean", &self.mean, mean), ("log-variance", &self.log_variance, log_variance)]
        {
            let found = match tensor.grad(&gradients) {
                Some(gradient) => floats(gradient),
                None => vec![0.0; expected.len()],
            };
            assert_close(&format!("{what}: gradient for the {name}"), &found, expected);
        }
    }
}

/// Compares value and gradients of a term with those of the file. `prepare` adds what only some terms need.
pub(crate) fn assert_term(
    golden: &Value,
    key: &str,
    prior: &Prior,
    term: &dyn Term,
    prepare: impl FnOnce(&mut ForwardPass<'_>),
) {
    let expected = &golden["terms"][key];
    let batch = Batch::new(golden, &Device::flex().autodiff());
    let mut forward = batch.forward(golden, prior);
    prepare(&mut forward);
    let value = term.value(&forward);
    assert_close(key, &floats(value.clone()), &[expected["value"].as_f64().unwrap()]);
    let gradient = |name: &str| numbers(&expected[name]);
    batch.assert_gradients(key, &value, &gradient("grad_mean"), &gradient("grad_log_variance"));
}
