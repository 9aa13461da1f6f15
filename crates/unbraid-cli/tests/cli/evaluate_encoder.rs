//! `unbraid evaluate --encoder`: an encoder as an ONNX file, scored by the command.

use crate::support::Bench;
use serde_json::Value;
use std::fs;

const DATA: &str = "shapes(scales=2, orientations=2, positions=4)";

/// A trained run and its exported encoder.
fn exported() -> Bench {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    bench.succeed(&["export", "run", "--format", "onnx", "-o", "."], &["wrote ./encoder.onnx"]);
    bench
}

fn scores(bench: &Bench, arguments: &[&str]) -> Value {
    let common = ["--no-chance", "--format", "json", "--quiet"];
    let arguments = [&["evaluate"][..], arguments, &common].concat();
    serde_json::from_str(&bench.expect_output(&arguments)).unwrap()
}

/// The scores of the run, to what codes that differ in the seventh digit allow: the divergence is smooth, and
/// of the 5,000 votes of the FactorVAE score few are decided by so little.
#[test]
fn an_encoder_has_the_scores_of_its_run() {
    let bench = exported();
    let metrics = ["--metrics", "kl,factor_vae_score"];
    let own = scores(&bench, &[&["run"][..], &metrics].concat());
    let other = scores(&bench, &[&["--encoder", "encoder.onnx", "--data", DATA][..], &metrics].concat());
    for (key, tolerance) in [("kl", 1e-4), ("factor_vae_score", 1e-3)] {
        let (own, other) = (own[key].as_f64().unwrap(), other[key].as_f64().unwrap());
        assert!((own - other).abs() <= tolerance, "{key}: {own} {other}");
    }
    // All that apply: without a decoder there are no reconstructions, and everything else is there.
    let output = bench
        .unbraid(&["evaluate", "--encoder", "encoder.onnx", "--data", DATA, "--no-chance", "--format", "csv"])
        .output()
        .unwrap();
    let (table, notes) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for name in ["mig,", "dci,", "beta_vae_score,", "kl,"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name}: {table}");
    }
    assert!(!table.contains("reconstruction_error"), "{table}");
    assert!(
        notes.contains("encoder.onnx: 3 continuous units with log-variances, 0 categorical units"),
        "{notes}"
    );
    // The training split, and what is left of it.
    let train = "shapes(scales=2, orientations=2, positions=4, split=train)";
    let arguments = ["--encoder", "encoder.onnx", "--data", train, "--test-split", "--metrics", "mig"];
    assert!(scores(&bench, &arguments)["mig"].is_number());
}

#[test]
fn what_does_not_fit_is_refused() {
    let bench = exported();
    let whole = fs::read(bench.path("encoder.onnx")).unwrap();
    fs::write(bench.path("cut.onnx"), &whole[..whole.len() / 2]).unwrap();
    fs::write(bench.path("text.onnx"), "not a model").unwrap();
    let refuse = |arguments: &[&str], message: &str| {
        bench.refuse(&[&["evaluate", "--quiet"][..], arguments].concat(), message);
    };
    refuse(
        &["--encoder", "cut.onnx", "--data", DATA],
        "error: cut.onnx: found a damaged ONNX file, expected a whole one",
    );
    refuse(
        &["--encoder", "text.onnx", "--data", DATA],
        "error: text.onnx: found data of an unknown kind, expected an ONNX model",
    );
    refuse(
        &["--encoder", "encoder.onnx", "--data", "scenes(hues=2, scales=2, orientations=2)"],
        "error: encoder.onnx: found the input `images` of [batch, 1, 64, 64], expected images of 64 x 64 x 3 (height x width \
         x channels), those of scenes: [batch, 3, 64, 64] or [batch, 12288]",
    );
    refuse(
        &["--encoder", "encoder.onnx", "--data", DATA, "--encoder-output", "z"],
        "error: encoder.onnx: found the outputs `mean`, `log_variance`, expected one named `z`",
    );
    refuse(
        &[
            "--encoder",
            "encoder.onnx",
            "--data",
            DATA,
            "--encoder-output",
            "log_variance",
            "--representation",
            "sample",
        ],
        "error: representation: found sample, expected mean, since this encoder gives no log-variances",
    );
    refuse(
        &["--encoder", "encoder.onnx", "--data", "shapes(positions=4)", "--test-split"],
        "error: --data: found shapes(positions=4), expected the training split, as in mnist(split=train), whose rest is \
         scored",
    );
}
