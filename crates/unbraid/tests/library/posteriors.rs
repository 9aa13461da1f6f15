//! Posteriors and the terms of further models against PyTorch in double precision
//! (tools/golden_posteriors.py), and what they refuse.

use crate::golden::{Batch, TOLERANCE, assert_close, floats, golden, matrix, numbers};
use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use unbraid::config::{
    AdversarialKlConfig, ContrastConfig, Estimator, FDivergence, Initializer, PriorConfig, Source,
};
use unbraid::data::ImageShape;
use unbraid::model::{ContinuousPosterior, Draw, Marginals, Network, Pass, StateTensor, Values};
use unbraid::objective::{
    AdversarialKl, ExclusiveKl, ForwardPass, Kl, NegativeEntropy, RandomMixture, Setting, SlicedWasserstein,
    Term,
};
use unbraid::prior::Prior;

const UNITS: usize = 3;

fn further() -> Value {
    serde_json::from_str(include_str!("../golden/posteriors.json")).unwrap()
}

fn list(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

/// A linear network on images of four pixels with this posterior and the golden weights.
fn network(posterior: &str, golden: &Value) -> Network {
    let config = Source::default()
        .set("model.architecture=linear")
        .set("model.latents={ continuous = 3 }")
        .set(format!("model.posterior={posterior}"))
        .set("objective={ name = \"wae-mmd\", lambda = 1, encoder = \"gaussian\" }")
        .resolve()
        .unwrap();
    let mut network =
        Network::new(&config.model, ImageShape::new(2, 2, 1), 0, &Device::flex().autodiff()).unwrap();
    let state = golden["state"].as_object().unwrap().iter().map(|(name, tensor)| {
        let shape: Vec<usize> = serde_json::from_value(tensor["shape"].clone()).unwrap();
        let values = list(&tensor["values"]).into_iter().map(|value| value as f32).collect();
        StateTensor::floats(name.clone(), shape, values)
    });
    network.set_state(state.collect()).unwrap();
    network
}

const POSTERIORS: [(&str, &str); 3] = [
    ("full-covariance", "full-covariance"),
    ("iaf", "{ name = \"iaf\", steps = 3, hidden = [7, 5], context = 2 }"),
    ("implicit", "{ name = \"implicit\", noise = 2, hidden = [6] }"),
];

#[test]
fn samples_densities_divergences_and_gradients_agree_with_double_precision() {
    let golden = further();
    let device = Device::flex().autodiff();
    let prior = Prior::new(&PriorConfig::StandardNormal {}, UNITS, None, &device).unwrap();
    for (name, configuration) in POSTERIORS {
        let golden = &golden["posteriors"][name];
        let network = network(configuration, golden);
        let images = matrix(&golden["images"], &device).reshape([3, 2, 2, 1]);
        let posterior = network.encode(images, &mut Pass::Inference).continuous;
        let draw = posterior.draw(matrix(&golden["noise"], &device));
        assert_close(name, &floats(draw.value.clone()), &numbers(&golden["z"]));

        let mut loss = (draw.value.clone() * draw.value.clone()).sum();
        match posterior.log_density(&draw) {
            None => assert!(
                golden["log_density"].is_null() && prior.divergence_of(posterior.as_ref(), &draw).is_none()
            ),
            Some(log_density) => {
                let log_density = log_density.sum_dim(1).reshape([3]);
                assert_close(name, &floats(log_density.clone()), &list(&golden["log_density"]));
                let reconstruction = Tensor::zeros([3], &device);
                let forward = ForwardPass::with_posterior(
                    (0, 10),
                    &prior,
                    posterior.clone(),
                    Draw { value: draw.value.clone(), log_density: draw.log_density.clone() },
                    reconstruction,
                );
                let kl = forward.divergence.as_ref().unwrap();
                assert_close(name, &floats(kl.images.clone()), &list(&golden["kl"]));
                loss = loss + Kl.value(&forward) + log_density.mean();
                if name == "full-covariance" {
                    assert_close(name, &floats(kl.units.clone()), &numbers(&golden["kl_of_units"]));
                    let entropy = list(&golden["entropy"]).iter().sum::<f64>() / 3.0;
                    let negative = NegativeEntropy.value(&forward);
                    assert_close(name, &floats(negative.clone()), &[-entropy]);
                    loss = loss + negative;
                    let moments = posterior.moments();
                    assert_close(name, &floats(moments.mean), &numbers(&golden["mean"]));
                    assert_close(name, &floats(moments.log_variance.exp()), &numbers(&golden["variance"]));
                } else {
                    // Shares of the units add up to the whole.
                    let shares = floats(kl.units.clone().sum_dim(1));
                    assert_close(name, &shares, &list(&golden["kl"]));
                    assert_close(
                        name,
                        &floats(NegativeEntropy.value(&forward)),
                        &[list(&golden["log_density"]).iter().sum::<f64>() / 3.0],
                    );
                }
            }
        }
        assert_close(name, &floats(loss.clone()), &[golden["loss"].as_f64().unwrap()]);
        let mut gradients = loss.backward();
        for parameter in network.parameters() {
            let expected = list(&golden["gradients"][parameter.name()]);
            let found = parameter.take_gradient(&mut gradients).unwrap_or_else(|| vec![0.0; expected.len()]);
            assert_close(parameter.name(), &found, &expected);
        }
    }
}

/// Unit i of a step depends on units up to i only: the Jacobian of one step is triangular, in both orders.
#[test]
fn a_flow_step_is_autoregressive() {
    let device = Device::flex().autodiff();
    for (steps, reversed) in [(1, false), (2, true)] {
        let config = Source::default()
            .set("model.architecture=linear")
            .set("model.latents={ continuous = 5 }")
            .set(format!("model.posterior={{ name = \"iaf\", steps = {steps}, hidden = [16], context = 3 }}"))
            .resolve()
            .unwrap();
        let network = Network::new(&config.model, ImageShape::new(2, 2, 1), 7, &device).unwrap();
        for unit in 0..5 {
            // Anew for each unit, since a backward pass uses up the graph.
            let images = Tensor::<4>::ones([1, 2, 2, 1], &device);
            let posterior = network.encode(images, &mut Pass::Inference).continuous;
            let noise = Tensor::<2>::from_floats([[0.3, -0.8, 1.1, 0.2, -0.4]], &device).require_grad();
            let value = posterior.draw(noise.clone()).value.narrow(1, unit, 1).sum();
            let slopes = floats(noise.grad(&value.backward()).unwrap());
            for (other, slope) in slopes.iter().enumerate() {
                // Both orders together reach every unit.
                assert!(*slope == 0.0 || reversed || other <= unit, "{unit} {other}: {slope}");
            }
            assert!(reversed || slopes[unit] > 0.0);
        }
    }
}

#[test]
fn further_terms_agree_with_double_precision() {
    let (golden, further) = (golden(), further());
    let device = Device::flex().autodiff();
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 4, None, &device).unwrap();
    let mixture = |divergence| -> Box<dyn Term> { Box::new(RandomMixture(divergence)) };
    let terms: [(&str, Box<dyn Term>); 7] = [
        ("negative_entropy", Box::new(NegativeEntropy)),
        ("exclusive_kl_stratified", Box::new(ExclusiveKl(Estimator::Stratified))),
        ("random_mixture_kl", mixture(FDivergence::Kl)),
        ("random_mixture_reverse-kl", mixture(FDivergence::ReverseKl)),
        ("random_mixture_jensen-shannon", mixture(FDivergence::JensenShannon)),
        ("random_mixture_pearson", mixture(FDivergence::Pearson)),
        ("random_mixture_squared-hellinger", mixture(FDivergence::SquaredHellinger)),
    ];
    for (key, term) in terms {
        let expected = &further["terms"][key];
        let batch = Batch::new(&golden, &device);
        let value = term.value(&batch.forward(&golden, &prior));
        assert_close(key, &floats(value.clone()), &[expected["value"].as_f64().unwrap()]);
        batch.assert_gradients(
            key,
            &value,
            &numbers(&expected["grad_mean"]),
            &numbers(&expected["grad_log_variance"]),
        );
    }
}

