//! `unbraid train --init`: weights to start from, known by their hash.

use crate::support::{Bench, assert_same, check_failure};
use std::fs;

#[test]
fn a_run_starts_from_given_weights_and_repeats() {
    let bench = Bench::new();
    bench.train("first", &[]).assert().success();
    bench.train("tuned", &["--init", "first"]).assert().success();
    let config = fs::read_to_string(bench.path("tuned/config.toml")).unwrap();
    let (_, hash) = config.split_once("sha256 = \"").unwrap();
    assert_eq!(hash.find('"'), Some(64), "{config}");

    // The loss goes on where the first run ended instead of where it began.
    let losses = |run: &str| -> Vec<f64> {
        let text = fs::read_to_string(bench.path(&format!("{run}/metrics.jsonl"))).unwrap();
        let rows = text.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        rows.map(|row| row["train/loss"].as_f64().unwrap()).collect()
    };
    let (first, tuned) = (losses("first"), losses("tuned"));
    assert!(tuned[0] < 0.5 * (first[0] + first[first.len() - 1]), "{first:?} {tuned:?}");

    // The written configuration alone repeats it, and so do the same weights from elsewhere, in the same file.
    bench
        .unbraid(&["train", "--config", "tuned/config.toml", "--out", "again", "--quiet"])
        .assert()
        .success();
    assert_same(&bench.path("tuned"), &bench.path("again"));
    fs::copy(bench.path("first/checkpoints/last.safetensors"), bench.path("weights.safetensors")).unwrap();
    bench.train("file", &["--init", "weights.safetensors"]).assert().success();
    let weights = |run: &str| fs::read(bench.path(&format!("{run}/checkpoints/last.safetensors"))).unwrap();
    assert!(weights("file") == weights("tuned"));

    // A finished run needs the weights no more; a new one refuses others.
    fs::write(bench.path("weights.safetensors"), weights("tuned")).unwrap();
    bench.unbraid(&["train", "--resume", "--out", "file", "--quiet"]).assert().success();
    let output = bench
        .unbraid(&["train", "--config", "file/config.toml", "--out", "other", "--quiet"])
        .output()
        .unwrap();
    let found = sha256(&weights("tuned"));
    let expected = &hash[..64];
    check_failure(
        &output,
        bench.directory.path(),
        2,
        &format!(
            "error: DIR/weights.safetensors: found weights with the hash {found}, expected {expected}, those of training.init"
        ),
    );
    assert!(!bench.path("other/config.toml").exists());
}

fn sha256(bytes: &[u8]) -> String {
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

#[test]
fn weights_of_another_model_are_refused_by_the_tensor() {
    let bench = Bench::new();
    bench.train("first", &["--set", "training.steps=2"]).assert().success();
    let refuse = |more: &[&str], message: &str| {
        let mut command = bench.train("second", &["--init", "first"]);
        let output = command.args(more).output().unwrap();
        check_failure(&output, bench.directory.path(), 2, message);
        assert!(!bench.path("second").exists());
    };
    let file = "error: DIR/first/checkpoints/last.safetensors: weights of another model";
    refuse(
        &["--set", "model.latents.continuous=4"],
        &format!("{file}: encoder.mu_logvar_gen.weight: found floats [6, 16], expected floats [8, 16]"),
    );
    refuse(
        &["--set", "model.architecture=conv"],
        &format!("{file}: encoder.conv1.weight: found floats [8, 1, 4, 4], expected floats [32, 1, 4, 4]"),
    );
    fs::create_dir(bench.path("empty")).unwrap();
    bench.refuse(
        &["train", "--config", "tiny.toml", "--init", "empty", "--out", "second"],
        "error: DIR/empty: not a run: no config.toml in it",
    );
    bench.refuse(
        &["train", "--resume", "--init", "first", "--out", "second"],
        "error: --init starts a new run; expected neither --extend nor --resume without a configuration",
    );
}
