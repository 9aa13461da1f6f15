//! `unbraid best`: by scores, by UDR, by the held-out bound, and why.

use crate::support::Bench;
use std::fs;

/// The runs in the order of a CSV, and the header.
fn order(text: &str) -> (String, Vec<String>) {
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    (header, lines.map(|line| line.split(',').nth(1).unwrap().to_owned()).collect())
}

#[test]
fn runs_are_ranked_by_what_they_share() {
    let bench = Bench::new();
    let scored = ["--set", "evaluation.after_training=true", "--set", "evaluation.chance=false"];
    for (run, seed) in [("a", "1"), ("b", "2")] {
        let more = [
            "--steps",
            "20",
            "--seed",
            seed,
            "--set",
            "evaluation.metrics=[\"mig\", \"sap\"]",
            "--set",
            "training.validation=0.25",
            "--set",
            "training.validate_every=7",
        ];
        bench.train(run, &[&more[..], &scored[..]].concat()).assert().success();
    }
    let number = |run: &str, key: &str| {
        let scores: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(bench.path(run).join("scores.json")).unwrap()).unwrap();
        scores["scores"][key]["value"].as_f64().unwrap()
    };
    let expected = |key: &str| if number("a", key) >= number("b", key) { ["a", "b"] } else { ["b", "a"] };
    let (header, runs) = order(&bench.expect_output(&["best", "a", "b", "--by", "mig"]));
    assert_eq!(
        (header.as_str(), runs.as_slice()),
        ("place,run,mig", &expected("mig").map(str::to_owned)[..])
    );
    let json: serde_json::Value =
        serde_json::from_str(&bench.expect_output(&["best", "a", "b", "--format", "json"])).unwrap();
    assert_eq!(json["criterion"], "rank");
    assert_eq!(
        json["reason"],
        "by the mean rank over 2 scores of the same factors: mig, sap; lower is better"
    );
    assert_eq!(json["runs"][0]["settings"].as_object().unwrap().keys().collect::<Vec<_>>(), ["seed"]);
    let places = |key: &str, run: &str| 1.0 + f64::from(u8::from(expected(key)[1] == run));
    let best = json["runs"][0]["run"].as_str().unwrap();
    assert_eq!(json["runs"][0]["value"].as_f64().unwrap(), (places("mig", best) + places("sap", best)) / 2.0);

    // The bound by hand from the last validation of each log.
    let bound = |run: &str| {
        let text = fs::read_to_string(bench.path(run).join("metrics.jsonl")).unwrap();
        let mut rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let last = rows.rfind(|row| row.get("validation/kl").is_some()).unwrap();
        -(last["validation/kl"].as_f64().unwrap() + last["validation/reconstruction"].as_f64().unwrap())
    };
    let (header, runs) = order(&bench.expect_output(&["best", "a", "b", "--by", "elbo"]));
    assert_eq!(header, "place,run,elbo");
    assert_eq!(runs[0], if bound("a") >= bound("b") { "a" } else { "b" });
    // Two seeds of one setting are compared with each other.
    let (header, runs) = order(&bench.expect_output(&["best", "a", "b", "--by", "udr"]));
    assert_eq!((header.as_str(), runs.len()), ("place,run,udr", 2));
    let table = bench.expect_output(&["best", "a", "b", "--format", "table", "-n", "1"]);
    assert!(table.starts_with("Ranked by the mean rank over 2 scores") && table.contains("seed="), "{table}");

    bench.refuse(
        &["best", "a"],
        "error: nothing to rank the runs by: found 1 finished run, expected at least 2",
    );
    bench.refuse(&["best", "a", "none"], "error: none: not a run: no such directory");
    bench.refuse(
        &["best", "a", "b", "--by", "beauty"],
        "error: unknown criterion `beauty`: expected rank, udr, elbo or a score such as mig",
    );
    bench.refuse(
        &["best", "a", "b", "--by", "migg"],
        "error: unknown criterion `migg`: expected rank, udr, elbo or a score such as mig\nhint: did you mean `mig`?",
    );
    bench.refuse(
        &["best", "a", "b", "--by", "dci_completeness"],
        "error: nothing to rank the runs by: no run has the score dci_completeness",
    );
}
