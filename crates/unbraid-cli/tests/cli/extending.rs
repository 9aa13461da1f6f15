//! `--extend`: a run that is trained longer is the run that was planned to be as long, to the byte.

use crate::exactness::{LONG, resume};
use crate::support::{Bench, assert_same, checkpoints, metrics};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};
use unbraid::config::Source;
use unbraid::model::{read_state, write_state};

/// A finished run that is extended, once or twice, is the run that was planned to be as long: rows,
/// checkpoints, events and configuration. 61 steps end within a row of seven and between checkpoints; 63 end
/// with a row, 80 with a checkpoint.
#[test]
fn an_extended_run_ends_with_the_same_bytes_as_one_that_was_planned_so() {
    let bench = Bench::new();
    bench.train("whole", &["--set", "training.steps=150"]).assert().success();
    for (out, lengths) in
        [("row", &["63"][..]), ("within", &["61"]), ("checkpoint", &["80"]), ("twice", &["61", "97"])]
    {
        bench.train(out, &["--set", &format!("training.steps={}", lengths[0])]).assert().success();
        for length in lengths[1..].iter().chain([&"150"]) {
            bench.succeed(&["train", "--quiet", "--out", out, "--extend", length], &[]);
        }
        assert_same(&bench.path("whole"), &bench.path(out));
        // Nothing is left to do the second time.
        bench.succeed(&["train", "--quiet", "--out", out, "--extend", "150"], &[]);
        assert_same(&bench.path("whole"), &bench.path(out));
    }
}

/// Schedules are functions of the step, not of the length, also where they have not arrived when the first run ends.
#[test]
fn schedules_epochs_and_discriminators_are_extended_exactly() {
    let bench = Bench::new();
    let schedule = "objective.beta={ from = 0.0, to = 4.0, start = 10, end = 60 }";
    let discriminator = "objective={ name = \"factor-vae\", gamma = 10, discriminator = { width = 20 } }";
    for (out, set, short, long, extend) in [
        ("schedule", schedule, "training.steps=40", "training.steps=75", "75"),
        ("factor", discriminator, "training.steps=22", "training.steps=41", "41"),
        // 192 images: 24 batches of 8 an epoch.
        ("epochs", "objective.beta=2", "training.epochs=2", "training.epochs=5", "5epochs"),
    ] {
        let whole = format!("{out}-whole");
        bench.train(&whole, &["--set", set, "--set", long]).assert().success();
        bench.train(out, &["--set", set, "--set", short]).assert().success();
        bench.succeed(&["train", "--quiet", "--out", out, "--extend", extend], &[]);
        assert_same(&bench.path(&whole), &bench.path(out));
    }
}

#[test]
fn a_killed_extension_is_resumed_exactly() {
    let bench = Bench::new();
    bench.train("whole", &LONG).assert().success();
    bench.train("run", &["--set", "training.steps=33"]).assert().success();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("unbraid"))
        .current_dir(bench.directory.path())
        .args(["train", "--quiet", "--out", "run", "--extend", "1000"])
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while metrics(&bench.path("run")).len() < 12 {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    resume(&bench, "run");
    assert_same(&bench.path("whole"), &bench.path("run"));
}

/// Runs of earlier versions: their weights name the whole configuration, length included, and are read and
/// extended still.
#[test]
fn runs_whose_weights_name_their_length_are_read_and_extended() {
    let bench = Bench::new();
    bench.train("whole", &LONG).assert().success();
    bench.train("run", &[]).assert().success();
    let file = Some(bench.path("run/config.toml"));
    let fingerprint = Source { file, ..Source::default() }.resolve().unwrap().fingerprint();
    for (name, _) in
        checkpoints(&bench.path("run")).into_iter().filter(|(name, _)| !name.starts_with("optimizer"))
    {
        let path = bench.path("run/checkpoints").join(name);
        let (state, note) = read_state(&path).unwrap();
        let mut note: serde_json::Value = serde_json::from_str(&note.unwrap()).unwrap();
        note["configuration"] = fingerprint.clone().into();
        // Keys in the order in which they are written.
        let note = format!(
            "{{\"step\":{},\"configuration\":{},\"images\":{}}}",
            note["step"], note["configuration"], note["images"]
        );
        fs::write(&path, write_state(&state, &note).unwrap()).unwrap();
    }
    assert_eq!(unbraid::Run::open(bench.path("run")).unwrap().step(), 60);
    bench.succeed(&["train", "--quiet", "--out", "run", "--resume"], &[]);
    bench.succeed(&["train", "--quiet", "--out", "run", "--extend", "1000"], &[]);
    assert_same(&bench.path("whole"), &bench.path("run"));
}

#[test]
fn what_cannot_be_extended_is_refused_with_the_reason() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let before = checkpoints(&bench.path("run"));
    let refused = |out: &str, more: &[&str], message: &str| {
        bench.refuse(&[&["train", "--quiet", "--out", out], more].concat(), message);
    };
    refused(
        "run",
        &["--extend", "59"],
        "error: configuration: training.steps: found 59, expected at least 60, for which the run was planned",
    );
    refused(
        "run",
        &["--extend", "9epochs"],
        "error: configuration: training.epochs: found 9, expected a number of steps: this run draws every batch with \
         replacement, and one that was planned in epochs would have seen other images",
    );
    for length in ["many", "-3"] {
        let message = format!(
            "error: invalid value '{length}' for '--extend <STEPS>': expected a number of steps, or of epochs as in \
             60epochs\n\nFor more information, try '--help'."
        );
        refused("run", &["--extend", length], &message);
    }
    refused(
        "run",
        &["--extend", "90", "--resume"],
        "error: the argument '--extend <STEPS>' cannot be used with '--resume [<auto>]'\n\n\
         Usage: unbraid train --quiet --out <DIRECTORY> --extend <STEPS> [DATA]\n\n\
         For more information, try '--help'.",
    );
    refused(
        "run",
        &["--extend", "90", "--set", "seed=3"],
        "error: --extend continues with the run's own configuration; expected no data, --preset, --config, --set or \
         other settings",
    );
    refused(
        "none",
        &["--extend", "90"],
        "error: none: nothing to resume: there is no run here\nhint: without --resume or --extend, a new run starts",
    );
    assert!(checkpoints(&bench.path("run")) == before);
    bench.train("epochs", &["--set", "training.epochs=1"]).assert().success();
    refused(
        "epochs",
        &["--extend", "90"],
        "error: configuration: training.steps: found 90, expected a number of epochs, such as 60epochs: this run draws the \
         batches of an epoch without replacement, and one that was planned in steps would have seen other images",
    );
    let pca = [
        "train",
        "--quiet",
        "--preset",
        "pca",
        "--set",
        "data=shapes(positions=4)",
        "--out",
        "pca",
        "--no-evaluation",
    ];
    bench.succeed(&[&pca[..], &["--no-report"]].concat(), &[]);
    refused(
        "pca",
        &["--extend", "2"],
        "error: configuration: training.steps: found 2, expected 1, since the objective is `pca`",
    );
}
