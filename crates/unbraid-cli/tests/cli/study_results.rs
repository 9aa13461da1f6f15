//! `unbraid study table` and `unbraid study import`: what is in run directories and files of others, as one table.

use crate::support::synthetic_study::{STEPS, reconstruction, score, score_keys};
use crate::support::{Bench, check, without_directory};
use ndarray::{Array2, array};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use unbraid::data::progress::Silent;
use unbraid::evaluate::codes_file::{Posteriors, ScoredPoints};
use unbraid::files::Existing;
use unbraid::run::State;
use unbraid_study::{Manifest, Results, StudyDirectory, UdrLimits, study_udr};

/// The first runs of a study with so many seeds, in these states; those after them have not begun.
fn first_runs(bench: &Bench, seeds: u64, runs: usize, states: &[State]) -> (StudyDirectory, Manifest) {
    let path = bench.path("study");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("study.toml"), "base = \"default\"\n").unwrap();
    let study = StudyDirectory::open(&path).unwrap();
    let mut manifest = crate::support::synthetic_study::manifest(seeds);
    manifest.entries.truncate(runs);
    manifest.write(&study.manifest()).unwrap();
    for (entry, state) in manifest.entries.iter().zip(states) {
        crate::support::synthetic_study::write_run(&study, entry, *state);
    }
    (study, manifest)
}

/// Done, done, failed half-way, running, not begun.
fn five_runs(bench: &Bench) -> (StudyDirectory, Manifest) {
    first_runs(bench, 5, 5, &[State::Done, State::Done, State::Failed, State::Running])
}

fn table_as(bench: &Bench, file: &str) -> PathBuf {
    bench.succeed(&["study", "table", "study", "-o", file], &["5 rows written"]);
    bench.path(file)
}

/// The records of a CSV file, header first.
fn records(path: &PathBuf) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn csv_json_and_parquet_hold_the_same_rows() {
    let bench = Bench::new();
    let (_, manifest) = five_runs(&bench);
    let csv = records(&table_as(&bench, "a.csv"));
    let column = |name: &str| csv[0].iter().position(|known| known == name).unwrap();
    assert_eq!(csv.len(), 6);
    let states: Vec<&str> = csv[1..].iter().map(|row| row[column("state")].as_str()).collect();
    assert_eq!(states, ["done", "done", "failed", "running", "queued"]);
    let first = |name: &str| csv[1][column(name)].as_str();
    assert_eq!((first("number"), first("name")), ("0", manifest.entries[0].name.as_str()));
    assert_eq!((first("hash"), first("method")), (manifest.entries[0].hash.as_str(), "beta-vae"));
    assert_eq!((first("data"), first("seed"), first("step")), ("shapes(positions=4)", "0", "300000"));
    assert_eq!((first("seconds"), first("objective.beta")), ("7230.0", "1.0"));
    for (place, key) in score_keys().iter().enumerate() {
        assert_eq!(csv[2][column(key)].parse::<f64>().unwrap(), score(1, place), "{key}");
        assert_eq!(csv[3][column(key)], "", "a failed run has no scores");
    }
    assert_eq!(csv[3][column("train/reconstruction")].parse::<f64>().unwrap(), reconstruction(2));
    assert_eq!(csv[5][column("train/reconstruction")], "");
    assert!(!csv[0].iter().any(|name| name.contains("kl_unit")));
    let printed = bench.unbraid(&["study", "table", "study"]).output().unwrap();
    assert_eq!(printed.stdout, fs::read(bench.path("a.csv")).unwrap());

    let json: Vec<serde_json::Map<String, Value>> =
        serde_json::from_str(&fs::read_to_string(table_as(&bench, "a.json")).unwrap()).unwrap();
    let file = File::open(table_as(&bench, "a.parquet")).unwrap();
    let parquet: Vec<Vec<(String, Field)>> = SerializedFileReader::new(file)
        .unwrap()
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().into_columns())
        .collect();
    assert_eq!((json.len(), parquet.len()), (5, 5));
    for (row, fields) in csv[1..].iter().enumerate() {
        for (place, text) in fields.iter().enumerate() {
            let value = &json[row][&csv[0][place]];
            let (name, field) = &parquet[row][place];
            assert_eq!(name, &csv[0][place]);
            match field {
                Field::Null => assert!(text.is_empty() && value.is_null(), "{name}: {text} {value}"),
                Field::Str(word) => assert!(word == text && value == word, "{name}: {text} {value}"),
                Field::Long(number) => {
                    assert!(*text == number.to_string() && value == number, "{name}: {text}");
                }
                Field::Double(number) => {
                    assert!(text.parse() == Ok(*number) && value == number, "{name}: {text}");
                }
                other => panic!("{name}: {other}"),
            }
        }
    }
}

