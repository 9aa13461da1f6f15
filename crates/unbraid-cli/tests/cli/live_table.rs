//! Pages that carry models of tables, in a real browser: the columns that they compute are those of the command.

use crate::live_engine::{CODE, assert_close, floats, rounding, spread};
use crate::support::Bench;
use crate::support::devtools::Chromium;
use crate::tables::digits;
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use unbraid::Run;
use unbraid::data::formats::npz::Npz;
use unbraid::data::progress::Silent;

/// Trains a small network on scikit-learn's digits, 64 columns, and writes its report.
fn train(bench: &Bench, out: &str, seed: &str) {
    let digits = digits().display().to_string();
    let small = "model.architecture={ name = \"mlp\", encoder = [32], decoder = [32] }";
    let few = ["--set", "model.latents={ continuous = 4 }", "--set", "evaluation.after_training=false"];
    let run = ["train", &digits, "--quiet", "--steps", "600", "--seed", seed, "--out", out, "--set", small];
    bench.succeed(&[&run[..], &few].concat(), &[]);
}

/// A number as the page writes it.
fn number(text: &str) -> f64 {
    text.replace('\u{2212}', "-").parse().unwrap()
}

/// The rows that the page shows: column, value and change.
fn shown(browser: &mut Chromium) -> Vec<(String, f64, f64)> {
    let rows = browser.evaluate(
        "[...document.querySelectorAll('.live-features tbody tr')].map((row) => \
         [...row.children].map((cell) => cell.textContent))",
    );
    let row = |cells: &serde_json::Value| {
        let text = |place: usize| cells[place].as_str().unwrap().to_owned();
        (text(0), number(&text(2)), number(&text(3)))
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

/// What `unbraid decode` makes of the code that the page has, in the units of the table.
fn decoded(bench: &Bench, browser: &mut Chromium) -> Vec<f64> {
    let code = browser.evaluate(CODE);
    fs::write(bench.path("code.json"), json!({ "codes": [code] }).to_string()).unwrap();
    bench.succeed(&["decode", "run", "code.json", "-o", "decoded.npz", "--quiet", "--overwrite"], &[]);
    Npz::open(&bench.path("decoded.npz")).unwrap().array("vectors").unwrap().floats().unwrap()
}

/// A file as soon as the browser has written all of it.
pub(crate) fn text_when_there(path: &Path) -> String {
    for _ in 0..1000 {
        if let Ok(text) = fs::read_to_string(path)
            && text.ends_with('\n')
        {
            return text;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{}: no such file", path.display());
}

#[test]
fn columns_follow_the_sliders_as_the_command_decodes_them() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    train(&bench, "run", "0");
    let run = Run::open(bench.path("run")).unwrap();
    let features = run.features().unwrap();
    let places: HashMap<&str, usize> =
        features.names().enumerate().map(|(place, name)| (name, place)).collect();
    browser.resize(1400, 1000, "light");
    browser.open(&bench.path("run/report.html"));

    // It starts from a row of the data: 40 of the 64 columns, decoded, and none of them changed yet.
    browser.evaluate("unbraid.measure(1)");
    let first = shown(&mut browser);
    assert_eq!(first.len(), 40);
    let before = decoded(&bench, &mut browser);
    let compare = |rows: &[(String, f64, f64)], expected: &[f64], from: &[f64]| {
        let standard = |place: usize| {
            (expected[place] - features.columns()[place].mean) / features.columns()[place].deviation
        };
        let size = spread(&(0..expected.len()).map(standard).collect::<Vec<_>>());
        for (name, value, change) in rows {
            let place = places[name.as_str()];
            // Half of the last digit, which is at most a hundredth of a standard deviation, beside the
            // rounding of weights; twice for a difference.
            let tolerance = features.columns()[place].deviation * (0.005 + 2.0 * rounding("f16") * size);
            assert!((value - expected[place]).abs() < tolerance, "{name}: {value} {}", expected[place]);
            let moved = expected[place] - from[place];
            assert!((change - moved).abs() < 2.0 * tolerance, "{name}: {change} {moved}");
        }
    };
    compare(&first, &before, &before);
    assert!(first.iter().all(|(_, _, change)| *change == 0.0));

    // By key, and from then on against where it started.
    let unit = browser.evaluate("unbraid.models[0].units[0].unit");
    browser.evaluate(&format!(
        "document.querySelector(\"[data-unit='{}'] input[type=range]\").focus()",
        unit.as_str().unwrap()
    ));
    browser.press("End");
    browser.evaluate("unbraid.measure(1)");
    let moved = shown(&mut browser);
    let after = decoded(&bench, &mut browser);
    compare(&moved, &after, &before);
    assert!(moved.iter().any(|(_, _, change)| change.abs() > 0.5), "the most active unit does something");
    // The mark of a column stands where its value is, in standard deviations, on an axis with 0 in its middle.
    let reach = number(
        browser
            .evaluate("document.querySelector('.live-axis span:last-child').textContent")
            .as_str()
            .unwrap(),
    );
    let place = places[moved[0].0.as_str()];
    let column = &features.columns()[place];
    let expected =
        50.0 + 50.0 * ((after[place] - column.mean) / column.deviation).clamp(-reach, reach) / reach;
    let left =
        browser.evaluate("parseFloat(document.querySelector('.live-now').style.left)").as_f64().unwrap();
    assert!((left - expected).abs() < 1.0, "{left} {expected}");

    // What is taken along.
    let downloads = bench.path("downloads");
    fs::create_dir(&downloads).unwrap();
    browser.call("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": downloads }));
    browser.click(".live-keep button:nth-child(1)");
    let saved = text_when_there(&downloads.join("run.csv"));
    let mut reader = csv::Reader::from_reader(saved.as_bytes());
    assert_eq!(reader.headers().unwrap(), vec!["column", "start", "value", "change"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(rows.iter().map(|row| &row[0]).eq(features.names()), "all columns, in the order of the table");
    let rows: Vec<_> = rows.iter().map(|row| (row[0].to_owned(), number(&row[2]), number(&row[3]))).collect();
    compare(&rows, &after, &before);

    // Columns that are not among the first are found by name.
    browser.click(".live-search input");
    browser.call("Input.insertText", json!({ "text": "PIXEL_2_4" }));
    let found: Vec<String> = shown(&mut browser).into_iter().map(|(name, _, _)| name).collect();
    assert_eq!(found, ["pixel_2_4"]);
    assert_eq!(browser.evaluate("document.querySelector('.live-search .faint').textContent"), "1 of 1");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The first row of a file that is dropped onto the page gets the code that the command gives it.
#[test]
fn a_dropped_row_is_encoded_as_by_the_command() {
    let Some(mut browser) = Chromium::start() else { return };
    let bench = Bench::new();
    train(&bench, "run", "0");
    let run = Run::open(bench.path("run")).unwrap();
    let data = run.open_data(&Silent).unwrap().data;
    let names: Vec<&str> = run.features().unwrap().names().collect();
    // Columns in another order, one that is not the model's, and quotes.
    let line =
        |row: &[String]| row.iter().rev().cloned().collect::<Vec<_>>().join(";") + ";\"a; \"\"b\"\"\"\n";
    let mut text = line(&names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>());
    for index in [5, 6] {
        let mut row = vec![0.0; names.len()];
        data.write_row(index, unbraid::inference::input::noise().at(0).lane(0), &mut row).unwrap();
        text.push_str(&line(&row.iter().map(f64::to_string).collect::<Vec<_>>()));
    }
    fs::write(bench.path("mine.csv"), text).unwrap();
    browser.resize(1400, 1000, "light");
    browser.open(&bench.path("run/report.html"));
    browser.drop_file(&bench.path("mine.csv"), ".live-features");
    browser
        .wait_for("document.querySelector('.live-status').textContent === 'mine.csv, encoded and decoded.'");
    let codes = bench.expect_output(&["encode", "run", "--quiet", "--data", "mine.csv"]);
    let mut reader = csv::Reader::from_reader(codes.as_bytes());
    let means: Vec<usize> = reader
        .headers()
        .unwrap()
        .iter()
        .enumerate()
        .filter(|(_, name)| name.starts_with("mean_"))
        .map(|(place, _)| place)
        .collect();
    let first = reader.records().next().unwrap().unwrap();
    let expected: Vec<f64> = means.into_iter().map(|place| first[place].parse().unwrap()).collect();
    assert_eq!(expected.len(), 4);
    // Two layers with weights in half precision, as for images.
    let tolerance = 4.0 * rounding("f16") * spread(&expected);
    assert_close(&floats(&browser.evaluate(CODE)), &expected, tolerance, "code of the dropped row");

    for (text, message) in [
        ("a,b\n1,2\n", "wrong.csv: no column pixel_0_0 in it."),
        ("a\n", "wrong.csv: expected a CSV with a header and a row."),
    ] {
        fs::write(bench.path("wrong.csv"), text).unwrap();
        browser.drop_file(&bench.path("wrong.csv"), ".live-features");
        browser.wait_for(&format!("document.querySelector('.live-status').textContent === '{message}'"));
    }
    let header = names.join(",");
    fs::write(bench.path("gap.csv"), format!("{header}\n{}\n", ",".repeat(names.len() - 1))).unwrap();
    browser.drop_file(&bench.path("gap.csv"), ".live-features");
    let message = "gap.csv: column pixel_0_0: found nothing, expected a number.";
    browser.wait_for(&format!("document.querySelector('.live-status').textContent === '{message}'"));
    assert_close(&floats(&browser.evaluate(CODE)), &expected, tolerance, "the code stays");
    assert_eq!(browser.complaints(), [""; 0]);

    // Two models of one table, each with its own columns; and the page of one, on a phone and on a screen.
    train(&bench, "other", "1");
    bench.succeed(&["compare", "run", "other", "--quiet", "-o", "compare.html"], &[]);
    for page in ["run/report.html", "compare.html"] {
        for (width, height) in [(400, 800), (1400, 1000)] {
            for scheme in ["light", "dark"] {
                browser.resize(width, height, scheme);
                browser.open(&bench.path(page));
                let count = browser.evaluate("document.querySelectorAll('.live-features').length");
                assert_eq!(count, if page == "compare.html" { 2 } else { 1 });
                let overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
                assert_eq!(browser.evaluate(overhang), 0, "{page} {width} {scheme}");
                let smallest = "Math.min(...[...document.querySelectorAll('.live *')].filter((part) => part.textContent) \
                                .map((part) => parseFloat(getComputedStyle(part).fontSize)))";
                assert!(browser.evaluate(smallest).as_f64().unwrap() >= 12.0, "{page} {width} {scheme}");
                browser.evaluate("document.getElementById('move').scrollIntoView()");
                let name = if page == "compare.html" { "compare-table" } else { "table" };
                browser.screenshot(&format!("{name}-{width}-{scheme}.png"));
                assert_eq!(browser.complaints(), [""; 0]);
            }
        }
    }
}