/// In one dimension every direction is the line itself. In D dimensions, two clouds that differ by a shift `a` have the
/// distance |a|^2 / D on average over directions.
#[test]
fn the_sliced_distance_is_that_of_sorted_values() {
    let (golden, further) = (golden(), further());
    let device = Device::flex().autodiff();
    let expected = &further["terms"]["wasserstein_of_first_unit"];
    let batch = Batch::new(&golden, &device);
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 1, None, &device).unwrap();
    let first = |tensor: Tensor<2>| tensor.narrow(1, 0, 1);
    let mut forward = batch.forward(&golden, &prior);
    forward.sample = first(batch.sample.clone());
    forward.prior_sample = Some(first(matrix(&golden["prior_samples_normal"], &device)));
    let value = SlicedWasserstein::new(7, 1).value(&forward);
    assert_close("line", &floats(value.clone()), &[expected["value"].as_f64().unwrap()]);
    batch.assert_gradients(
        "line",
        &value,
        &numbers(&expected["grad_mean"]),
        &numbers(&expected["grad_log_variance"]),
    );

    let points = matrix(&golden["prior_samples_normal"], &device);
    let shift = Tensor::<2>::from_floats([[1.0, -2.0, 0.5, 1.5]], &device);
    forward.sample = points.clone() + shift;
    forward.prior_sample = Some(points);
    let distance = f64::from(floats(SlicedWasserstein::new(4000, 1).value(&forward))[0]);
    // (theta . a)^2 has the mean |a|^2 / D and the variance 3 |a|^4 / (D (D + 2)) - |a|^4 / D^2 = 3.5; the
    // mean of 4000 is off by less than four times sqrt(3.5 / 4000).
    assert!((distance - 7.5 / 4.0).abs() < 0.12, "{distance}");
}

