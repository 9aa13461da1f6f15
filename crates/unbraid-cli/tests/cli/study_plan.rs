//! `unbraid study plan`, `new` and `presets`: what is counted, in which order, what is kept, and what is refused.

use crate::support::{Bench, without_directory};
use serde_json::Value;
use std::fs;
use unbraid::error_chain;
use unbraid::run::{State, Status};
use unbraid_study::{Manifest, Plan, StudyDirectory};

const STUDY: &str = r#"
name = "small"
config = "base.toml"
seeds = [4, 7]

[set]
training.steps = 5

[grid]
"model.latents.continuous" = [3, 2]

[[zip]]
"data.positions" = [2, 4]
"training.batch_size" = [4, 8]

[[method]]
name = "b"
[method.grid]
"objective.beta" = [1, 0.5]

[[method]]
name = "a"
set = { objective.name = "vae" }
"#;

/// A directory with `study/study.toml`, over the tiny configuration as `study/base.toml`.
fn bench(study: &str) -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path("study")).unwrap();
    fs::write(bench.path("study/base.toml"), crate::support::TINY).unwrap();
    write(&bench, study);
    bench
}

fn write(bench: &Bench, study: &str) {
    fs::write(bench.path("study/study.toml"), study).unwrap();
}

/// Plans without timing and gives what `--format json` says.
fn planned(bench: &Bench) -> Value {
    let command = ["study", "plan", "study", "--no-timing", "--format", "json"];
    let output = bench.unbraid(&command).output().unwrap();
    crate::support::check(&output, &[]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn counts(plan: &Value) -> [u64; 4] {
    ["runs", "trained", "begun", "new"].map(|key| plan[key].as_u64().unwrap())
}

fn manifest(bench: &Bench) -> Manifest {
    Manifest::read(&bench.path("study/manifest.jsonl")).unwrap()
}

fn names(bench: &Bench) -> Vec<String> {
    manifest(bench).entries.into_iter().map(|entry| entry.name).collect()
}

/// A plan is refused where all runs belong to another study, one of which is `name`.
#[track_caller]
fn refuse_foreign_runs(bench: &Bench, name: &str) {
    bench.refuse(
        &["study", "plan", "study"],
        &format!(
            "error: study/runs: found 1 directory of runs that are not in the study, such as {name}, and none of its own; \
             nothing was changed\n\
             hint: plan another study in another directory; --force plans it here and leaves those runs alone"
        ),
    );
}

/// What a finished run leaves behind, as far as a plan looks at it.
fn finish(bench: &Bench, number: usize) -> String {
    let entry = manifest(bench).entries.remove(number);
    let run = bench.path("study/runs").join(&entry.name);
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("config.toml"), entry.configuration.to_toml()).unwrap();
    Status::now(State::Done, 5, 5).write(&run.join("status.json")).unwrap();
    entry.name
}

/// Worked out by hand: methods in file order; the zip group before the grid; in the grid `model...` before
/// `objective...`; values as they stand; seeds innermost.
#[test]
fn runs_are_numbered_as_documented() {
    let bench = bench(STUDY);
    let plan = planned(&bench);
    assert_eq!(counts(&plan), [2 * 2 * 2 * 2 + 2 * 2 * 2, 0, 0, 24]);
    assert_eq!(plan["methods"][0]["name"], "b");
    assert_eq!(plan["methods"][0]["runs"], 16);
    assert_eq!(plan["methods"][1]["runs"], 8);
    let entries = manifest(&bench).entries;
    let settings: Vec<(u64, u64, f64, u64)> = entries[..16]
        .iter()
        .map(|entry| {
            let number = |key: &str| entry.settings[key].as_f64().unwrap();
            assert_eq!(entry.settings["method"], "b");
            assert_eq!(number("training.batch_size"), 2.0 * number("data.positions"));
            let [positions, units, seed] =
                ["data.positions", "model.latents.continuous", "seed"].map(|key| number(key) as u64);
            (positions, units, number("objective.beta"), seed)
        })
        .collect();
    assert_eq!(
        settings,
        [
            (2, 3, 1.0, 4),
            (2, 3, 1.0, 7),
            (2, 3, 0.5, 4),
            (2, 3, 0.5, 7),
            (2, 2, 1.0, 4),
            (2, 2, 1.0, 7),
            (2, 2, 0.5, 4),
            (2, 2, 0.5, 7),
            (4, 3, 1.0, 4),
            (4, 3, 1.0, 7),
            (4, 3, 0.5, 4),
            (4, 3, 0.5, 7),
            (4, 2, 1.0, 4),
            (4, 2, 1.0, 7),
            (4, 2, 0.5, 4),
            (4, 2, 0.5, 7),
        ]
    );
    let last = &entries[23];
    assert_eq!((last.number, last.method()), (23, "a"));
    assert_eq!(last.settings["data"], "shapes(orientations=2, positions=4, scales=2)");
    let config = &last.configuration;
    assert_eq!((config.seed, config.training.steps, config.training.batch_size), (7, Some(5), 8));
    assert_eq!((config.model.latents.continuous, config.objective.name()), (2, "vae"));
    assert!(!config.evaluation.report);
    assert_eq!(last.hash, config.fingerprint());
    assert_eq!(last.name, format!("a-positions=4-batch_size=8-continuous=2-seed=7-{}", &last.hash[..8]));
}

#[test]
fn finished_runs_stay_in_a_study_that_grows_and_shrinks() {
    let bench = bench(STUDY);
    planned(&bench);
    let before = names(&bench);
    let (first, last) = (finish(&bench, 0), finish(&bench, 23));
    // A directory that a killed process left behind.
    fs::create_dir_all(bench.path("study/runs").join(&before[1])).unwrap();

    // More values in front, in the middle and behind, and another order of methods: other numbers, the same names.
    let grown = STUDY
        .replace("[1, 0.5]", "[8, 1.0, 0.5]")
        .replace("[3, 2]", "[3, 6, 2]")
        .replace("[4, 7]", "[1, 4, 7]");
    write(&bench, &grown);
    let plan = planned(&bench);
    assert_eq!(counts(&plan), [3 * 3 * 3 * 2 + 3 * 3 * 2, 2, 1, 69]);
    assert_eq!(plan["orphaned"].as_array().unwrap().len(), 0);
    let after = names(&bench);
    assert!(before.iter().all(|name| after.contains(name)));
    assert_ne!(after[0], before[0]);

    // Fewer: what is left over is named and left alone.
    write(&bench, &STUDY.replace("[1, 0.5]", "[0.5]"));
    let plan = planned(&bench);
    assert_eq!(counts(&plan), [16, 1, 0, 15]);
    assert_eq!(plan["orphaned"], serde_json::json!([first, before[1]]));
    assert!(bench.path("study/runs").join(&first).join("status.json").exists());
    let text = bench.unbraid(&["study", "plan", "study", "--no-timing"]).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    for words in ["runs         16", "kept         1, 1 of them trained", "new          15", "orphaned     2"]
    {
        assert!(text.contains(words), "{text}");
    }
    assert!(names(&bench).contains(&last));
}

/// The study would call the run something else by now; its hash says that it is the same.
#[test]
fn a_run_keeps_its_name_when_another_key_is_varied() {
    let bench = bench("config = \"base.toml\"\n[grid]\nobjective.beta = [1, 2]\n");
    planned(&bench);
    let name = finish(&bench, 1);
    write(
        &bench,
        "config = \"base.toml\"\n[grid]\nobjective.beta = [1, 2]\nmodel.latents.continuous = [2, 3]\n",
    );
    assert_eq!(counts(&planned(&bench)), [4, 1, 0, 3]);
    let entry = &manifest(&bench).entries[3];
    assert_eq!(entry.name, name);
    assert_eq!(entry.settings["model.latents.continuous"], 3);
    // Another configuration with the same eight digits would not pass for it.
    let run = bench.path("study/runs").join(&name);
    fs::write(run.join("config.toml"), crate::support::TINY).unwrap();
    refuse_foreign_runs(&bench, &name);
}

#[test]
fn the_manifest_does_not_depend_on_the_way_to_the_study() {
    let bench = bench("base = \"default\"\n[set]\ndata.path = \"../images.npz\"\n");
    let mut seen = Vec::new();
    for (directory, study) in
        [(".", "study"), (".", "study/study.toml"), ("study", "."), ("study", "../study/./")]
    {
        let mut command = bench.unbraid(&["study", "plan", study, "--no-timing"]);
        crate::support::check(&command.current_dir(bench.path(directory)).output().unwrap(), &[]);
        seen.push(fs::read(bench.path("study/manifest.jsonl")).unwrap());
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    let path = manifest(&bench).entries[0].configuration.data.path.clone().unwrap();
    assert_eq!(path, bench.directory.path().canonicalize().unwrap().join("images.npz"));
}

#[test]
fn bad_input_is_refused_with_its_place_and_nothing_is_written() {
    let bench = bench("");
    let base = "config = \"base.toml\"\n";
    for (study, message) in [
        ("[grid]\nobjective.beta = []", "grid: objective.beta: found an empty list, expected values"),
        (
            "[grid]\nobjective.bta = [1]",
            "objective.bta = 1: configuration: objective: unknown key `bta`\nhint: did you mean `beta`?\n\
             hint: the method is `beta-vae`; objective.name=... chooses another",
        ),
        (
            "[grid]\ndata.positons = [2]",
            "data.positons = 2: data set `shapes` has no option `positons`\nhint: did you mean `positions`?",
        ),
        (
            "[grid]\nobjective.beta = [1, -1]",
            "objective.beta = -1: configuration: objective.beta: found -1, expected a finite number, 0 or more",
        ),
        (
            "[grid]\nobjective.beta = [\"much\"]",
            "objective.beta = \"much\": configuration: objective.beta: found \"much\", expected a number or \
             { from = 0.0, to = 1.0, start = 0, end = 10000 }",
        ),
        ("[gird]\nobjective.beta = [1]", "unknown key `gird`\nhint: did you mean `grid`?"),
        (
            "[set]\ntraining.step = 1",
            "configuration: training: unknown key `step`\nhint: did you mean `steps`?",
        ),
        (
            "[[zip]]\na = [1, 2]\nb = [1]",
            "zip 1: found 2 values of a and 1 of b, expected lists of equal length",
        ),
        (
            "[grid]\nobjective.beta = [1, 2, 1.0]",
            "runs 0 and 2 train the same model: method = \"beta-vae\", objective.beta = 1, seed = 0, and \
             method = \"beta-vae\", objective.beta = 1, seed = 0",
        ),
        (
            "[grid]\nevaluation.metrics = [[\"mig\"], []]",
            "runs 0 and 1 train the same model: evaluation.metrics = [\"mig\"], method = \"beta-vae\", seed = 0, and \
             evaluation.metrics = [], method = \"beta-vae\", seed = 0",
        ),
        (
            "[[method]]\n[[method]]\nset = { seed = 3 }",
            "method 2: set: found `seed`, expected seeds in `seeds` only",
        ),
        (
            "[[method]]\n[[method]]\nset = { training.steps = 3 }",
            "found two methods called `beta-vae`, expected a `name` for each",
        ),
        ("seeds = 0", "seeds: found none, expected one or more"),
        ("seeds = [1, 1]", "seeds: found 1 twice, expected each seed once"),
        ("seeds = \"3\"", "seeds: expected the number of seeds, or a list of seeds"),
        ("name = 3", "name: found 3, expected a string"),
        ("base = \"default\"", "found both `base` and `config`, expected one of them"),
        (
            "[[method]]\nconfig = \"gone.toml\"",
            "method 1: DIR/study/gone.toml: cannot read the configuration: No such file or directory (os error 2)",
        ),
        (
            "[[method]]\nbase = \"dlib/beta\"",
            "method 1: unknown preset `dlib/beta`\nhint: did you mean `dlib/beta-vae`?",
        ),
        (
            "[grid",
            "TOML parse error at line 2, column 6\n  |\n2 | [grid\n  |      ^\nunclosed table, expected `]`",
        ),
    ] {
        write(&bench, &format!("{base}{study}"));
        bench.refuse(&["study", "plan", "study"], &format!("error: study/study.toml: {message}"));
        assert!(!bench.path("study/manifest.jsonl").exists(), "{study}");
    }
    write(&bench, "");
    bench.refuse(
        &["study", "plan", "study"],
        "error: study/study.toml: found neither `base` nor `config`, expected base = \"default\" or another preset, or \
         config = \"base.toml\" or another file",
    );
    bench.refuse(
        &["study", "plan", "nowhere"],
        "error: nowhere: found nothing, expected the directory of a study\nhint: `unbraid study new` creates one",
    );
    fs::write(bench.path("study/base.toml"), "seed = \"x").unwrap();
    write(&bench, base);
    bench.refuse(
        &["study", "plan", "study"],
        "error: study/study.toml: DIR/study/base.toml: TOML parse error at line 1, column 10\n  |\n1 | seed = \"x\n  \
         |          ^\ninvalid basic string, expected `\"`",
    );
}

#[test]
fn the_directory_of_another_study_is_left_alone() {
    let bench = bench(STUDY);
    planned(&bench);
    let name = finish(&bench, 5);
    let before = fs::read(bench.path("study/manifest.jsonl")).unwrap();
    let other = "config = \"base.toml\"\n[grid]\nobjective.beta = [30]\n";
    write(&bench, other);
    refuse_foreign_runs(&bench, &name);
    assert_eq!(fs::read(bench.path("study/manifest.jsonl")).unwrap(), before);
    bench.succeed(&["study", "plan", "study", "--force", "--no-timing"], &[]);
    assert_eq!(manifest(&bench).entries.len(), 1);
    assert!(bench.path("study/runs").join(name).join("status.json").exists());
}

#[test]
fn a_damaged_manifest_is_written_anew() {
    let bench = bench(STUDY);
    planned(&bench);
    let path = bench.path("study/manifest.jsonl");
    let whole = fs::read(&path).unwrap();
    finish(&bench, 3);
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(Manifest::read(&path).is_err());
    assert_eq!(counts(&planned(&bench)), [24, 1, 0, 23]);
    assert_eq!(fs::read(&path).unwrap(), whole);
    // What cannot be written leaves what there is.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    bench.refuse(
        &["study", "plan", "study"],
        "error: study/manifest.jsonl: found a directory, expected a file to write",
    );
    assert!(path.is_dir());
}

#[test]
fn a_change_since_the_plan_is_noticed() {
    let bench = bench(STUDY);
    planned(&bench);
    let study = StudyDirectory::open(&bench.path("study")).unwrap();
    let manifest = study.read_manifest().unwrap();
    let check = || {
        let outdated = manifest.check_current(&study).unwrap()?;
        Some(without_directory(&error_chain(&outdated), bench.directory.path()))
    };
    assert_eq!(check(), None);
    write(&bench, &format!("# A comment.\n{STUDY}"));
    assert_eq!(check(), None);
    write(&bench, &STUDY.replace("[1, 0.5]", "[1]"));
    let changed = |runs: usize| {
        format!(
            "DIR/study/study.toml has changed since it was planned: it has {runs} runs now, {runs} of them among the 24 \
             of the manifest"
        )
    };
    assert_eq!(check(), Some(changed(16)));
    // Not what is trained, but what is done with it.
    write(&bench, &STUDY.replace("[set]", "[set]\nevaluation.metrics = [\"mig\"]"));
    assert_eq!(check(), Some(changed(24)));
    write(&bench, "seeds = 0");
    assert_eq!(check().unwrap(), "DIR/study/study.toml: seeds: found none, expected one or more");
}

/// Nobody wants to wait for runs of which none is in the study any more.
#[test]
fn a_plan_of_other_runs_is_not_trained() {
    let bench = bench(STUDY);
    planned(&bench);
    write(&bench, &STUDY.replace("seeds = [4, 7]", "seeds = [5, 8]"));
    let submit = ["study", "submit", "study", "--engine", "print"];
    for arguments in [&["study", "run", "study"][..], &submit] {
        bench.refuse(
            arguments,
            "error: study/study.toml has changed since it was planned: it has 24 runs now, 0 of them among the 24 of the \
             manifest\nhint: unbraid study plan study updates the manifest",
        );
    }
    assert!(!bench.path("study/runs").exists());
    let warning = "warning: study/study.toml has changed since it was planned";
    bench.succeed(&["study", "status", "study"], &[warning]);
    planned(&bench);
    assert_eq!(bench.expect_output(&submit).lines().count(), 24);
    // One seed of two is left, whose runs are wanted.
    write(&bench, &STUDY.replace("[4, 7]", "[5]"));
    bench.succeed(&submit, &[warning]);
}

#[test]
fn the_cost_is_measured_once_the_plan_is_written() {
    let bench = bench("");
    let study = "config = \"base.toml\"\nseeds = 2\n[grid]\nobjective.beta = [1, 2]\n";
    write(&bench, study);
    let output = bench.unbraid(&["study", "plan", "study", "--format", "json"]).output().unwrap();
    crate::support::check(&output, &[]);
    let cost = &serde_json::from_slice::<Value>(&output.stdout).unwrap()["cost"];
    let class = &cost["classes"][0];
    assert_eq!((class["runs"].as_u64(), class["steps"].as_u64()), (Some(4), Some(4 * 60)));
    let seconds = class["step_seconds"].as_f64().unwrap();
    assert!(seconds > 0.0);
    assert!((cost["core_hours"].as_f64().unwrap() - 240.0 * seconds / 3600.0).abs() < 1e-9);

    write(&bench, &format!("{study}[set]\ndata = \"gone.npz\"\n"));
    let output = bench.unbraid(&["study", "plan", "study"]).output().unwrap();
    crate::support::check(&output, &["measuring"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let text = without_directory(&text, bench.directory.path());
    for line in [
        "runs         4",
        "step         beta-vae  not measured: DIR/study/gone.npz: cannot open: No such file or directory (os error 2)",
        "unknown      what 4 of the runs cost; they are not in the sums below",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert_eq!(manifest(&bench).entries.len(), 4);
}

#[test]
fn the_studies_of_the_papers_are_there_to_begin_with() {
    let bench = Bench::new();
    let list = bench.unbraid(&["study", "presets", "--format", "json"]).output().unwrap();
    let list: Vec<Value> = serde_json::from_slice(&list.stdout).unwrap();
    let dlib = list.iter().find(|study| study["name"] == "dlib").unwrap();
    assert_eq!((dlib["runs"].as_u64(), dlib["runs_small"].as_u64()), (Some(10_800), Some(36)));

    let output = bench.unbraid(&["study", "new", "dlib", "study"]).output().unwrap();
    crate::support::check(&output, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let text = without_directory(&text, bench.directory.path());
    for line in [
        "runs         10800",
        "data         DIR/study/data/smallnorb: missing; expected the directory of the six .mat or .mat.gz files",
        "next         unbraid study plan study",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert_eq!(counts(&planned(&bench)), [10_800, 0, 0, 10_800]);
    let entries = manifest(&bench).entries;
    assert!(entries.iter().all(|entry| entry.name.len() <= 110), "{}", entries[10_000].name);
    let study = StudyDirectory::open(&bench.path("study")).unwrap();
    assert!(study.read_manifest().unwrap().check_current(&study).unwrap().is_none());

    let refused = |more: &[&str], message: &str| bench.refuse(&[&["study", "new"], more].concat(), message);
    refused(
        &["dlib", "study"],
        "error: study: there is a study here already\n\
         hint: edit its study.toml and run `unbraid study plan` again, or choose another directory",
    );
    refused(&["dlibb", "other"], "error: unknown study `dlibb`\nhint: did you mean `dlib`?");
    refused(
        &["thesis", "other", "--set", "objective.beta=3"],
        "error: objective.beta: the study varies it, so it cannot be set for all runs\n\
         hint: leave out that --set, then change its list in study.toml",
    );
    refused(
        &["thesis", "other", "--set", "training.stepz=3"],
        "error: study.toml: method `beta-vae`, objective.beta = 1: configuration: training: unknown key `stepz`\n\
         hint: did you mean `steps`?",
    );
    assert!(!bench.path("other").exists());
    let small = ["--scale", "small", "--set", "seeds=1", "--set", "training.steps=9"];
    bench.succeed(&[&["study", "new", "thesis", "other"], &small[..]].concat(), &[]);
    let text = fs::read_to_string(bench.path("other/study.toml")).unwrap();
    assert!(text.starts_with("# Mushom") && text.contains("\nseeds = 1\n"), "{text}");
    assert!(text.contains("\n\"training.steps\" = 9\n"), "{text}");
    bench.succeed(&["study", "new", "empty", "own"], &[]);
    bench.succeed(&["study", "plan", "own", "--no-timing"], &[]);
    let shown = bench.unbraid(&["study", "presets", "show", "kumar"]).output().unwrap().stdout;
    assert!(String::from_utf8(shown).unwrap().starts_with("# Kumar et al. 2018"));
}

/// Kumar et al. 2018, Table 1 and Figure 1: "on the test set of 2D Shapes", SAP with R^2 and balanced
/// thresholds, Z-diff by a support vector machine, and the reconstruction error of a pixel.
#[test]
fn runs_of_kumar_are_scored_by_his_measures_on_images_they_have_not_seen() {
    let bench = Bench::new();
    for (scale, runs) in [("full", 29), ("small", 30)] {
        bench.succeed(&["study", "new", "kumar", scale, "--scale", scale], &[]);
        let study = StudyDirectory::open(&bench.path(scale)).unwrap();
        let entries = Plan::of(&study).unwrap().manifest.entries;
        assert_eq!(entries.len(), runs, "{scale}");
        for entry in entries {
            let values = entry.configuration.values();
            assert_eq!(values["evaluation.split"], "\"test\"", "{}", entry.name);
            assert_eq!(values["evaluation.beta_vae_score.classifier"], "\"svm\"", "{}", entry.name);
            for metric in ["sap_kumar", "reconstruction_error"] {
                assert!(values["evaluation.metrics"].contains(metric), "{}: {metric}", entry.name);
            }
            let data = entry.configuration.data.to_string();
            assert!(data.contains("split=\"train\"") && data.contains("train_fraction=0.9"), "{data}");
        }
    }
}
