//! Several samples of each posterior: the loss is the mean over images and samples (Kingma & Welling 2014, eq. 6 and 7;
//! Mushom 2020, section 3.3).

use crate::golden::{assert_close, floats, matrix, rows};
use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;
use unbraid::config::{Config, Initializer, Source};
use unbraid::data::storage::{ByteImages, Pixels};
use unbraid::data::{Fingerprint, ImageShape, StoredImages};
use unbraid::model::{Draw, Network, NoiseSource, Pass, StateTensor};
use unbraid::objective::{ForwardPass, Objective, Setting};
use unbraid::prior::Prior;
use unbraid::train::Trainer;

const UNITS: usize = 3;

/// A linear model of images of four pixels with Bernoulli likelihood.
fn config(objective: &str, prior: &str) -> Config {
    Source::default()
        .set("model.architecture=linear")
        .set("model.likelihood=bernoulli")
        .set("model.latents={ continuous = 3 }")
        .set(format!("model.prior={prior}"))
        .set(format!("objective={objective}"))
        .resolve()
        .unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// By `tools/golden_samples.py`: a closed divergence beside a reconstruction from three samples, a divergence
/// that is itself a mean over the samples, and terms of the aggregate posterior, which see the first sample
/// of each image.
#[test]
fn losses_and_gradients_of_three_samples_agree_with_double_precision() {
    let golden: Value = serde_json::from_str(include_str!("../golden/samples.json")).unwrap();
    let device = Device::flex().autodiff();
    let normal = "standard-normal";
    let student = "{ name = \"student-t\", degrees_of_freedom = 5 }";
    for (objective, prior, kl) in [
        ("{ name = \"vae\", samples = 3 }", normal, "kl"),
        ("{ name = \"beta-vae\", beta = 4, samples = 3 }", student, "kl_from_student"),
        ("{ name = \"beta-tcvae\", beta = 4, estimator = \"mws\", samples = 3 }", normal, "kl"),
    ] {
        let config = config(objective, prior);
        let name = config.objective.name();
        let shape = ImageShape::new(2, 2, 1);
        let mut network = Network::new(&config.model, shape, 0, &device).unwrap();
        let state = golden["state"].as_object().unwrap().iter().map(|(name, tensor)| {
            let shape: Vec<usize> = serde_json::from_value(tensor["shape"].clone()).unwrap();
            let values: Vec<f32> = serde_json::from_value(tensor["values"].clone()).unwrap();
            StateTensor::floats(name.clone(), shape, values)
        });
        network.set_state(state.collect()).unwrap();
        let (pixels, [batch, _]) = rows(&golden["images"]);
        let images = Tensor::<4>::from_data(TensorData::new(pixels, [batch, 2, 2, 1]), &device);

        let posterior = network.encode(images.clone(), &mut Pass::Inference).continuous;
        let Draw { value, log_density } = posterior.repeated(3).draw(matrix(&golden["noise"], &device));
        let outputs = network.decode(value.clone(), &mut Pass::Inference);
        let losses = network.likelihood().negative_log_likelihood(outputs, images.repeat_dim(0, 3));
        let prior = Prior::new(&config.model.prior, UNITS, None, &device).unwrap();
        let place = (0, usize::try_from(golden["dataset_size"].as_u64().unwrap()).unwrap());
        let draw = Draw { value, log_density };
        let mut forward = ForwardPass::with_posterior(place, &prior, posterior, draw, losses);
        forward.average_divergence();
        assert_eq!(forward.samples(), 3);

        let setting = Setting {
            seed: 0,
            units: UNITS,
            pixels: 4,
            initializer: Initializer::Pytorch,
            device: device.clone(),
        };
        let losses = Objective::new(&config.objective, &setting).evaluate(&forward);
        assert_close(name, &floats(losses.reconstruction), &[number(&golden["reconstruction"])]);
        assert_close(name, &floats(losses.kl.unwrap()), &[number(&golden[kl])]);
        let expected = &golden["objectives"][name];
        assert_close(name, &floats(losses.total.clone()), &[number(&expected["loss"])]);
        let mut gradients = losses.total.backward();
        for parameter in network.parameters() {
            let expected: Vec<f64> =
                serde_json::from_value(expected["gradients"][parameter.name()].clone()).unwrap();
            let found = parameter.take_gradient(&mut gradients).unwrap();
            assert_close(&format!("{name}: {}", parameter.name()), &found, &expected);
        }
    }
}

/// The first step of a run draws L samples of each posterior: its loss is the mean over all of them, written
/// out in double precision from the outputs of the network. All images are the same, so that the order of the
/// batch does not matter.
#[test]
fn a_training_step_decodes_every_sample() {
    const BATCH: usize = 5;
    const SAMPLES: usize = 4;
    let image = [0_u8, 255, 51, 204];
    let pixels = Pixels::Bytes(ByteImages::in_memory(4, image.repeat(BATCH)));
    let recipe = Fingerprint::Recipe("one image".to_owned());
    let data = StoredImages::new("one image", ImageShape::new(2, 2, 1), pixels, None, recipe);
    let mut config = config("{ name = \"vae\", samples = 4 }", "standard-normal");
    config.training.batch_size = BATCH;
    let mut trainer = Trainer::new(&config, &data, &unbraid::Device::cpu()).unwrap();

    let network = trainer.network();
    let image = image.map(|byte| f32::from(byte) / 255.0);
    let images =
        Tensor::<4>::from_data(TensorData::new(image.repeat(BATCH), [BATCH, 2, 2, 1]), network.device());
    let posterior = network.encode(images, &mut Pass::Inference);
    let moments = posterior.continuous.moments();
    let (means, log_variances) = (floats(moments.mean), floats(moments.log_variance));
    let kl = means.iter().zip(&log_variances).map(|(mean, log_variance)| {
        let (mean, log_variance) = (f64::from(*mean), f64::from(*log_variance));
        0.5 * (mean * mean + log_variance.exp() - 1.0 - log_variance)
    });
    let repeated = posterior.repeated(SAMPLES);
    let noise = NoiseSource::new(config.seed, "posterior noise").at(0, &repeated);
    let outputs = network.decode(repeated.sample(noise, 1.0).joined(), &mut Pass::Inference);
    let logits = floats(outputs);
    assert_eq!(logits.len(), SAMPLES * BATCH * 4);
    let losses = logits.iter().zip(image.iter().cycle()).map(|(logit, pixel)| {
        let (logit, pixel) = (f64::from(*logit), f64::from(*pixel));
        logit.exp().ln_1p() - pixel * logit
    });
    let expected = losses.sum::<f64>() / (SAMPLES * BATCH) as f64 + kl.sum::<f64>() / BATCH as f64;

    let found = trainer.advance().unwrap();
    // Single precision.
    assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
}
