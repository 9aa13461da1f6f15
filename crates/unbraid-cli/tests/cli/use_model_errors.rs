//! Wrong requests of a trained model: a clear word, exit code 2, and nothing written or replaced.

use crate::support::Bench;
use std::fs;

fn small() -> Bench {
    let bench = Bench::new();
    let latents = "model.latents={ continuous = 2, categorical = [4] }";
    bench.train("run", &["--set", latents, "--set", "training.steps=4"]).assert().success();
    image::RgbImage::new(70, 80).save(bench.path("a.png")).unwrap();
    fs::write(bench.path("text.png"), "not an image").unwrap();
    let half = fs::read(bench.path("a.png")).unwrap();
    fs::write(bench.path("half.png"), &half[..half.len() / 2]).unwrap();
    bench
}

fn listing(bench: &Bench) -> Vec<String> {
    let entries = fs::read_dir(bench.directory.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn wrong_images_units_and_outputs_are_refused() {
    let bench = small();
    fs::write(bench.path("there.png"), "mine").unwrap();
    fs::write(bench.path("there.csv"), "mine").unwrap();
    fs::write(bench.path("there.npz"), "mine").unwrap();
    fs::create_dir(bench.path("full")).unwrap();
    fs::write(bench.path("full/mine"), "mine").unwrap();
    let before = listing(&bench);
    let edit = |image: &'static str, set: &'static str| {
        vec!["edit", "run", "--image", image, "--set", set, "-o", "o.png"]
    };
    let wrong: Vec<(Vec<&str>, &[&str])> = vec![
        (edit("no.png", "0=1"), &["no.png: cannot open"]),
        (
            edit("text.png", "0=1"),
            &["text.png: image: found damaged or unknown data", "expected a PNG or JPEG"],
        ),
        (edit("half.png", "0=1"), &["half.png: image: found damaged or unknown data"]),
        (edit("full", "0=1"), &["full: "]),
        (edit("a.png", "2=1"), &["unit 2: no such unit", "run has 2, 0 to 1"]),
        (edit("a.png", "category.1=0"), &["unit category.1: no such unit", "has one, category.0"]),
        (edit("a.png", "category.0=4"), &["class 4 of category.0", "it has 4, 0 to 3"]),
        (edit("a.png", "0"), &["expected UNIT=VALUE"]),
        (vec!["traverse", "run", "--unit", "7", "-o", "o.png"], &["unit 7: no such unit", "has 2, 0 to 1"]),
        (vec!["traverse", "run", "--range", "3", "-o", "o.png"], &["expected two numbers as in -3..3"]),
        (vec!["traverse", "run", "--corrupt", "invert", "-o", "o.png"], &["--corrupt", "expected --image"]),
        (vec!["traverse", "run", "-o", "o.jpg"], &["o.jpg: expected a name that ends in .png"]),
        (vec!["traverse", "run", "-o", "there.png"], &["there.png: the file exists", "--overwrite"]),
        (vec!["traverse", "run", "-o", "no/o.png"], &["no/o.png: its directory does not exist"]),
        (vec!["traverse", "run", "-o", "a.png/o.png"], &["a.png/o.png: its directory does not exist"]),
        (vec!["interpolate", "run", "a.png", "text.png", "-o", "o.gif"], &["text.png"]),
        (vec!["interpolate", "run", "a.png", "a.png", "--steps", "1", "-o", "o.gif"], &["--steps"]),
        (vec!["reconstruct", "run", "--corrupt", "blur", "-o", "o.png"], &["`invert` or `noise=P`"]),
        (vec!["reconstruct", "run", "-o", "o.gif"], &["o.gif: expected a name that ends in .png"]),
        (vec!["sample", "run", "--category", "9", "-o", "o.png"], &["class 9 of category.0"]),
        (vec!["sample", "run", "-o", "full"], &["full: the directory is not empty", "--overwrite"]),
        (
            vec!["sample", "run", "-n", "9999", "-o", "o.png"],
            &["9,999 images, expected at most 2,500 on a sheet"],
        ),
        (vec!["sample", "run", "-o", "o.gif"], &["o.gif: expected a name that ends in .png for a sheet"]),
        (vec!["encode", "run", "-o", "there.npz"], &["there.npz: the file exists"]),
        (vec!["encode", "run", "-o", "o.txt"], &["expected a name that ends in .csv or .npz"]),
        (
            vec!["encode", "run", "--data", "pinwheel", "-o", "o.csv"],
            &["expected 64 x 64 x 1", "those of run"],
        ),
        (vec!["encode", "run", "--data", "text.png", "-o", "o.csv"], &["text.png: image"]),
        (vec!["encode", "run", "--data", "shape", "-o", "o.csv"], &["did you mean `shapes`?"]),
        (vec!["decode", "run", "there.npz", "-o", "o.png"], &["there.npz: file"]),
        (vec!["decode", "run", "there.csv", "-o", "o.png"], &["there.csv: header: found no column `mean_0`"]),
        (vec!["measure", "run", "--samples", "0"], &["--samples: found 0"]),
        (vec!["measure", "run", "--images", "1"], &["--images: found 1, expected at least 2"]),
        (vec!["measure", "run", "--threads", "0"], &["--threads: found 0"]),
    ];
    for (command, words) in &wrong {
        let output = bench.unbraid(command).output().unwrap();
        crate::support::check(&output, 2, words);
        assert!(output.stdout.is_empty(), "{command:?}");
        assert_eq!(listing(&bench), before, "{command:?}");
    }
    for file in ["there.png", "there.csv", "there.npz", "full/mine"] {
        assert_eq!(fs::read_to_string(bench.path(file)).unwrap(), "mine");
    }
    bench.expect(&["sample", "run", "-n", "3", "-o", "full", "--overwrite"], 0, &[]);
    assert_eq!(fs::read_dir(bench.path("full")).unwrap().count(), 4, "what else is there stays");
    bench.expect(&["traverse", "run", "-o", "there.png", "--overwrite"], 0, &[]);
    assert!(image::open(bench.path("there.png")).is_ok());
}

#[test]
fn codes_that_do_not_fit_are_refused_by_place() {
    let bench = small();
    let refused = |text: &str, words: &[&str]| {
        fs::write(bench.path("codes.csv"), text).unwrap();
        bench.expect(&["decode", "run", "codes.csv", "-o", "o.npz"], 2, words);
    };
    refused("mean_0,mean_1\n1,2\n", &["no column `category_0`"]);
    refused("mean_0,mean_1,category_0\n", &["found no codes"]);
    refused("mean_0,mean_1,category_0\n1,x,0\n", &["row 1, column `mean_1`: found `x`, expected a number"]);
    refused(
        "mean_0,mean_1,category_0\n1,2,0\n1,2,4\n",
        &["row 2, category.0: found 4, expected a class from 0 to 3"],
    );
    refused("mean_0,mean_1,category_0\n1,NaN,0\n", &["row 1, unit 1: found NaN, expected a finite number"]);
    refused("mean_0,mean_1,category_0\n1,2\n", &["codes.csv: CSV"]);
    // Written by hand, with spaces and columns that mean nothing to us.
    fs::write(bench.path("codes.csv"), "note,category_0,mean_1,mean_0\nfirst, 1, 0.5, -1e-1\n").unwrap();
    bench.expect(&["decode", "run", "codes.csv", "-o", "o.npz"], 0, &[]);
}

#[test]
fn runs_without_what_is_needed_are_refused() {
    let bench = small();
    let sample = |run: &'static str, more: &[&'static str]| [&["sample", run, "-o", "o.png"], more].concat();
    bench.expect(&sample("nothing", &[]), 2, &["nothing: not a run: no such directory"]);
    bench.expect(&sample("a.png", &[]), 2, &["a.png: not a run"]);
    bench.expect(&sample("run", &["--step", "3"]), 2, &["no such checkpoint", "none was kept"]);
    // A run that was stopped before its first checkpoint, and one that was stopped after it.
    fs::create_dir(bench.path("young")).unwrap();
    fs::copy(bench.path("run/config.toml"), bench.path("young/config.toml")).unwrap();
    bench.expect(
        &sample("young", &[]),
        2,
        &["no such checkpoint", "has not come to its first checkpoint yet"],
    );
    assert!(!bench.path("o.png").exists());
    let status = bench.path("run/status.json");
    fs::write(&status, fs::read_to_string(&status).unwrap().replace("done", "failed")).unwrap();
    bench.expect(&sample("run", &[]), 0, &["not trained to the end; using the checkpoint of step 4 of 4"]);
}

/// Help fits a terminal of 80 columns and ends with an example.
#[test]
fn help_is_readable() {
    let bench = Bench::new();
    for command in ["measure", "encode", "decode", "sample", "reconstruct", "traverse", "edit", "interpolate"]
    {
        let output = bench.unbraid(&[command, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains(&format!("Example: unbraid {command} ")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}