fn contrast() -> ContrastConfig {
    ContrastConfig { features: 3, layers: 1, width: 5, ..ContrastConfig::default() }
}

#[test]
fn the_adversarial_estimate_agrees_with_double_precision() {
    let (golden, further) = (golden(), further());
    let expected = &further["adversarial_kl"];
    let device = Device::flex().autodiff();
    let prior = Prior::new(&PriorConfig::StandardNormal {}, 4, None, &device).unwrap();
    let setting =
        Setting { seed: 0, units: 4, pixels: 4, initializer: Initializer::Pytorch, device: device.clone() };
    for (key, adaptive_contrast) in [("plain", false), ("adaptive", true)] {
        let config = AdversarialKlConfig { adaptive_contrast, discriminator: contrast() };
        let mut term = AdversarialKl::new(&config, &setting);
        let state = term.state().into_iter().map(|tensor| match expected["state"].get(&tensor.name) {
            None => tensor,
            Some(golden) => {
                let values = list(&golden["values"]).into_iter().map(|value| value as f32).collect();
                StateTensor { values: Values::Floats(values), ..tensor }
            }
        });
        term.set_state(state.collect()).unwrap();
        let batch = Batch::new(&golden, &device);
        let mut forward = batch.forward(&golden, &prior);
        forward.images = Some(matrix(&expected["images"], &device));
        forward.prior_sample = Some(matrix(&golden["prior_samples_normal"], &device));
        let value = term.value(&forward);
        let of_term = &expected[key];
        assert_close(key, &floats(value.clone()), &[of_term["value"].as_f64().unwrap()]);
        batch.assert_gradients(
            key,
            &value,
            &numbers(&of_term["grad_mean"]),
            &numbers(&of_term["grad_log_variance"]),
        );
        if !adaptive_contrast {
            let entropy = floats(term.update(&forward)[0].clone());
            assert_close("cross-entropy", &entropy, &[expected["cross_entropy"].as_f64().unwrap()]);
            // One step of Adam on the same pairs lowers it.
            let after = f64::from(floats(term.update(&forward)[0].clone())[0]);
            assert!(after < f64::from(entropy[0]) * (1.0 - TOLERANCE * 0.01), "{after} {entropy:?}");
        }
    }
}

