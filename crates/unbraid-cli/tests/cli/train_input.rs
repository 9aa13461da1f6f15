//! Wrong requests: one clear message each, exit code 2, and nothing changed.

use crate::support::{Bench, check_failure, checkpoints};
use std::fs;
use unbraid::run::{State, Status};

#[test]
fn impossible_values_are_refused_before_anything_is_written() {
    let bench = Bench::new();
    for (assignment, message) in [
        (
            "objective.bta=1",
            "configuration: objective: unknown key `bta`\nhint: did you mean `beta`?\n\
             hint: the method is `beta-vae`; objective.name=... chooses another",
        ),
        (
            "objective.beta=strong",
            "configuration: objective.beta: found \"strong\", expected a number or \
             { from = 0.0, to = 1.0, start = 0, end = 10000 }",
        ),
        ("objective.beta=-1", "configuration: objective.beta: found -1, expected a finite number, 0 or more"),
        (
            "objective.beta=nan",
            "configuration: objective.beta: found NaN, expected a finite number, 0 or more",
        ),
        (
            "model.latents.continuous=0",
            "configuration: model.latents.continuous: found 0, expected at least 1, or a unit in \
             model.latents.categorical",
        ),
        ("training.steps=0", "configuration: training.steps: found 0, expected at least 1"),
        (
            "training.batch_size=193",
            "configuration: training.batch_size: found 193, expected at most 192, the number of images of `shapes`",
        ),
        (
            "optimizer.learning_rate=0",
            "configuration: optimizer.learning_rate: found 0, expected a finite number above 0",
        ),
        (
            "model.architecture=cnov",
            "configuration: model.architecture.name: unknown value `cnov`\nhint: did you mean `conv`?",
        ),
        ("data.positions=5", "option `positions` of data set `shapes`: found 5, expected a divisor of 32"),
        ("data.name=shape", "unknown data set `shape`\nhint: did you mean `shapes`?"),
    ] {
        let output = bench.train("out", &["--set", assignment]).output().unwrap();
        check_failure(&output, bench.directory.path(), 2, &format!("error: {message}"));
        assert!(!bench.path("out").exists(), "{assignment}");
    }
    let refused = |more: &[&str], message: &str| bench.refuse(&[&["train"], more].concat(), message);
    refused(
        &["--preset", "dlib/betavae"],
        "error: unknown preset `dlib/betavae`\nhint: did you mean `dlib/beta-vae`?",
    );
    refused(
        &["--config", "none.toml"],
        "error: none.toml: cannot read the configuration: No such file or directory (os error 2)",
    );
    fs::write(bench.path("bad.toml"), "seed = = 3\n").unwrap();
    refused(
        &["--config", "bad.toml"],
        "error: bad.toml: TOML parse error at line 1, column 8\n  |\n1 | seed = = 3\n  |        ^\n\
         extra `=`, expected nothing",
    );
    refused(
        &["--device", "cuda"],
        "error: --device: found `cuda`, expected `cpu`, since this build lacks `--features cuda`",
    );
    refused(&["--threads", "0"], "error: --threads: found 0, expected 1 to 1024");
    // A number below 0 is a value, not an option of that name.
    for (option, value) in
        [("--steps", "-5"), ("--seed", "-1"), ("--batch-size", "many"), ("--threads", "-1")]
    {
        let message = format!("error: {option}: found {value}, expected a whole number, 0 or more");
        refused(&[option, value], &message);
    }
    refused(
        &["--set", "objective.beta"],
        "error: assignment `objective.beta`: expected key=value, such as objective.beta=6",
    );
    refused(
        &["--resume"],
        "error: the following required arguments were not provided:\n  --out <DIRECTORY>\n\n\
         Usage: unbraid train --out <DIRECTORY> --resume [<auto>] [DATA]\n\nFor more information, try '--help'.",
    );
    assert!(!bench.path("runs").exists());
}

#[test]
fn images_that_do_not_fit_the_network_are_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("pictures")).unwrap();
    for number in 0..4 {
        let picture = image::GrayImage::from_pixel(20, 20, image::Luma([number * 10]));
        picture.save(bench.path(&format!("pictures/{number}.png"))).unwrap();
    }
    let folder = [
        "--set",
        "data={ name = \"folder\", path = \"pictures\", size = 20 }",
        "--set",
        "training.batch_size=2",
    ];
    let output =
        bench.train("out", &[&folder[..], &["--set", "model.architecture=conv"]].concat()).output().unwrap();
    let message = "error: model.architecture `conv`: found images of 20 x 20, expected a height and width that are \
                   multiples of 16, such as 32 x 32";
    check_failure(&output, bench.directory.path(), 2, message);
    let mlp = "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }";
    bench.train("out", &[&folder[..], &["--set", mlp]].concat()).assert().success();
}

