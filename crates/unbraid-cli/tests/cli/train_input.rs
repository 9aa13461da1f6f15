//! Wrong requests: one clear message each, exit code 2, and nothing changed.

use crate::support::{Bench, check, checkpoints};
use std::fs;

fn set(bench: &Bench, assignment: &str, words: &[&str]) {
    let output = bench.train("out", &["--set", assignment]).output().unwrap();
    check(&output, 2, words);
    assert!(!bench.path("out").exists(), "{assignment}");
}

#[test]
fn impossible_values_are_refused_before_anything_is_written() {
    let bench = Bench::new();
    for (assignment, words) in [
        ("objective.bta=1", &["objective", "`bta`", "did you mean `beta`?"][..]),
        ("objective.beta=strong", &["objective.beta", "strong"]),
        ("objective.beta=-1", &["objective.beta", "found -1", "expected"]),
        ("objective.beta=nan", &["objective.beta", "found NaN", "expected"]),
        ("model.latents.continuous=0", &["model.latents.continuous", "found 0", "at least 1"]),
        ("training.steps=0", &["training.steps", "found 0", "at least 1"]),
        ("training.batch_size=193", &["training.batch_size", "found 193", "at most 192"]),
        ("optimizer.learning_rate=0", &["optimizer.learning_rate", "found 0", "above 0"]),
        ("model.architecture=cnov", &["model.architecture", "did you mean `conv`?"]),
        ("data.positions=5", &["positions"]),
        ("data.name=shape", &["unknown data set", "did you mean `shapes`?"]),
    ] {
        set(&bench, assignment, words);
    }
    bench.expect(&["train", "--preset", "dlib/betavae"], 2, &["did you mean `dlib/beta-vae`?"]);
    bench.expect(&["train", "--config", "none.toml"], 2, &["none.toml", "cannot read"]);
    fs::write(bench.path("bad.toml"), "seed = = 3\n").unwrap();
    bench.expect(&["train", "--config", "bad.toml"], 2, &["bad.toml", "line 1"]);
    bench.expect(&["train", "--device", "cuda"], 2, &["--device", "cuda", "--features cuda"]);
    bench.expect(&["train", "--threads", "0"], 2, &["--threads", "found 0"]);
    bench.expect(&["train", "--set", "objective.beta"], 2, &["key=value"]);
    bench.expect(&["train", "--resume"], 2, &["--out"]);
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
    check(&output, 2, &["conv", "20 x 20", "multiples of 16", "32 x 32"]);
    let mlp = "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }";
    bench.train("out", &[&folder[..], &["--set", mlp]].concat()).assert().success();
}

#[test]
fn runs_are_not_overwritten_or_mixed_up() {
    let bench = Bench::new();
    bench.expect(&["train", "--resume", "--out", "run"], 2, &["nothing to resume"]);
    bench.train("run", &["--resume", "auto"]).assert().success();
    let before = checkpoints(&bench.path("run"));
    let refused = |more: &[&str], words: &[&str]| {
        check(&bench.train("run", more).output().unwrap(), 2, words);
        assert!(checkpoints(&bench.path("run")) == before);
    };
    refused(&[], &["there is a run here already", "finished after 60 steps", "--resume", "--overwrite"]);
    refused(
        &["--resume", "--set", "objective.beta=3"],
        &["another configuration", "objective.beta: 2.0 and 3.0"],
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
    let resume = |bytes: &[u8], words: &[&str]| {
        fs::write(&last, bytes).unwrap();
        bench.expect(&["train", "--resume", "--quiet", "--out", "run"], 2, words);
        assert_eq!(fs::read(&last).unwrap(), bytes);
    };
    resume(&good[..good.len() / 2], &["last.safetensors", "not a whole safetensors file"]);
    resume(b"", &["last.safetensors", "not a whole safetensors file"]);
    resume(b"PK\x03\x04 anything but safetensors", &["last.safetensors"]);
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../unbraid/tests/fixtures");
    let foreign = fs::read(fixtures.join("burgess.safetensors")).unwrap();
    resume(&foreign, &["another program", "expected a checkpoint of unbraid"]);
    bench.train("other", &["--set", "model.latents.continuous=4"]).assert().success();
    resume(&fs::read(bench.path("other/checkpoints/last.safetensors")).unwrap(), &["another configuration"]);
    fs::write(&last, &good).unwrap();
    fs::remove_file(bench.path("run/checkpoints/optimizer-0000060.safetensors")).unwrap();
    bench.expect(&["train", "--resume", "--out", "run"], 2, &["optimizer-0000060.safetensors"]);
}

#[test]
fn a_loss_that_is_not_finite_stops_the_run_and_names_what_is_left() {
    let bench = Bench::new();
    let more = ["--set", "optimizer.learning_rate=1e30", "--set", "training.checkpoint_every=1"];
    let output = bench.train("run", &more).output().unwrap();
    let message = check(&output, 1, &["step ", "last.safetensors of step", "hint"]);
    assert!(message.contains("the term `") || message.contains("not finite"), "{message}");
    let status = fs::read_to_string(bench.path("run/status.json")).unwrap();
    assert!(status.contains("\"failed\""), "{status}");
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
    bench.expect(&["presets", "show", "dlib/beta"], 2, &["did you mean `dlib/beta-vae`?"]);

    let timed =
        bench.unbraid(&["bench", "--json", "--threads", "2", "--config", "tiny.toml"]).output().unwrap();
    let cost: serde_json::Value = serde_json::from_slice(&timed.stdout).unwrap();
    for key in ["step_ms", "images_per_second", "share_of_peak"] {
        assert!(cost[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {cost}");
    }
    assert_eq!((cost["threads"].as_u64(), cost["device"].as_str()), (Some(2), Some("cpu")));
}