#[test]
fn what_a_posterior_cannot_do_is_refused() {
    for (posterior, objective, message) in [
        (
            "full-covariance",
            "{ name = \"beta-tcvae\", beta = 6 }",
            "found full-covariance, expected diagonal, since the term `mutual-information` of `beta-tcvae` needs the density \
             of independent Gaussians",
        ),
        (
            "iaf",
            "{ name = \"dip-vae-i\", lambda_od = 1, lambda_d = 1 }",
            "found iaf, expected diagonal or full-covariance, since the term `covariance-off-diagonal` of `dip-vae-i` needs \
             its exact moments",
        ),
        (
            "iaf",
            "{ name = \"composed\", terms = [\"kl\", \"moments\"] }",
            "found iaf, expected diagonal, since the term `moments` of `composed` needs the density of independent Gaussians",
        ),
        (
            "iaf",
            "{ name = \"wae-mmd\", lambda = 1 }",
            "found iaf, expected diagonal or full-covariance, since `wae-mmd` decodes its mean",
        ),
        (
            "implicit",
            "{ name = \"beta-vae\", beta = 4 }",
            "found implicit, expected diagonal, full-covariance or iaf, since the term `kl` of `beta-vae` needs its density",
        ),
        (
            "implicit",
            "{ name = \"iwae\", samples = 4 }",
            "found implicit, expected diagonal, full-covariance or iaf, since the term `iwae-kl` of `iwae` needs its density",
        ),
    ] {
        let source = Source::default()
            .set(format!("model.posterior={posterior}"))
            .set(format!("objective={objective}"));
        let error = source.resolve().expect_err(objective).to_string();
        assert_eq!(error, format!("configuration: model.posterior: {message}"), "{objective}");
    }
    for (posterior, message) in [
        (
            "flow",
            "model.posterior.name: unknown value `flow`\nhint: expected one of diagonal, full-covariance, iaf, implicit",
        ),
        ("{ name = \"iaf\", steps = 0 }", "model.posterior.steps: found 0, expected at least 1"),
        ("{ name = \"iaf\", context = 0 }", "model.posterior.context: found 0, expected at least 1"),
        (
            "{ name = \"iaf\", hidden = [] }",
            "model.posterior.hidden: found [], expected one width or more, each at least 1",
        ),
        ("{ name = \"implicit\", noise = 0 }", "model.posterior.noise: found 0, expected at least 1"),
        (
            "{ name = \"implicit\", steps = 2 }",
            "model.posterior: unknown key `steps`\nhint: expected one of noise, hidden",
        ),
    ] {
        let error =
            Source::default().set(format!("model.posterior={posterior}")).resolve().expect_err(posterior);
        assert_eq!(error.to_string(), format!("configuration: {message}"));
    }
    let none = Source::default()
        .set("model.posterior=iaf")
        .set("model.latents={ continuous = 0, categorical = [3] }")
        .resolve();
    assert_eq!(
        none.unwrap_err().to_string(),
        "configuration: model.posterior: found iaf, expected diagonal, since there are no continuous units"
    );
    let pca = Source::preset("pca").set("model.posterior=full-covariance").resolve().unwrap_err();
    assert_eq!(
        pca.to_string(),
        "configuration: model.posterior: found full-covariance, expected diagonal, since `pca` is defined for no other"
    );
}

/// A posterior that counts its draws.
#[derive(Debug)]
struct Counting {
    posterior: Arc<dyn ContinuousPosterior>,
    draws: Arc<AtomicUsize>,
}

impl Counting {
    fn with(&self, posterior: Arc<dyn ContinuousPosterior>) -> Arc<dyn ContinuousPosterior> {
        Arc::new(Self { posterior, draws: Arc::clone(&self.draws) })
    }
}

impl ContinuousPosterior for Counting {
    fn dims(&self) -> [usize; 2] {
        self.posterior.dims()
    }

    fn device(&self) -> Device {
        self.posterior.device()
    }

    fn noise_width(&self) -> usize {
        self.posterior.noise_width()
    }

    fn draw(&self, noise: Tensor<2>) -> Draw {
        self.draws.fetch_add(1, Ordering::Relaxed);
        self.posterior.draw(noise)
    }

    fn log_density(&self, draw: &Draw) -> Option<Tensor<2>> {
        self.posterior.log_density(draw)
    }

    fn marginals(&self) -> Option<Marginals> {
        self.posterior.marginals()
    }

    fn repeated(&self, times: usize) -> Arc<dyn ContinuousPosterior> {
        self.with(self.posterior.repeated(times))
    }

    fn detached(&self) -> Arc<dyn ContinuousPosterior> {
        self.with(self.posterior.detached())
    }
}

/// Value and update of a step have the same reference; another step has random numbers of its own.
#[test]
fn adaptive_contrast_computes_its_moments_once_a_step() {
    let golden = further();
    let device = Device::flex().autodiff();
    let prior = Prior::new(&PriorConfig::StandardNormal {}, UNITS, None, &device).unwrap();
    let golden = &golden["posteriors"]["implicit"];
    let images = matrix(&golden["images"], &device);
    let posterior = network(POSTERIORS[2].1, golden)
        .encode(images.clone().reshape([3, 2, 2, 1]), &mut Pass::Inference)
        .continuous;
    let draw = posterior.draw(matrix(&golden["noise"], &device));
    let draws = Arc::new(AtomicUsize::new(0));
    let counting = Arc::new(Counting { posterior, draws: Arc::clone(&draws) });
    let mut forward =
        ForwardPass::with_posterior((0, 10), &prior, counting, draw, Tensor::zeros([3], &device));
    forward.images = Some(images);
    let setting = Setting { seed: 0, units: UNITS, pixels: 4, initializer: Initializer::Pytorch, device };
    let config = AdversarialKlConfig { adaptive_contrast: true, discriminator: contrast() };
    let mut term = AdversarialKl::new(&config, &setting);
    for step in [0, 1] {
        forward.step = step;
        term.value(&forward);
        term.update(&forward);
    }
    assert_eq!(draws.load(Ordering::Relaxed), 2);
}

