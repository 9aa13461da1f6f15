//! Pages that carry their models, in a real browser: what they decode and encode is what the command does, and every control
//! works by key and by pointer.

use crate::support::Bench;
use crate::support::devtools::Chromium;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use unbraid::Run;
use unbraid::inference::input;

/// The step from one grey level of a screen to the next.
const GREY_LEVEL: f64 = 1.0 / 255.0;

/// How far a weight is rounded at most, relative to itself for half precision with its 11 significant bits, and to the largest
/// weight of its output for bytes. A value is a sum of products with independent errors of this kind, and so errs by about as
/// much relative to the differences between values.
pub(crate) fn rounding(precision: &str) -> f64 {
    if precision == "f16" { 1.0 / 2048.0 } else { 0.5 / 127.0 }
}

pub(crate) fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// From the smallest value to the largest.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
    high - low
}

#[track_caller]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(largest < tolerance, "{what}: {largest}");
}

/// What `unbraid decode` makes of a code that the page copies.
fn decoded(bench: &Bench, run: &str, code: &Value) -> Vec<f64> {
    fs::write(bench.path("code.json"), code.to_string()).unwrap();
    bench.succeed(&["decode", run, "code.json", "-o", "decoded.npz", "--quiet", "--overwrite"], &[]);
    let mut npz = unbraid::data::formats::npz::Npz::open(&bench.path("decoded.npz")).unwrap();
    npz.array("images").unwrap().floats().unwrap()
}

