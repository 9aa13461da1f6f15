//! A trained model in use, as commands and as a library: both give the same, and images of any size come in.

#[allow(dead_code, reason = "its main is not called")]
#[path = "../../../unbraid-report/examples/edit_image.rs"]
mod edit_image;

use crate::support::Bench;
use image::{Rgb, RgbImage};
use ndarray::{Array4, Axis};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use unbraid::Run;
use unbraid::data::formats::npz::Npz;
use unbraid::data::progress::Silent;
use unbraid::inference::Assignment;
use unbraid::inference::input;
use unbraid::model::Unit;

/// Two continuous units, and categorical ones with four classes and with two.
const JOINT: [&str; 4] =
    ["--set", "model.latents={ continuous = 2, categorical = [4, 2] }", "--set", "training.steps=20"];

fn joint() -> (Bench, Run) {
    let bench = Bench::new();
    bench.train("run", &JOINT).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    (bench, run)
}

/// A picture with something in it, of any size.
fn picture(path: &Path, width: u32, height: u32) {
    let pixel =
        |x: u32, y: u32| Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, ((x * y) % 256) as u8]);
    RgbImage::from_fn(width, height, pixel).save(path).unwrap();
}

fn floats(path: &Path, name: &str) -> Vec<f32> {
    Npz::open(path).unwrap().array(name).unwrap().floats().unwrap().into_iter().map(|v| v as f32).collect()
}

