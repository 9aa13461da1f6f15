//! Principal components and log-likelihoods against NumPy and SciPy (fixtures/make_pca.py).
use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;
use std::path::{Path, PathBuf};
use unbraid::Session;
use unbraid::config::{Config, PriorConfig, Source, VarianceRule, Variances};
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::storage::{ByteImages, Pixels};
use unbraid::data::{DataSet, Fingerprint, ImageShape, StoredImages};
use unbraid::evaluate::{LogLikelihood, Sampling};
use unbraid::model::principal_components::{Fit, PrincipalComponents};
use unbraid::model::{Network, Pass, StateTensor, Values, read_state};
use unbraid::prior::Prior;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn expected() -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture("pca.json")).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

fn config(more: &[&str]) -> Config {
    let path = format!("data={{ path = {:?} }}", fixture("pca.npz"));
    let mut assignments = vec![path, "model.latents.continuous=3".into(), "training.batch_size=60".into()];
    assignments.extend(more.iter().map(|more| (*more).to_owned()));
    Source { preset: Some("pca".into()), assignments, ..Source::default() }.resolve().unwrap()
}

fn data() -> Box<dyn DataSet> {
    unbraid::data::open(&config(&[]).data, &Silent).unwrap()
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    let values: Vec<f32> = tensor.into_data().try_into_vec().unwrap();
    values.into_iter().map(f64::from).collect()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{what}: {found} {expected}");
    }
}

/// A run of `pca` on the fixture, and the network that it leaves.
fn trained() -> (Network, Prior) {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    let config = config(&[]);
    Session::new(config.clone()).out(&run).execute(&Silent).unwrap();
    let metrics = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    assert!(metrics.contains("\"train/kl_unit/2\"") && metrics.lines().count() == 1, "{metrics}");

    let device = Device::flex();
    let (weights, _) = read_state(&run.join("checkpoints/last.safetensors")).unwrap();
    let mut network = Network::new(&config.model, ImageShape::new(6, 5, 3), 0, &device).unwrap();
    network.set_state(weights).unwrap();
    (network, Prior::new(&config.model.prior, 3, None, &device).unwrap())
}

fn images(data: &dyn DataSet) -> Tensor<4> {
    let mut pixels = vec![0.0; 60 * 90];
    let all: Vec<usize> = (0..60).collect();
    data.write_batch(&all, Stream::new(0, "test").at(0), &mut pixels).unwrap();
    Tensor::from_data(TensorData::new(pixels, [60, 6, 5, 3]), &Device::flex())
}

#[test]
fn variances_and_directions_are_those_of_numpys_singular_values() {
    let (data, expected) = (data(), expected());
    let fit = Fit { components: 3, images: None, tolerance: 1e-12, centred: true };
    let found = PrincipalComponents::fit(data.as_ref(), fit).unwrap();
    let variances = numbers(&expected["variances"]);
    assert_close("variances", &found.variances, &variances, 1e-10 * variances[0]);
    let total = expected["total_variance"].as_f64().unwrap();
    assert!((found.total_variance - total).abs() < 1e-10 * total);
    let products = found.directions.dot(&found.directions.t());
    for ((row, column), product) in products.indexed_iter() {
        let identity = f64::from(u8::from(row == column));
        assert!((product - identity).abs() < 1e-12, "{products}");
    }
}

