//! Categorical units of a run in `unbraid evaluate`, and test points that the run never saw.

use crate::support::{Bench, check};
use ndarray::{Array4, ArrayView2};
use serde_json::Value;
use std::collections::BTreeMap;
use unbraid::Run;
use unbraid::evaluate::codes_file;

const JOINT: [&str; 6] = [
    "--set",
    "model.latents={ continuous = 2, categorical = [4, 2] }",
    "--set",
    "data.split=train",
    "--set",
    "training.steps=20",
];

/// The share of test points whose cluster's most common label among the training points is theirs; of labels that are
/// equally common, the smallest.
fn majority_accuracy(train: (&[i64], &[i64]), test: (&[i64], &[i64])) -> f64 {
    let mut counts: BTreeMap<i64, BTreeMap<i64, usize>> = BTreeMap::new();
    for (cluster, label) in train.0.iter().zip(train.1) {
        *counts.entry(*cluster).or_default().entry(*label).or_default() += 1;
    }
    let meaning = |cluster: &i64| {
        let counts = counts.get(cluster)?;
        let most = counts.values().max()?;
        counts.iter().find(|(_, count)| *count == most).map(|(label, _)| *label)
    };
    let right =
        test.0.iter().zip(test.1).filter(|(cluster, label)| meaning(cluster) == Some(**label)).count();
    right as f64 / test.0.len() as f64
}

fn column(array: ArrayView2<'_, i64>, place: usize) -> Vec<i64> {
    array.column(place).to_vec()
}

#[test]
fn clusters_are_labelled_on_training_images_and_judged_on_the_test_split() {
    let bench = Bench::new();
    bench.train("run", &JOINT).assert().success();
    let command = ["evaluate", "run", "--metrics", "cluster_accuracy", "--format", "json", "--quiet"];
    let output = bench.unbraid(&command).args(["--test-split", "--samples", "1000"]).output().unwrap();
    check(&output, &[]);
    let scores: Value = serde_json::from_slice(&output.stdout).unwrap();

    // 3 shapes x 2 scales x 2 orientations x 4 x 4 positions = 192 images, four fifths of them for training.
    let codes = codes_file::read(&bench.path("run/codes.npz")).unwrap();
    assert_eq!((codes.codes_train().dim(), codes.codes_test().dim()), ((154, 2), (38, 2)));
    let (train, test) = codes.clusters().unwrap();
    assert_eq!((train.ncols(), test.ncols()), (2, 2));
    // The pair that gains most over a single cluster on the training points, of several that gain as much any.
    let (mut gains, mut accuracies) = (Vec::new(), Vec::new());
    for unit in 0..2 {
        for factor in 0..codes.factors_train().ncols() {
            let (clusters, labels) = (column(train, unit), column(codes.factors_train(), factor));
            let fitted = (&clusters[..], &labels[..]);
            let one_cluster = vec![0; labels.len()];
            let single = (&one_cluster[..], &labels[..]);
            gains.push(majority_accuracy(fitted, fitted) - majority_accuracy(single, single));
            accuracies.push(majority_accuracy(
                fitted,
                (&column(test, unit), &column(codes.factors_test(), factor)),
            ));
        }
    }
    let most = gains.iter().copied().fold(0.0, f64::max);
    let mut best = gains.iter().zip(&accuracies).filter(|(gain, _)| most - **gain < 1e-12);
    let found = scores["cluster_accuracy"].as_f64().unwrap();
    assert!(best.any(|(_, accuracy)| (found - accuracy).abs() < 1e-12), "{found} {gains:?} {accuracies:?}");

    // Without the option, all points come from the images that the run was trained on.
    bench.unbraid(&command).assert().success();
    let codes = codes_file::read(&bench.path("run/codes.npz")).unwrap();
    assert_eq!((codes.codes_train().nrows(), codes.codes_test().nrows()), (103, 51));
}

#[test]
fn a_run_that_saw_all_images_has_no_test_split() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=5"]).assert().success();
    bench.refuse(
        &["evaluate", "run", "--test-split", "--quiet"],
        "error: --test-split: run: found a run that was not trained on the training split of its data, expected one with \
         data.split=train",
    );
    assert!(!bench.path("run/scores.json").exists());
}

#[test]
fn models_without_continuous_units_are_evaluated_by_their_classes() {
    let bench = Bench::new();
    let latents =
        ["--set", "model.latents={ continuous = 0, categorical = [4] }", "--set", "training.steps=20"];
    bench.train("run", &latents).assert().success();
    bench.succeed(&["evaluate", "run", "--metrics", "mig,cluster_accuracy", "--quiet"], &[]);
    let codes = codes_file::read(&bench.path("run/codes.npz")).unwrap();
    let (train, _) = codes.clusters().unwrap();
    assert_eq!(codes.codes_train(), train.mapv(|class| class as f64));
}

/// Latent rows have the means and a one-hot row for each categorical unit, and images are decoded from them.
#[test]
fn opened_runs_decode_classes() {
    let bench = Bench::new();
    bench.train("run", &JOINT).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    assert_eq!((run.units(), run.categorical_units()), (2, &[4, 2][..]));
    let images = Array4::from_shape_fn((70, 64, 64, 1), |(image, row, column, _)| {
        f32::from(u8::from((row * column + image) % 7 == 0))
    });
    let posteriors = run.encode(&images).unwrap();
    let latents = run.latents_of(&posteriors);
    assert_eq!(latents.dim(), (70, 8));
    for (image, row) in latents.rows().into_iter().enumerate() {
        for (unit, (first, classes)) in [(2, 4), (6, 2)].into_iter().enumerate() {
            let class = posteriors.categories[[image, unit]];
            for place in 0..classes {
                assert_eq!(row[first + place], f32::from(u8::from(place as i64 == class)));
            }
        }
        assert_eq!(row[0], posteriors.mean[[image, 0]]);
    }
    assert_eq!(run.reconstruct(&images).unwrap(), run.decode(&latents).unwrap());
    for row in run.draw_latents(50, 3).rows() {
        let ones = |range: std::ops::Range<usize>| range.map(|place| row[place]).sum::<f32>();
        assert_eq!((ones(2..6), ones(6..8)), (1.0, 1.0));
    }
}
