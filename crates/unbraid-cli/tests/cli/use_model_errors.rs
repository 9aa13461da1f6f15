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
    let traverse = |more: &[&'static str]| [&["traverse", "run"], more].concat();
    let no_image = "image: found damaged or unknown data, expected a PNG, JPEG, WebP, BMP, TIFF or GIF: The image format could not be determined";
    let help = "\n\nFor more information, try '--help'.";
    let wrong = [
        (edit("no.png", "0=1"), "no.png: cannot open: No such file or directory (os error 2)"),
        (edit("text.png", "0=1"), &format!("text.png: {no_image}")),
        (
            edit("half.png", "0=1"),
            "half.png: image: found damaged or unknown data, expected a PNG, JPEG, WebP, BMP, TIFF or GIF: unexpected end of file",
        ),
        (edit("full", "0=1"), "full: cannot open: Is a directory (os error 21)"),
        (edit("a.png", "2=1"), "unit 2: no such unit; run has 2 continuous units, 0 to 1"),
        (
            edit("a.png", "category.1=0"),
            "unit category.1: no such unit; run has one categorical unit, category.0",
        ),
        (edit("a.png", "category.0=4"), "class 4 of category.0: no such class; it has 4, 0 to 3"),
        (
            edit("a.png", "0"),
            &format!(
                "invalid value '0' for '--set <UNIT=VALUE>': found `0`, expected UNIT=VALUE, as in 3=1.5 or \
                 category.0=4{help}"
            ),
        ),
        (
            traverse(&["--unit", "7", "-o", "o.png"]),
            "unit 7: no such unit; run has 2 continuous units, 0 to 1",
        ),
        (
            traverse(&["--range", "3", "-o", "o.png"]),
            &format!(
                "invalid value '3' for '--range <LOW..HIGH>': found `3`, expected two numbers as in -3..3{help}"
            ),
        ),
        (
            traverse(&["--index", "-1", "-o", "o.png"]),
            "--index: found -1, expected a whole number, 0 or more",
        ),
        (
            traverse(&["--corrupt", "invert", "-o", "o.png"]),
            "--corrupt: found no image to corrupt, expected --image, --index or --factors",
        ),
        (
            traverse(&["-o", "o.jpg"]),
            "o.jpg: expected a name that ends in .png, in .gif for an animation, or in .svg for a run on a table",
        ),
        (traverse(&["-o", "there.png"]), "there.png: the file exists\nhint: --overwrite replaces it"),
        (traverse(&["-o", "no/o.png"]), "no/o.png: its directory does not exist"),
        (traverse(&["-o", "a.png/o.png"]), "a.png/o.png: its directory does not exist"),
        (vec!["interpolate", "run", "a.png", "text.png", "-o", "o.gif"], &format!("text.png: {no_image}")),
        (
            vec!["interpolate", "run", "a.png", "a.png", "--steps", "1", "-o", "o.gif"],
            &format!("invalid value '1' for '--steps <N>': 1 is not in 2..=200{help}"),
        ),
        (
            vec!["reconstruct", "run", "--corrupt", "blur", "-o", "o.png"],
            &format!(
                "invalid value 'blur' for '--corrupt <noise=P|invert>': found `blur`, expected `invert` or `noise=P` \
                 with a probability P, as in noise=0.05{help}"
            ),
        ),
        (vec!["reconstruct", "run", "-o", "o.gif"], "o.gif: expected a name that ends in .png"),
        (
            vec!["sample", "run", "--category", "9", "-o", "o.png"],
            "class 9 of category.0: no such class; it has 4, 0 to 3",
        ),
        (
            vec!["sample", "run", "-o", "full"],
            "full: the directory is not empty\nhint: --overwrite writes into it anyway",
        ),
        (
            vec!["sample", "run", "-n", "9999", "-o", "o.png"],
            "o.png: found 9,999 images, expected at most 2,500 on a sheet\n\
             hint: a name that ends in .npz, or a directory, takes any number",
        ),
        (
            vec!["sample", "run", "-o", "o.gif"],
            "o.gif: expected a name that ends in .png for a sheet, .npz for arrays or .csv for a table, or a directory",
        ),
        (
            vec!["encode", "run", "-o", "there.npz"],
            "there.npz: the file exists\nhint: --overwrite replaces it",
        ),
        (vec!["encode", "run", "-o", "o.txt"], "o.txt: expected a name that ends in .csv, .npz or .parquet"),
        (
            vec!["encode", "run", "--data", "pinwheel", "-o", "o.csv"],
            "pinwheel: found images of 1 x 2 x 1, expected 64 x 64 x 1 (height x width x channels), those of run",
        ),
        (vec!["encode", "run", "--data", "text.png", "-o", "o.csv"], &format!("text.png: {no_image}")),
        (
            vec!["encode", "run", "--data", "shape", "-o", "o.csv"],
            "unknown data set `shape`\nhint: did you mean `shapes`?",
        ),
        (
            vec!["decode", "run", "there.npz", "-o", "o.png"],
            "there.npz: file: found damaged or unknown data, expected a whole .npz (zip) archive: invalid Zip archive: \
             Could not find EOCD",
        ),
        (
            vec!["decode", "run", "there.csv", "-o", "o.png"],
            "there.csv: header: found no column `mean_0`, expected one for each unit of run",
        ),
        (vec!["measure", "run", "--samples", "0"], "--samples: found 0, expected at least 1"),
        (vec!["measure", "run", "--images", "1"], "--images: found 1, expected at least 2"),
        (vec!["measure", "run", "--threads", "0"], "--threads: found 0, expected 1 to 1024"),
    ];
    for (command, message) in &wrong {
        bench.refuse(command, &format!("error: {message}"));
        assert_eq!(listing(&bench), before, "{command:?}");
    }
    for file in ["there.png", "there.csv", "there.npz", "full/mine"] {
        assert_eq!(fs::read_to_string(bench.path(file)).unwrap(), "mine");
    }
    bench.succeed(&["sample", "run", "-n", "3", "-o", "full", "--overwrite"], &[]);
    assert_eq!(fs::read_dir(bench.path("full")).unwrap().count(), 4, "what else is there stays");
    bench.succeed(&["traverse", "run", "-o", "there.png", "--overwrite"], &[]);
    assert!(image::open(bench.path("there.png")).is_ok());
}

