//! Mathieu et al. 2019, section 4: the beta-VAE is a VAE with an annealed prior and a bonus for entropy, on a
//! model whose optimum has a closed form; and appendix C, the bias of the entropy estimate.

use crate::gaussians::{entropy_estimate, floats};
use burn::tensor::{Device, Tensor};
use std::f64::consts::PI;
use unbraid::config::{Initializer, ObjectiveConfig, PriorConfig, Source, Variances};
use unbraid::model::DiagonalGaussian;
use unbraid::objective::{ForwardPass, Objective, Setting};
use unbraid::prior::Prior;

const BETA: f64 = 4.0;

fn device() -> Device {
    Device::flex().autodiff()
}

fn objective(text: &str) -> ObjectiveConfig {
    Source::default().set(format!("objective={text}")).resolve().unwrap().objective
}

fn prior(variance: f64, units: usize) -> Prior {
    let config = PriorConfig::Anisotropic {
        variances: Variances::Given(vec![variance; units]),
        learned: false,
        scale: None,
    };
    Prior::new(&config, units, None, &device()).unwrap()
}

fn evaluate(config: &ObjectiveConfig, forward: &ForwardPass<'_>) -> Tensor<1> {
    let [_, units] = forward.sample.dims();
    let setting = Setting { seed: 0, units, pixels: 4, initializer: Initializer::Pytorch, device: device() };
    Objective::new(config, &setting).evaluate(forward).total
}

/// ln F_beta = ln of the integral of N(z; 0, 1)^beta, for D units.
fn log_f(units: f64) -> f64 {
    -0.5 * units * BETA * (2.0 * PI).ln() + 0.5 * units * (2.0 * PI / BETA).ln()
}

/// The linear model x = w z + N(0, s^2) with z ~ N(0, 1) and q(z|x) = N(a x, v), on images of variance c^2.
struct Linear {
    parameters: [Tensor<1>; 3],
}

const NOISE: f64 = 0.25;
const VARIANCE: f64 = 3.0;

impl Linear {
    /// From w, a and ln v.
    fn new(values: [f64; 3]) -> Self {
        Self { parameters: values.map(|value| Tensor::from_floats([value as f32], &device()).require_grad()) }
    }

    /// The loss. Two images of +-c and noise of +-1 have the moments of the Gaussians, and the loss is
    /// quadratic in both, so that four rows give its exact expectation.
    fn loss(&self, config: &ObjectiveConfig, prior: &Prior) -> Tensor<1> {
        let [w, a, log_v] = self.parameters.clone().map(|parameter| parameter.reshape([1, 1]));
        let c = VARIANCE.sqrt() as f32;
        let x = Tensor::<2>::from_floats([[c], [c], [-c], [-c]], &device());
        let noise = Tensor::<2>::from_floats([[1.0], [-1.0], [1.0], [-1.0]], &device());
        let posterior = DiagonalGaussian::new(x.clone() * a, log_v.repeat_dim(0, 4));
        let sample = posterior.sample(noise);
        let error = x - sample.clone() * w;
        let reconstruction = (error.clone() * error / NOISE + (2.0 * PI * NOISE).ln()) * 0.5;
        let forward = ForwardPass::new((0, 1000), prior, posterior, sample, reconstruction.reshape([4]));
        evaluate(config, &forward)
    }

    fn gradients(&self, config: &ObjectiveConfig, prior: &Prior) -> (f64, Vec<f64>) {
        let loss = self.loss(config, prior);
        let gradients = loss.backward();
        let of = |parameter: &Tensor<1>| f64::from(floats(parameter.grad(&gradients).unwrap())[0]);
        (f64::from(floats(loss)[0]), self.parameters.iter().map(of).collect())
    }
}

/// Setting the derivatives of the expected loss for w, a and v to zero gives w^2 = c^2 - beta s^2, a = w /
/// c^2 and v = beta s^2 / c^2.
fn optimum() -> [f64; 3] {
    let w = (VARIANCE - BETA * NOISE).sqrt();
    [w, w / VARIANCE, (BETA * NOISE / VARIANCE).ln()]
}

fn forms() -> [ObjectiveConfig; 3] {
    [
        objective("{ name = \"beta-vae\", beta = 4 }"),
        objective("{ name = \"composed\", terms = [\"kl\", { name = \"negative-entropy\", weight = 3 }] }"),
        objective("{ name = \"max-entropy\", beta = 4 }"),
    ]
}

/// Theorem 1: with the prior N(0, 1 / beta) and the entropy weighted by beta - 1, values differ by ln F_beta
/// and gradients not at all, anywhere.
#[test]
fn a_beta_vae_is_a_vae_with_an_annealed_prior_and_an_entropy_term() {
    let [beta_vae, entropy, _] = forms();
    for values in [[0.7, 0.2, -0.4], [1.3, -0.1, 0.3], optimum()] {
        let (value, slopes) = Linear::new(values).gradients(&beta_vae, &prior(1.0, 1));
        let (other, other_slopes) = Linear::new(values).gradients(&entropy, &prior(1.0 / BETA, 1));
        assert!((value - (other - log_f(1.0))).abs() < 1e-5 * value.abs(), "{value} {other}");
        for (slope, other) in slopes.iter().zip(&other_slopes) {
            assert!((slope - other).abs() < 1e-4 * slope.abs().max(1.0), "{slope} {other}");
        }
    }
}

