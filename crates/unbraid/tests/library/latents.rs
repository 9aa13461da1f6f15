//! Continuous and categorical units together, in every architecture.

use crate::golden::{assert_close, floats, golden, matrix, numbers, rows};
use burn::tensor::{Device, Tensor, TensorData};
use unbraid::config::Source;
use unbraid::data::ImageShape;
use unbraid::model::{Categorical, DiagonalGaussian, Network, NoiseSource, Pass, Posterior, gumbel};

#[test]
fn divergence_and_samples_agree_with_double_precision() {
    let golden = golden();
    let golden = &golden["categorical"];
    let device = Device::flex();
    // The logarithms of probabilities are logits.
    let logits = matrix(&golden["probabilities"], &device).log();
    let categorical = Categorical::new(logits);
    let kl = floats(categorical.divergence_from_uniform().mean())[0];
    let expected = golden["kl_uniform"].as_f64().unwrap();
    assert!((f64::from(kl) / expected - 1.0).abs() < 1e-4, "{kl} {expected}");

    let (_, shape) = rows(&golden["uniform_noise"]);
    let noise: Vec<f32> =
        numbers(&golden["uniform_noise"]).into_iter().map(|uniform| gumbel(uniform) as f32).collect();
    let noise = Tensor::from_data(TensorData::new(noise, shape), &device);
    let expected = numbers(&golden["gumbel_softmax_tau_0.67"]);
    assert_close("sample", &floats(categorical.sample(noise, 0.67)), &expected);
}

