//! What pages decode and encode in a real browser is what the command does, for every architecture.

use crate::support::Bench;
use crate::support::devtools::Chromium;
use serde_json::{Value, json};
use std::fs;
use unbraid::Run;
use unbraid::inference::input;

/// The step from one grey level of a screen to the next.
pub(crate) const GREY_LEVEL: f64 = 1.0 / 255.0;

/// How far a weight is rounded at most, relative to itself for half precision with its 11 significant bits,
/// and to the largest weight of its output for bytes. A value is a sum of products with independent errors of
/// this kind, and so errs by about as much relative to the differences between values.
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

/// The values of all units of the page's first model.
pub(crate) const CODE: &str = "Array.from(unbraid.models[0].code)";

/// What a canvas of a page shows, from 0 to 1.
pub(crate) fn canvas(browser: &mut Chromium, place: usize, channels: usize) -> Vec<f64> {
    let pixels = browser.evaluate(&format!(
        "(() => {{ unbraid.measure(1); const canvas = document.querySelectorAll('.live canvas')[{place}]; \
         return Array.from(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data); }})()"
    ));
    let of_image = |(place, value): (usize, f64)| (place % 4 < channels).then_some(value / 255.0);
    floats(&pixels).into_iter().enumerate().filter_map(of_image).collect()
}

/// What `unbraid decode` makes of a code that the page copies.
pub(crate) fn decoded(bench: &Bench, run: &str, code: &Value) -> Vec<f64> {
    fs::write(bench.path("code.json"), code.to_string()).unwrap();
    bench.succeed(&["decode", run, "code.json", "-o", "decoded.npz", "--quiet", "--overwrite"], &[]);
    let mut npz = unbraid::data::formats::npz::Npz::open(&bench.path("decoded.npz")).unwrap();
    npz.array("images").unwrap().floats().unwrap()
}

/// Every architecture, both kinds of units, all activations, batch normalisation with statistics of its own,
/// a decoder that puts out scales, and weights of both precisions: all of them on one page.
#[test]
fn every_architecture_decodes_and_encodes_as_the_command_does() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    let joint = "model.latents={ continuous = 3, categorical = [4, 2] }";
    let models: [(&str, &[&str]); 12] = [
        ("conv", &["model.architecture=conv"]),
        ("dlib", &["model.architecture=dlib", joint]),
        ("mathieu", &["model.architecture=mathieu"]),
        ("dupont", &["model.architecture=dupont-64", joint]),
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

/// Three channels: the architecture for small images, and the network of the default run, whose weights are bytes.
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
    let data = "data={ name = \"folder\", path = \"photos\", size = 32, crop = 24 }";
    let models = [
        ("small", "model.architecture=dupont-32", "f16"),
        ("default", "model.architecture={ name = \"mlp\", encoder = [192], decoder = [192] }", "int8"),
    ];
    for (name, architecture, _) in models {
        bench.train(name, &["--set", data, "--set", architecture]).assert().success();
    }
    // A picture of another shape is cropped and resized as by the command, which takes the crop of the data set.
    let photograph = image::RgbImage::from_fn(210, 120, |x, y| {
        image::Rgb([(x % 256) as u8, (2 * y % 256) as u8, ((x / 7) * (y / 5) % 256) as u8])
    });
    photograph.save(bench.path("photograph.png")).unwrap();
    bench.succeed(&["compare", "small", "default", "--quiet", "-o", "page.html"], &[]);
    browser.resize(1400, 1000, "light");
    browser.open(&bench.path("page.html"));
    browser.drop_file(&bench.path("photograph.png"), ".live-stage canvas");
    browser
        .wait_for("document.querySelector('.live-status').textContent.startsWith('photograph.png, encoded')");
    for (place, (name, _, precision)) in models.into_iter().enumerate() {
        assert_eq!(browser.evaluate(&format!("unbraid.models[{place}].precision")), precision);
        let tolerance = 2.0 * rounding(precision);
        let run = Run::open(bench.path(name)).unwrap();
        let expected = run.codes_of(&run.read_image(bench.path("photograph.png")).unwrap()).unwrap();
        let expected: Vec<f64> = expected.iter().map(|&value| f64::from(value)).collect();
        let code = browser.evaluate(&format!("Array.from(unbraid.models[{place}].code)"));
        assert_close(&floats(&code), &expected, 2.0 * tolerance * spread(&expected), name);
        // Beside the weights, the canvas rounds to the next grey level.
        let expected = decoded(&bench, name, &json!({ "codes": [code] }));
        let shown = canvas(&mut browser, place, 3);
        assert_close(&shown, &expected, tolerance * spread(&expected) + 0.5 * GREY_LEVEL, name);
    }
    // One that is smaller than what the data set cuts out is refused by both.
    image::RgbImage::new(40, 23).save(bench.path("small.png")).unwrap();
    browser.drop_file(&bench.path("small.png"), ".live-stage canvas");
    browser.wait_for(
        "document.querySelector('.live-status').textContent.startsWith('small.png: smaller than the 24 x 24 pixels')",
    );
    assert!(Run::open(bench.path("small")).unwrap().read_image(bench.path("small.png")).is_err());
    assert_eq!(browser.complaints(), [""; 0]);
}