#[test]
fn runs_are_not_overwritten_or_mixed_up() {
    let bench = Bench::new();
    bench.refuse(
        &["train", "--resume", "--out", "run"],
        "error: run: nothing to resume: there is no run here\nhint: without --resume or --extend, a new run starts",
    );
    bench.train("run", &["--resume", "auto"]).assert().success();
    let before = checkpoints(&bench.path("run"));
    let refused = |more: &[&str], message: &str| {
        check_failure(&bench.train("run", more).output().unwrap(), bench.directory.path(), 2, message);
        assert!(checkpoints(&bench.path("run")) == before);
    };
    refused(
        &[],
        "error: run: there is a run here already (finished after 60 steps)\n\
         hint: --resume continues it, --extend trains it longer, --overwrite starts again",
    );
    refused(
        &["--resume", "--set", "objective.beta=3"],
        "error: run: the configuration of the run differs from the given one: objective.beta: 2.0 and 3.0\n\
         hint: without --preset, --config and --set, --resume takes the run's own",
    );
    let length =
        "error: run: the configuration of the run differs from the given one: training.steps: 60 and";
    refused(
        &["--resume", "--steps", "90"],
        &format!("{length} 90\nhint: unbraid train --out run --extend 90 trains it longer"),
    );
    refused(
        &["--resume", "--steps", "30"],
        &format!("{length} 30\nhint: without --preset, --config and --set, --resume takes the run's own"),
    );
    bench.train("run", &["--resume"]).assert().success();
    assert!(checkpoints(&bench.path("run")) == before);
    bench.train("run", &["--overwrite", "--set", "seed=9"]).assert().success();
    assert!(checkpoints(&bench.path("run")) != before);
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let last = bench.path("run/checkpoints/last.safetensors");
    let good = fs::read(&last).unwrap();
    let resume = |bytes: &[u8], message: &str| {
        fs::write(&last, bytes).unwrap();
        bench.refuse(
            &["train", "--resume", "--quiet", "--out", "run"],
            &format!("error: cannot resume: run/checkpoints/last.safetensors: {message}"),
        );
        assert_eq!(fs::read(&last).unwrap(), bytes);
    };
    resume(
        &good[..good.len() / 2],
        "not a complete safetensors file: incomplete metadata, file not fully covered",
    );
    resume(b"", "not a complete safetensors file: header too small");
    resume(b"PK\x03\x04 anything but safetensors", "not a complete safetensors file: header too large");
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid/tests/fixtures");
    let foreign = fs::read(fixtures.join("burgess.safetensors")).unwrap();
    resume(&foreign, "found a safetensors file of another program, expected a checkpoint written by unbraid");
    bench.train("other", &["--set", "model.latents.continuous=4"]).assert().success();
    resume(
        &fs::read(bench.path("other/checkpoints/last.safetensors")).unwrap(),
        "found a checkpoint of another configuration, expected that of the run's config.toml",
    );
    fs::write(&last, &good).unwrap();
    fs::remove_file(bench.path("run/checkpoints/optimizer-0000060.safetensors")).unwrap();
    bench.refuse(
        &["train", "--resume", "--out", "run"],
        "error: cannot resume: run/checkpoints/optimizer-0000060.safetensors: cannot read it: No such file or directory \
         (os error 2)",
    );
}

#[test]
fn a_loss_that_is_not_finite_stops_the_run_and_names_what_is_left() {
    let bench = Bench::new();
    let more = ["--set", "optimizer.learning_rate=1e30", "--set", "training.checkpoint_every=1"];
    let output = bench.train("run", &more).output().unwrap();
    // The first step makes weights of 1e30, with which logits are infinite of either sign.
    let message = "error: step 2: the term `reconstruction` is NaN; training cannot continue\n\
                   hint: a smaller optimizer.learning_rate or optimizer.gradient_clip may help; the last checkpoint is \
                   run/checkpoints/last.safetensors of step 1";
    check_failure(&output, bench.directory.path(), 1, message);
    let status = Status::read(&bench.path("run/status.json")).unwrap();
    assert_eq!(status.state, State::Failed);
    let error = "step 2: the term `reconstruction` is NaN; training cannot continue";
    assert_eq!(status.error.as_deref(), Some(error));
}

#[test]
fn the_configuration_is_printed_and_every_run_gets_a_name_of_its_own() {
    let bench = Bench::new();
    let output = bench.unbraid(&["train", "--print-config", "--set", "objective.beta=7"]).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("beta = 7.0") && text.contains("name = \"beta-vae\""), "{text}");
    let short = ["train", "--config", "tiny.toml", "--set", "training.steps=2"];
    for name in ["shapes-beta-vae-seed5", "shapes-beta-vae-seed5-2"] {
        let output = bench.unbraid(&short).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("reconstruction") && text.contains(&format!("runs/{name}\n")), "{text}");
        assert!(bench.path("runs").join(name).join("checkpoints/last.safetensors").exists());
    }
}

#[test]
fn presets_are_listed_shown_and_timed() {
    let bench = Bench::new();
    let list = bench.unbraid(&["presets"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    // Piped, as here, it is name, paper and place with tabs between.
    assert!(list.lines().all(|line| line.split('\t').count() == 3), "{list}");
    assert!(
        list.contains("dlib/dip-vae-ii\tHartmann; Locatello et al. 2019\tTable 1, DIP-VAE-II\n"),
        "{list}"
    );
    let json = bench.unbraid(&["presets", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), list.lines().count());
    assert_eq!(json[0]["name"], "default");
    let shown = bench.unbraid(&["presets", "show", "mathieu/beta-vae"]).output().unwrap();
    fs::write(bench.path("shown.toml"), &shown.stdout).unwrap();
    let by_file = bench.unbraid(&["train", "--print-config", "--config", "shown.toml"]).output().unwrap();
    let by_name =
        bench.unbraid(&["train", "--print-config", "--preset", "mathieu/beta-vae"]).output().unwrap();
    assert!(by_file.status.success() && by_file.stdout == by_name.stdout);
    bench.refuse(
        &["presets", "show", "dlib/beta"],
        "error: unknown preset `dlib/beta`\nhint: did you mean `dlib/beta-vae`?",
    );

    let timed =
        bench.unbraid(&["bench", "--json", "--threads", "2", "--config", "tiny.toml"]).output().unwrap();
    let cost: serde_json::Value = serde_json::from_slice(&timed.stdout).unwrap();
    for key in ["step_ms", "images_per_second", "share_of_peak"] {
        assert!(cost[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {cost}");
    }
    assert_eq!((cost["threads"].as_u64(), cost["device"].as_str()), (Some(2), Some("cpu")));
}
