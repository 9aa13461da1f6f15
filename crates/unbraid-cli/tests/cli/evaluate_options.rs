//! Options of metrics on the command line, evaluating again, and scores on images that a run was not trained on.

use crate::support::{Bench, check};
use ndarray::Array2;
use serde_json::Value;
use std::fs;
use std::path::Path;
use unbraid::Run;
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, DataSpec, open};
use unbraid::evaluate::{DataSampler, Encoded, Representation, codes_file};
use unbraid::metrics::scores::{FactorVaeParameters, HistogramParameters, factor_vae_score, mig};
use unbraid::metrics::{Labelled, registry};

fn scores(bench: &Bench, run: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(bench.path(run).join("scores.json")).unwrap()).unwrap()
}

fn evaluate(bench: &Bench, more: &[&str], words: &[&str]) -> Value {
    let output = bench
        .unbraid(&["evaluate", "run", "--samples", "200", "--format", "json"])
        .args(more)
        .output()
        .unwrap();
    check(&output, words);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_is_there_is_kept_and_what_is_missing_is_computed() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    evaluate(
        &bench,
        &["--metrics", "mig,factor_vae_score", "--set", "factor_vae_score.train_points=50"],
        &["encoded"],
    );
    // A number that nobody would compute shows that it is kept.
    let path = bench.path("run/scores.json");
    let text = fs::read_to_string(&path).unwrap();
    let value = scores(&bench, "run")["scores"]["mig"]["value"].to_string();
    fs::write(&path, text.replace(&value, "0.123456")).unwrap();

    let found = evaluate(&bench, &["--metrics", "mig,hoyer"], &["2 scores kept, 1 computed"]);
    assert_eq!(found["mig"], 0.123456);
    assert!(found["hoyer"].is_number() && found.get("factor_vae_score").is_none(), "only what was asked for");
    let all = scores(&bench, "run");
    assert_eq!(all["scores"].as_object().unwrap().len(), 3);
    assert_eq!(all["scores"]["factor_vae_score"]["parameters"]["train_points"], 50);

    // Other options: computed again. The same once more: nothing is encoded.
    let found = evaluate(
        &bench,
        &["--metrics", "mig", "--set", "evaluation.mig.bins=5"],
        &["2 scores kept, 1 computed"],
    );
    assert_ne!(found["mig"], 0.123456);
    assert_eq!(scores(&bench, "run")["scores"]["mig"]["parameters"]["bins"], 5);
    let again = bench
        .unbraid(&["evaluate", "run", "--samples", "200", "--metrics", "mig", "--set", "mig.bins=5"])
        .output();
    let message = check(&again.unwrap(), &["3 scores kept, 0 computed"]);
    assert!(!message.contains("encoded"), "{message}");

    // Another seed, other points, or the request: everything again.
    for more in [&["--seed", "3"][..], &["--samples", "100"], &["--recompute"]] {
        let output = bench.unbraid(&["evaluate", "run", "--metrics", "mig"]).args(more).output().unwrap();
        check(&output, &["replacing the earlier scores"]);
        assert_eq!(scores(&bench, "run")["scores"].as_object().unwrap().len(), 1, "{more:?}");
    }
    // A file of a version that did not say which configuration it is of.
    let old = fs::read_to_string(&path).unwrap().replace("\"configuration\"", "\"other\"");
    fs::write(&path, old).unwrap();
    let output = bench.unbraid(&["evaluate", "run", "--metrics", "mig", "--quiet"]).output().unwrap();
    check(&output, &[]);
    assert!(scores(&bench, "run")["evaluation"]["configuration"].is_string());
}

#[test]
fn wrong_options_are_refused_before_any_work() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    for (set, message) in [
        (
            "sap.predictor=treshold",
            "configuration: evaluation.sap.predictor: found \"treshold\", expected \"svm\" or \"threshold\"\n\
             hint: did you mean `threshold`?",
        ),
        (
            "sap.predictr=svm",
            "configuration: evaluation.sap.predictr: unknown option of the metric `sap`\n\
             hint: did you mean `predictor`?",
        ),
        ("sapp.c=1", "configuration: evaluation: unknown key `sapp`\nhint: did you mean `sap`?"),
        ("mig.bins=1", "configuration: evaluation.mig.bins: found 1, expected a whole number, 2 to 65536"),
        ("mig", "assignment `mig`: expected key=value, such as objective.beta=6"),
    ] {
        let message = format!("error: {message}");
        bench.refuse(&["evaluate", "run", "--set", set], &message);
        bench.refuse(&["evaluate", "--codes", "none.npz", "--set", set], &message);
    }
    // What means nothing here is not ignored, whatever its value.
    for (key, value) in
        [("report", "false"), ("report", "true"), ("after_training", "true"), ("model_limit", "8")]
    {
        bench.refuse(
            &["evaluate", "run", "--set", &format!("{key}={value}")],
            &format!("error: --set {key}: found a key of training and reports, expected one of evaluation"),
        );
    }
    bench.refuse(
        &["train", "--set", "evaluation.sap.k=1", "--out", "other"],
        "error: configuration: evaluation.sap.k: unknown option of the metric `sap`\n\
         hint: there are predictor, c, loss, balanced, tolerance, max_iterations, group_above",
    );
    assert!(!bench.path("other").exists());
    bench.refuse(
        &["train", "--set", "evaluation.split=test", "--out", "other"],
        "error: configuration: evaluation.split: found test, expected train, or data.split = \"train\": the run is to be \
         trained on other images than those of `split=train`",
    );
    assert!(!bench.path("other").exists());
}

