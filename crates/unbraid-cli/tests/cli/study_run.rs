//! `unbraid study run` and `status`: which runs are trained, what becomes of those that fail, and whose they are.

use crate::support::check;
use crate::support::sameness::assert_same_studies;
use crate::support::study::{Bench, wait_until};
use std::fs;
use std::time::{Duration, SystemTime};
use unbraid_study::lease::Owner;

const SHORT: &str = "training={ batch_size = 8, steps = 5, log_every = 2, checkpoint_every = 3 }";

#[test]
fn only_what_was_asked_for_is_trained() {
    let bench = Bench::new(5, &[SHORT]);
    let trained = || (0..5).filter(|number| bench.run(*number).exists()).collect::<Vec<_>>();
    bench.expect(&["--only", "1..3,4"], 0, &["3/3 done"]);
    assert_eq!(trained(), [1, 2, 4]);
    bench.expect(&["--id", "0"], 0, &[]);
    assert_eq!(trained(), [0, 1, 2, 4]);
    let status = bench.status();
    assert_eq!(status["counts"]["done"], 4);
    assert_eq!(status["counts"]["pending"], 1);

    // The rest; what is done is left alone.
    let before = bench.text(1, "status.json");
    let output = bench.expect(&[], 0, &["5/5 done: 3"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "runs            5\ndone            5\nfinished now    1\n"
    );
    assert_eq!(bench.text(1, "status.json"), before);
    for (more, word) in [
        (["--only", "3..9"], "--only: the study has no run 5; expected 0 to 4"),
        (["--id", "5"], "--id: the study has no run 5"),
        (["--only", "3..3"], "empty range `3..3`"),
        (["--jobs", "0"], "0 is not in 1..=1024"),
    ] {
        bench.expect(&more, 2, &[word]);
    }
    fs::remove_file(bench.study.manifest()).unwrap();
    bench.expect(&[], 2, &["no manifest.jsonl yet", "unbraid study plan"]);
}

#[test]
fn a_run_that_fails_hurts_no_other_and_is_tried_again_on_request() {
    let bench = crate::support::Bench::new();
    let missing = format!("data={{ path = \"{}\" }}", bench.path("late.npz").display());
    let strayed = "optimizer.learning_rate=1e30";
    let place = bench.path("study");
    let bench = Bench::at(bench, &place, &[&[SHORT], &[SHORT, &missing], &[SHORT, strayed], &[SHORT]]);
    let words = ["2 of 4 runs failed", "late.npz", "is NaN", "--retry-failed", "log: "];
    bench.expect(&["--jobs", "2"], 1, &words);
    let status = bench.status();
    assert_eq!((&status["counts"]["done"], &status["counts"]["failed"]), (&2.into(), &2.into()));
    assert!(status["failed"][0]["error"].as_str().unwrap().contains("late.npz"), "{status}");
    let log = status["failed"][0]["log"].as_str().unwrap();
    assert!(fs::read_to_string(log).unwrap().contains("late.npz"));
    assert_eq!(bench.leases(), [""; 0]);
    let output = bench.command("status", &[]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("failed          2\n") && text.contains("late.npz"), "{text}");

    // Left alone without a word, and still a failure of what was asked for.
    let before = bench.text(1, "status.json");
    bench.expect(&[], 1, &["2 of 4 runs failed"]);
    assert_eq!(bench.text(1, "status.json"), before);

    let shapes = "shapes(scales=2,orientations=2,positions=4)";
    bench.bench.expect(&["data", "convert", shapes, "-o", "late.npz"], 0, &[]);
    bench.expect(&["--retry-failed", "--id", "1"], 0, &[]);
    bench.expect(&["--retry-failed"], 1, &["1 of 4 runs failed", "is NaN"]);
}

#[test]
fn what_is_trained_is_scored_without_training_it_again() {
    let whole = Bench::new(2, &[SHORT]);
    whole.expect(&[], 0, &[]);
    let mut bench = Bench::new(2, &[SHORT]);
    bench.expect(&[], 0, &[]);
    let logs = [0, 1].map(|number| bench.text(number, "run.log"));
    // As if killed while it was evaluated, or between its two files.
    fs::remove_file(bench.run(0).join("scores.json")).unwrap();
    fs::remove_file(bench.run(1).join("scores.json")).unwrap();
    fs::remove_file(bench.run(1).join("codes.npz")).unwrap();
    assert_eq!(bench.status()["counts"]["interrupted"], 2);
    bench.expect(&[], 0, &["2/2 done"]);
    assert_eq!([0, 1].map(|number| bench.text(number, "run.log")), logs);
    assert_same_studies(&whole, &bench);

    // Other metrics are another evaluation of the same run.
    bench.replan(|config| config.evaluation.metrics = vec!["sap".to_owned()]);
    assert_eq!(bench.status()["counts"]["done"], 0);
    bench.expect(&[], 0, &["2/2 done"]);
    assert_eq!([0, 1].map(|number| bench.text(number, "run.log")), logs);
    let scores: serde_json::Value = serde_json::from_str(&bench.text(0, "scores.json")).unwrap();
    assert_eq!(scores["scores"].as_object().unwrap().keys().collect::<Vec<_>>(), ["sap"]);
    assert!(bench.text(0, "config.toml").contains("sap"));
    assert_eq!(bench.status()["counts"]["done"], 2);
}

/// A lease of another machine with a heartbeat so many seconds ago.
fn foreign_lease(bench: &Bench, number: usize, seconds: u64) {
    let owner =
        Owner { host: "another".to_owned(), namespace: "another".to_owned(), ..Owner::this_process() };
    fs::create_dir_all(bench.study.leases()).unwrap();
    fs::write(bench.lease(number), serde_json::to_string(&owner).unwrap()).unwrap();
    let file = fs::File::options().write(true).open(bench.lease(number)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

#[test]
fn runs_of_other_machines_are_respected_while_their_heartbeats_are_recent() {
    let bench = Bench::new(3, &[SHORT]);
    foreign_lease(&bench, 0, 0);
    foreign_lease(&bench, 1, 1000);
    let study = bench.start(&[]);
    let counts = || bench.status()["counts"].clone();
    wait_until("what is nobody's is done", || counts()["done"] == 2);
    assert!(!bench.run(0).exists());
    let status = bench.status();
    assert_eq!(status["running"][0]["host"], "another");
    let theirs = [bench.manifest.entries[0].name.clone()];
    wait_until("only their lease is left", || bench.leases() == theirs);
    // It is given back, as its owner would, and only then taken.
    fs::remove_file(bench.lease(0)).unwrap();
    check(&study.wait_with_output().unwrap(), 0, &["3/3 done: 0"]);
    assert_eq!(counts()["done"], 3);
    assert_eq!(bench.leases(), [""; 0]);
}

#[test]
fn a_heart_that_stops_while_others_wait_gives_its_run_away() {
    let mut bench = Bench::new(1, &[SHORT]);
    bench.stale = Some("2");
    foreign_lease(&bench, 0, 0);
    bench.expect(&[], 0, &["1/1 done"]);
}

#[test]
fn a_lease_that_is_lost_ends_the_process_of_its_run() {
    let mut bench = Bench::new(1, &["training.steps=100000"]);
    bench.stale = Some("2");
    let mut study = bench.start(&[]);
    wait_until("the run is at work", || !bench.text(0, "metrics.jsonl").is_empty());
    // Somebody took us for dead.
    foreign_lease(&bench, 0, 0);
    wait_until("its process has ended", || crate::support::study::children(study.id()).is_empty());
    assert!(bench.lease(0).exists());
    study.kill().unwrap();
    study.wait().unwrap();
}

#[test]
fn a_directory_with_something_else_in_it_is_left_alone() {
    let bench = Bench::new(2, &[SHORT]);
    fs::create_dir_all(bench.run(0)).unwrap();
    fs::write(bench.run(0).join("thesis.tex"), "x").unwrap();
    bench.expect(&[], 1, &["1 of 2 runs failed", "holds no run"]);
    assert_eq!(fs::read_dir(bench.run(0)).unwrap().count(), 1);
    assert_eq!(bench.status()["counts"]["done"], 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let many = "training={ batch_size = 8, steps = 30, log_every = 7, checkpoint_every = 1, keep_checkpoints = 100 }";
    let whole = Bench::new(2, &[many]);
    whole.expect(&[], 0, &[]);

    let bench = crate::support::Bench::new();
    let Some(disk) = crate::support::Disk::mount(bench.path("disk"), "100m") else { return };
    let place = bench.path("disk/study");
    let bench = Bench::at(bench, &place, &[&[many][..], &[many]]);
    bench.expect(&["--id", "0"], 0, &[]);
    // Room for the lease and a few checkpoints, not for all of them.
    let used = std::process::Command::new("du").args(["-s", "--block-size=1K"]).arg(&place).output().unwrap();
    let used = String::from_utf8(used.stdout).unwrap();
    let used: u64 = used.split_whitespace().next().unwrap().parse().unwrap();
    disk.remount(&format!("size={}k", used + 200));
    bench.expect(&[], 1, &["1 of 2 runs failed", "cannot write", "No space left"]);
    assert_eq!(bench.status()["counts"]["done"], 1);

    // Not even room for a lease.
    let filled = fs::write(place.join("filler"), vec![0; 1 << 20]);
    assert!(filled.is_err());
    bench.expect(
        &["--retry-failed"],
        1,
        &["claims/beta-vae-seed=1", "cannot write the lease", "No space left"],
    );
    assert_eq!(bench.leases(), [""; 0]);

    fs::remove_file(place.join("filler")).unwrap();
    disk.remount("size=100m");
    bench.expect(&["--retry-failed"], 0, &[]);
    assert_same_studies(&whole, &bench);
}
