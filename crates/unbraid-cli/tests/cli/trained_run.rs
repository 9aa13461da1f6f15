//! The library's view of a trained run: codes that depend on nothing but their image, and clear errors.

use crate::support::{Bench, without_directory};
use ndarray::{Array4, Axis, concatenate};
use std::fs;
use std::path::Path;
use unbraid::burn::tensor::{Tensor, TensorData};
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, open};
use unbraid::model::Pass;
use unbraid::run::OpenOptions;
use unbraid::{ErrorKind, Result, Run, error_chain};

fn at_step(path: &Path, step: u64) -> Result<Run> {
    Run::open_with(path, OpenOptions { step: Some(step), ..OpenOptions::default() })
}

/// All images of the run's data.
fn images(data: &dyn DataSet) -> Array4<f32> {
    let shape = data.shape();
    let mut images = Array4::zeros((data.len(), shape.height, shape.width, shape.channels));
    let all: Vec<usize> = (0..data.len()).collect();
    let noise = Stream::new(0, "test").at(0);
    data.write_batch(&all, noise, images.as_slice_mut().unwrap()).unwrap();
    images
}

#[test]
fn a_result_depends_on_its_own_image_alone() {
    let bench = Bench::new();
    // Batch normalisation, odd numbers of units and channels, and a fully connected network round differently.
    for (out, set) in [
        ("burgess", "model.architecture={ name = \"burgess\", channels = 8, hidden = 16 }"),
        ("dcgan", "model.architecture=dcgan"),
        ("mlp", "model.architecture={ name = \"mlp\", encoder = [37], decoder = [41] }"),
    ] {
        bench.train(out, &["--set", set, "--set", "training.steps=2"]).assert().success();
        let run = Run::open(bench.path(out)).unwrap();
        let data = open(&run.config().data, &Silent).unwrap();
        let images = images(data.as_ref());
        let together = run.encode(&images).unwrap();
        assert_eq!(together.mean.dim(), (192, 3));

        // Backwards in memory, so that images are read where they lie and not in one run.
        let mut backwards = images.view();
        backwards.invert_axis(Axis(0));
        let mut backwards = run.encode(&backwards).unwrap();
        backwards.mean.invert_axis(Axis(0));
        assert_eq!(backwards.mean, together.mean, "{out}");
        let few: Vec<usize> = vec![150, 3, 64, 3];
        let some = run.encode(&images.select(Axis(0), &few)).unwrap();
        assert_eq!(some.mean, together.mean.select(Axis(0), &few), "{out}");
        assert_eq!(some.log_variance, together.log_variance.select(Axis(0), &few), "{out}");
        let read = run.encode_data(data.as_ref(), &few, Stream::new(0, "test"), &Silent).unwrap();
        assert_eq!(read, some, "{out}");

        let decoded = run.decode(&together.mean).unwrap();
        assert_eq!(run.decode(&some.mean).unwrap(), decoded.select(Axis(0), &few), "{out}");
        assert_eq!(run.reconstruct(&images).unwrap(), decoded, "{out}");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (encoded, again) =
                pool.install(|| (run.encode(&images).unwrap(), run.decode(&together.mean).unwrap()));
            assert!(encoded == together && again == decoded, "{out} on {threads} threads");
        }
    }
}

/// Batches are a matter of speed: the network itself, on all images at once, computes the same up to rounding.
#[test]
fn codes_and_images_are_those_of_the_network() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    assert_eq!((run.step(), run.units(), run.config().seed), (60, 3, 5));
    let data = open(&run.config().data, &Silent).unwrap();
    let images = images(data.as_ref());
    let shape = [192, 64, 64, 1];
    let tensor = Tensor::<4>::from_data(
        TensorData::new(images.iter().copied().collect(), shape),
        run.network().device(),
    );
    let posterior = run.network().encode(tensor, &mut Pass::Inference).continuous.moments();
    let expected = run.network().decode(posterior.mean.clone(), &mut Pass::Inference);
    let expected: Vec<f32> = run.network().likelihood().mean(expected).into_data().try_into_vec().unwrap();
    let means: Vec<f32> = posterior.mean.into_data().try_into_vec().unwrap();
    let log_variances: Vec<f32> = posterior.log_variance.into_data().try_into_vec().unwrap();

    let found = run.encode(&images).unwrap();
    let decoded = run.reconstruct(&images).unwrap();
    let pairs = found.mean.iter().zip(&means).chain(found.log_variance.iter().zip(&log_variances));
    for (found, expected) in pairs.chain(decoded.iter().zip(&expected)) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
    assert!(decoded.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
}