#[test]
fn a_damaged_run_costs_its_own_numbers_only() {
    let bench = Bench::new();
    let (study, manifest) = five_runs(&bench);
    let file = |run: usize, name: &str| study.run(&manifest.entries[run]).root().join(name);
    let scores = fs::read_to_string(file(0, "scores.json")).unwrap();
    fs::write(file(0, "scores.json"), &scores[..scores.len() / 2]).unwrap();
    fs::write(file(1, "scores.json"), scores.replace(&STEPS.to_string(), "7")).unwrap();
    fs::write(file(2, "metrics.jsonl"), "{\"step\":1}\nnonsense\n").unwrap();
    let found = Results::of_runs(&study, &manifest);
    let place = |run: usize| format!("DIR/study/runs/{}", manifest.entries[run].name);
    let warnings: Vec<String> =
        found.warnings.iter().map(|warning| without_directory(warning, bench.directory.path())).collect();
    // The file was cut in two, wherever that is.
    let (scores, reason) = warnings[0].split_once(": EOF while parsing ").unwrap();
    assert_eq!(scores, format!("{}/scores.json: expected the scores of an evaluation", place(0)), "{reason}");
    assert_eq!(
        warnings[1..],
        [
            format!("{}/scores.json: found the scores of step 7, expected those of step 300000", place(1)),
            format!(
                "{}/metrics.jsonl: cannot read its last row: expected ident at line 1 column 2",
                place(2)
            ),
        ]
    );
    assert_eq!(found.table.rows.len(), 5);
    assert!((0..3).all(|run| found.table.number(run, "mig").is_nan()));
    assert_eq!(found.table.number(0, "train/reconstruction"), reconstruction(0));
    // The command says so too, and succeeds.
    bench.succeed(&["study", "table", "study", "-o", "a.csv"], &["warning: ", "scores.json: expected"]);
}

#[test]
fn wrong_requests_for_a_table_are_refused() {
    let bench = Bench::new();
    five_runs(&bench);
    let refused = |more: &[&str], message: &str| bench.refuse(&[&["study", "table"], more].concat(), message);
    refused(
        &["study", "-o", "a.xlsx"],
        "error: a.xlsx: expected a name that ends in .csv, .json or .parquet",
    );
    table_as(&bench, "a.csv");
    refused(&["study", "-o", "a.csv"], "error: a.csv: the file exists\nhint: --overwrite replaces it");
    bench.succeed(&["study", "table", "study", "-o", "a.csv", "--overwrite"], &[]);
    refused(
        &["elsewhere"],
        "error: elsewhere: found nothing, expected the directory of a study\nhint: `unbraid study new` creates one",
    );
    fs::remove_file(bench.path("study/manifest.jsonl")).unwrap();
    refused(
        &["study"],
        "error: study: the study has no manifest.jsonl yet\nhint: unbraid study plan study writes it",
    );
}

const PUBLISHED: &str = "\
dataset,model,hyper,n_seeds,rec_mean,rec_std,rec_median,mig_mean,mig_std,mig_median,note
dsprites_full,beta_vae,4.0,50,44.444,1.002,44.236,0.089786,0.04661,0.088505,from a file
dsprites_full,annealed_vae,25.0,50,94.3,,94.0,nan,0.04,,
";