fn own_images(run: &Run) -> Array4<f32> {
    let data = input::open_own(run, &Silent).unwrap();
    input::read(data.as_ref(), &(0..data.len()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn tables_of_codes_are_what_the_library_computes_and_decode_to_reconstructions() {
    let (bench, run) = joint();
    bench.succeed(&["encode", "run", "-o", "codes.npz"], &["wrote codes.npz"]);
    bench.succeed(&["encode", "run", "-o", "codes.csv", "--threads", "1"], &[]);
    let printed = bench.unbraid(&["encode", "run", "--quiet"]).output().unwrap();
    assert_eq!(printed.stdout, fs::read(bench.path("codes.csv")).unwrap());
    assert!(printed.stderr.is_empty());

    let images = own_images(&run);
    let posteriors = run.encode(&images).unwrap();
    let archive = bench.path("codes.npz");
    assert_eq!(floats(&archive, "codes"), posteriors.mean.iter().copied().collect::<Vec<_>>());
    let deviations: Vec<f32> = posteriors.log_variance.iter().map(|log| (0.5 * log).exp()).collect();
    assert_eq!(floats(&archive, "standard_deviation"), deviations);
    let second = posteriors.probabilities.slice_axis(Axis(1), (4..6).into());
    assert_eq!(floats(&archive, "probabilities_1"), second.iter().copied().collect::<Vec<_>>());
    for row in posteriors.probabilities.rows() {
        let sums: (f32, f32) = (row.iter().take(4).sum(), row.iter().skip(4).sum());
        assert!((sums.0 - 1.0).abs() < 1e-5 && (sums.1 - 1.0).abs() < 1e-5, "{sums:?}");
    }
    // The scores of these codes can be computed as they are.
    bench.succeed(&["evaluate", "--codes", "codes.npz", "--metrics", "mig", "--quiet"], &[]);

    let csv = fs::read_to_string(bench.path("codes.csv")).unwrap();
    let mut lines = csv.lines();
    let header = "image,mean_0,mean_1,deviation_0,deviation_1,category_0,category_1,probability_0_0,probability_0_1,\
                  probability_0_2,probability_0_3,probability_1_0,probability_1_1,factor_shape,factor_scale,\
                  factor_orientation,factor_x,factor_y";
    assert_eq!(lines.next().unwrap(), header);
    let last: Vec<&str> = lines.next_back().unwrap().split(',').collect();
    assert_eq!((csv.lines().count(), last[0]), (193, "191"));
    assert_eq!(last[1].parse::<f32>().unwrap(), posteriors.mean[[191, 0]], "no digit is lost");
    assert_eq!(last[13..], ["2", "1", "1", "3", "3"], "the last image of the grid");

    // Back again, from either table: what the model makes of the images.
    let expected: Vec<f32> = run.reconstruct(&images).unwrap().iter().copied().collect();
    bench.succeed(&["decode", "run", "codes.csv", "-o", "from_csv.npz"], &[]);
    bench.succeed(&["decode", "run", "codes.npz", "-o", "from_npz.npz"], &[]);
    assert_eq!(floats(&bench.path("from_npz.npz"), "images"), expected);
    assert_eq!(fs::read(bench.path("from_csv.npz")).unwrap(), fs::read(bench.path("from_npz.npz")).unwrap());
    bench.succeed(&["decode", "run", "codes.csv", "-o", "decoded"], &[]);
    bench.succeed(&["decode", "run", "codes.csv", "-o", "sheet.png", "--quiet"], &[]);
    assert_eq!(fs::read_dir(bench.path("decoded")).unwrap().count(), 192);
    let first = image::open(bench.path("decoded/0000.png")).unwrap().into_rgb8();
    assert_eq!(first.dimensions(), (64, 64));
    for (pixel, value) in first.pixels().zip(&expected) {
        assert_eq!(pixel.0, [(value * 255.0).round() as u8; 3]);
    }
}

/// A reader that stops reading is no error, and neither is more data than one piece.
#[test]
fn a_reader_may_go_away() {
    let bench = Bench::new();
    bench.train("run", &["--set", "training.steps=2"]).assert().success();
    let spec = "shapes(scales=2, orientations=4, positions=16)";
    let mut child = Command::new(env!("CARGO_BIN_EXE_unbraid"))
        .args(["encode", "run", "--quiet", "--data", spec])
        .current_dir(bench.directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("image,mean_0"), "{line}");
    drop(out);
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!((child.wait().unwrap().code(), message.as_str()), (Some(0), ""));
    let all = bench.unbraid(&["encode", "run", "--quiet", "--data", spec]).output().unwrap();
    assert_eq!(all.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1 + 3 * 2 * 4 * 16 * 16);
}

#[test]
fn samples_come_from_the_prior_and_can_be_held_in_a_class() {
    let (bench, run) = joint();
    let command = ["sample", "run", "-n", "40", "--seed", "7", "--category", "3", "--category", "1=0"];
    let samples = |output: &str| bench.unbraid(&command).args(["-o", output]).output().unwrap();
    crate::support::check(&samples("samples.npz"), &[]);
    crate::support::check(&samples("sheet.png"), &[]);
    let mut latents = run.draw_latents(40, 7);
    let continuous = latents.slice_axis(Axis(1), (..2).into()).to_owned();
    let held = ndarray::arr1(&[0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    latents.slice_axis_mut(Axis(1), (2..).into()).assign(&held);
    let archive = bench.path("samples.npz");
    assert_eq!(floats(&archive, "images"), run.decode(&latents).unwrap().iter().copied().collect::<Vec<_>>());
    assert_eq!(floats(&archive, "codes"), continuous.iter().copied().collect::<Vec<_>>());
    assert_eq!(floats(&archive, "categories"), [3.0, 0.0].repeat(40));
    bench.succeed(&["decode", "run", "samples.npz", "-o", "again.npz"], &[]);
    assert_eq!(floats(&bench.path("again.npz"), "images"), floats(&archive, "images"));
}

#[test]
fn edits_traversals_and_ways_are_those_of_the_codes() {
    let (bench, run) = joint();
    picture(&bench.path("a.png"), 90, 70);
    picture(&bench.path("b.jpg"), 64, 200);
    let (first, last) =
        (run.read_image(bench.path("a.png")).unwrap(), run.read_image(bench.path("b.jpg")).unwrap());
    let (code, other) = (run.codes_of(&first).unwrap(), run.codes_of(&last).unwrap());

    // What is set to what it is stays as it is; what is set changes in that place alone.
    let same = Assignment::Value { unit: 1, value: code[[0, 1]] };
    assert_eq!(run.edit(&first, &[same]).unwrap(), run.reconstruct(&first).unwrap());
    let changes = [Assignment::Value { unit: 1, value: 1.5 }, Assignment::Class { unit: 0, class: 2 }];
    let edited = run.edit(&first, &changes).unwrap();
    let mut by_hand = code.clone();
    let new = ndarray::arr1(&[1.5, 0.0, 0.0, 1.0, 0.0]);
    by_hand.slice_axis_mut(Axis(1), (1..6).into()).assign(&new);
    assert_eq!(edited, run.decode(&by_hand).unwrap());
    let set = ["--set", "1=1.5", "--set", "category.0=2"];
    bench.unbraid(&["edit", "run", "--image", "a.png", "-o", "e.png"]).args(set).assert().success();
    let written = image::open(bench.path("e.png")).unwrap().into_rgb8();
    let bytes: Vec<u8> = edited.iter().map(|value| (value * 255.0).round() as u8).collect();
    assert!(written.pixels().zip(&bytes).all(|(pixel, byte)| pixel.0 == [*byte; 3]));
    let compare = ["edit", "run", "--image", "a.png", "-o", "compare.png", "--compare"];
    bench.unbraid(&compare).args(set).assert().success();

    let found = f64::from(code[[0, 0]]);
    let strip =
        run.traversal(&code.row(0), Unit::Continuous(0), Some((found - 2.0, found + 2.0)), 3).unwrap();
    assert_eq!(strip.latents.row(1), code.row(0));
    assert_eq!(strip.latents[[2, 0]], strip.values[2] as f32);
    assert_eq!(strip.values[2], found + 2.0);
    let classes = run.traversal(&code.row(0), Unit::Categorical(0), None, 3).unwrap();
    assert_eq!((classes.values, classes.latents.nrows()), (vec![0.0, 1.0, 2.0, 3.0], 4));
    assert!(run.traversal(&code.row(0), Unit::Categorical(9), None, 3).is_err());

    let way = run.interpolate(&code.row(0), &other.row(0), 5).unwrap();
    let ends = [run.reconstruct(&first).unwrap(), run.reconstruct(&last).unwrap()];
    let step = |place: usize| way.index_axis(Axis(0), place);
    assert_eq!(step(0), ends[0].index_axis(Axis(0), 0));
    assert_eq!(step(4), ends[1].index_axis(Axis(0), 0));
    let mut middle = other.clone();
    middle.row_mut(0)[0] = (code[[0, 0]] + other[[0, 0]]) / 2.0;
    middle.row_mut(0)[1] = (code[[0, 1]] + other[[0, 1]]) / 2.0;
    let difference = &step(2) - &run.decode(&middle).unwrap().index_axis(Axis(0), 0);
    assert!(difference.iter().all(|value| value.abs() < 1e-5), "halfway, with the classes of the second");

    for output in ["strip.png", "strip.gif"] {
        bench.succeed(&["traverse", "run", "--image", "a.png", "-o", output], &["wrote"]);
        bench.succeed(&["interpolate", "run", "a.png", "b.jpg", "-o", output, "--overwrite"], &[]);
    }
    let one = ["traverse", "run", "--unit", "1", "--unit", "category.1", "--range", "-2..2", "--steps", "5"];
    bench.unbraid(&one).args(["-o", "one.gif"]).assert().success();
    assert_eq!(&fs::read(bench.path("one.gif")).unwrap()[..6], b"GIF89a");
    let noisy = ["--image", "a.png", "--corrupt", "noise=0.05", "-o"];
    bench.unbraid(&["traverse", "run"]).args(noisy).arg("noisy.png").assert().success();
    bench.unbraid(&["reconstruct", "run"]).args(noisy).arg("noisy2.png").assert().success();
    bench.succeed(&["reconstruct", "run", "-n", "3", "--corrupt", "invert", "-o", "r.png"], &[]);
    edit_image::edit(&bench.path("run"), &bench.path("a.png"), (1, 1.5), &bench.path("example.png")).unwrap();
    assert!(image::open(bench.path("example.png")).is_ok());
}

/// Named one by one or in their folder, photographs become the same pixels and the same codes.
#[test]
fn photographs_of_any_size_come_in() {
    let (bench, run) = joint();
    fs::create_dir_all(bench.path("photos/trip")).unwrap();
    for (name, width, height) in [("c.png", 30, 30), ("trip/a.jpg", 200, 90), ("trip/b.png", 64, 400)] {
        picture(&bench.path("photos").join(name), width, height);
    }
    bench.succeed(&["encode", "run", "--data", "photos/", "-o", "folder.csv"], &[]);
    let files = ["photos/c.png", "photos/trip/a.jpg", "photos/trip/b.png"].map(|file| ["--image", file]);
    let command = bench.unbraid(&["encode", "run", "-o", "files.csv"]).args(files.concat()).output().unwrap();
    crate::support::check(&command, &[]);
    let rows = |file: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(bench.path(file)).unwrap();
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (folder, files) = (rows("folder.csv"), rows("files.csv"));
    assert_eq!([&folder[0][1], &folder[1][1], &folder[2][1]], ["name", "c.png", "trip/a.jpg"]);
    assert_eq!(files[3][1], "photos/trip/b.png");
    for (folder, file) in folder.iter().zip(&files) {
        assert_eq!(folder[2..], file[2..]);
    }
    // The path of a file is a data set of one image.
    let single = bench.unbraid(&["encode", "run", "--data", "photos/c.png"]).output().unwrap();
    let single = String::from_utf8(single.stdout).unwrap();
    assert!(single.lines().nth(1).unwrap().ends_with(&files[1][2..].join(",")), "{single}");
    assert_eq!(run.read_image(bench.path("photos/trip/b.png")).unwrap().dim(), (1, 64, 64, 1));
}
