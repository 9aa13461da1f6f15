//! Pages that carry their models, in a real browser: every control works by key and by pointer, and what it
//! does is what the command does.

use crate::live_engine::{CODE, GREY_LEVEL, assert_close, canvas, decoded, floats, rounding, spread};
use crate::live_table::text_when_there;
use crate::support::Bench;
use crate::support::devtools::{Chromium, write_base64};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use unbraid::Run;
use unbraid::data::DataSet;
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::metrics::information::mutual_information;
use unbraid::model::Unit;

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
    assert_close(&canvas(&mut browser, 0, 1), &expected, 1.5 * GREY_LEVEL, "canvas");

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
    // The first unit that the second model has as well.
    let others = browser.evaluate("unbraid.models[1].matches");
    let place = others.as_array().unwrap().iter().position(|other| !other.is_null());
    let place = place.expect("of two seeds, some units correlate");
    let (unit, other) = (&units[place], &others[place]);
    let slider = format!("[data-unit='{}'] input[type=range]", unit["unit"].as_str().unwrap());
    browser.evaluate(&format!("document.querySelector(\"{slider}\").focus()"));
    browser.press("End");
    let codes = browser.evaluate("unbraid.models.map((model) => Array.from(model.code))");
    let column = unit["column"].as_u64().unwrap() as usize;
    assert!((codes[0][column].as_f64().unwrap() - 3.0).abs() < 1e-3);
    assert!((codes[2][column].as_f64().unwrap() - 3.0).abs() < 1e-3, "the same model at the same place");
    let moved = other["offset"].as_f64().unwrap() + 3.0 * other["slope"].as_f64().unwrap();
    let expected = moved.clamp(-3.0, 3.0);
    let found = codes[1][other["column"].as_u64().unwrap() as usize].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    assert_eq!(browser.complaints(), [""; 0]);
    for (width, height) in [(400, 800), (1400, 1000)] {
        for scheme in ["light", "dark"] {
            browser.resize(width, height, scheme);
            browser.open(&bench.path("compare.html"));
            let overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.evaluate(overhang), 0, "{width} {scheme}");
            browser.evaluate("document.getElementById('move').scrollIntoView()");
            browser.screenshot(&format!("compare-{width}-{scheme}.png"));
            assert_eq!(browser.complaints(), [""; 0]);
        }
    }
}

/// What the words beside a slider say of a unit: its KL divergence, and the factor that it follows best. The
/// shares of variance are 1 - (within / (n - k)) / (total / (n - 1)) with the sums of squares within the k
/// values of a factor, and altogether.
fn notes(run: &Run, data: &dyn DataSet) -> Vec<(Unit, f64, String, f64)> {
    // Reports draw every image of so small a data set once.
    let indices: Vec<usize> = (0..data.len()).collect();
    let posteriors = run.encode_data(data, &indices, Stream::new(0, "no noise"), &Silent).unwrap();
    let space = data.factors().unwrap();
    let mut values = vec![0; space.len()];
    let rows: Vec<Vec<u32>> = indices
        .iter()
        .map(|&index| {
            data.factors_of(index, &mut values);
            values.clone()
        })
        .collect();
    let squares = |numbers: &[f64]| {
        let mean = numbers.iter().sum::<f64>() / numbers.len().max(1) as f64;
        numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>()
    };
    let strength = |unit: Unit, factor: usize| {
        let (of_images, size): (Vec<u32>, usize) =
            (rows.iter().map(|row| row[factor]).collect(), space.factors()[factor].size);
        match unit {
            Unit::Continuous(unit) => {
                let means: Vec<f64> =
                    posteriors.mean.column(unit).iter().map(|&mean| f64::from(mean)).collect();
                let of_value = |value: u32| -> Vec<f64> {
                    means
                        .iter()
                        .zip(&of_images)
                        .filter(|(_, own)| **own == value)
                        .map(|(mean, _)| *mean)
                        .collect()
                };
                let within: f64 = (0..size as u32).map(|value| squares(&of_value(value))).sum();
                let count = means.len();
                1.0 - within / (count - size) as f64 / (squares(&means) / (count - 1) as f64)
            }
            Unit::Categorical(unit) => {
                let classes: Vec<u32> =
                    posteriors.categories.column(unit).iter().map(|&class| class as u32).collect();
                mutual_information(&classes, run.categorical_units()[unit], &of_images, size)
            }
        }
    };
    let described = run.layout().units().zip(run.divergences(&posteriors, 0)).map(|(unit, divergence)| {
        let strengths = (0..space.len()).map(|factor| (factor, strength(unit, factor)));
        let (factor, best) = strengths.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
        (unit, divergence, space.factors()[factor].name.clone(), best.max(0.0))
    });
    let mut notes: Vec<_> = described.collect();
    notes.sort_by(|one, other| other.1.total_cmp(&one.1));
    notes
}

