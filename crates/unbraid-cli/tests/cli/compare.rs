//! `unbraid compare`: runs side by side as tables and as a page.

use crate::support::Bench;
use serde_json::Value;
use std::fs;
use unbraid::run::{State, Status};

/// Two runs that differ in beta; only the first is evaluated.
fn two_runs() -> Bench {
    let bench = Bench::new();
    let steps = ["--set", "training.steps=14", "--set"];
    bench.train("one", &[&steps[..], &["objective.beta=1"]].concat()).assert().success();
    bench.train("two", &[&steps[..], &["objective.beta=4"]].concat()).assert().success();
    bench.succeed(&["evaluate", "--quiet", "one", "--metrics", "mig", "--samples", "50"], &[]);
    bench
}

fn printed(bench: &Bench, arguments: &[&str]) -> String {
    let output = bench.unbraid(arguments).output().unwrap();
    crate::support::check(&output, &[]);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_format_has_the_same_numbers() {
    let bench = two_runs();
    let json: Value =
        serde_json::from_str(&printed(&bench, &["compare", "one", "two", "--format", "json"])).unwrap();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["run"].as_str().unwrap()).collect::<Vec<_>>(), ["one", "two"]);
    // Only what differs is a setting.
    assert_eq!(runs[0]["settings"].as_object().unwrap().keys().collect::<Vec<_>>(), ["objective.beta"]);
    assert_eq!(
        (&runs[0]["settings"]["objective.beta"], &runs[1]["settings"]["objective.beta"]),
        (&"1.0".into(), &"4.0".into())
    );
    let stored: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("one/scores.json")).unwrap()).unwrap();
    let mig = &stored["scores"]["mig"]["value"];
    assert_eq!(&runs[0]["scores"]["mig"], mig);
    assert!(runs[1]["scores"].as_object().unwrap().is_empty(), "the second run was not evaluated");
    let rows = fs::read_to_string(bench.path("two/metrics.jsonl")).unwrap();
    let last: Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    assert_eq!(runs[1]["losses"]["kl"], last["train/kl"]);

    // Piped output is for programs.
    let csv = printed(&bench, &["compare", "one", "two"]);
    assert_eq!(csv.lines().next(), Some("run,kind,key,value"));
    assert!(
        csv.contains(&format!("one,score,mig,{mig}\n")) && csv.contains("two,setting,objective.beta,4.0\n"),
        "{csv}"
    );

    let table = printed(&bench, &["compare", "one", "two", "--format", "table"]);
    assert!(table.contains(&format!("{:.4}", mig.as_f64().unwrap())) && table.contains("mig ↑"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let many = [
        "compare", "one", "two", "one", "two", "one", "two", "one", "two", "one", "two", "--format", "table",
    ];
    assert!(printed(&bench, &many).lines().all(|line| line.chars().count() <= 80));
}

/// Text is text for programs, and nothing where a run does not have a key; people see TOML and a dash.
#[test]
fn settings_are_plain_for_programs() {
    let bench = two_runs();
    bench.train("three", &["--set", "training.steps=14", "--set", "objective.name=vae"]).assert().success();
    let compare = |format| printed(&bench, &["compare", "one", "three", "--format", format]);
    let csv = compare("csv");
    for row in [
        "one,setting,objective.name,beta-vae\n",
        "three,setting,objective.name,vae\n",
        "three,setting,objective.beta,\n",
    ] {
        assert!(csv.contains(row), "{row}{csv}");
    }
    let json: Value = serde_json::from_str(&compare("json")).unwrap();
    let settings = &json["runs"][1]["settings"];
    assert_eq!((&settings["objective.name"], &settings["objective.beta"]), (&"vae".into(), &Value::Null));
    assert!(settings.as_object().unwrap().contains_key("objective.beta"), "{settings}");
    let table = compare("table");
    assert!(table.contains("\"vae\"") && table.contains('–'), "{table}");
}

#[test]
fn the_page_has_tables_curves_and_traversals() {
    let bench = two_runs();
    bench.succeed(&["compare", "one", "two", "--quiet", "-o", "compare.html"], &[]);
    let page = fs::read_to_string(bench.path("compare.html")).unwrap();
    for word in ["objective.beta", "2: two", "MIG", "KL ", "data-chart"] {
        assert!(page.contains(word), "{word}");
    }
    assert_eq!(page.matches("<img").count(), 6, "three units of two runs");
    bench.refuse(
        &["compare", "one", "-o", "compare.html"],
        "error: compare.html: the file exists\nhint: --overwrite replaces it",
    );
    bench.succeed(&["compare", "one", "--quiet", "-o", "compare.html", "--overwrite"], &[]);

    fs::write(bench.path("other.html"), "mine").unwrap();
    bench.refuse(
        &["compare", "one", "-o", "other.html", "--overwrite"],
        "error: other.html: found a file that unbraid did not write, expected none or an earlier page\n\
         hint: move it out of the way",
    );
}

/// One run that failed does not stand in the way of the others.
#[test]
fn runs_without_a_checkpoint_are_left_out() {
    let bench = two_runs();
    fs::create_dir(bench.path("young")).unwrap();
    fs::copy(bench.path("one/config.toml"), bench.path("young/config.toml")).unwrap();
    let without = |why: &str| format!("young/checkpoints/last.safetensors: no such checkpoint; {why}");
    let waiting = without("the run has not written its first checkpoint yet (training.checkpoint_every)");
    bench.succeed(&["compare", "one", "young", "two"], &[&format!("left out: {waiting}")]);
    assert_eq!(
        bench.expect_output(&["compare", "one", "young", "two"]),
        bench.expect_output(&["compare", "one", "two"])
    );
    let failure = "step 3: the term `kl` is inf; training cannot continue";
    let status = Status::now(State::Failed, 3, 14).with_error(failure);
    status.write(&bench.path("young/status.json")).unwrap();
    let failed = without(&format!("training failed: {failure}"));
    bench.succeed(&["compare", "one", "young", "two"], &[&format!("left out: {failed}")]);
    for runs in [&["one", "young"][..], &["young"]] {
        bench.refuse(&[&["compare"], runs].concat(), &format!("error: {failed}"));
    }
}

#[test]
fn wrong_requests_are_refused() {
    let bench = Bench::new();
    bench.refuse(
        &["compare"],
        "error: the following required arguments were not provided:\n  <RUN>...\n\n\
         Usage: unbraid compare <RUN>...\n\nFor more information, try '--help'.",
    );
    bench.refuse(&["compare", "none"], "error: none: not a run: no such directory");
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    bench.refuse(
        &["compare", "run", "-o", "no/such/page.html"],
        "error: no/such/page.html: its directory does not exist",
    );
    bench
        .refuse(&["compare", "run", "-o", "page.htm"], "error: page.htm: expected a name that ends in .html");
    bench.refuse(
        &["compare", "run", "--overwrite"],
        "error: the following required arguments were not provided:\n  --out <FILE.html>\n\n\
         Usage: unbraid compare --out <FILE.html> --overwrite <RUN>...\n\nFor more information, try '--help'.",
    );
}
