//! Edits that keep the detail of a picture, in another size, and by how much units change.

use crate::support::Bench;
use image::{Rgb, RgbImage};
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
    // Each pixel of the run is two by two of the original: their mean change is about that of the pixel, bilinear filters aside.
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
