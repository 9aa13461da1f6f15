//! Edits that keep the detail of a picture, in another size, and by how much units change.

use crate::support::Bench;
use image::{Rgb, RgbImage};
use std::fs;
use unbraid::Run;
use unbraid::data::Picture;
use unbraid::inference::Assignment;

fn trained() -> (Bench, Run) {
    let bench = Bench::new();
    bench.train("run", &["--steps", "20"]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    (bench, run)
}

#[test]
fn an_edit_at_full_resolution_is_the_original_plus_the_change() {
    let (bench, run) = trained();
    // Wider than high, and in colour: the run sees its grey centre.
    let picture =
        RgbImage::from_fn(160, 128, |x, y| Rgb([(x % 251) as u8, (y % 241) as u8, ((x * y) % 239) as u8]));
    picture.save(bench.path("a.png")).unwrap();
    let none = [Assignment::Change { unit: 1, by: 0.0 }];
    let unchanged = run.edit_picture(bench.path("a.png"), &none).unwrap();
    let original = Picture::read(&bench.path("a.png")).unwrap();
    assert_eq!(unchanged.shape(), original.shape());
    for (found, expected) in unchanged.pixels().iter().zip(original.pixels()) {
        assert!((found - expected).abs() < 1e-6);
    }

    let edit = ["edit", "run", "--image", "a.png", "--set", "1=+2", "--quiet"];
    bench.succeed(&[&edit[..], &["--keep-detail", "-o", "b.png"]].concat(), &[]);
    let written = image::open(bench.path("b.png")).unwrap().into_rgb8();
    assert_eq!(written.dimensions(), (160, 128));
    let image = run.read_image(bench.path("a.png")).unwrap();
    let changed = [Assignment::Change { unit: 1, by: 2.0 }];
    let change = run.edit(&image, &changed).unwrap() - run.reconstruct(&image).unwrap();
    assert!(change.iter().any(|value| value.abs() > 1e-3), "the unit does something");
    // Left and right of the centre nothing was seen, and nothing changes.
    for (x, y, pixel) in written.enumerate_pixels() {
        if !(16..144).contains(&x) {
            assert_eq!(pixel, picture.get_pixel(x, y), "{x} {y}");
        }
    }
    // Each pixel of the run is two by two of the original: their mean change is about that of the pixel,
    // bilinear filters aside.
    let mean: f32 = change.iter().sum::<f32>() / change.len() as f32;
    let edited = run.edit_picture(bench.path("a.png"), &changed).unwrap();
    let differences = edited.pixels().iter().zip(original.pixels()).map(|(a, b)| a - b);
    let found: f32 = differences.sum::<f32>() / (128 * 128 * 3) as f32;
    assert!((found - mean).abs() < 0.2 * mean.abs() + 0.01, "{found} {mean}");

    for (arguments, size) in [
        (&["--size", "256", "-o", "c.png"][..], (256, 256)),
        (&["--keep-detail", "--size", "80", "-o", "d.png"], (80, 64)),
        (&["-o", "e.png"], (64, 64)),
    ] {
        bench.succeed(&[&edit[..], arguments].concat(), &[]);
        assert_eq!(image::image_dimensions(bench.path(arguments.last().unwrap())).unwrap(), size);
    }
}

#[test]
fn changes_add_to_the_code_of_the_image() {
    let (bench, run) = trained();
    RgbImage::from_pixel(64, 64, Rgb([90; 3])).save(bench.path("a.png")).unwrap();
    let image = run.read_image(bench.path("a.png")).unwrap();
    let mut codes = run.codes_of(&image).unwrap();
    codes[[0, 2]] -= 1.5;
    let expected = run.decode(&codes).unwrap();
    for text in ["2-=1.5", "2=+-1.5"] {
        let written = text.parse().unwrap();
        let change = run.assignment(&written).unwrap();
        assert_eq!(run.edit(&image, &[change]).unwrap(), expected, "{text}");
    }
    bench.refuse(
        &["edit", "run", "--index", "48000", "--set", "0=1", "-o", "o.png", "--quiet"],
        "error: --index: found 48000, expected less than 192",
    );
    bench.succeed(&["edit", "run", "--index", "3", "--set", "0=1", "-o", "o.png", "--quiet"], &[]);
    bench.refuse(
        &["edit", "run", "--image", "a.png", "--set", "0=1", "--quiet"],
        "error: -o: expected a name that ends in .png, for a run on images",
    );
}

/// A run on the middle of its pictures sees the middle of every other picture, and changes nothing around it.
#[test]
fn pictures_are_seen_as_the_data_was() {
    let bench = Bench::new();
    fs::create_dir(bench.path("photos")).unwrap();
    // 20 x 20 pixels in the middle of 40 x 30, and something else around them.
    let photograph = |number: u32| {
        RgbImage::from_fn(40, 30, |x, y| match (10..30).contains(&x) && (5..25).contains(&y) {
            true => Rgb([(9 * x) as u8, (20 * number) as u8, (7 * y) as u8]),
            false => Rgb([255, 0, (6 * x) as u8]),
        })
    };
    for number in 0..8 {
        photograph(number).save(bench.path(&format!("photos/{number}.png"))).unwrap();
    }
    let settings = [
        "data={ name = \"folder\", path = \"photos\", size = 16, crop = 20 }",
        "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }",
    ];
    let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    bench.train("run", &[&set[..], &["--steps", "20"]].concat()).assert().success();

    let codes = |arguments: &[&str]| {
        let table = bench.expect_output(&[&["encode", "run", "--quiet"], arguments].concat());
        // Number and name of the image differ, the code does not.
        let rows = table.lines().skip(1).map(|row| row.splitn(3, ',').nth(2).unwrap().to_owned());
        rows.collect::<Vec<_>>()
    };
    let own = codes(&[]);
    assert_eq!(codes(&["--data", "photos"]), own);
    assert_eq!(codes(&["--image", "photos/3.png"]), own[3..4]);
    assert_eq!(codes(&["--data", "photos/3.png"]), own[3..4]);
    assert_ne!(codes(&["--data", "folder(path=photos, crop=30)"]), own, "another crop can be asked for");

    let edit = ["edit", "run", "--set", "0=+2", "--quiet", "--keep-detail", "-o", "edited.png", "--image"];
    bench.succeed(&[&edit[..], &["photos/3.png"]].concat(), &[]);
    let original = photograph(3);
    let edited = image::open(bench.path("edited.png")).unwrap().into_rgb8();
    let is_middle = |x: u32, y: u32| (10..30).contains(&x) && (5..25).contains(&y);
    let differs = |(x, y, pixel): &(u32, u32, &Rgb<u8>)| *pixel != original.get_pixel(*x, *y);
    let changed: Vec<_> = edited.enumerate_pixels().filter(differs).collect();
    assert!(!changed.is_empty() && changed.iter().all(|(x, y, _)| is_middle(*x, *y)), "{changed:?}");

    RgbImage::new(40, 19).save(bench.path("small.png")).unwrap();
    bench.refuse(
        &["encode", "run", "--quiet", "--image", "small.png"],
        "error: small.png: image: found 40 x 19 pixels, expected at least 20 x 20 pixels, since `crop` is 20",
    );
}