#[test]
fn samples_are_a_function_of_the_seed_and_their_number() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    let (three, five) = (run.sample(3, 7).unwrap(), run.sample(5, 7).unwrap());
    assert_eq!(three, five.select(Axis(0), &[0, 1, 2]));
    assert_ne!(run.sample(3, 8).unwrap(), three);
    assert_eq!(run.sample(0, 7).unwrap().dim(), (0, 64, 64, 1));
    // 4,000 values of N(0, 1): their mean has a deviation of 0.016, their variance one of 0.022; five of each.
    let drawn = run.draw_latents(1334, 0);
    let (mean, variance) = (drawn.mean().unwrap(), drawn.var(0.0));
    assert!(mean.abs() < 0.08 && (variance - 1.0).abs() < 0.11, "{mean} {variance}");
}

#[test]
fn latents_come_from_the_prior_of_the_run() {
    let bench = Bench::new();
    let prior = "model.prior={ name = \"anisotropic\", variances = [4.0, 0.25, 1.0] }";
    bench.train("run", &["--set", "training.steps=1", "--set", prior]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    let drawn = run.draw_latents(4000, 1);
    for (unit, variance) in [4.0, 0.25, 1.0].into_iter().enumerate() {
        let found = drawn.column(unit).iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / 4000.0;
        // The mean of 4000 squares has a standard error of sqrt(2 / 4000) = 2.2 % of itself.
        assert!((found / variance - 1.0).abs() < 0.11, "unit {unit}: {found} {variance}");
    }
    // The 97.5 % quantile of N(0, 4).
    assert!((run.prior().quantile(0, 0.975) - 2.0 * 1.959_964).abs() < 1e-4);
}

/// The divergences of a run against the formulas, from the posteriors that it gives.
#[test]
fn divergences_are_those_of_the_posteriors() {
    let bench = Bench::new();
    let latents = "model.latents={ continuous = 2, categorical = [3, 2] }";
    bench.train("run", &["--set", "training.steps=2", "--set", latents]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    let data = open(&run.config().data, &Silent).unwrap();
    let posteriors = run.encode(&images(data.as_ref())).unwrap();
    let found = run.divergences(&posteriors, 0);
    let count = posteriors.mean.nrows() as f64;
    let mut expected = Vec::new();
    for unit in 0..2 {
        let pairs = posteriors
            .mean
            .column(unit)
            .to_vec()
            .into_iter()
            .zip(posteriors.log_variance.column(unit).to_vec());
        let each = pairs.map(|(mean, log)| {
            let (mean, variance) = (f64::from(mean), f64::from(log).exp());
            (mean * mean + variance - variance.ln() - 1.0) / 2.0
        });
        expected.push(each.sum::<f64>() / count);
    }
    for (columns, classes) in [(0..3, 3.0_f64), (3..5, 2.0)] {
        let mut sum = 0.0;
        for row in posteriors.probabilities.rows() {
            let own: Vec<f64> = columns.clone().map(|class| f64::from(row[class])).collect();
            assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{own:?}");
            // KL(p || uniform) = sum_k p_k ln(p_k d)
            sum += own.iter().map(|share| share * (share * classes).ln()).sum::<f64>();
        }
        expected.push(sum / count);
    }
    assert_eq!(found.len(), 4);
    for (found, expected) in found.iter().zip(&expected) {
        // Single precision, at magnitudes up to one.
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    // The most likely class has the largest probability.
    for (row, classes) in posteriors.probabilities.rows().into_iter().zip(posteriors.categories.rows()) {
        for (columns, &class) in [0..3, 3..5].into_iter().zip(classes) {
            let own: Vec<f32> = columns.map(|column| row[column]).collect();
            assert!(own.iter().all(|share| *share <= own[class as usize]));
        }
    }
}

#[test]
fn an_unfinished_run_and_an_earlier_checkpoint_can_be_opened() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    fs::remove_file(bench.path("run/status.json")).unwrap();
    fs::remove_file(bench.path("run/meta.json")).unwrap();
    let images =
        images(open(&Run::open(bench.path("run")).unwrap().config().data, &Silent).unwrap().as_ref());
    let [last, early, final_step] = [None, Some(20), Some(60)].map(|step| match step {
        None => Run::open(bench.path("run")).unwrap(),
        Some(step) => at_step(&bench.path("run"), step).unwrap(),
    });
    assert_eq!((last.step(), early.step()), (60, 20));
    let [last, early, final_step] = [last, early, final_step].map(|run| run.encode(&images).unwrap());
    assert_eq!(last, final_step);
    assert_ne!(last, early);
}

#[test]
fn what_cannot_be_opened_or_encoded_is_explained() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    let refused = |path: &str, step: Option<u64>| {
        let path = bench.path(path);
        let opened = step.map_or_else(|| Run::open(&path), |step| at_step(&path, step));
        let failure = opened.err().unwrap();
        assert_eq!(failure.kind(), ErrorKind::Input, "{failure}");
        without_directory(&error_chain(&failure), bench.directory.path())
    };
    assert_eq!(refused("none", None), "DIR/none: not a run: no such directory");
    assert_eq!(refused("tiny.toml", None), "DIR/tiny.toml: not a run: it is a file");
    fs::create_dir(bench.path("empty")).unwrap();
    assert_eq!(refused("empty", None), "DIR/empty: not a run: no config.toml in it");
    assert_eq!(
        refused("run", Some(1)),
        "DIR/run/checkpoints/step-0000001.safetensors: no such checkpoint; the run kept only the last one"
    );
    fs::copy(bench.path("run/config.toml"), bench.path("empty/config.toml")).unwrap();
    assert_eq!(
        refused("empty", None),
        "DIR/empty/checkpoints/last.safetensors: no such checkpoint; the run has not written its first checkpoint yet \
         (training.checkpoint_every)"
    );

    // Weights of another program, half of them, and those of another configuration.
    let weights = bench.path("run/checkpoints/last.safetensors");
    let ours = fs::read(&weights).unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../unbraid/tests/fixtures/burgess.safetensors");
    fs::copy(fixture, &weights).unwrap();
    let last = |message: &str| format!("DIR/run/checkpoints/last.safetensors: {message}");
    assert_eq!(
        refused("run", None),
        last("found a safetensors file of another program, expected a checkpoint written by unbraid")
    );
    fs::write(&weights, &ours[..ours.len() / 2]).unwrap();
    assert_eq!(
        refused("run", None),
        last("not a complete safetensors file: incomplete metadata, file not fully covered")
    );
    fs::write(&weights, &ours).unwrap();
    let config = fs::read_to_string(bench.path("run/config.toml")).unwrap();
    fs::write(bench.path("run/config.toml"), config.replace("seed = 5", "seed = 6")).unwrap();
    assert_eq!(
        refused("run", None),
        last("found a checkpoint of another configuration, expected that of the run's config.toml")
    );
    fs::write(bench.path("run/config.toml"), "seed = = 5").unwrap();
    assert_eq!(
        refused("run", None),
        "DIR/run/config.toml: TOML parse error at line 1, column 8\n  |\n1 | seed = = 5\n  |        ^\n\
         extra `=`, expected nothing"
    );

    fs::write(bench.path("run/config.toml"), config).unwrap();
    let run = Run::open(bench.path("run")).unwrap();
    let error = |error: unbraid::Error| without_directory(&error_chain(&error), bench.directory.path());
    assert_eq!(
        error(run.encode(&Array4::zeros((1, 32, 64, 1))).unwrap_err()),
        "images: found images of 32 x 64 x 1, expected 64 x 64 x 1 (height x width x channels), those of DIR/run"
    );
    let latents = run.draw_latents(2, 0);
    assert_eq!(
        error(run.decode(&concatenate![Axis(1), latents, latents]).unwrap_err()),
        "latent values: found 6 columns, expected 3, one for each unit of DIR/run"
    );
    assert_eq!(run.encode(&Array4::zeros((0, 64, 64, 1))).unwrap().mean.dim(), (0, 3));
}