#[test]
fn metrics_are_listed() {
    let bench = Bench::new();
    let text = bench.expect_output(&["metrics"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for metric in registry::metrics() {
        assert!(text.lines().any(|line| line == metric.name), "{}", metric.name);
    }
    let json: Value =
        serde_json::from_str(&bench.expect_output(&["metrics", "z-diff", "--format", "json"])).unwrap();
    let options = json[0]["options"].as_array().unwrap();
    let hinge = options.iter().find(|option| option["name"] == "loss").unwrap();
    assert_eq!((&json[0]["name"], &hinge["default"]), (&"beta_vae_score".into(), &"hinge".into()));
    assert_eq!(hinge["only_with"]["value"], "svm");
    bench.refuse(&["metrics", "sapp"], "error: unknown metric `sapp`\nhint: did you mean `sap`?");
}

/// The images of one part of the data of a run.
fn part(run: &Run, name: &str) -> Box<dyn DataSet> {
    let spec: DataSpec =
        format!("{}, split={name})", run.config().data.to_string().split(", split").next().unwrap())
            .parse()
            .unwrap();
    open(&spec, &Silent).unwrap()
}

#[test]
fn scores_on_the_test_split_see_images_that_the_run_has_not_seen() {
    let bench = Bench::new();
    let set = [
        "--set",
        "data.split=train",
        "--set",
        "training.steps=4",
        "--set",
        "evaluation.split=test",
        "--set",
        "evaluation.metrics=[\"mig\", \"factor_vae_score\", \"sap_kumar\", \"reconstruction_error\", \"hoyer\"]",
        "--set",
        "evaluation.factor_vae_score={ train_points = 60, test_points = 40, prune = 0.0 }",
        "--set",
        "evaluation.after_training=true",
    ];
    bench.train("run", &set).assert().success();
    let stored = scores(&bench, "run");
    assert_eq!(stored["evaluation"]["test_split"], true);
    let of = |key: &str| stored["scores"][key]["value"].as_f64().unwrap();

    // 38 of the 192 images are for testing.
    let run = Run::open(bench.path("run")).unwrap();
    let test = part(&run, "test");
    assert_eq!(test.len(), 38);
    let encoded = Encoded::new(&run, test.as_ref(), None, (Representation::Mean, 0), &Silent).unwrap();
    let sampler = DataSampler::new(test.as_ref(), &encoded).unwrap();
    let parameters =
        FactorVaeParameters { train_points: 60, test_points: 40, prune_below: 0.0, ..Default::default() };
    assert_eq!(of("factor_vae_score"), factor_vae_score(&sampler, &parameters).unwrap().value);

    // All 38 are test points, in some order, which neither MIG nor the mean error depends on but for rounding.
    let all: Vec<usize> = (0..38).collect();
    let codes = encoded.codes_of(&all).mapv(f64::from);
    let mut row = vec![0; 5];
    let factors = Array2::from_shape_fn((38, 5), |(image, factor)| {
        test.factors_of(image, &mut row);
        i64::from(row[factor])
    });
    let data = Labelled::new(codes.view(), factors.view()).unwrap();
    assert!((of("mig") - mig(&data, &HistogramParameters::default()).unwrap().value).abs() < 1e-12);
    let posteriors = run.encode_data(test.as_ref(), &all, Stream::new(0, "unused"), &Silent).unwrap();
    let decoded = run.decode(&run.latents_of(&posteriors)).unwrap();
    let mut pixels = vec![0.0; test.shape().values()];
    let mut sum = 0.0;
    for (image, decoded) in decoded.outer_iter().enumerate() {
        test.write_image(image, Stream::new(0, "unused").at(0).lane(0), &mut pixels).unwrap();
        sum += pixels.iter().zip(&decoded).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    }
    let expected = sum / (38.0 * pixels.len() as f64);
    assert!(
        (of("reconstruction_error") - expected).abs() < 1e-6,
        "{} {expected}",
        of("reconstruction_error")
    );

    // The codes file gives the same scores, except for those that draw from all images.
    assert_same_from_codes(&bench, &stored, &["mig", "sap_kumar", "reconstruction_error", "hoyer"]);
    // `evaluate` without anything else means the same.
    let output = bench.unbraid(&["evaluate", "run"]).output().unwrap();
    check(&output, &["5 scores kept, 0 computed"]);
    bench.succeed(
        &["evaluate", "run", "--set", "split=train", "--metrics", "mig"],
        &["replacing the earlier"],
    );
    assert_eq!(scores(&bench, "run")["evaluation"]["test_split"], false);
}

fn assert_same_from_codes(bench: &Bench, stored: &Value, keys: &[&str]) {
    let file = bench.path("run/codes.npz");
    let output = bench
        .unbraid(&["evaluate", "--format", "json", "--codes", file.to_str().unwrap()])
        .args(["--metrics", &keys.join(",")])
        .output()
        .unwrap();
    check(&output, &[]);
    let again: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in keys {
        assert_eq!(again[key], stored["scores"][key]["value"], "{key}");
    }
}

/// For a sparse prior there is no closed form; for an anisotropic one there is: KL of N(mu, s^2) from N(0, v) is
/// 1/2 (ln v - ln s^2 + (s^2 + mu^2) / v - 1).
#[test]
fn kl_is_that_of_the_runs_own_prior() {
    let bench = Bench::new();
    let train = |prior: &str| {
        bench
            .train(
                "run",
                &["--set", "training.steps=2", "--set", &format!("model.prior={prior}"), "--overwrite"],
            )
            .assert()
            .success();
        evaluate(&bench, &["--metrics", "kl"], &[])["kl"].as_f64().unwrap()
    };
    let posteriors = |path: &Path| {
        let codes = codes_file::read(path).unwrap();
        (codes.codes_train().to_owned(), codes.log_variance_train().unwrap().to_owned())
    };
    let variances = [4.0, 1.0, 0.25];
    let found = train("{ name = \"anisotropic\", variances = [4.0, 1.0, 0.25] }");
    let (means, logs) = posteriors(&bench.path("run/codes.npz"));
    let mut expected = 0.0;
    for ((row, unit), mean) in means.indexed_iter() {
        let (v, log): (f64, f64) = (variances[unit], logs[[row, unit]]);
        expected += 0.5 * (v.ln() - log + (log.exp() + mean * mean) / v - 1.0) / means.nrows() as f64;
    }
    assert!((found - expected).abs() < 1e-4 * expected, "{found} {expected}");
    assert_same_from_codes(&bench, &scores(&bench, "run"), &["kl"]);

    // Student's t with many degrees of freedom is nearly normal: the estimate from one sample of each of the
    // 200 posteriors differs from the closed form by the spread of ln q - ln p over samples, about 1 in each
    // of 3 units: 0.12; five of those.
    let found = train("{ name = \"student-t\", degrees_of_freedom = 1000.0 }");
    let (means, logs) = posteriors(&bench.path("run/codes.npz"));
    let terms = means.iter().zip(&logs).map(|(mean, log)| 0.5 * (mean * mean + log.exp() - log - 1.0));
    let normal = terms.sum::<f64>() / means.nrows() as f64;
    assert!((found - normal).abs() < 0.6, "{found} {normal}");
    assert_same_from_codes(&bench, &scores(&bench, "run"), &["kl"]);
}

#[test]
fn attributes_are_named_in_tables_and_pages() {
    let bench = Bench::new();
    let metrics = "evaluation.metrics=[\"attribute_accuracy\"]";
    bench
        .train(
            "run",
            &["--set", "training.steps=2", "--set", metrics, "--set", "evaluation.after_training=true"],
        )
        .assert()
        .success();
    let table = bench.expect_output(&["evaluate", "run", "--quiet"]);
    for factor in ["shape", "scale", "orientation", "x", "y"] {
        assert!(table.contains(&format!("attribute_accuracy/{factor} ")), "{table}");
    }
    bench.succeed(&["report", "run", "--quiet"], &[]);
    let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
    let row = page.lines().find(|line| line.contains("<th scope=\"row\">orientation</th>")).unwrap();
    assert!(row.ends_with("<td class=\"word\">angle</td></tr>"), "{row}");
}
