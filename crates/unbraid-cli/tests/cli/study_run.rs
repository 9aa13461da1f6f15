//! `unbraid study run` and `status`: which runs are trained, what becomes of those that fail, and whose they are.

use crate::support::sameness::assert_same_studies;
use crate::support::study::{Bench, wait_until};
use crate::support::{check, check_last_failure, without_directory};
use std::fs;
use std::time::{Duration, SystemTime};
use unbraid_study::lease::Owner;

const SHORT: &str = "training={ batch_size = 8, steps = 5, log_every = 2, checkpoint_every = 3 }";

#[test]
fn only_what_was_asked_for_is_trained() {
    let bench = Bench::new(5, &[SHORT]);
    let trained = || (0..5).filter(|number| bench.run(*number).exists()).collect::<Vec<_>>();
    bench.succeed(&["--only", "1..3,4"], &["3/3 done"]);
    assert_eq!(trained(), [1, 2, 4]);
    bench.succeed(&["--id", "0"], &[]);
    assert_eq!(trained(), [0, 1, 2, 4]);
    let status = bench.status();
    assert_eq!(status["counts"]["done"], 4);
    assert_eq!(status["counts"]["pending"], 1);

    // The rest; what is done is left alone.
    let before = bench.text(1, "status.json");
    let output = bench.succeed(&[], &["5/5 done: 3"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "runs            5\ndone            5\nfinished now    1\n"
    );
    assert_eq!(bench.text(1, "status.json"), before);
    for (more, message) in [
        (["--only", "3..9"], "error: --only: the study has no run 5; expected 0 to 4"),
        (["--id", "5"], "error: --id: the study has no run 5; expected 0 to 4"),
        (
            ["--only", "3..3"],
            "error: invalid value '3..3' for '--only <RANGES>': found the empty range `3..3`; ranges are half-open, as in \
             `0..100`\n\nFor more information, try '--help'.",
        ),
        (
            ["--jobs", "0"],
            "error: invalid value '0' for '--jobs <N>': 0 is not in 1..=1024\n\nFor more information, try '--help'.",
        ),
    ] {
        bench.fail(&more, 2, message);
    }
    fs::remove_file(bench.study.manifest()).unwrap();
    let message =
        "error: DIR/study: the study has no manifest.jsonl yet\nhint: unbraid study plan DIR/study writes it";
    bench.fail(&[], 2, message);
}

#[test]
fn a_failed_run_does_not_affect_the_others_and_is_retried_on_request() {
    let bench = crate::support::Bench::new();
    let missing = format!("data={{ path = \"{}\" }}", bench.path("late.npz").display());
    let strayed = "optimizer.learning_rate=1e30";
    let place = bench.path("study");
    let bench = Bench::at(bench, &place, &[&[SHORT], &[SHORT, &missing], &[SHORT, strayed], &[SHORT]]);
    let late = "DIR/late.npz: cannot open: No such file or directory (os error 2)";
    let missing = bench.failed_run(1, late);
    let strayed = bench.failed_run(2, "step 2: the term `reconstruction` is NaN; training cannot continue");
    let hint = "hint: --retry-failed tries them again";
    let two_failed = format!("error: 2 of 4 runs failed\n{missing}{strayed}{hint}");
    bench.fail(&["--jobs", "2"], 1, &two_failed);
    let status = bench.status();
    assert_eq!((&status["counts"]["done"], &status["counts"]["failed"]), (&2.into(), &2.into()));
    let written = |text: &str| without_directory(text, bench.bench.directory.path());
    assert_eq!(written(status["failed"][0]["error"].as_str().unwrap()), late);
    let log = fs::read_to_string(status["failed"][0]["log"].as_str().unwrap()).unwrap();
    assert_eq!(written(&log).lines().last(), Some(format!("error: {late}").as_str()), "{log}");
    assert_eq!(bench.leases(), [""; 0]);
    let output = bench.command("status", &[]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("failed          2\n") && written(&text).contains(late), "{text}");

    // Left alone without a word, and still a failure of what was asked for.
    let before = bench.text(1, "status.json");
    bench.fail(&[], 1, &two_failed);
    assert_eq!(bench.text(1, "status.json"), before);

    let shapes = "shapes(scales=2,orientations=2,positions=4)";
    bench.bench.succeed(&["data", "convert", shapes, "-o", "late.npz"], &[]);
    bench.succeed(&["--retry-failed", "--id", "1"], &[]);
    bench.fail(&["--retry-failed"], 1, &format!("error: 1 of 4 runs failed\n{strayed}{hint}"));
}

#[test]
fn what_is_trained_is_scored_without_training_it_again() {
    let whole = Bench::new(2, &[SHORT]);
    whole.succeed(&[], &[]);
    let mut bench = Bench::new(2, &[SHORT]);
    bench.succeed(&[], &[]);
    let logs = [0, 1].map(|number| bench.text(number, "run.log"));
    // As if killed while it was evaluated, or between its two files.
    fs::remove_file(bench.run(0).join("scores.json")).unwrap();
    fs::remove_file(bench.run(1).join("scores.json")).unwrap();
    fs::remove_file(bench.run(1).join("codes.npz")).unwrap();
    assert_eq!(bench.status()["counts"]["interrupted"], 2);
    bench.succeed(&[], &["2/2 done"]);
    assert_eq!([0, 1].map(|number| bench.text(number, "run.log")), logs);
    assert_same_studies(&whole, &bench);

    // Other metrics are another evaluation of the same run, which keeps what is there.
    bench.replan(|config| config.evaluation.metrics = vec!["sap".to_owned()]);
    assert_eq!(bench.status()["counts"]["done"], 0);
    bench.succeed(&[], &["2/2 done"]);
    assert_eq!([0, 1].map(|number| bench.text(number, "run.log")), logs);
    let scores =
        |bench: &Bench| -> serde_json::Value { serde_json::from_str(&bench.text(0, "scores.json")).unwrap() };
    assert_eq!(scores(&bench)["scores"].as_object().unwrap().keys().collect::<Vec<_>>(), ["mig", "sap"]);
    assert!(bench.text(0, "config.toml").contains("sap"));
    assert_eq!(bench.status()["counts"]["done"], 2);

    // So are other options of a metric.
    let options = ["sap.predictor=threshold".to_owned()];
    bench.replan(|config| config.evaluation = config.evaluation.with_assignments(&options).unwrap());
    assert_eq!(bench.status()["counts"]["done"], 0);
    bench.succeed(&[], &["2/2 done"]);
    assert_eq!(scores(&bench)["scores"]["sap"]["parameters"]["predictor"], "threshold");
    assert_eq!([0, 1].map(|number| bench.text(number, "run.log")), logs);
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
    check(&study.wait_with_output().unwrap(), &["3/3 done: 0"]);
    assert_eq!(counts()["done"], 3);
    assert_eq!(bench.leases(), [""; 0]);
}

#[test]
fn a_lease_without_heartbeat_is_taken_over_while_others_wait() {
    let mut bench = Bench::new(1, &[SHORT]);
    bench.stale = Some("2");
    foreign_lease(&bench, 0, 0);
    bench.succeed(&[], &["1/1 done"]);
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
    let place = format!("DIR/study/runs/{}", bench.manifest.entries[0].name);
    let error =
        format!("{place}: found files that do not belong to a run, expected an empty directory or a run");
    let failed = bench.failed_run(0, &error);
    bench.fail(&[], 1, &format!("error: 1 of 2 runs failed\n{failed}hint: --retry-failed tries them again"));
    assert_eq!(fs::read_dir(bench.run(0)).unwrap().count(), 1);
    assert_eq!(bench.status()["counts"]["done"], 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let many = "training={ batch_size = 8, steps = 30, log_every = 7, checkpoint_every = 1, keep_checkpoints = 100 }";
    let whole = Bench::new(2, &[many]);
    whole.succeed(&[], &[]);

    let bench = crate::support::Bench::new();
    let Some(disk) = crate::support::Disk::mount(bench.path("disk"), "100m") else { return };
    let place = bench.path("disk/study");
    let bench = Bench::at(bench, &place, &[&[many][..], &[many]]);
    bench.succeed(&["--id", "0"], &[]);
    // Room for the lease and a few checkpoints, not for all of them.
    let used = std::process::Command::new("du").args(["-s", "--block-size=1K"]).arg(&place).output().unwrap();
    let used = String::from_utf8(used.stdout).unwrap();
    let used: u64 = used.split_whitespace().next().unwrap().parse().unwrap();
    disk.remount(&format!("size={}k", used + 200));
    let output = bench.command("run", &[]).output().unwrap();
    let status = bench.status();
    assert_eq!(status["counts"]["done"], 1);
    // Any of its files may be the one that does not fit.
    let error =
        without_directory(status["failed"][0]["error"].as_str().unwrap(), bench.bench.directory.path());
    let run = format!("cannot write DIR/disk/study/runs/{}/", bench.manifest.entries[1].name);
    let file = error.strip_prefix(&run).and_then(|rest| rest.split(": ").next()).unwrap_or_default();
    assert_eq!(error, format!("{run}{file}: No space left on device (os error 28)"));
    let failed = bench.failed_run(1, &error);
    let message = format!("error: 1 of 2 runs failed\n{failed}hint: --retry-failed tries them again");
    check_last_failure(&output, bench.bench.directory.path(), 1, &message);

    // Not even room for a lease.
    let filled = fs::write(place.join("filler"), vec![0; 1 << 20]);
    assert!(filled.is_err());
    let lease = format!("DIR/disk/study/claims/{}", bench.manifest.entries[1].name);
    let message = format!("error: {lease}: cannot write the lease: No space left on device (os error 28)");
    bench.fail(&["--retry-failed"], 1, &message);
    assert_eq!(bench.leases(), [""; 0]);

    fs::remove_file(place.join("filler")).unwrap();
    disk.remount("size=100m");
    bench.succeed(&["--retry-failed"], &[]);
    assert_same_studies(&whole, &bench);
}
