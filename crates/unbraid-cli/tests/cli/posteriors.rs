//! Every command on runs whose posterior is not a diagonal Gaussian, and `unbraid objectives`.

use crate::support::{Bench, study};
use serde_json::Value;
use unbraid_study::Results;

const RUNS: [(&str, &str, &str); 3] = [
    ("full", "full-covariance", "vae"),
    ("flow", "{ name = \"iaf\", hidden = [8], context = 4 }", "vae"),
    (
        "implicit",
        "{ name = \"implicit\", noise = 4, hidden = [8] }",
        "{ name = \"avb\", discriminator = { width = 20, features = 8 } }",
    ),
];

#[test]
fn every_command_takes_every_posterior() {
    let bench = Bench::new();
    for (out, posterior, objective) in RUNS {
        let sets = [
            format!("model.posterior={posterior}"),
            format!("objective={objective}"),
            "training.steps=21".to_owned(),
        ];
        let more: Vec<&str> = sets.iter().flat_map(|set| ["--set", set.as_str()]).collect();
        bench.train(out, &more).assert().success();
        let first = std::fs::read_to_string(bench.path(out).join("metrics.jsonl")).unwrap();
        let row: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
        assert!(row["train/kl"].is_number(), "{row}");
        assert_eq!(row["train/kl_unit/0"].is_number(), out != "implicit", "{row}");

        let measure =
            ["measure", out, "--quiet", "--images", "50", "--likelihood-images", "5", "--samples", "4"];
        let json = bench.expect_output(&[&measure[..], &["--format", "json"]].concat());
        let json: Value = serde_json::from_str(&json).unwrap();
        assert!(json["distortion"].is_number() && json["mutual_information_lower"].is_null(), "{json}");
        assert_eq!(json["elbo"].is_number(), out != "implicit", "{json}");
        let text = bench.expect_output(&measure);
        let reason = match out {
            "implicit" => "undefined for this run: its posterior has no density",
            _ => "undefined for this run: mutual information and total correlation need a diagonal posterior",
        };
        assert!(text.lines().any(|line| line == reason), "{text}");
        assert!(
            bench
                .expect_output(&[&measure[..], &["--format", "csv"]].concat())
                .contains("\ntotal_correlation_lower,\n")
        );

        let codes = format!("{out}.npz");
        bench.succeed(&["encode", out, "--quiet", "-o", &codes], &[]);
        bench.succeed(&["decode", out, &codes, "--quiet", "-o", &format!("{out}-decoded.png")], &[]);
        bench.succeed(&["traverse", out, "--quiet", "-o", &format!("{out}-traverse.png")], &[]);
        bench.succeed(&["sample", out, "--quiet", "-o", &format!("{out}-sample.png")], &[]);
        bench.succeed(&["reconstruct", out, "--quiet", "-o", &format!("{out}-reconstruct.png")], &[]);
        bench.succeed(&["evaluate", out, "--quiet", "--metrics", "mig"], &[]);
        bench.succeed(&["report", out, "--quiet"], &[]);
        bench.succeed(&["train", "--quiet", "--out", out, "--resume"], &[]);
        let name = match out {
            "full" => "full-covariance",
            "flow" => "iaf",
            other => other,
        };
        bench.refuse(
            &["evaluate", out, "--quiet", "--representation", "sample", "--metrics", "mig"],
            &format!(
                "error: representation: found sample, expected mean, since samples of a posterior that is `{name}` are not \
                 drawn here"
            ),
        );
    }
}

/// The log-variances of an encoder whose mean is decoded were not trained: nothing is computed from them.
#[test]
fn a_deterministic_encoder_has_no_width() {
    let bench = Bench::new();
    let objective = "objective={ name = \"wae-mmd\", lambda = 10, encoder = \"deterministic\" }";
    bench.train("wae", &["--set", objective, "--set", "training.steps=21"]).assert().success();
    let measure =
        ["measure", "wae", "--quiet", "--images", "50", "--likelihood-images", "5", "--format", "json"];
    let json: Value = serde_json::from_str(&bench.expect_output(&measure)).unwrap();
    assert!(json["mean_squared_error"].is_number(), "{json}");
    for key in ["rate", "elbo", "log_likelihood", "mutual_information_lower", "total_correlation_upper"] {
        assert!(json[key].is_null(), "{key}: {json}");
    }
    bench.succeed(&["evaluate", "wae", "--quiet", "--metrics", "mig"], &[]);
    bench.refuse(
        &["evaluate", "wae", "--quiet", "--metrics", "kl"],
        "error: wae: metric `kl` needs log-variances of the posteriors, which the codes do not have",
    );
    bench.refuse(
        &["evaluate", "wae", "--quiet", "--representation", "sample", "--metrics", "mig"],
        "error: representation: found sample, expected mean, since an encoder that is deterministic has no posterior to \
         draw from",
    );
}

/// Runs that differ in their posteriors are one study; its table has each score and what chance gives, as
/// their own files do.
#[test]
fn a_study_may_vary_the_posterior() {
    const SHORT: &str = "training={ batch_size = 8, steps = 5, log_every = 2, checkpoint_every = 3 }";
    let sets = RUNS.map(|(_, posterior, objective)| {
        [SHORT.to_owned(), format!("model.posterior={posterior}"), format!("objective={objective}")]
    });
    let sets: Vec<Vec<&str>> = sets.iter().map(|set| set.iter().map(String::as_str).collect()).collect();
    let bench = study::Bench::of(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>());
    bench.succeed(&[], &["3/3 done"]);
    let table = Results::of_runs(&bench.study, &bench.manifest).table;
    assert_eq!(table.number_keys[..2], ["mig", "chance/mig"]);
    for run in 0..3 {
        let scores: Value = serde_json::from_str(&bench.text(run, "scores.json")).unwrap();
        let mig = &scores["scores"]["mig"];
        assert_eq!(Some(table.number(run, "mig")), mig["value"].as_f64());
        assert_eq!(Some(table.number(run, "chance/mig")), mig["chance"]["mig"].as_f64(), "{mig}");
    }
}

#[test]
fn objectives_are_listed_with_their_terms() {
    let bench = Bench::new();
    let text = bench.expect_output(&["objectives", "beta-vae", "sliced-wasserstein"]);
    assert!(
        text.starts_with("beta-vae\n  reconstruction + beta KL\n  Higgins et al. 2017, eq. 4\n"),
        "{text}"
    );
    assert!(text.contains("\nterm sliced-wasserstein\n") && !text.contains("\nterm kl\n"), "{text}");
    let json: Value =
        serde_json::from_str(&bench.expect_output(&["objectives", "--format", "json"])).unwrap();
    assert_eq!(
        (json["methods"].as_array().unwrap().len(), json["terms"].as_array().unwrap().len()),
        (20, 22)
    );
    bench.refuse(
        &["objectives", "beta-vea"],
        "error: unknown method or term `beta-vea`\nhint: did you mean `beta-vae`?",
    );
}