/// Detached, a posterior has the same samples and no gradient.
#[test]
fn detached_posteriors_are_constants() {
    let golden = further();
    let device = Device::flex().autodiff();
    for (name, configuration) in [("full-covariance", "diagonal")].iter().chain(&POSTERIORS) {
        let golden = &golden["posteriors"][name];
        let config = Source::default()
            .set("model.architecture=linear")
            .set("model.latents={ continuous = 3 }")
            .set(format!("model.posterior={configuration}"))
            .set("objective={ name = \"wae-mmd\", lambda = 1, encoder = \"gaussian\" }")
            .resolve()
            .unwrap();
        let network = Network::new(&config.model, ImageShape::new(2, 2, 1), 0, &device).unwrap();
        let images = matrix(&golden["images"], &device).require_grad();
        let pixels = images.clone().reshape([3, 2, 2, 1]);
        let posterior = network.encode(pixels, &mut Pass::Inference).continuous;
        let noise = || matrix(&golden["noise"], &device);
        let found = posterior.detached().draw(noise()).value;
        assert_eq!(floats(found.clone()), floats(posterior.draw(noise()).value), "{configuration}");
        // The gradient is that of the second summand alone.
        let mut gradients = ((found.clone() * found).sum() + (images.clone() * 3.0).sum()).backward();
        assert!(floats(images.grad(&gradients).unwrap()).iter().all(|slope| *slope == 3.0));
        for parameter in network.parameters() {
            assert!(parameter.take_gradient(&mut gradients).is_none(), "{}", parameter.name());
        }
    }
}

/// A configuration without the key is written as it always was.
#[test]
fn the_usual_posterior_is_left_out_of_a_written_configuration() {
    let text = |posterior: &str| {
        Source::default().set(format!("model.posterior={posterior}")).resolve().unwrap().to_toml()
    };
    assert!(!text("diagonal").contains("posterior"));
    assert!(text("full-covariance").contains("posterior = \"full-covariance\""));
    assert!(text("iaf").contains("steps = 2"), "{}", text("iaf"));
    let default = Source::default().resolve().unwrap();
    assert!(!default.to_toml().contains("samples"));
}

#[test]
fn moments_without_a_closed_form_are_those_of_draws() {
    let device = Device::flex();
    let config = Source::default()
        .set("model.architecture=linear")
        .set("model.latents={ continuous = 2 }")
        .set("model.posterior={ name = \"implicit\", noise = 2, hidden = [4] }")
        .set("objective=avb")
        .resolve()
        .unwrap();
    let mut network = Network::new(&config.model, ImageShape::new(2, 2, 1), 0, &device).unwrap();
    // z_0 = 3 + relu(e_0) - relu(-e_0) = 3 + e_0 and z_1 = relu(e_1): mean 1 / sqrt(2 pi), variance 1/2 - 1 / (2 pi).
    let zero = |shape: &[usize]| vec![0.0_f32; shape.iter().product()];
    let state = network.state().into_iter().map(|tensor| {
        let mut values = zero(&tensor.shape);
        match tensor.name.as_str() {
            // Inputs are four pixels and two numbers of noise.
            "encoder.noisy.fc1.weight" => {
                for (row, column, value) in [(0, 4, 1.0), (1, 4, -1.0), (2, 5, 1.0)] {
                    values[row * 6 + column] = value;
                }
            }
            "encoder.noisy.z.weight" => {
                (values[0], values[1], values[4 + 2]) = (1.0, -1.0, 1.0);
            }
            "encoder.noisy.z.bias" => values[0] = 3.0,
            _ => {}
        }
        StateTensor { values: Values::Floats(values), ..tensor }
    });
    network.set_state(state.collect()).unwrap();
    let images = Tensor::<4>::from_data(TensorData::new(vec![0.5_f32; 8], [2, 2, 2, 1]), &device);
    let moments = network.encode(images, &mut Pass::Inference).continuous.moments();
    let (mean, variance) = (floats(moments.mean), floats(moments.log_variance.exp()));
    // Draws come in pairs of opposite sign: a linear unit has its exact mean.
    assert!((mean[0] - 3.0).abs() < 1e-5 && (mean[0] - mean[2]).abs() < 1e-6, "{mean:?}");
    // Four standard errors of 64 draws; squares of a pair are the same, so that there are 32.
    assert!((mean[1] - 0.398_9).abs() < 4.0 * (0.340_8_f32 / 64.0).sqrt(), "{mean:?}");
    assert!((variance[0] - 1.0).abs() < 4.0 * (2.0_f32 / 32.0).sqrt(), "{variance:?}");
}
