//! The end of `unbraid train` and `unbraid report`: scores, figures and a page, from a run of a few steps.

use crate::support::Bench;
use image::GenericImageView;
use std::fs;
use std::path::Path;

/// Options of a run that is evaluated, with scores of milliseconds.
const FINISH: [&str; 6] = [
    "--set",
    "evaluation.after_training=true",
    "--set",
    "evaluation.report=true",
    "--set",
    "evaluation.metrics=[\"mig\", \"sap\"]",
];

fn page(run: &Path) -> String {
    fs::read_to_string(run.join("report.html")).unwrap()
}

/// Every `src` and `href` of a page.
fn addresses(page: &str) -> Vec<&str> {
    let after = |key: &'static str| page.split(key).skip(1).map(|rest| rest.split('"').next().unwrap());
    after(" src=\"").chain(after(" href=\"")).chain(after(" srcset=\"")).collect()
}

#[test]
fn training_ends_with_scores_and_a_report() {
    let bench = Bench::new();
    let mut arguments = vec!["--set", "training.steps=30"];
    arguments.extend(FINISH);
    let output = bench.train("run", &arguments).output().unwrap();
    crate::support::check(&output, &[]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("\nmig  ") && printed.contains("\nsap  "), "{printed}");
    assert!(printed.lines().last().unwrap().ends_with("run/report.html"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");

    let run = bench.path("run");
    for figure in [
        "traversals-image.png",
        "traversals-prior.png",
        "traversals.gif",
        "plane.png",
        "reconstructions.png",
        "data.png",
        "samples.png",
        "means.png",
        "training.svg",
        "aggregate-posterior.svg",
        "activity.svg",
        "units-by-factors.svg",
        "units-against-factors.svg",
    ] {
        assert!(fs::metadata(run.join("figures").join(figure)).unwrap().len() > 100, "{figure}");
    }
    // A row of 64 pixels and gaps for each of three units, below title and captions: 16 + 36 + 20 + 3 (68 + 4) + 16.
    let (width, height) = image::open(run.join("figures/traversals-image.png")).unwrap().dimensions();
    assert!(width > 11 * 68 && height == 304, "{width} {height}");

    let page = page(&run);
    for word in ["KL of each unit", "mutual information", "higher", "seed = 5", "unit 0"] {
        assert!(page.to_lowercase().contains(&word.to_lowercase()), "{word}");
    }
    assert!(addresses(&page).iter().all(|address| address.starts_with("data:") || address.starts_with('#')));
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert_eq!(page.matches("<img").count(), page.matches(" alt=\"").count());

    // Nothing is left to do, and nothing is done.
    let before = fs::metadata(run.join("report.html")).unwrap().modified().unwrap();
    bench.succeed(&["train", "--quiet", "--resume", "--out", "run"], &["already finished"]);
    assert_eq!(fs::metadata(run.join("report.html")).unwrap().modified().unwrap(), before);
    // What is missing is made.
    fs::remove_file(run.join("scores.json")).unwrap();
    bench.succeed(&["train", "--quiet", "--resume", "--out", "run"], &["already finished"]);
    assert!(run.join("scores.json").is_file());

    // A run that starts again leaves nothing of the one before.
    bench.train("run", &["--set", "training.steps=2", "--overwrite"]).assert().success();
    assert!(!run.join("report.html").exists() && !run.join("figures").exists());
}

#[test]
fn flags_switch_the_end_off() {
    let bench = Bench::new();
    let mut arguments = vec!["--set", "training.steps=2", "--no-evaluation", "--no-report"];
    arguments.extend(FINISH);
    bench.train("run", &arguments).assert().success();
    let run = bench.path("run");
    assert!(!run.join("scores.json").exists() && !run.join("report.html").exists());
    // A run that was not evaluated has a report without scores.
    bench.succeed(&["report", "run"], &["no scores yet", "unbraid evaluate run"]);
    assert!(!page(&run).contains("id=\"scores\""));
    // A run that is finished but not evaluated can be.
    bench.succeed(&["train", "--quiet", "--resume", "--out", "run", "--no-report"], &[]);
    assert!(run.join("scores.json").exists());
    bench.succeed(&["report", "--quiet", "run"], &[]);
    assert!(page(&run).contains("id=\"scores\""));
}

/// The same run gives the same page, whatever the number of threads.
#[test]
fn a_report_is_a_function_of_its_run() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=4"]).assert().success();
    bench.succeed(&["report", "--quiet", "--threads", "1", "run"], &[]);
    let (one, gif) = (page(&bench.path("run")), fs::read(bench.path("run/figures/traversals.gif")).unwrap());
    bench.succeed(&["report", "--quiet", "--threads", "3", "run"], &[]);
    assert!(page(&bench.path("run")) == one);
    assert!(fs::read(bench.path("run/figures/traversals.gif")).unwrap() == gif);
}

#[test]
fn a_failed_evaluation_does_not_lose_the_run() {
    let bench = Bench::new();
    let mut arguments = vec!["--set", "training.steps=2", "--no-evaluation", "--no-report"];
    arguments.extend(FINISH);
    bench.train("run", &arguments).assert().success();
    let run = bench.path("run");
    // Somebody's own file is in the way of the scores, another in that of the report.
    fs::write(run.join("scores.json"), "mine").unwrap();
    fs::write(run.join("report.html"), "mine, too").unwrap();
    let resume = ["train", "--quiet", "--resume", "--out", "run"];
    bench.fail(
        &resume,
        1,
        "run: already finished after 2 steps\n\
         error: the run is trained and saved, but its report failed: run/report.html: found a file that unbraid did not \
         write, expected none or an earlier page\n\
         error: the run is trained and saved, but its evaluation failed: run/scores.json: found a file that unbraid did \
         not write, expected none or an earlier evaluation\n\
         hint: unbraid evaluate run tries again",
    );
    assert_eq!(fs::read_to_string(run.join("scores.json")).unwrap(), "mine");
    assert_eq!(page(&run), "mine, too");
    let status = fs::read_to_string(run.join("status.json")).unwrap();
    assert!(status.contains("\"done\""), "{status}");
    fs::remove_file(run.join("scores.json")).unwrap();
    fs::remove_file(run.join("report.html")).unwrap();
    bench.succeed(&resume, &[]);
}

#[test]
fn wrong_requests_are_refused() {
    let bench = Bench::new();
    bench.refuse(&["report", "none"], "error: none: not a run: no such directory");
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    let run = bench.path("run");
    bench.refuse(
        &["report", "run", "--step", "1"],
        "error: run/checkpoints/step-0000001.safetensors: no such checkpoint; the run kept only the last one",
    );
    let damaged = |file: &str, content: &str, message: &str| {
        let kept = fs::read(run.join(file)).ok();
        fs::write(run.join(file), content).unwrap();
        bench.refuse(&["report", "--quiet", "run"], message);
        match kept {
            Some(kept) => fs::write(run.join(file), kept).unwrap(),
            None => fs::remove_file(run.join(file)).unwrap(),
        }
    };
    damaged(
        "metrics.jsonl",
        "nonsense\n",
        "error: run/metrics.jsonl, line 1: expected a JSON object: expected ident at line 1 column 2",
    );
    damaged(
        "scores.json",
        "{}",
        "error: run/scores.json: expected the scores of an evaluation: missing field `evaluation` at line 1 column 2",
    );
    damaged(
        "report.html",
        "<p>mine</p>",
        "error: run/report.html: found a file that unbraid did not write, expected none or an earlier page\n\
         hint: move it out of the way",
    );
    assert!(!run.join("report.html").exists());
    fs::remove_file(run.join("checkpoints/last.safetensors")).unwrap();
    bench.refuse(
        &["report", "run"],
        "error: run/checkpoints/last.safetensors: no such checkpoint; the run has not written its first checkpoint yet \
         (training.checkpoint_every)",
    );
    // Scores that need factors are refused before training where there are none.
    let photographs = bench.path("photographs");
    fs::create_dir(&photographs).unwrap();
    for i in 0..8_u8 {
        image::RgbImage::from_pixel(64, 64, image::Rgb([i; 3]))
            .save(photographs.join(format!("{i}.png")))
            .unwrap();
    }
    let mut arguments = vec!["--set", "data={ name = \"folder\", path = \"photographs\" }"];
    arguments.extend(FINISH);
    crate::support::check_failure(
        &bench.train("folder", &arguments).output().unwrap(),
        bench.directory.path(),
        2,
        "error: configuration: evaluation.metrics: found mig, expected metrics that need no factors, since `folder` has \
         none",
    );
}

/// Names of a run and of factors come from files; none of them may become markup.
#[test]
fn names_from_outside_are_escaped() {
    let bench = Bench::new();
    let name = "<img src=x onerror=alert(1)>";
    bench.train(name, &["--set", "training.steps=2"]).assert().success();
    bench.succeed(&["report", "--quiet", name], &[]);
    let page = page(&bench.path(name));
    assert!(!page.contains(name) && page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

/// Two latent units and two values: densities and scatters in place of images, with a prior of its own.
#[test]
fn data_of_the_plane_has_figures_of_its_own() {
    let bench = Bench::new();
    let mlp = "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }";
    let arguments = [
        "--set",
        "data=pinwheel",
        "--set",
        mlp,
        "--set",
        "model.latents={ continuous = 2 }",
        "--set",
        "model.likelihood={ name = \"gaussian\", scale = 0.3, output = \"linear\" }",
        "--set",
        "model.prior={ name = \"mixture\", positions = [[0, 2], [2, 0], [0, -2], [-2, 0]], variance = 0.2 }",
        "--set",
        "training.steps=4",
    ];
    bench.train("run", &arguments).assert().success();
    bench.succeed(&["report", "--quiet", "run"], &[]);
    for figure in ["points.svg", "density.png", "aggregate-posterior.svg"] {
        assert!(bench.path("run/figures").join(figure).is_file(), "{figure}");
    }
    assert!(!bench.path("run/figures/traversals-image.png").exists());
}

/// Categorical units are stepped through their classes, and have samples of each.
#[test]
fn categorical_units_are_shown() {
    let bench = Bench::new();
    let arguments =
        ["--set", "model.latents={ continuous = 2, categorical = [3] }", "--set", "training.steps=4"];
    let output = bench.train("run", &arguments).output().unwrap();
    crate::support::check(&output, &[]);
    bench.succeed(&["report", "--quiet", "run"], &[]);
    let (_, height) = image::open(bench.path("run/figures/categories.png")).unwrap().dimensions();
    assert!(height > 3 * 68, "{height}");
    assert!(page(&bench.path("run")).contains("category 0"));
}