#[test]
fn codes_that_do_not_fit_are_refused_by_place() {
    let bench = small();
    let refused = |text: &str, message: &str| {
        fs::write(bench.path("codes.csv"), text).unwrap();
        let message = format!("error: codes.csv: {message}");
        bench.refuse(&["decode", "run", "codes.csv", "-o", "o.npz"], &message);
    };
    let header = "mean_0,mean_1,category_0\n";
    let after = |rows: &str| format!("{header}{rows}");
    refused(
        "mean_0,mean_1\n1,2\n",
        "header: found no column `category_0`, expected one for each unit of run",
    );
    refused(header, "table: found no codes, expected at least one row");
    refused(&after("1,x,0\n"), "row 1, column `mean_1`: found `x`, expected a number");
    refused(&after("1,2,0\n1,2,4\n"), "row 2, category.0: found 4, expected a class from 0 to 3");
    refused(&after("1,NaN,0\n"), "row 1, unit 1: found NaN, expected a finite number");
    refused(&after("1,2\n"), "line 2: found a row of length 2, expected 3, the length of the header");
    // Written by hand, with spaces and columns that mean nothing to us.
    fs::write(bench.path("codes.csv"), "note,category_0,mean_1,mean_0\nfirst, 1, 0.5, -1e-1\n").unwrap();
    bench.succeed(&["decode", "run", "codes.csv", "-o", "o.npz"], &[]);
}

#[test]
fn runs_without_what_is_needed_are_refused() {
    let bench = small();
    let sample = |run: &'static str, more: &[&'static str]| [&["sample", run, "-o", "o.png"], more].concat();
    bench.refuse(&sample("nothing", &[]), "error: nothing: not a run: no such directory");
    bench.refuse(&sample("a.png", &[]), "error: a.png: not a run: it is a file");
    bench.refuse(
        &sample("run", &["--step", "3"]),
        "error: run/checkpoints/step-0000003.safetensors: no such checkpoint; the run kept only the last one",
    );
    // A run that was stopped before its first checkpoint, and one that was stopped after it.
    fs::create_dir(bench.path("young")).unwrap();
    fs::copy(bench.path("run/config.toml"), bench.path("young/config.toml")).unwrap();
    bench.refuse(
        &sample("young", &[]),
        "error: young/checkpoints/last.safetensors: no such checkpoint; the run has not written its first checkpoint yet \
         (training.checkpoint_every)",
    );
    assert!(!bench.path("o.png").exists());
    let status = bench.path("run/status.json");
    fs::write(&status, fs::read_to_string(&status).unwrap().replace("done", "failed")).unwrap();
    bench.succeed(&sample("run", &[]), &["not trained to the end; using the checkpoint of step 4 of 4"]);
}

/// Help fits a terminal of 80 columns and ends with an example.
#[test]
fn help_is_readable() {
    let bench = Bench::new();
    for command in ["measure", "encode", "decode", "sample", "reconstruct", "traverse", "edit", "interpolate"]
    {
        let output = bench.unbraid(&[command, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let examples = [format!("Example: unbraid {command} "), format!("Examples:\n  unbraid {command} ")];
        assert!(examples.iter().any(|example| help.contains(example)), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}