/// Also: where to start, the axes of the pad, and what is taken along.
#[test]
fn units_say_what_they_follow_and_start_from_anything() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    let joint = "model.latents={ continuous = 3, categorical = [4] }";
    bench.train("it's", &["--set", joint, "--set", "training.steps=300"]).assert().success();
    bench.succeed(&["report", "it's", "--quiet"], &[]);
    let run = Run::open(bench.path("it's")).unwrap();
    let data = run.open_data(&Silent).unwrap().data;
    browser.resize(1400, 1000, "light");
    browser.open(&bench.path("it's/report.html"));
    browser.evaluate("document.querySelectorAll('.live details').forEach((part) => (part.open = true))");

    // Sorted by KL divergence, each beside the factor that it follows best.
    let shown = browser.evaluate(
        "[...document.querySelectorAll('.live-unit')].map((row) => \
         [row.dataset.unit, ...row.querySelector('.live-note').textContent.split(' \u{b7} ')])",
    );
    let notes = notes(&run, data.as_ref());
    assert_eq!(shown.as_array().unwrap().len(), notes.len());
    for ((unit, divergence, factor, strength), words) in notes.iter().zip(shown.as_array().unwrap()) {
        let number = |place: usize, before: &str| -> f64 {
            let text = words[place].as_str().unwrap();
            text.strip_prefix(before).unwrap_or_else(|| panic!("{before}: {text}")).parse().unwrap()
        };
        assert_eq!(words[0], unit.to_string(), "{shown}");
        let measure = if matches!(unit, Unit::Continuous(_)) { "R\u{b2}" } else { "MI" };
        // Two decimals.
        assert!((number(1, "KL ") - divergence).abs() < 0.005 + 1e-9, "{words} {divergence}");
        let found = number(2, &format!("{factor} {measure} "));
        assert!((found - strength).abs() < 0.005 + 1e-9, "{words} {strength}");
    }

    // From an image of the data: the button shows it, and the units are those of its code, with four decimals.
    let button = ".live-images button:nth-child(2)";
    let picture = browser.evaluate(&format!("document.querySelector('{button} img').src"));
    write_base64(
        picture.as_str().unwrap().strip_prefix("data:image/png;base64,").unwrap(),
        &bench.path("start.png"),
    );
    browser.click(button);
    let expected = run.codes_of(&run.read_image(bench.path("start.png")).unwrap()).unwrap();
    let expected: Vec<f64> = expected.iter().map(|&value| f64::from(value)).collect();
    assert_close(&floats(&browser.evaluate(CODE)), &expected, 1e-4, "an image of the data");
    // From the middle of a standard normal prior, with the first class.
    browser.click(".live-starts .live-buttons button:nth-child(1)");
    assert_eq!(floats(&browser.evaluate(CODE)), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    // From samples of the prior, by pointer and by key. That six of a hundred are the same is out of the question.
    let samples = run.draw_latents(100, 0);
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    for way in 0..6 {
        if way == 0 {
            browser.click(".live-starts .live-buttons button:nth-child(2)");
        } else {
            browser.press("s");
        }
        let code = floats(&browser.evaluate(CODE));
        let is_near = |sample: ndarray::ArrayView1<'_, f32>| {
            sample.iter().zip(&code).all(|(&value, found)| (f64::from(value) - found).abs() < 1e-4)
        };
        assert!(samples.rows().into_iter().any(is_near), "{code:?}");
        drawn.push(code);
    }
    assert!(drawn.iter().any(|code| *code != drawn[0]), "{drawn:?}");

    // The pad moves the units that its lists say: the third one and the first.
    let continuous = browser
        .evaluate("unbraid.models[0].units.filter((unit) => !unit.classes).map((unit) => unit.column)");
    let columns: Vec<usize> = floats(&continuous).into_iter().map(|column| column as usize).collect();
    for (place, keys) in [(0, ["ArrowDown", "ArrowDown"]), (1, ["ArrowUp", "ArrowUp"])] {
        browser.evaluate(&format!("document.querySelectorAll('.live-two select')[{place}].focus()"));
        keys.into_iter().for_each(|key| browser.press(key));
    }
    let before = unit(&mut browser, columns[1]);
    let (centre, corner) = (browser.place(".live-pad", (0.5, 0.5)), browser.place(".live-pad", (0.75, 0.0)));
    browser.drag(centre, corner);
    assert!((unit(&mut browser, columns[2]) - 1.5).abs() < 0.05, "across");
    assert!((unit(&mut browser, columns[0]) - 3.0).abs() < 0.05, "up");
    assert_eq!(unit(&mut browser, columns[1]), before);

    // The code in the clipboard.
    let rights = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    browser.call("Browser.grantPermissions", rights);
    browser.click(".live-keep button:nth-child(2)");
    browser
        .wait_for("document.querySelector('.live-status').textContent === 'The code is in the clipboard.'");
    let copied = browser.evaluate("navigator.clipboard.readText()");
    let copied: Value = serde_json::from_str(copied.as_str().unwrap()).unwrap();
    let code = floats(&browser.evaluate(CODE));
    assert_close(&floats(&copied["codes"][0]), &code[..3], 1e-6, "copied");

    // A name as a file, and as a command for a shell, which runs it as it stands.
    browser.click("[data-unit='1'] .live-name");
    browser.call("Input.insertText", json!({ "text": "who's $HOME" }));
    browser.press("Tab");
    let downloads = bench.path("downloads");
    fs::create_dir(&downloads).unwrap();
    browser.call("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": downloads }));
    browser.click(".live-keep button:nth-child(3)");
    let saved = text_when_there(&downloads.join("units.toml"));
    let command = browser.evaluate("document.querySelector('.live-keep code').textContent");
    assert_eq!(command, r"unbraid name 'it'\''s' '1=who'\''s $HOME'");
    let program = assert_cmd::cargo::cargo_bin("unbraid");
    let as_function =
        format!("unbraid() {{ '{}' \"$@\"; }}; {}", program.display(), command.as_str().unwrap());
    let mut shell = Command::new("sh");
    let ended = shell.args(["-c", &as_function]).current_dir(bench.directory.path()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(saved, fs::read_to_string(bench.path("it's/units.toml")).unwrap());
    assert_eq!(browser.complaints(), [""; 0]);
}