/// Thirty images of thirty pixels with one bright pixel each, 240, 232, ..., 8: their matrix is diagonal, so
/// its singular values are these numbers, if it is not centred. The public code of Mathieu et al. takes the
/// twenty largest in ascending order, 88 to 240, and of their squares as many as there are units.
#[test]
fn the_second_form_of_the_pca_prior_takes_singular_values_of_uncentred_data() {
    let bright = |i: usize| 240 - 8 * i as u8;
    let pixels = (0..900).map(|at| if at / 30 == at % 30 { bright(at / 30) } else { 0 }).collect();
    let pixels = Pixels::Bytes(ByteImages::in_memory(30, pixels));
    let recipe = Fingerprint::Recipe("one bright pixel each".to_owned());
    let data = StoredImages::new("bright", ImageShape::new(5, 6, 1), pixels, None, recipe);
    let fit = Fit { components: 20, images: None, tolerance: 1e-12, centred: false };
    let found = PrincipalComponents::fit(&data, fit).unwrap();
    let squares: Vec<f64> = (0..20).map(|i| (f64::from(bright(i)) / 255.0).powi(2) / 30.0).collect();
    assert_close("squares", &found.variances, &squares, 1e-9);
    assert!(found.mean.iter().all(|mean| *mean == 0.0));

    let device = Device::flex();
    for units in [10_usize, 3, 20] {
        let rule = Variances::Rule(VarianceRule::UncentredSingularValues);
        let config = PriorConfig::Anisotropic { variances: rule, learned: false, scale: None };
        let prior = Prior::new(&config, units, Some(&data), &device).unwrap();
        let ascending: Vec<f64> = (0..units).map(|i| f64::from(88 + 8 * i as u32).powi(2)).collect();
        let mean = ascending.iter().sum::<f64>() / units as f64;
        let expected: Vec<f64> = ascending.iter().map(|square| square / mean).collect();
        let covariance = floats(prior.covariance());
        let diagonal: Vec<f64> = (0..units).map(|i| covariance[i * (units + 1)]).collect();
        assert_close("variances", &diagonal, &expected, 1e-5);
    }
    let set = |text: &str| Source::preset("mathieu-code/anisotropic").set(text).resolve();
    assert_eq!(
        set("model.latents.continuous=21").unwrap_err().to_string(),
        "configuration: model.prior.variances: found uncentred-singular-values for 21 units, expected at most 20 units, the \
         number of singular values"
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_a_part_of_the_images_nearly_the_same() {
    let spec = Source {
        assignments: vec!["data={ name = \"shapes\", orientations = 5, positions = 8 }".into()],
        ..Source::default()
    };
    let data = unbraid::data::open(&spec.resolve().unwrap().data, &Silent).unwrap();
    let fit = |threads: usize, images: Option<usize>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = Fit { components: 4, images, tolerance: 1e-3, centred: true };
        pool.install(|| PrincipalComponents::fit(data.as_ref(), fit)).unwrap().variances
    };
    let part = fit(1, Some(3000));
    assert_eq!(part, fit(3, Some(3000)));
    let whole = fit(2, None);
    for (part, whole) in part.iter().zip(&whole) {
        // sqrt(2 / 3000) = 2.6 % for a Gaussian; these are flatter.
        assert!((part / whole - 1.0).abs() < 0.1, "{part} {whole}");
    }
}

#[test]
fn the_run_encodes_and_decodes_as_numpy_does() {
    let (network, _) = trained();
    let (data, expected) = (data(), expected());
    let posterior = network.encode(images(data.as_ref()), &mut Pass::Inference).continuous.moments();
    let codes: Vec<Vec<f64>> = serde_json::from_value(expected["codes"].clone()).unwrap();
    let found = floats(posterior.mean.clone());
    for unit in 0..3 {
        let column: Vec<f64> = found.iter().copied().skip(unit).step_by(3).collect();
        // The sign of a direction is a matter of taste.
        let sign = (column[0] * codes[0][unit]).signum();
        let expected: Vec<f64> = codes.iter().map(|row| sign * row[unit]).collect();
        assert_close("codes", &column, &expected, 2e-5);
    }
    let variances = floats(posterior.log_variance.exp());
    assert_close("posterior variance", &variances[..3], &numbers(&expected["posterior_variance"]), 1e-6);
    let outputs = network.decode(posterior.mean, &mut Pass::Inference);
    let decoded = floats(network.likelihood().mean(outputs));
    assert_close("decoded", &decoded[..90], &numbers(&expected["reconstruction_of_first"]), 1e-5);
}

/// With the exact posterior, every importance weight is p(x) itself: one sample is enough.
#[test]
fn the_log_likelihood_is_scipys_whatever_the_samples() {
    let (network, prior) = trained();
    let (data, expected) = (data(), numbers(&expected()["log_likelihood"]));
    let all: Vec<usize> = (0..60).collect();
    for samples in [1, 7] {
        let sampling = Sampling { samples, rows: 3, seed: 5 };
        let found = LogLikelihood::measure(&network, &prior, data.as_ref(), &all, sampling, &Silent).unwrap();
        // About 150 nats from 90 pixels in single precision.
        assert_close("log-likelihood", &found.images, &expected, 2e-3);
        assert_close("bound", &found.bounds, &expected, 2e-3);
        assert!((found.mean() - expected.iter().sum::<f64>() / 60.0).abs() < 1e-3);
    }
}

/// A posterior that is too wide and off its place: the bound is low by KL(q || p(z|x)), known in closed form, and many
/// samples close the gap from below.
#[test]
fn many_samples_approach_the_log_likelihood_from_below() {
    let (mut network, prior) = trained();
    let exact = numbers(&expected()["log_likelihood"]);
    let variances = numbers(&expected()["posterior_variance"]);
    let (shift, widening) = (0.05, 0.5);
    let state: Vec<StateTensor> = network
        .state()
        .into_iter()
        .map(|mut tensor| {
            let amount = match tensor.name.as_str() {
                "encoder.mean.bias" => shift,
                "encoder.log_variance.bias" => widening,
                _ => 0.0,
            };
            if let Values::Floats(values) = &mut tensor.values {
                values.iter_mut().for_each(|value| *value += amount);
            }
            tensor
        })
        .collect();
    network.set_state(state).unwrap();
    let shift = f64::from(shift);
    let widening = f64::from(widening);
    let gap: f64 =
        variances.iter().map(|v| 0.5 * (widening.exp() - 1.0 - widening + shift * shift / v)).sum();

    let data = data();
    let indices: Vec<usize> = (0..20).collect();
    let exact = exact[..20].iter().sum::<f64>() / 20.0;
    let measure = |samples: usize| {
        let sampling = Sampling { samples, rows: 500, seed: 1 };
        LogLikelihood::measure(&network, &prior, data.as_ref(), &indices, sampling, &Silent).unwrap()
    };
    let many = measure(4000);
    // The mean of 80,000 logarithms of weights, whose standard deviation is of the size of the gap.
    let tolerance = 5.0 * (1.0 + gap) / (80_000.0_f64).sqrt() + 2e-3;
    assert!((exact - gap - many.mean_bound()).abs() < tolerance, "{exact} {gap} {}", many.mean_bound());
    let (few, some) = (measure(1), measure(20));
    assert!(few.mean() < some.mean() && some.mean() < many.mean() + 0.02, "{} {}", few.mean(), some.mean());
    assert!((many.mean() - exact).abs() < 0.02, "{} {exact}", many.mean());
    assert!(many.standard_error() > 0.0);
    assert_eq!(measure(20), some);
}

#[test]
fn what_pca_cannot_be_is_refused() {
    let refused = |set: &str| {
        let source =
            Source { preset: Some("pca".into()), assignments: vec![set.into()], ..Source::default() };
        source.resolve().unwrap_err().to_string()
    };
    for (set, message) in [
        ("model.architecture=conv", "model.architecture: found conv, expected linear"),
        (
            "model.likelihood=bernoulli",
            "model.likelihood: found { name = \"bernoulli\" }, expected { name = \"gaussian\", scale = \"learned\", \
             output = \"linear\" }",
        ),
        (
            "model.prior={ name = \"student-t\", degrees_of_freedom = 3 }",
            "model.prior: found student-t, expected standard-normal",
        ),
        ("training.steps=2", "training.steps: found 2, expected 1"),
        ("training.epochs=1", "training.steps: found nothing, expected 1"),
    ] {
        assert_eq!(refused(set), format!("configuration: {message}, since the objective is `pca`"));
    }
    assert_eq!(
        refused("model.latents.categorical=[3]"),
        "configuration: model.latents.categorical: found [3], expected [], since `pca` is defined for continuous units only"
    );
    assert_eq!(
        refused("objective.images=0"),
        "configuration: objective.images: found 0, expected at least 1"
    );
}

/// Principal components are a run like any other: encoded, scored, sampled and decoded by the same commands and calls.
#[test]
fn a_run_of_pca_is_evaluated_like_any_other() {
    let directory = tempfile::tempdir().unwrap();
    let source = Source::preset("pca")
        .set("data={ name = \"shapes\", scales = 2, orientations = 2, positions = 8 }")
        .set("training.batch_size=500")
        .set("model.latents.continuous=4")
        .set("evaluation.metrics=[\"mig\", \"sap\", \"dci\"]");
    let run = Session::new(source.resolve().unwrap()).out(directory.path()).execute(&Silent).unwrap();
    let scores = run.scores().unwrap().unwrap();
    // Position is most of what varies, and PCA of translated shapes finds waves rather than positions.
    let sap = scores.get("sap").unwrap();
    assert!(scores.get("mig").is_some() && (0.0..0.5).contains(&sap), "{scores:?}");

    let images = run.sample(3, 0).unwrap();
    assert_eq!(images.dim(), (3, 64, 64, 1));
    let again = run.reconstruct(&images).unwrap();
    // What lies in the span of the components is encoded and decoded nearly unchanged: a posterior mean is the code
    // times (variance - noise) / variance.
    let error =
        (&again - &images).mapv(|value| value * value).sum() / images.mapv(|value| value * value).sum();
    assert!(error < 0.01, "{error}");
}
