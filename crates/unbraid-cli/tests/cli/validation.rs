//! Images that are held out: the losses on them, early stopping, and the best weights.

use crate::support::{Bench, assert_same, check, metrics};
use serde_json::Value;
use std::fs;
use std::path::Path;
use unbraid::Run;
use unbraid::data::progress::Silent;
use unbraid::data::{DataSet, Subset};
use unbraid::inference::input;

/// The rows that have a held-out loss: step and losses.
fn held_out(run: &Path) -> Vec<(u64, Value)> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row.get("validation/loss").is_some())
        .map(|row| (row["step"].as_u64().unwrap(), row))
        .collect()
}

/// -ln p(x|z) of Bernoulli pixels, summed over pixels, mean over images.
fn cross_entropy(images: &[f32], probabilities: &[f32], count: usize) -> f64 {
    let each = images.iter().zip(probabilities).map(|(&x, &p)| {
        let (x, p) = (f64::from(x), f64::from(p));
        -(x * p.ln() + (1.0 - x) * (1.0 - p).ln())
    });
    each.sum::<f64>() / count as f64
}

/// An autoencoder decodes the mean, so that the loss on the held-out images follows from their reconstructions.
#[test]
fn the_held_out_loss_is_that_of_the_images_that_were_not_trained_on() {
    let bench = Bench::new();
    let more = [
        "--set",
        "objective.name=autoencoder",
        "--set",
        "training.validation=0.25",
        "--set",
        "training.validate_every=21",
        "--set",
        "training.steps=42",
    ];
    bench.train("run", &more).assert().success();
    let rows = held_out(&bench.path("run"));
    assert_eq!(rows.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [21, 42]);

    let run = Run::open(bench.path("run")).unwrap();
    let data = input::open_own(&run, &Silent).unwrap();
    let (train, others) = Subset::split(data.as_ref(), 48, 0);
    assert_eq!((train.len(), others.len()), (144, 48));
    let images = input::read(&others, &(0..48).collect::<Vec<_>>()).unwrap();
    let reconstructions = run.reconstruct(&images).unwrap();
    let expected =
        cross_entropy(images.as_slice().unwrap(), reconstructions.as_slice().unwrap(), images.dim().0);
    let found = rows[1].1["validation/reconstruction"].as_f64().unwrap();
    // Single precision over 4096 pixels; probabilities near 0 and 1 lose digits.
    assert!((found - expected).abs() < 1e-3 * expected, "{found} and {expected}");
    assert_eq!(rows[1].1["validation/loss"].as_f64(), Some(found), "an autoencoder has no other term");
}

/// 24 images, a small beta and a large learning rate: after a while, only the images that are trained on get better.
const OVERFITTING: [&str; 18] = [
    "--set",
    "data=shapes(scales=1, orientations=1, positions=4)",
    "--set",
    "objective.beta=0.1",
    "--set",
    "training.validation=0.5",
    "--set",
    "training.log_every=5",
    "--set",
    "training.validate_every=10",
    "--set",
    "training.early_stop={ patience = 4 }",
    "--set",
    "training.keep_best=true",
    "--set",
    "training.steps=2000",
    "--set",
    "optimizer.learning_rate=3e-3",
];

