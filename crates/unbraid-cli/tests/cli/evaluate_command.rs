//! `unbraid evaluate` as a user meets it: scores of published codes, formats, and wrong files.
use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use unbraid::data::formats::npz_writer::NpzWriter;

fn evaluate(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("unbraid").unwrap().arg("evaluate").args(arguments).output().unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = evaluate(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty() && !error.contains("panicked"), "{error}");
    error
}

/// Golden files stand with the metrics.
fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid-metrics/tests/golden").join(file)
}

/// The numbers that the reference implementation computed, through the whole command.
#[test]
fn published_codes_get_the_reference_scores() {
    let (codes, expected) = (golden("btcvae.npz"), golden("btcvae.json"));
    let output = evaluate(&[
        "--codes",
        codes.to_str().unwrap(),
        "--format",
        "json",
        "--metrics",
        "mig,modularity,irs,sap-continuous,gaussian_total_correlation,mutual_info_score",
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(expected).unwrap()).unwrap();
    for key in ["mig", "modularity", "irs", "gaussian_total_correlation", "mutual_info_score"] {
        let (found, expected) = (found[key].as_f64().unwrap(), expected[key].as_f64().unwrap());
        assert!((found - expected).abs() < 1e-6, "{key}: {found} {expected}");
    }
    assert_eq!(found["details"]["mutual_information"].as_array().unwrap().len(), 10);
    assert!(found.get("dci_disentanglement").is_none(), "only what was asked for");
}

/// Sixty points whose first unit is the first factor and whose second unit is noise-like.
fn small_file(directory: &Path) -> PathBuf {
    let path = directory.join("codes.npz");
    let mut npz = NpzWriter::new(std::fs::File::create(&path).unwrap());
    let codes = (0..60).flat_map(|i| [f64::from(i % 3), f64::from(i * 37 % 11)]);
    npz.floats("codes", &[60, 2], codes).unwrap();
    npz.integers("factors", &[60, 1], (0..60).map(|i| i % 3)).unwrap();
    npz.strings("factor_names", &["shape".to_owned()]).unwrap();
    npz.finish().unwrap();
    path
}

#[test]
fn every_format_has_the_same_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = small_file(directory.path());
    let run = |format: &str| {
        let output = evaluate(&["--codes", path.to_str().unwrap(), "--metrics", "mig", "--format", format]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&run("json")).unwrap();
    let mig = json["mig"].as_f64().unwrap();
    // The first unit determines the factor, the second knows next to nothing of it.
    assert!(mig > 0.5 && mig <= 1.0, "{mig}");
    assert!(run("csv").lines().nth(1).unwrap().starts_with(&format!("mig,mig,{mig},0,")));
    assert!(run("table").contains(&format!("{mig:.4} ↑")));
    assert!(run("table").lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn wrong_requests_and_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = small_file(directory.path());
    let file = path.to_str().unwrap();
    assert!(refused(&["--codes", file, "--metrics", "mgi"]).contains("did you mean `mig`?"));
    assert!(refused(&["--codes", "no/such.npz"]).contains("no/such.npz: cannot open"));
    assert!(refused(&["--codes", file, "--metrics", "kl"]).contains("log-variances"));
    let write = |write: &dyn Fn(&mut NpzWriter<std::fs::File>)| {
        let path = directory.path().join("bad.npz");
        let mut npz = NpzWriter::new(std::fs::File::create(&path).unwrap());
        write(&mut npz);
        npz.finish().unwrap();
        let error = refused(&["--codes", path.to_str().unwrap()]);
        assert!(error.contains("bad.npz"), "{error}");
        error
    };
    let error = write(&|npz| npz.floats("z", &[2, 2], [0.0; 4].into_iter()).unwrap());
    assert!(error.contains("only the arrays z") && error.contains("`codes_train`"), "{error}");
    let error = write(&|npz| {
        npz.floats("codes", &[3, 1], [0.0, f64::NAN, 1.0].into_iter()).unwrap();
        npz.integers("factors", &[3, 1], 0..3).unwrap();
    });
    assert!(error.contains("NaN"), "{error}");
    let error = write(&|npz| {
        npz.floats("codes", &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
        npz.floats("factors", &[3, 1], [0.0, 0.5, 1.0].into_iter()).unwrap();
    });
    assert!(error.contains("`factors`: found 0.5, expected whole numbers"), "{error}");
    let error = write(&|npz| {
        npz.floats("codes", &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
        npz.integers("factors", &[2, 1], 0..2).unwrap();
    });
    assert!(error.contains("found 2 rows"), "{error}");
    let error = write(&|npz| {
        npz.floats("codes_train", &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
        npz.integers("factors_train", &[3, 1], 0..3).unwrap();
    });
    assert!(error.contains("an array `codes_test`"), "{error}");
}
