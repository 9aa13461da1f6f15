//! Training by both algorithms of convolutions.

use crate::support::Bench;
use serde_json::Value;
use std::fs;

/// The loss in the last row of `metrics.jsonl` after 300 steps.
fn final_loss(bench: &Bench, algorithm: &str, seed: &str) -> f64 {
    let out = format!("{algorithm}-{seed}");
    let seed = format!("seed={seed}");
    let more = [
        "--set",
        &seed,
        // Whole vectors of channels on every processor, so that Winograd's algorithm computes the inner layers.
        "--set",
        "model.architecture.channels=16",
        "--set",
        "training.steps=300",
        "--set",
        "training.log_every=50",
    ];
    bench.train(&out, &more).env("UNBRAID_CONV", algorithm).assert().success();
    let rows = fs::read_to_string(bench.path(&out).join("metrics.jsonl")).unwrap();
    let last: Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    last["train/loss"].as_f64().unwrap()
}

/// The two algorithms round differently, and training amplifies differences; after 300 steps they are still
/// smaller than those between seeds.
#[test]
fn training_ends_alike_by_winograd_and_by_the_definition() {
    let bench = Bench::new();
    let seeds = ["0", "1", "2", "3", "4"];
    let direct = seeds.map(|seed| final_loss(&bench, "direct", seed));
    let winograd = seeds.map(|seed| final_loss(&bench, "winograd", seed));
    let spread =
        direct.iter().copied().fold(f64::MIN, f64::max) - direct.iter().copied().fold(f64::MAX, f64::min);
    for (direct, winograd) in direct.iter().zip(&winograd) {
        assert!((direct - winograd).abs() < spread, "{direct} and {winograd}, spread over seeds {spread}");
    }
    // Otherwise both would be the same algorithm.
    assert_ne!(direct, winograd);
}

#[test]
fn an_unknown_algorithm_is_refused() {
    let bench = Bench::new();
    let output = bench.train("run", &[]).env("UNBRAID_CONV", "fast").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: UNBRAID_CONV: found \"fast\", expected `winograd` or `direct`\n"
    );
}