#[test]
fn published_means_stand_beside_the_runs() {
    let bench = Bench::new();
    let (study, _) = five_runs(&bench);
    fs::write(bench.path("published.csv"), PUBLISHED).unwrap();
    bench.succeed(&["study", "import", "study", "published.csv"], &["2 rows with 2 numbers", "imported"]);
    let table = Results::read(&study).unwrap().table;
    assert_eq!((table.rows.len(), table.own_runs()), (7, vec![0, 1]));
    assert_eq!(table.sources(), ["published"]);
    let row = &table.rows[5];
    assert_eq!((row.method.as_str(), row.data.as_str(), row.number), ("beta-vae", "dsprites", None));
    assert_eq!(row.settings[table.setting_column("objective.beta").unwrap()], Some(Value::from(4.0)));
    assert_eq!(row.settings[table.setting_column("note").unwrap()], Some(Value::from("from a file")));
    assert_eq!((table.number(5, "train/reconstruction"), table.number(5, "mig")), (44.444, 0.089786));
    let mig = table.number_column("mig").unwrap();
    let spread = row.spread.as_ref().unwrap();
    assert_eq!((spread.runs, spread.deviations[mig], spread.medians[mig]), (50, 0.04661, 0.088505));
    assert_eq!(table.rows[6].method, "annealed-vae");
    assert!(table.number(6, "mig").is_nan());
    assert_eq!(table.number(6, "train/reconstruction"), 94.3);

    // A table of this name is replaced on request only, and the normal form is a table like any other.
    bench.refuse(
        &["study", "import", "study", "published.csv"],
        "error: study/imported/published.csv: the file exists\nhint: --overwrite replaces it",
    );
    bench.succeed(&["study", "import", "study", "published.csv", "--overwrite"], &[]);
    let kept = ["study", "import", "study", "study/imported/published.csv", "--name", "again"];
    bench.succeed(&kept, &[]);
    let again = fs::read(bench.path("study/imported/again.csv")).unwrap();
    assert_eq!(again, fs::read(bench.path("study/imported/published.csv")).unwrap());
}

#[test]
fn the_table_of_a_study_can_be_imported_into_another() {
    let bench = Bench::new();
    let (study, _) = five_runs(&bench);
    table_as(&bench, "a.csv");
    bench.succeed(&["study", "import", "study", "a.csv", "--name", "other"], &["5 rows"]);
    let table = Results::read(&study).unwrap().table;
    assert_eq!(table.rows.len(), 10);
    for row in 0..5 {
        let (own, other) = (&table.rows[row], &table.rows[row + 5]);
        assert_eq!((other.number, other.source.as_deref()), (None, Some("other")));
        assert_eq!((&other.name, &other.hash, other.state), (&own.name, &own.hash, own.state));
        assert_eq!((other.step, other.seconds, other.seed), (own.step, own.seconds, own.seed));
        assert_eq!((&other.method, &other.data, &other.settings), (&own.method, &own.data, &own.settings));
        let equal = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        assert!(own.numbers.iter().zip(&other.numbers).all(equal));
        assert!(other.spread.is_none());
    }
}

#[test]
fn tables_that_cannot_be_understood_are_refused() {
    let bench = Bench::new();
    let (study, _) = five_runs(&bench);
    for (content, message) in [
        ("", "found an empty file, expected a line with the names of the columns"),
        ("method,mig\n", "found no rows below the header, expected at least one"),
        ("mig,sap\n1,2\n", "line 1: found the columns `mig`, `sap`, expected a column `method` or `model`"),
        (
            "method,colour\nvae,red\n",
            "line 1: found the columns `method`, `colour`, expected at least one score or loss, such as `mig` or \
             `train/reconstruction`",
        ),
        ("method,mig\nvae,0.5\nvae,high\n", "line 3, column `mig`: found `high`, expected a number"),
        ("method,mig,seed\nvae,0.5,one\n", "line 2, column `seed`: found `one`, expected a whole number"),
        (
            "method,mig,state\nvae,0.5,lost\n",
            "line 2, column `state`: found `lost`, expected queued, running, done, interrupted or failed",
        ),
        ("method,mig,runs\nvae,0.5,0\n", "line 2, column `runs`: found `0`, expected at least 1"),
        ("method,mig\nvae\n", "line 2: found a row of length 1, expected 2, the length of the header"),
        ("method,mig\n,0.5\n", "line 2: found no method, expected one in every row"),
        (
            "name,method,mig\na,vae,1\na,vae,2\n",
            "line 3: found the name `a` again, expected a different one in every row",
        ),
        (
            "method,mig_mean\nvae,1\n",
            "line 1: found the column `mig_mean`, expected the number of runs as well, in a column `runs` or `n_seeds`",
        ),
    ] {
        fs::write(bench.path("bad.csv"), content).unwrap();
        bench.refuse(&["study", "import", "study", "bad.csv"], &format!("error: bad.csv: {message}"));
        assert!(!study.imported().join("bad.csv").exists());
    }
    let refused =
        |more: &[&str], message: &str| bench.refuse(&[&["study", "import"], more].concat(), message);
    refused(
        &["study", "missing.csv"],
        "error: missing.csv: cannot read it: No such file or directory (os error 2)",
    );
    fs::write(bench.path("good.csv"), "method,mig\nvae,0.5\n").unwrap();
    refused(
        &["study", "good.csv", "--name", "../out"],
        "error: `../out` cannot be the name of a table\nhint: --name sets another one",
    );
    refused(
        &["nowhere", "good.csv"],
        "error: nowhere: found nothing, expected the directory of a study\nhint: `unbraid study new` creates one",
    );
    // What was damaged after it was imported is warned of.
    bench.succeed(&["study", "import", "study", "good.csv"], &[]);
    fs::write(study.imported().join("good.csv"), "nonsense").unwrap();
    let results = Results::read(&study).unwrap();
    assert_eq!((results.table.rows.len(), results.warnings.len()), (5, 1));
}