/// Slopes of a sample with respect to the logits against central differences of eq. 8 in double precision.
#[test]
fn gradients_pass_through_samples() {
    let device = Device::flex().autodiff();
    let (logits, noise, temperature) = ([0.4, -0.3, 1.1], [0.2, 1.5, -0.7], 0.67);
    let weights = [1.0, -2.0, 0.5];
    let value = |logits: [f64; 3]| {
        let total = logits.iter().map(|logit| logit.exp()).sum::<f64>().ln();
        let powers: Vec<f64> =
            (0..3).map(|class| ((logits[class] - total + noise[class]) / temperature).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().zip(weights).map(|(power, weight)| weight * power / sum).sum::<f64>()
    };
    let row = |values: [f64; 3]| Tensor::<2>::from_floats([values.map(|value| value as f32)], &device);
    let variable = row(logits).require_grad();
    let sample = Categorical::new(variable.clone()).sample(row(noise), temperature);
    let total = (sample * row(weights)).sum();
    assert!((f64::from(floats(total.clone())[0]) - value(logits)).abs() < 1e-6);
    let slopes = floats(variable.grad(&total.backward()).unwrap());
    for class in 0..3 {
        let moved = |step: f64| {
            let mut logits = logits;
            logits[class] += step;
            value(logits)
        };
        let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((f64::from(slopes[class]) - expected).abs() < 1e-5, "{class}: {} {expected}", slopes[class]);
    }
}

fn network(architecture: &str, latents: &str, images: ImageShape) -> Network {
    let assignments = vec![format!("model.architecture={architecture}"), format!("model.latents={latents}")];
    let preset = Some("shapes/beta-vae".to_owned());
    let config = Source { preset, assignments, ..Source::default() }.resolve().unwrap();
    Network::new(&config.model, images, 0, &Device::flex().autodiff()).unwrap()
}

#[test]
fn every_architecture_takes_any_mixture_of_units() {
    let images = ImageShape::new(32, 32, 1);
    for architecture in [
        "conv",
        "dlib",
        "burgess",
        "dupont-64",
        "dupont-32",
        "mathieu",
        "dcgan",
        "{ name = \"mlp\", encoder = [7], decoder = [5] }",
    ] {
        for (latents, continuous, categorical) in [
            ("{ continuous = 2, categorical = [3, 4] }", 2, &[3, 4][..]),
            ("{ continuous = 0, categorical = [5] }", 0, &[5]),
            ("{ continuous = 3 }", 3, &[]),
        ] {
            let network = network(architecture, latents, images);
            let device = network.device().clone();
            let batch = Tensor::<4>::ones([2, 32, 32, 1], &device);
            let mut statistics = Vec::new();
            let mut pass = Pass::Training(&mut statistics);
            let posterior = network.encode(batch.clone(), &mut pass);
            assert_eq!(posterior.continuous.dims(), [2, continuous]);
            let classes: Vec<usize> = posterior.categorical.iter().map(Categorical::classes).collect();
            assert_eq!(classes, categorical);

            let noise = NoiseSource::new(1, "noise").at(0, &posterior);
            let sample = posterior.sample(noise, 0.67).joined();
            assert_eq!(sample.dims(), [2, continuous + categorical.iter().sum::<usize>()]);
            let outputs = network.decode(sample, &mut pass);
            assert_eq!(outputs.dims(), [2, 32, 32, 1]);
            let loss = network.likelihood().negative_log_likelihood(outputs, batch).sum();
            let mut gradients = loss.backward();
            for parameter in network.parameters() {
                let slope = parameter.take_gradient(&mut gradients);
                let finite = slope.is_some_and(|slope| slope.iter().all(|slope| slope.is_finite()));
                assert!(finite, "{architecture} {latents}: {}", parameter.name());
            }
            let names: Vec<&str> = network.parameters().iter().map(|parameter| parameter.name()).collect();
            for unit in 0..categorical.len() {
                assert!(names.contains(&format!("encoder.categorical.{unit}.weight").as_str()), "{names:?}");
            }
        }
    }
}

#[test]
fn a_code_is_the_mean_and_the_most_likely_class() {
    let network = network("conv", "{ continuous = 2, categorical = [3, 2] }", ImageShape::new(16, 16, 1));
    let images = Tensor::<4>::ones([1, 16, 16, 1], network.device());
    let posterior = network.encode(images, &mut Pass::Inference);
    let code = floats(posterior.mode().joined());
    assert_eq!(code[..2], floats(posterior.continuous.moments().mean));
    for (unit, (place, classes)) in [(2, 3), (5, 2)].into_iter().enumerate() {
        let one_hot = &code[place..place + classes];
        let probabilities = floats(posterior.categorical[unit].probabilities());
        assert!((probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let most = probabilities.iter().fold(0.0_f32, |most, value| most.max(*value));
        for (hot, probability) in one_hot.iter().zip(probabilities) {
            assert_eq!(*hot, f32::from(u8::from(probability == most)));
        }
    }
}

/// The share of each class among many samples is its probability: what Gumbel noise is made for.
#[test]
fn the_most_likely_entry_of_samples_follows_the_probabilities() {
    let device = Device::flex();
    let probabilities = [0.1_f32, 0.6, 0.3];
    let count = 20_000;
    let logits = Tensor::<2>::from_floats([probabilities.map(f32::ln)], &device).repeat_dim(0, count);
    let empty = Tensor::zeros([count, 0], &device);
    let continuous = DiagonalGaussian { mean: empty.clone(), log_variance: empty };
    let posterior = Posterior {
        continuous: std::sync::Arc::new(continuous),
        categorical: vec![Categorical::new(logits)],
    };
    let noise = NoiseSource::new(2, "noise").at(3, &posterior);
    let samples = floats(posterior.sample(noise, 0.67).joined());
    let mut shares = [0.0_f64; 3];
    for row in samples.chunks_exact(3) {
        let best = (0..3).max_by(|left, right| row[*left].total_cmp(&row[*right])).unwrap();
        shares[best] += 1.0 / count as f64;
    }
    for (share, probability) in shares.into_iter().zip(probabilities.map(f64::from)) {
        // Five standard deviations of a share.
        let allowed = 5.0 * (probability * (1.0 - probability) / count as f64).sqrt();
        assert!((share - probability).abs() < allowed, "{share} {probability}");
    }
}
