//! `unbraid evaluate` as a user meets it: scores of published codes, formats, and wrong files.
use crate::support::Bench;
use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use unbraid::data::formats::npz_writer::NpzWriter;

fn evaluate(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("unbraid").unwrap().arg("evaluate").args(arguments).output().unwrap()
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

/// A thousand points of two units: the first is a real-valued weight, the second is noise. Beside the weight
/// there is a name that is different for every point, and a class that has nothing to do with the codes.
fn numbers_file(directory: &Path) {
    let mut npz = NpzWriter::new(std::fs::File::create(directory.join("numbers.npz")).unwrap());
    // Fractional parts of multiples of irrational numbers are as good as random, and never repeat.
    let fraction = |i: i32, step: f64| (f64::from(i) * step).fract();
    let codes = (0..1000).flat_map(|i| [fraction(i, 0.618_033_988_75), fraction(i, 0.414_213_562_37)]);
    npz.floats("codes", &[1000, 2], codes).unwrap();
    let class = |i: i32| (fraction(i, 0.732_050_807_57) * 3.0).floor();
    let factors =
        (0..1000).flat_map(|i| [50.0 + 20.0 * fraction(i, 0.618_033_988_75), f64::from(i), class(i)]);
    npz.floats("factors", &[1000, 3], factors).unwrap();
    let strings = |words: [&str; 3]| words.map(str::to_owned);
    npz.strings("factor_names", &strings(["weight", "id", "class"])).unwrap();
    npz.strings("factor_kinds", &strings(["ordered", "categorical", "categorical"])).unwrap();
    npz.finish().unwrap();
}

#[test]
fn real_numbers_are_numbers_and_what_means_nothing_is_at_chance() {
    let directory = tempfile::tempdir().unwrap();
    numbers_file(directory.path());
    let path = directory.path().join("numbers.npz");
    let run = |more: &[&str]| {
        let output = evaluate(&[&["--codes", path.to_str().unwrap()], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let names = "sap_continuous,dci,attribute_accuracy";
    let json: Value =
        serde_json::from_str(&run(&["--metrics", names, "--bootstrap", "20", "--format", "json"])).unwrap();
    let notes: Vec<&str> =
        json["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert_eq!(
        notes,
        [
            "factor `weight` takes 667 values on 667 points: a number; where a score needs classes, twenty of equal size \
             stand for them",
            "factor `id` takes 667 values on 667 points: left out, since names that hardly ever repeat are no classes",
        ]
    );
    // The weight is a linear function of the first unit.
    let correlation = &json["details"]["sap_continuous_matrix"];
    assert!((correlation[0][0].as_f64().unwrap() - 1.0).abs() < 1e-9, "{correlation}");
    assert!(json["chance"]["sap_continuous"].as_f64().unwrap() < 0.05);
    let [low, high] = [0, 1].map(|end| json["interval"]["sap_continuous"][end].as_f64().unwrap());
    let value = json["sap_continuous"].as_f64().unwrap();
    assert!(low <= value + 0.02 && value <= high + 0.02 && low < high, "{low} {value} {high}");
    // A class of three that codes do not know: no better than its majority of about a third.
    let class = json["attribute_accuracy/class"].as_f64().unwrap();
    let majority = json["majority"]["attribute_accuracy/class"].as_f64().unwrap();
    assert!((class - majority).abs() < 0.08 && (majority - 2.0 / 3.0).abs() < 0.05, "{class} {majority}");
    let without: Value =
        serde_json::from_str(&run(&["--metrics", "sap_continuous", "--no-chance", "--format", "json"]))
            .unwrap();
    assert!(without.get("chance").is_none() && without.get("interval").is_none());
    let table = run(&["--metrics", "sap_continuous,modularity"]);
    assert!(table.contains("chance: the same with the factors of all points shuffled"), "{table}");
    // Notes are wrapped at 80 columns.
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains(&format!("note: {}", notes[1])), "{table}");
}

#[test]
fn a_single_factor_has_no_scores_that_compare_factors() {
    let directory = tempfile::tempdir().unwrap();
    let path = small_file(directory.path());
    let output = evaluate(&["--codes", path.to_str().unwrap(), "--metrics", "factor_vae_score,mig"]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("factor_vae_score        n/a  compares factors, and only one varies\n"),
        "{table}"
    );
    assert!(table.lines().any(|line| line.starts_with("mig ") && line.contains('↑')), "{table}");
}

#[test]
fn wrong_requests_and_files_are_refused() {
    let bench = Bench::new();
    small_file(bench.directory.path());
    let refused = |more: &[&str], message: &str| {
        bench.refuse(&[&["evaluate", "--codes"], more].concat(), message);
    };
    refused(&["codes.npz", "--metrics", "mgi"], "error: unknown metric `mgi`\nhint: did you mean `mig`?");
    refused(&["no/such.npz"], "error: no/such.npz: cannot open: No such file or directory (os error 2)");
    refused(
        &["codes.npz", "--metrics", "kl"],
        "error: codes.npz: metric `kl` needs log-variances of the posteriors, which the codes do not have",
    );
    for (name, kind) in [("codes.csv", "a table (.csv)"), ("codes.npy", "a single array (.npy)")] {
        std::fs::write(bench.path(name), "mean_0,mean_1\n0.5,1\n").unwrap();
        refused(
            &[name],
            &format!(
                "error: {name}: file: found {kind}, expected an .npz archive\n\
                 hint: `unbraid encode RUN -o codes.npz` or numpy.savez writes one"
            ),
        );
    }
    let bad = |message: &str, write: &dyn Fn(&mut NpzWriter<std::fs::File>)| {
        let mut npz = NpzWriter::new(std::fs::File::create(bench.path("bad.npz")).unwrap());
        write(&mut npz);
        npz.finish().unwrap();
        refused(&["bad.npz"], &format!("error: bad.npz: {message}"));
    };
    bad(
        "archive: found only the arrays z, expected `codes_train`, `factors_train`, `codes_test`, `factors_test`; or \
         `codes` and `factors`",
        &|npz| npz.floats("z", &[2, 2], [0.0; 4].into_iter()).unwrap(),
    );
    bad("codes: found NaN in row 1, column 0, expected finite numbers of magnitude at most 1e60", &|npz| {
        npz.floats("codes", &[3, 1], [0.0, f64::NAN, 1.0].into_iter()).unwrap();
        npz.integers("factors", &[3, 1], 0..3).unwrap();
    });
    bad("factors: found NaN in row 1, column 0, expected finite numbers", &|npz| {
        npz.floats("codes", &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
        npz.floats("factors", &[3, 1], [0.5, f64::NAN, 1.0].into_iter()).unwrap();
    });
    bad(
        "archive: found `divergence_train` without `divergence_test`, expected both, since `split` is `test`: scores of \
         posteriors are computed on the test points",
        &|npz| {
            for part in ["train", "test"] {
                npz.floats(&format!("codes_{part}"), &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
                npz.integers(&format!("factors_{part}"), &[3, 1], 0..3).unwrap();
            }
            npz.floats("divergence_train", &[3, 1], [0.1; 3].into_iter()).unwrap();
            npz.strings("split", &["test".to_owned()]).unwrap();
        },
    );
    bad("factors: found 2 rows, expected 3, the number of rows of codes", &|npz| {
        npz.floats("codes", &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
        npz.integers("factors", &[2, 1], 0..2).unwrap();
    });
    bad("archive: found only codes_train, factors_train, expected an array `codes_test`", &|npz| {
        npz.floats("codes_train", &[3, 1], [0.0, 1.0, 2.0].into_iter()).unwrap();
        npz.integers("factors_train", &[3, 1], 0..3).unwrap();
    });
}
