//! Tables of vectors through every command that makes sense for them. The data are scikit-learn's digits.

use crate::support::{Bench, check};
use std::fs;
use std::path::PathBuf;
use unbraid::Run;
use unbraid::data::formats::npz::Npz;
use unbraid::data::progress::Silent;
use unbraid::evaluate::codes_file;

pub(crate) fn digits() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../unbraid-data/tests/fixtures/tables/digits.npz"))
}

/// The cells of a CSV below its header, and the header.
fn cells(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
    let rows = reader.records().map(|record| record.unwrap().iter().map(number).collect()).collect();
    (header, rows)
}

/// From a table to scores, charts and an edited row. 1,500 steps of a small network take seconds.
#[test]
fn digits_are_trained_scored_and_edited() {
    let bench = Bench::new();
    let digits = digits().display().to_string();
    bench.succeed(
        &[
            "train",
            &digits,
            "--quiet",
            "--steps",
            "1500",
            "--out",
            "run",
            "--set",
            "model.architecture={ name = \"mlp\", encoder = [128], decoder = [128] }",
            "--set",
            "evaluation.metrics=[\"mig\", \"explicitness\"]",
            "--set",
            "evaluation.chance=false",
        ],
        &[],
    );
    let run = Run::open(bench.path("run")).unwrap();
    let features = run.features().unwrap();
    assert_eq!((features.len(), features.columns()[20].name.as_str()), (64, "pixel_2_4"));
    let data = run.open_data(&Silent).unwrap().data;
    let indices: Vec<usize> = (0..data.len()).collect();
    let noise = unbraid::inference::input::noise();
    let posteriors = run.encode_data(data.as_ref(), &indices, noise, &Silent).unwrap();
    let decoded = run.decode_rows(&run.latents_of(&posteriors)).unwrap();
    // Ten principal components keep 0.589 of the variance of the standardised columns (scikit-learn's PCA,
    // make_tables.py), of which three of 64 are constant; a network with as many units that has learned
    // anything keeps as much.
    let (mut error, mut row) = (0.0, vec![0.0; 64]);
    for (index, decoded) in decoded.rows().into_iter().enumerate() {
        data.write_row(index, noise.at(0).lane(0), &mut row).unwrap();
        for ((value, decoded), column) in row.iter().zip(decoded).zip(features.columns()) {
            error += ((value - decoded) / column.deviation).powi(2);
        }
    }
    let kept = 1.0 - error / (61.0 * data.len() as f64);
    assert!(kept > 0.589, "{kept}");
    // The area under the curve of a linear classifier: 0.5 for codes that know nothing of the digit, 1 for
    // those that tell it. Nobody told the network that there are digits, but they are what is different
    // between the rows.
    let scores = run.scores().unwrap().unwrap();
    let explicitness = scores.get("explicitness").unwrap();
    assert!(explicitness > 0.75 && explicitness <= 1.0, "{explicitness}");
    assert!((0.0..=1.0).contains(&scores.get("mig").unwrap()));

    // The report draws features in place of images.
    let report = fs::read_to_string(bench.path("run/report.html")).unwrap();
    for part in [
        "1,797 rows of 64 columns",
        "features against each unit",
        "Reconstructed features",
        ">Features<",
        "pixel_2_4",
    ] {
        assert!(report.contains(part), "{part}");
    }
    for figure in
        ["traversals.svg", "features-by-units.svg", "reconstructed-features.svg", "sampled-features.svg"]
    {
        assert!(bench.path("run/figures").join(figure).is_file(), "{figure}");
    }
    assert!(!bench.path("run/figures/traversals-image.png").exists());

    // Codes and back, in the units of the table.
    bench.succeed(&["encode", "run", "--quiet", "-o", "codes.npz"], &[]);
    assert!(bench.expect_output(&["encode", "run", "--quiet"]).starts_with("row,mean_0,"));
    bench.succeed(&["decode", "run", "codes.npz", "--quiet", "-o", "decoded.csv"], &[]);
    bench.succeed(&["decode", "run", "codes.npz", "--quiet", "-o", "decoded.npz"], &[]);
    let (header, rows) = cells(&fs::read_to_string(bench.path("decoded.csv")).unwrap());
    assert!(header.iter().map(String::as_str).eq(features.names()));
    let archived = Npz::open(&bench.path("decoded.npz")).unwrap().array("vectors").unwrap().floats().unwrap();
    for ((csv, npz), own) in rows.concat().iter().zip(&archived).zip(decoded.iter()) {
        assert_eq!(csv.to_bits(), npz.to_bits());
        assert!((csv - own).abs() < 1e-9, "{csv} {own}");
    }
    bench.succeed(&["sample", "run", "--quiet", "-n", "5", "-o", "samples.csv"], &[]);
    assert_eq!(cells(&fs::read_to_string(bench.path("samples.csv")).unwrap()).1.len(), 5);

    // An edited row: what is set to what it was stays, a change changes.
    let (header, same) =
        cells(&bench.expect_output(&["edit", "run", "--index", "3", "--set", "0=+0", "--quiet"]));
    assert_eq!(header, ["column", "original", "reconstruction", "edited", "change"]);
    assert_eq!(same.len(), 64);
    assert!(same.iter().all(|row| row[4] == 0.0 && row[2] == row[3]));
    let moved = cells(&bench.expect_output(&["edit", "run", "--index", "3", "--set", "0=+1", "--quiet"])).1;
    assert!(moved.iter().any(|row| row[4] != 0.0));
    assert!(moved.iter().all(|row| (row[3] - row[2] - row[4]).abs() < 1e-9));

    bench.succeed(&["traverse", "run", "--unit", "0", "--quiet", "-o", "t.svg"], &[]);
    assert!(fs::read_to_string(bench.path("t.svg")).unwrap().contains("pixel_"));
    let measure =
        ["measure", "run", "--images", "50", "--likelihood-images", "5", "--samples", "5", "--quiet"];
    let measured = bench.expect_output(&measure);
    assert!(
        !measured.replace("--images", "").contains("image") && measured.contains("\n50 rows; "),
        "{measured}"
    );
    let measured = bench.expect_output(&[&measure[..], &["--format", "json"]].concat());
    let measured: serde_json::Value = serde_json::from_str(&measured).unwrap();
    // Of standardised values: with everything lost it would be the variance, 61 / 64.
    assert!(measured["mean_squared_error"].as_f64().unwrap() < 61.0 / 64.0 * (1.0 - 0.4), "{measured}");
    bench.succeed(&["compare", "run", "run", "--quiet", "-o", "compare.html"], &[]);
    assert!(fs::read_to_string(bench.path("compare.html")).unwrap().contains("value of the unit"));

    // What is made of pictures says what to do instead.
    for (arguments, hint) in [
        (
            vec!["reconstruct", "run", "-o", "a.png"],
            "`unbraid encode`, then `unbraid decode`, give reconstructions as a table",
        ),
        (
            vec!["infer", "run", "--unit", "0", "-o", "a.png"],
            "`unbraid encode` writes what the units say of every row",
        ),
        (vec!["sample", "run", "-o", "a.png"], "a name that ends in .csv or .npz takes its rows"),
        (vec!["edit", "run", "--image", "a.png", "--set", "0=1"], "--index N takes a row of the table"),
    ] {
        let message = format!(
            "error: DIR/run: found a run on a table, which has no pictures, expected one on images\nhint: {hint}"
        );
        bench.refuse(&arguments, &message.replace("DIR/run", "run"));
    }
    bench.refuse(
        &["traverse", "run", "-o", "a.png"],
        "error: a.png: expected a name that ends in .svg: the run is on a table, and what it draws are charts",
    );
}