#[test]
fn the_published_table_of_the_large_study_is_understood() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/published_scores.csv");
    let bench = Bench::new();
    let (study, _) = five_runs(&bench);
    let output = bench.unbraid(&["study", "import", "study", path.to_str().unwrap()]).output().unwrap();
    check(&output, &["216 rows with 11 numbers"]);
    let table = Results::read(&study).unwrap().table;
    let published = table.select(|row| row.source.is_some());
    assert_eq!(published.len(), 216);
    assert!(
        published.iter().all(|&row| table.rows[row].spread.as_ref().is_some_and(|spread| spread.runs == 50))
    );
    // "beta=4 rec 44.4+-1.0 / KL 14.9+-0.2"
    let row = table.select(|row| row.data == "dsprites" && row.method == "beta-vae")[2];
    assert_eq!((table.number(row, "train/reconstruction"), table.number(row, "train/kl")), (44.444, 14.907));
    assert_eq!(table.number(row, "dci_informativeness_test"), 0.45325);
}

/// Four points on which two units are orthogonal and have the deviation one: a lasso of each on both gives
/// 1 - alpha and 0, so that models with the same units in another order or with another sign have a UDR of
/// 0.9, for alpha = 0.1.
#[test]
fn models_that_agree_are_found_from_their_codes() {
    let bench = Bench::new();
    let (study, manifest) = first_runs(&bench, 4, 8, &[State::Done; 8]);
    let units = array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let mut swapped = units.mapv(|value: f32| -value);
    swapped.invert_axis(ndarray::Axis(1));
    let log_variances = Array2::from_elem((4, 2), -4.0);
    // Three of the first setting, one of the second, which has nobody to be compared with.
    for (run, means) in [(0, &units), (1, &swapped), (3, &units), (4, &units)] {
        let posteriors = Posteriors { log_variances: Some(log_variances.clone()), ..Default::default() };
        let codes = ScoredPoints::unlabelled(means.clone(), posteriors);
        let file = study.run(&manifest.entries[run]).codes();
        codes.write(&file, Existing::Keep).unwrap();
    }
    let table = Results::of_runs(&study, &manifest).table;
    let found = study_udr(&study, &table, &table.own_runs(), UdrLimits::default(), &Silent);
    assert_eq!(found.runs, 3);
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    for (run, value) in found.values.iter().enumerate() {
        if [0, 1, 3].contains(&run) {
            assert!((value - 0.9).abs() < 1e-3, "run {run}: {value}");
        } else {
            assert!(value.is_nan(), "run {run}: {value}");
        }
    }
    let limits = UdrLimits { runs_per_setting: 2, runs: 2, points: 4 };
    let found = study_udr(&study, &table, &table.own_runs(), limits, &Silent);
    assert!(found.runs == 2 && found.values[3].is_nan());
    assert_eq!(found.notes.len(), 1, "the second setting was left out");
    // Points of another evaluation cannot be compared.
    let scores = study.run(&manifest.entries[1]).scores();
    let text = fs::read_to_string(&scores).unwrap();
    fs::write(&scores, text.replacen("\"seed\": 0", "\"seed\": 1", 1)).unwrap();
    let found = study_udr(&study, &table, &table.own_runs(), UdrLimits::default(), &Silent);
    assert!(found.runs == 2 && found.values[1].is_nan());
    let file = study.run(&manifest.entries[1]).codes();
    let note = format!("{}: was evaluated on other points than the runs beside it", file.display());
    assert_eq!(found.notes, [note]);
}