#[test]
fn a_run_that_overfits_stops_and_keeps_its_best_weights() {
    let bench = Bench::new();
    let output =
        bench.unbraid(&[&["train", "--config", "tiny.toml", "--out", "run"], &OVERFITTING[..]].concat());
    let output = { output }.output().unwrap();
    let notes = check(&output, &["stopped early at step "]);
    let rows = held_out(&bench.path("run"));
    let loss = |row: &Value, key: &str| row[key].as_f64().unwrap();
    let best = rows
        .iter()
        .min_by(|(_, left), (_, right)| {
            loss(left, "validation/loss").total_cmp(&loss(right, "validation/loss"))
        })
        .unwrap();
    let (last_step, last) = rows.last().unwrap();
    assert_eq!(*last_step, best.0 + 4 * 10, "four validations without a new best");
    assert!(*last_step < 2000 && loss(last, "train/loss") < loss(&best.1, "train/loss"), "{last}");
    let stopped = format!(
        "stopped early at step {last_step}: the held-out loss has not improved since step {}",
        best.0
    );
    assert!(notes.lines().any(|line| line == stopped), "{notes}");
    // A log has no bar, but the total, what is held out, and when it will be done.
    let line = notes.lines().find(|line| line.starts_with("step ")).unwrap();
    assert!(line.starts_with("step 5 of 2000: loss ") && line.ends_with(" left"), "{line}");
    // The run is used with its best weights.
    assert_eq!(Run::open(bench.path("run")).unwrap().step(), best.0);
    assert!(bench.path("run/checkpoints/best.safetensors").exists());
    let summary = String::from_utf8(output.stdout).unwrap();
    let weights = summary.lines().find(|line| line.starts_with("weights ")).unwrap();
    assert!(weights.ends_with(&format!(" step {} (best)", best.0)), "{summary}");
    // The best and the last step can be named, whatever else was kept.
    for step in [best.0, *last_step].map(|step| step.to_string()) {
        let sample = ["sample", "run", "--quiet", "-n", "1", "-o", "a.png", "--overwrite", "--step", &step];
        bench.succeed(&sample, &[]);
    }
    let refused = bench.unbraid(&["report", "run", "--step", "1"]).output().unwrap();
    let message = String::from_utf8(refused.stderr).unwrap();
    let kept =
        "error: run/checkpoints/step-0000001.safetensors: no such checkpoint; the run kept those of steps ";
    let kept: Vec<&str> = message.trim_end().strip_prefix(kept).unwrap().split(", ").collect();
    assert!(kept.contains(&best.0.to_string().as_str()), "{message}");
    let status: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("run/status.json")).unwrap()).unwrap();
    assert_eq!((status["state"].as_str(), status["step"].as_u64()), (Some("done"), Some(*last_step)));
    // It is done: neither resuming nor more steps go on, as it would have ended likewise if planned longer.
    let before = metrics(&bench.path("run"));
    let resumed = bench.unbraid(&["train", "--resume", "--out", "run"]).output().unwrap();
    check(&resumed, &[&format!("run: already finished after {last_step} steps")]);
    let extended = bench.unbraid(&["train", "--extend", "3000", "--out", "run"]).output().unwrap();
    let why = format!(
        "run: already finished after {last_step} steps: it stopped early, since the held-out loss has not improved since step {}",
        best.0
    );
    check(&extended, &[&why, "hint: to train on with more patience, start a new run from its weights: "]);
    let more = ["--config", "run/config.toml", "--init", "run", "--set", "training.early_stop.patience=9"];
    bench.succeed(&[&["train", "--quiet", "--steps", "5", "--out", "more"], &more[..]].concat(), &[]);
    assert_eq!(metrics(&bench.path("run")), before);
}

/// The course of the held-out loss is part of a checkpoint: a run in two pieces is the same as one in one piece.
#[test]
fn validation_survives_an_interruption_to_the_bit() {
    let bench = Bench::new();
    let shorter = |steps: &'static str| {
        let mut more = OVERFITTING.to_vec();
        more.extend(["--set", steps]);
        more
    };
    bench.train("whole", &shorter("training.steps=60")).assert().success();
    bench.train("pieces", &shorter("training.steps=34")).assert().success();
    bench.succeed(&["train", "--quiet", "--extend", "60", "--out", "pieces"], &[]);
    assert_same(&bench.path("whole"), &bench.path("pieces"));
}

#[test]
fn the_test_split_can_be_held_out() {
    let bench = Bench::new();
    let test = [
        "--set",
        "training.validation=test",
        "--set",
        "training.validate_every=7",
        "--set",
        "training.steps=7",
    ];
    bench.train("run", &[&["--set", "data.split=train"], &test[..]].concat()).assert().success();
    assert_eq!(held_out(&bench.path("run")).len(), 1);
    let output = bench.train("other", &test).output().unwrap();
    let message = "error: configuration: training.validation: found test, expected a fraction such as 0.1, or data.split = \
                   \"train\": the run is to be trained on other images than those of `split=train`";
    crate::support::check_failure(&output, bench.directory.path(), 2, message);
    let output = bench.train("other", &["--set", "training.validation=0.97"]).output().unwrap();
    let message = "error: configuration: training.batch_size: found 8, expected at most 6, the number of images of `shapes` \
                   that are not held out";
    crate::support::check_failure(&output, bench.directory.path(), 2, message);
}
