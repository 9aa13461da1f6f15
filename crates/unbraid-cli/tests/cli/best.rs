//! `unbraid best`: by scores, by UDR, by the held-out bound, and why.

use crate::support::Bench;
use crate::support::study;
use std::fs;
use std::path::Path;

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

const SHORT: &str = "training={ batch_size = 8, steps = 5, log_every = 2, checkpoint_every = 3 }";

/// The places of runs in their study, in the order of a CSV.
fn numbers(bench: &study::Bench, runs: &[String]) -> Vec<usize> {
    let place = |run: &String| {
        let name = Path::new(run).file_name().unwrap();
        bench.manifest.entries.iter().position(|entry| name == entry.name.as_str()).unwrap()
    };
    runs.iter().map(place).collect()
}

#[test]
fn the_finished_runs_of_a_study_are_ranked() {
    let beta = "objective.beta=8";
    let bench = study::Bench::of(&[&[SHORT], &[SHORT], &[SHORT, beta], &[SHORT, beta], &[SHORT]]);
    bench.bench.refuse(
        &["best", "study"],
        "error: nothing to rank the runs by: found 0 finished runs, expected at least 2",
    );
    bench.succeed(&["--only", "0..4"], &["4/4 done"]);
    let mig = |number: usize| {
        let scores: serde_json::Value = serde_json::from_str(&bench.text(number, "scores.json")).unwrap();
        scores["scores"]["mig"]["value"].as_f64().unwrap()
    };
    let mut expected: Vec<usize> = (0..4).collect();
    expected.sort_by(|&a, &b| mig(b).total_cmp(&mig(a)));
    let (header, runs) = order(&bench.bench.expect_output(&["best", "study"]));
    assert_eq!(header, "place,run,rank,mig");
    assert_eq!(numbers(&bench, &runs), expected, "the run that has not been trained has no place");
    let json = bench.bench.expect_output(&["best", "study", "--format", "json", "-n", "1"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["runs"].as_array().unwrap().len(), 1);
    assert_eq!(json["runs"][0]["numbers"]["mig"].as_f64().unwrap(), mig(expected[0]));
    // What the winner has of its own: its seed, and the beta of its half of the study.
    assert_eq!(json["runs"][0]["settings"]["objective.beta"], if expected[0] < 2 { "2.0" } else { "8.0" });
    assert_eq!(json["runs"][0]["settings"]["seed"], expected[0].to_string());

    // Two seeds of each setting are compared with each other, and none of the other.
    let (header, runs) = order(&bench.bench.expect_output(&["best", "study", "--by", "udr"]));
    let mut ranked = numbers(&bench, &runs);
    ranked.sort_unstable();
    assert_eq!((header.as_str(), ranked), ("place,run,udr", vec![0, 1, 2, 3]));
    bench.bench.refuse(
        &["best", "study", "--by", "elbo"],
        "error: nothing to rank the runs by: no run has held-out losses (training.validation = 0.1 logs them)",
    );
    fs::remove_file(bench.study.manifest()).unwrap();
    bench.bench.refuse(
        &["best", "study"],
        "error: study: the study has no manifest.jsonl yet\nhint: unbraid study plan study writes it",
    );
}

/// Without scores, and without two seeds of a setting, there is the loss on what was held out.
#[test]
fn runs_that_share_nothing_else_are_ranked_by_the_held_out_bound() {
    let bench = Bench::new();
    for (run, beta) in [("a", "objective.beta=1"), ("b", "objective.beta=9")] {
        let held_out = ["--set", "training.validation=0.25", "--set", "training.validate_every=7"];
        bench.train(run, &[&["--steps", "14", "--set", beta], &held_out[..]].concat()).assert().success();
    }
    let json = bench.expect_output(&["best", "a", "b", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["criterion"], "elbo");
    assert!(json["reason"].as_str().unwrap().starts_with("by the evidence lower bound on held-out data"));
    let values: Vec<f64> =
        json["runs"].as_array().unwrap().iter().map(|run| run["value"].as_f64().unwrap()).collect();
    assert!(values.len() == 2 && values[0] >= values[1], "{values:?}");
    // Without that, everything that was tried is said.
    for run in ["a", "b"] {
        fs::remove_file(bench.path(run).join("metrics.jsonl")).unwrap();
    }
    bench.refuse(
        &["best", "a", "b"],
        "error: nothing to rank the runs by: by scores: a has no scores.json (`unbraid evaluate` writes it); by UDR: no two \
         runs differ in their seeds only; by held-out loss: no run has held-out losses (training.validation = 0.1 logs them)",
    );
}

/// Photographs have no factors: two seeds are compared with each other.
#[test]
fn runs_on_pictures_are_ranked_by_udr() {
    let bench = Bench::new();
    fs::create_dir(bench.path("photos")).unwrap();
    for number in 0..24_u8 {
        let pixel =
            |x: u32, y: u32| image::Rgb([number * 10, (x * 16) as u8, if y < 8 { 200 } else { number }]);
        let path = bench.path("photos").join(format!("{number:02}.png"));
        image::RgbImage::from_fn(16, 16, pixel).save(path).unwrap();
    }
    for seed in ["1", "2"] {
        let settings = [
            "data={ name = \"folder\", path = \"photos\", size = 16 }",
            "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }",
            "evaluation={ after_training = true, metrics = [], report = false }",
        ];
        let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        bench.train(seed, &[&["--steps", "20", "--seed", seed], &set[..]].concat()).assert().success();
    }
    let json = bench.expect_output(&["best", "1", "2", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["criterion"], json["runs"].as_array().unwrap().len()), (&"udr".into(), 2));
}

/// A table whose columns are no factors: there is nothing to score, and runs of several seeds are ranked by
/// what they share.
#[test]
fn a_study_without_factors_is_ranked_by_udr_and_says_why() {
    let bench = Bench::new();
    let row = |row: u32| format!("{},{},{}\n", row % 7, (row % 7) * 2 + row % 3, row % 5);
    let table = "a,b,c\n".to_owned() + &(0..60).map(row).collect::<String>();
    fs::write(bench.path("table.csv"), table).unwrap();
    let data = format!("data={{ name = \"table\", path = \"{}\" }}", bench.path("table.csv").display());
    let place = bench.path("study");
    let settings = [
        SHORT,
        &data,
        "model={ architecture = { name = \"mlp\", encoder = [8], decoder = [8] }, latents = { continuous = 2 }, \
         likelihood = { name = \"gaussian\", scale = \"learned\", output = \"linear\" } }",
        "evaluation.metrics=[]",
    ];
    let bench = study::Bench::at(bench, &place, &[&settings[..]; 3]);
    bench.succeed(&[], &["3/3 done"]);
    let json = bench.bench.expect_output(&["best", "study", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["criterion"], "udr");
    assert_eq!(
        json["reason"],
        "by UDR (unsupervised disentanglement ranking, Duan et al. 2020), which needs no factors: how much of its units a run \
         shares with runs of the same settings and other seeds; higher is better"
    );
    let values: Vec<f64> =
        json["runs"].as_array().unwrap().iter().map(|run| run["value"].as_f64().unwrap()).collect();
    assert_eq!(values.len(), 3);
    assert!(values.is_sorted_by(|a, b| a >= b) && values.iter().all(|value| (0.0..=1.0).contains(value)));
}