/// A CSV whose columns are chosen by pattern, with a factor; another table with the columns in another order
/// is encoded alike.
#[test]
fn columns_are_chosen_standardised_and_found_again() {
    let bench = Bench::new();
    let mut table = "id,x1,x2,x3,kind\n".to_owned();
    let mut other = "kind,x3,x1,more,x2\n".to_owned();
    for row in 0..40 {
        let (a, b, c) = (1.6e9 + f64::from(row), f64::from(row % 5) / 1000.0, f64::from(row * row));
        let kind = ["red", "green"][row as usize % 2];
        table.push_str(&format!("{row},{a},{b},{c},{kind}\n"));
        other.push_str(&format!("{kind},{c},{a},9,{b}\n"));
    }
    fs::write(bench.path("table.csv"), &table).unwrap();
    fs::write(bench.path("other.csv"), other).unwrap();
    let small = [
        "train",
        "table.csv",
        "--columns",
        "x*",
        "--factors",
        "kind",
        "--steps",
        "30",
        "--batch-size",
        "8",
        "--quiet",
        "--set",
        "training.log_every=5",
        "--set",
        "training.checkpoint_every=10",
        "--set",
        "evaluation.after_training=false",
        "--no-report",
    ];
    let config = bench.expect_output(&[&small[..], &["--print-config"]].concat());
    for line in [
        "name = \"table\"",
        "columns = \"x*\"",
        "factors = \"kind\"",
        "name = \"mlp\"",
        "scale = \"learned\"",
    ] {
        assert!(config.contains(line), "{line} {config}");
    }
    bench.succeed(&[&small[..], &["--out", "run"]].concat(), &[]);
    let run = Run::open(bench.path("run")).unwrap();
    let features = run.features().unwrap();
    assert_eq!(features.names().collect::<Vec<_>>(), ["x1", "x2", "x3"]);
    // Of the 36 rows that were not held out: the spread of 40 consecutive numbers is sqrt((40^2 - 1) / 12) = 11.5.
    assert!((features.columns()[0].deviation - 11.5).abs() < 1.5, "{features:?}");
    let encoded = |arguments: &[&str]| {
        let text = bench.expect_output(&[&["encode", "run", "--quiet"], arguments].concat());
        let (header, rows) = cells(&text);
        let units = header.iter().filter(|name| name.starts_with("mean_")).count();
        rows.into_iter().map(|row| row[1..=units].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(encoded(&[]), encoded(&["--data", "other.csv"]));
    bench.refuse(
        &["encode", "run", "--quiet", "--data", "table(path=table.csv, columns=x1+x2+id)"],
        "error: table: found no column `x3`, expected the 3 columns that run was trained on",
    );

    // A resumed run goes on with the same standardisation, to the same bytes.
    bench.succeed(&[&small[..], &["--out", "half", "--set", "training.steps=10"]].concat(), &[]);
    let stored = fs::read(bench.path("half/features.json")).unwrap();
    bench.succeed(&["train", "--quiet", "--out", "half", "--extend", "30"], &[]);
    assert_eq!(fs::read(bench.path("half/features.json")).unwrap(), stored);
    let last = |run: &str| fs::read(bench.path(run).join("checkpoints/last.safetensors")).unwrap();
    assert!(last("half") == last("run"), "resumed to the bit");

    // A damaged file is refused by its name.
    fs::write(bench.path("run/features.json"), "[{\"name\": \"x1\", \"mean\": 0, \"deviation\": 0}]")
        .unwrap();
    bench.refuse(
        &["encode", "run", "--quiet"],
        "error: run/features.json: expected a list of columns with `name`, `mean` and `deviation`, a number above 0: a \
         deviation that is not above 0",
    );
}

/// Columns that are no features are factors, by which codes are scored. Two equal columns and a third are two principal
/// components, one for each factor.
#[test]
fn codes_are_scored_by_other_columns() {
    let bench = Bench::new();
    let mut table = "level,x1,x2,x3,kind\n".to_owned();
    for row in 0..400 {
        let (kind, level) = (row % 2, row / 2 % 4);
        table.push_str(&format!("{level},{kind},{kind},{level},{}\n", ["red", "green"][kind]));
    }
    fs::write(bench.path("table.csv"), &table).unwrap();
    let train =
        ["train", "table.csv", "--preset", "pca", "--batch-size", "100", "--out", "run", "--no-report"];
    let columns = ["--columns", "x*", "--factors", "kind,level", "--set", "model.latents.continuous=2"];
    let metrics = ["--set", "evaluation.metrics=[\"mig\"]", "--set", "evaluation.chance=false"];
    let output = bench.unbraid(&[&train[..], &columns, &metrics].concat()).output().unwrap();
    check(&output, &["400 rows encoded in "]);
    let scores = fs::read_to_string(bench.path("run/scores.json")).unwrap();
    let scores: serde_json::Value = serde_json::from_str(&scores).unwrap();
    // 1, but for the information that a few hundred points have by chance: 3 / 2n nats of those of two and
    // four values, in which the entropy of two is ln 2.
    let mig = scores["scores"]["mig"]["value"].as_f64().unwrap();
    assert!(mig > 0.95 && mig <= 1.0, "{mig}");
    let codes = codes_file::read(&bench.path("run/codes.npz")).unwrap();
    assert_eq!(codes.factor_names(), ["kind", "level"]);
    // What is scored is not trained on.
    bench.refuse(
        &["train", "table.csv", "--quiet", "--columns", "x1,level", "--factors", "level"],
        "error: option `columns` of data set `table`: found \"level\", which is a factor, expected columns that `factors` does \
         not name",
    );
    // Lists, as a file may have them, name the same columns.
    let config =
        "[data]\npath = \"table.csv\"\ncolumns = [\"x1\", \"x2\", \"x3\"]\nfactors = [\"kind\", \"level\"]\n";
    fs::write(bench.path("own.toml"), config).unwrap();
    let printed = bench.expect_output(&["train", "--config", "own.toml", "--print-config"]);
    assert!(
        printed.contains("columns = \"x1+x2+x3\"") && printed.contains("factors = \"kind+level\""),
        "{printed}"
    );
}

#[test]
fn a_table_is_described_drawn_and_refused_with_its_place() {
    let bench = Bench::new();
    let digits = digits().display().to_string();
    let info = bench.expect_output(&["data", "info", &digits]);
    assert!(info.contains("rows       1797 of 64 columns: pixel_0_0 to pixel_7_7\n"), "{info}");
    // Letters that are two columns wide are counted as such: both names and their gaps are 16 columns.
    fs::write(bench.path("colours.csv"), "x,色彩,k\n1,红,a\n2,蓝,b\n").unwrap();
    let info = bench.expect_output(&["data", "info", "table(path=colours.csv, factors=色彩+k)"]);
    for line in [format!("  色彩{:12}      2 values", ""), format!("  k{:15}      2 values", "")] {
        assert!(info.contains(&line), "{info}");
    }
    bench.succeed(&["data", "show", &digits, "-o", "columns.svg"], &["wrote columns.svg"]);
    assert!(fs::read_to_string(bench.path("columns.svg")).unwrap().contains("pixel_7_7"));
    bench.refuse(
        &["data", "show", &digits, "-o", "columns.png"],
        "error: columns.png: expected a name that ends in .svg: a table is drawn as charts",
    );
    fs::write(bench.path("gaps.csv"), "a,b\n1,2\n3,\n").unwrap();
    bench.refuse(
        &["train", "gaps.csv", "--quiet"],
        "error: DIR/gaps.csv: row 2, column `b`: found nothing, expected a number; missing = \"skip\" leaves such rows out, \
         \"mean\" fills in the mean",
    );
}