/// Every architecture, both kinds of units, all activations, batch normalisation with statistics of its own, a decoder that
/// puts out scales, and weights of both precisions: all of them on one page.
#[test]
fn every_architecture_decodes_and_encodes_as_the_command_does() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    let joint = "model.latents={ continuous = 3, categorical = [4, 2] }";
    let models: [(&str, &[&str]); 11] = [
        ("conv", &["model.architecture=conv"]),
        ("dlib", &["model.architecture=dlib", joint]),
        ("mathieu", &["model.architecture=mathieu"]),
        ("dcgan", &["model.architecture=dcgan", joint]),
        ("burgess", &["model.architecture=burgess", joint]),
        (
            "scales",
            &[
                "model.architecture={ name = \"burgess\", channels = 8, hidden = 16 }",
                "model.likelihood={ name = \"gaussian\", scale = \"decoded\" }",
            ],
        ),
        (
            "tanh",
            &[
                "model.architecture={ name = \"mlp\", encoder = [20], decoder = [20, 30], decoder_activation = \"tanh\" }",
                "model.likelihood={ name = \"laplace\", scale = \"decoded\" }",
                joint,
            ],
        ),
        (
            "linear",
            &[
                "model.architecture=linear",
                "model.likelihood={ name = \"gaussian\", scale = 0.3, output = \"linear\" }",
            ],
        ),
        ("covariance", &["model.posterior=full-covariance"]),
        ("flow", &["model.posterior=iaf"]),
        ("bytes", &["model.architecture={ name = \"mlp\", encoder = [160], decoder = [160] }"]),
    ];
    for (name, settings) in models {
        let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        bench.train(name, &[&["--set", "training.steps=3"][..], &set].concat()).assert().success();
    }
    let names: Vec<&str> = models.iter().map(|(name, _)| *name).collect();
    bench.succeed(&[&["compare"][..], &names, &["--quiet", "-o", "all.html"]].concat(), &[]);
    browser.open(&bench.path("all.html"));
    for (place, name) in names.into_iter().enumerate() {
        let run = Run::open(bench.path(name)).unwrap();
        let precision = browser.evaluate(&format!("unbraid.models[{place}].precision"));
        assert_eq!(precision, if ["dcgan", "bytes"].contains(&name) { "int8" } else { "f16" }, "{name}");
        let tolerance = 2.0 * rounding(precision.as_str().unwrap());
        let latents = run.draw_latents(1, 3);
        let row: Vec<f32> = latents.iter().copied().collect();
        let classes = run.layout().classes_of(&latents.row(0));
        let code = json!({ "codes": [row[..run.units()]], "categories": [classes] });
        let page = browser.evaluate(&format!("Array.from(unbraid.models[{place}].decode({}))", json!(row)));
        let expected = decoded(&bench, name, &code);
        assert_close(&floats(&page), &expected, tolerance * spread(&expected), name);

        // Its mean is that of many draws, which the page leaves to the command.
        if name == "flow" {
            assert_eq!(browser.evaluate(&format!("unbraid.models[{place}].encode")), Value::Null);
            continue;
        }
        let data = input::open_own(&run, &unbraid::data::progress::Silent).unwrap();
        let image = input::read(data.as_ref(), &[77]).unwrap();
        let expected: Vec<f64> =
            run.codes_of(&image).unwrap().iter().map(|&value| f64::from(value)).collect();
        let pixels = json!(image.iter().copied().collect::<Vec<f32>>());
        let page = browser
            .evaluate(&format!("Array.from(unbraid.models[{place}].encode(Float32Array.from({pixels})))"));
        let tolerance = 2.0 * tolerance * spread(&expected[..run.units()]);
        assert_close(&floats(&page), &expected, tolerance, name);
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Three channels, and the architecture for small images.
#[test]
fn colour_is_decoded_and_encoded_as_by_the_command() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    fs::create_dir(bench.path("photos")).unwrap();
    for number in 0..12_u32 {
        let pixel = |x: u32, y: u32| {
            let inside = x.abs_diff(5 + 2 * number).pow(2) + y.abs_diff(12).pow(2) < 40;
            let colour = if inside { [250, 20 * number, 40] } else { [8 * y, 90, 8 * x] };
            image::Rgb(colour.map(|value| value as u8))
        };
        image::RgbImage::from_fn(32, 32, pixel).save(bench.path(&format!("photos/{number}.png"))).unwrap();
    }
    let settings = [
        "data={ name = \"folder\", path = \"photos\", size = 32, crop = 24 }",
        "model.architecture=dupont-32",
    ];
    let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    bench.train("run", &set).assert().success();
    bench.succeed(&["compare", "run", "--quiet", "-o", "page.html"], &[]);
    browser.resize(1400, 1000, "light");
    browser.open(&bench.path("page.html"));
    let tolerance = 2.0 * rounding("f16");
    let page = browser.evaluate("Array.from(unbraid.models[0].decode([1.5, -0.5, 0.25]))");
    let expected = decoded(&bench, "run", &json!({ "codes": [[1.5, -0.5, 0.25]] }));
    assert_close(&floats(&page), &expected, tolerance * spread(&expected), "decoded");
    // A picture of another shape is cropped and resized as by the command, which takes the crop of the data set.
    let photograph = image::RgbImage::from_fn(210, 120, |x, y| {
        image::Rgb([(x % 256) as u8, (2 * y % 256) as u8, ((x / 7) * (y / 5) % 256) as u8])
    });
    photograph.save(bench.path("photograph.png")).unwrap();
    browser.drop_file(&bench.path("photograph.png"), ".live-stage canvas");
    browser
        .wait_for("document.querySelector('.live-status').textContent.startsWith('photograph.png, encoded')");
    let run = Run::open(bench.path("run")).unwrap();
    let expected = run.codes_of(&run.read_image(bench.path("photograph.png")).unwrap()).unwrap();
    let expected: Vec<f64> = expected.iter().map(|&value| f64::from(value)).collect();
    let page = floats(&browser.evaluate(CODE));
    assert_close(&page, &expected, 2.0 * tolerance * spread(&expected), "encoded");
    // One that is smaller than what the data set cuts out is refused by both.
    image::RgbImage::new(40, 23).save(bench.path("small.png")).unwrap();
    browser.drop_file(&bench.path("small.png"), ".live-stage canvas");
    browser.wait_for(
        "document.querySelector('.live-status').textContent.startsWith('small.png: smaller than the 24 x 24 pixels')",
    );
    assert!(run.read_image(bench.path("small.png")).is_err());
    assert_eq!(browser.complaints(), [""; 0]);
}