/// Corollary 1: the same with the prior N(0, 1) if the latent space is scaled by sqrt(beta): w' = w / sqrt(beta), a' =
/// sqrt(beta) a, v' = beta v. The constant is that of eq. 4 and of the entropy's own, D/2 (1 + ln 2 pi).
#[test]
fn the_maximum_entropy_form_is_a_beta_vae_in_other_units() {
    let [beta_vae, _, max_entropy] = forms();
    let constant = 0.5 * (BETA - 1.0) * (1.0 + (2.0 * PI / BETA).ln()) + log_f(1.0);
    let of_entropy = 0.5 * (BETA - 1.0) * (1.0 + (2.0 * PI).ln());
    for [w, a, log_v] in [[0.7, 0.2, -0.4], [1.3, -0.1, 0.3], optimum()] {
        let scaled = [w / BETA.sqrt(), a * BETA.sqrt(), log_v + BETA.ln()];
        let (value, _) = Linear::new([w, a, log_v]).gradients(&beta_vae, &prior(1.0, 1));
        let (other, _) = Linear::new(scaled).gradients(&max_entropy, &prior(1.0, 1));
        assert!((value - (other + of_entropy - constant)).abs() < 1e-5 * value.abs(), "{value} {other}");
    }
}

/// Corollary 2: the optimum of one form is that of the others. Away from it none is stationary.
#[test]
fn all_forms_have_the_same_stationary_points() {
    let [w, a, log_v] = optimum();
    let scaled = [w / BETA.sqrt(), a * BETA.sqrt(), log_v + BETA.ln()];
    let cases = [([w, a, log_v], 1.0), ([w, a, log_v], 1.0 / BETA), (scaled, 1.0)];
    for (form, (values, variance)) in forms().iter().zip(cases) {
        let (_, slopes) = Linear::new(values).gradients(form, &prior(variance, 1));
        // Single slopes are of the size of w c^2 / s^2 = 17.
        assert!(slopes.iter().all(|slope| slope.abs() < 1e-4), "{form:?}: {slopes:?}");
        for place in 0..3 {
            let mut moved = values;
            moved[place] += 0.1;
            let (_, slopes) = Linear::new(moved).gradients(form, &prior(variance, 1));
            assert!(slopes[place] > 0.05, "{form:?} {place}: {slopes:?}");
        }
    }
}

/// Appendix C: where posteriors do not overlap within a batch, the estimate is ln n + E H\[q(z|x)\], however
/// large H\[q(z)\] is; where they do, it is H\[q(z)\] = D/2 (1 + ln 2 pi).
#[test]
fn the_estimate_of_the_entropy_has_the_bias_of_appendix_c() {
    let images = 737_280;
    let mean = |units, noise, batch| {
        let batches = 4096 / batch;
        (0..batches as u64).map(|place| entropy_estimate(units, noise, batch, images, place)).sum::<f64>()
            / batches as f64
    };
    let exact = |units: f64| 0.5 * units * (1.0 + (2.0 * PI).ln());
    let biased = |units: f64, noise: f64| (images as f64).ln() + exact(units) + units * noise.ln();
    // Means are a hundred deviations apart: no overlap at all. ln q(z|x) has the variance D / 2; four
    // deviations of the mean of 4096.
    let narrow = mean(10, 0.01, 64);
    assert!((narrow - biased(10.0, 0.01)).abs() < 0.14, "{narrow} {}", biased(10.0, 0.01));
    assert!(narrow < exact(10.0) - 18.0);
    // Wide posteriors, one unit: unbiased up to the noise of 4096 samples, 4 sqrt(1 / 2) / 64.
    let wide = mean(1, 0.9, 64);
    assert!((wide - exact(1.0)).abs() < 0.045, "{wide} {}", exact(1.0));
    assert!(wide < biased(1.0, 0.9) - 10.0);
    // In between, as NumPy computes it from the same formula and other numbers (tools/entropy_bias.py, mean
    // of 8192 codes). ln q(z|x) has the deviation sqrt(D / 2); four times that over 64, and a half more for
    // the other's noise.
    for (units, noise, batch, expected) in [
        (2, 0.5, 256, 2.86),
        (4, 0.3, 64, 7.52),
        (10, 0.3, 64, 15.53),
        (10, 0.3, 1024, 15.02),
        (10, 0.1, 256, 4.66),
    ] {
        let found = mean(units, noise, batch);
        let tolerance = 6.0 * (units as f64 / 2.0).sqrt() / 64.0;
        assert!((found - expected).abs() < tolerance, "{units} {noise} {batch}: {found}, NumPy {expected}");
    }
}
