//! The library as the README shows it: training, scoring and reporting in a dozen lines.

#[allow(dead_code, reason = "its main is not called")]
#[path = "../../../unbraid-report/examples/first_run.rs"]
mod first_run;

use crate::support::{Bench, assert_same};
use unbraid::config::Source;

/// What the command does, the library does: the same files with the same bytes.
#[test]
fn a_session_writes_what_the_command_writes() {
    let bench = Bench::new();
    let finish = ["evaluation.after_training=true", "evaluation.report=true", "evaluation.metrics=[\"mig\"]"];
    let sets: Vec<&str> = finish.iter().flat_map(|set| ["--set", set]).collect();
    bench.train("command", &sets).assert().success();
    let source = finish.iter().fold(Source::file(bench.path("tiny.toml")), |source, set| source.set(*set));
    let run = first_run::first_run(&bench.path("library"), source).unwrap();
    assert_same(&bench.path("command"), run.path());
    let scores = |run: &str| {
        let scores = unbraid::evaluate::Scores::read(&bench.path(run).join("scores.json")).unwrap().unwrap();
        scores.get("mig").unwrap()
    };
    assert_eq!(scores("command"), scores("library"));
    let page = |run: &str| std::fs::read(bench.path(run).join("figures/traversals-image.png")).unwrap();
    assert!(page("command") == page("library"));
}