/// A picture as soon as the browser has written it.
fn image_when_there(path: &Path) -> image::RgbImage {
    for _ in 0..1000 {
        if let Ok(picture) = image::open(path) {
            return picture.into_rgb8();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{}: no picture", path.display());
}

pub(crate) const CODE: &str = "Array.from(unbraid.models[0].code)";

/// The value of a unit of the page's first model.
fn unit(browser: &mut Chromium, column: usize) -> f64 {
    browser.evaluate(CODE)[column].as_f64().unwrap()
}

#[test]
fn units_are_moved_by_key_and_pointer_named_and_started_from_a_dropped_picture() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    let joint = "model.latents={ continuous = 3, categorical = [4] }";
    let report = ["--set", "evaluation.report=true", "--set", joint, "--set", "training.steps=300"];
    bench.train("run", &report).assert().success();
    browser.resize(1400, 1000, "light");
    let opened = browser.open(&bench.path("run/report.html"));
    let speed = browser.evaluate("unbraid.measure(100)").as_f64().unwrap();
    let size = fs::metadata(bench.path("run/report.html")).unwrap().len();
    let _ = std::io::stderr().write_all(
        format!("REPORT: page of {size} bytes opened in {opened:.2?}, {speed:.0} pictures a second\n")
            .as_bytes(),
    );

    // What the canvas shows is what `unbraid decode` writes as a PNG.
    let row = floats(&browser.evaluate(CODE));
    let class = row[3..].iter().position(|&value| value == 1.0).unwrap();
    let expected = decoded(&bench, "run", &json!({ "codes": [row[..3]], "categories": [[class]] }));
    browser.wait_for("document.querySelector('.live-stage > .faint').textContent !== ''");
    let canvas = browser.evaluate(
        "Array.from(document.querySelector('.live canvas').getContext('2d').getImageData(0, 0, 64, 64).data) \
         .filter((value, place) => place % 4 === 0).map((value) => value / 255)",
    );
    assert_close(&floats(&canvas), &expected, 1.5 * GREY_LEVEL, "canvas");

    // By key: a two-hundredth of the range from -3 to 3 at a time.
    let slider = "[data-unit='0'] input[type=range]";
    browser.evaluate("document.querySelectorAll('.live details').forEach((part) => (part.open = true))");
    browser.evaluate(&format!("document.querySelector(\"{slider}\").focus()"));
    browser.press("Home");
    assert!((unit(&mut browser, 0) + 3.0).abs() < 1e-3);
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    assert!((unit(&mut browser, 0) + 2.94).abs() < 1e-3, "{}", unit(&mut browser, 0));
    let start = browser.evaluate("unbraid.models[0].start[0]").as_f64().unwrap();
    browser.press("0");
    assert!((unit(&mut browser, 0) - start).abs() < 1e-3);

    // By pointer: to the middle of the slider, which is 0.
    let (from, to) = (browser.place(slider, (0.2, 0.5)), browser.place(slider, (0.5, 0.5)));
    browser.drag(from, to);
    assert!(unit(&mut browser, 0).abs() < 0.1, "{}", unit(&mut browser, 0));

    // The pad: a quarter to the right and up from its middle is half of 3.
    let (centre, corner) = (browser.place(".live-pad", (0.5, 0.5)), browser.place(".live-pad", (0.75, 0.25)));
    browser.drag(centre, corner);
    let across = browser.evaluate("unbraid.models[0].units.filter((unit) => !unit.classes)[0].column");
    let up = browser.evaluate("unbraid.models[0].units.filter((unit) => !unit.classes)[1].column");
    let (across, up) = (across.as_u64().unwrap() as usize, up.as_u64().unwrap() as usize);
    for column in [across, up] {
        assert!((unit(&mut browser, column) - 1.5).abs() < 0.05, "{}", unit(&mut browser, column));
    }
    browser.press("ArrowDown");
    assert!((unit(&mut browser, up) - 1.35).abs() < 0.05, "a fortieth of the range");

    // Classes, animation, reset.
    browser.click("[data-unit='category.0'] .live-classes button:nth-child(3)");
    assert_eq!(floats(&browser.evaluate(CODE))[3..], [0.0, 0.0, 1.0, 0.0]);
    browser.evaluate(&format!("document.querySelector(\"{slider}\").focus()"));
    let before = unit(&mut browser, 0);
    browser.press(" ");
    browser.wait_for(&format!("Math.abs(unbraid.models[0].code[0] - {before}) > 0.2"));
    browser.press(" ");
    let stopped = unit(&mut browser, 0);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(unit(&mut browser, 0), stopped);
    browser.press("r");
    assert_eq!(floats(&browser.evaluate(CODE)), row);

    // A picture from disk, encoded in the page as by the command.
    let picture = image::RgbImage::from_fn(150, 90, |x, y| {
        image::Rgb([(x * 255 / 150) as u8, (y * 255 / 90) as u8, (((x / 9) * (y / 9)) % 256) as u8])
    });
    picture.save(bench.path("mine.png")).unwrap();
    browser.drop_file(&bench.path("mine.png"), ".live-stage canvas");
    browser
        .wait_for("document.querySelector('.live-status').textContent === 'mine.png, encoded and decoded.'");
    let run = Run::open(bench.path("run")).unwrap();
    let expected = run.codes_of(&run.read_image(bench.path("mine.png")).unwrap()).unwrap();
    let expected: Vec<f64> = expected.iter().map(|&value| f64::from(value)).collect();
    let tolerance = 4.0 * rounding("f16") * spread(&expected[..3]);
    assert_close(&floats(&browser.evaluate(CODE)), &expected, tolerance, "code of the dropped picture");
    fs::write(bench.path("no.png"), "no picture").unwrap();
    browser.drop_file(&bench.path("no.png"), ".live-stage canvas");
    browser
        .wait_for("document.querySelector('.live-status').textContent.startsWith('no.png: not a picture')");
    assert_close(&floats(&browser.evaluate(CODE)), &expected, tolerance, "the code stays");

    // What is taken along: the code, which the command decodes to what the page shows, and the picture itself.
    let downloads = bench.path("downloads");
    fs::create_dir(&downloads).unwrap();
    browser.call("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": downloads }));
    browser.click(".live-keep button:nth-child(2)");
    browser.wait_for("document.querySelector('.live-code').value !== ''");
    let copied = browser.evaluate("document.querySelector('.live-code').value");
    let copied: Value = serde_json::from_str(copied.as_str().unwrap()).unwrap();
    assert_eq!(copied["run"], "run");
    let shown = decoded(&bench, "run", &copied);
    browser.click(".live-keep button:nth-child(1)");
    let saved = image_when_there(&downloads.join("run.png"));
    assert_eq!(saved.dimensions(), (64, 64));
    let saved: Vec<f64> = saved.pixels().map(|pixel| f64::from(pixel.0[0]) / 255.0).collect();
    assert_close(&saved, &shown, 1.5 * GREY_LEVEL, "saved picture");

    // Names: what the page exports is what the command reads.
    browser.click("[data-unit='1'] .live-name");
    browser.call("Input.insertText", json!({ "text": "azimuth" }));
    browser.press("Tab");
    let command = browser.evaluate("document.querySelector('.live-keep code').textContent");
    assert_eq!(command, "unbraid name run '1=azimuth'");
    let exported = browser.evaluate("unbraid.names()");
    bench.succeed(&["name", "run", "1=azimuth"], &[]);
    assert_eq!(exported.as_str().unwrap(), fs::read_to_string(bench.path("run/units.toml")).unwrap());
    browser.click("[data-unit='2'] .live-name");
    browser.call("Input.insertText", json!({ "text": "azimuth" }));
    browser.press("Tab");
    assert_eq!(
        browser.evaluate("document.querySelector(\"[data-unit='2'] .live-name\").ariaInvalid"),
        "true"
    );
    assert_eq!(browser.evaluate("unbraid.names()"), exported, "a name belongs to one unit");
    assert_eq!(browser.complaints(), [""; 0]);

    for (width, height) in [(400, 800), (1400, 1000)] {
        for scheme in ["light", "dark"] {
            browser.resize(width, height, scheme);
            browser.open(&bench.path("run/report.html"));
            let overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.evaluate(overhang), 0, "{width} {scheme}");
            let smallest = "Math.min(...[...document.querySelectorAll('.live *')].filter((part) => part.textContent) \
                            .map((part) => parseFloat(getComputedStyle(part).fontSize)))";
            assert!(browser.evaluate(smallest).as_f64().unwrap() >= 12.0, "{width} {scheme}");
            browser.evaluate("document.getElementById('move').scrollIntoView()");
            browser.screenshot(&format!("report-{width}-{scheme}.png"));
            assert_eq!(browser.complaints(), [""; 0]);
        }
    }
}

/// Of two runs that differ in their seed alone, the units that correlate move together.
#[test]
fn models_of_a_comparison_move_together() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    for (name, seed) in [("one", "seed=5"), ("two", "seed=6")] {
        bench
            .train(name, &["--set", seed, "--set", "training.steps=600", "--set", "objective.beta=1"])
            .assert()
            .success();
    }
    bench.succeed(&["compare", "one", "two", "one", "--quiet", "-o", "compare.html"], &[]);
    browser.open(&bench.path("compare.html"));
    // A model matches itself: every unit that varies moves as it does.
    let matches = browser.evaluate("unbraid.models[2].matches");
    let units = browser.evaluate("unbraid.models[0].units");
    for (place, matched) in matches.as_array().unwrap().iter().enumerate() {
        assert_eq!(matched["column"], units[place]["column"], "{matches}");
        assert!((matched["correlation"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    }
    browser.evaluate("document.querySelectorAll('.live details').forEach((part) => (part.open = true))");
    let first = units[0]["unit"].as_str().unwrap().to_owned();
    let slider = format!("[data-unit='{first}'] input[type=range]");
    browser.evaluate(&format!("document.querySelector(\"{slider}\").focus()"));
    browser.press("End");
    let codes = browser.evaluate("unbraid.models.map((model) => Array.from(model.code))");
    let column = units[0]["column"].as_u64().unwrap() as usize;
    assert!((codes[0][column].as_f64().unwrap() - 3.0).abs() < 1e-3);
    assert!((codes[2][column].as_f64().unwrap() - 3.0).abs() < 1e-3, "the same model at the same place");
    let other = browser.evaluate("unbraid.models[1].matches[0]");
    if !other.is_null() {
        let moved = other["offset"].as_f64().unwrap() + 3.0 * other["slope"].as_f64().unwrap();
        let expected = moved.clamp(-3.0, 3.0);
        let found = codes[1][other["column"].as_u64().unwrap() as usize].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }
    for (width, height) in [(400, 800), (1400, 1000)] {
        for scheme in ["light", "dark"] {
            browser.resize(width, height, scheme);
            browser.open(&bench.path("compare.html"));
            let overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.evaluate(overhang), 0, "{width} {scheme}");
            browser.evaluate("document.getElementById('move').scrollIntoView()");
            browser.screenshot(&format!("compare-{width}-{scheme}.png"));
        }
    }
    assert_eq!(browser.complaints(), [""; 0]);
}
