//! The published result tables of disentanglement_lib as a study of their own, and beside one.
//!
//! Expected numbers are those that `fixtures/make_published_runs.py` prints, by Python's `statistics`.

use crate::support::{Bench, shared};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use unbraid_study::analysis::data_sets::published_name;
use unbraid_study::analysis::groups::{Part, distributions, groups};
use unbraid_study::analysis::settings::hyper_parameters;
use unbraid_study::{Entry, Plan, Results, Row, StudyDirectory, Table};

/// The published tables in the order of Hartmann's legends.
const FILES: [&str; 6] =
    ["dsprites_full", "color_dsprites", "noisy_dsprites", "scream_dsprites", "smallnorb", "cars3d"];

/// A study of the tables in this directory.
fn study_of(bench: &Bench, directory: &Path) -> StudyDirectory {
    bench.succeed(&["study", "new", "imported", "published"], &[]);
    let files: Vec<PathBuf> =
        FILES.iter().map(|name| directory.join(format!("results_{name}.csv"))).collect();
    let mut arguments = vec!["study", "import", "published", "--name", "dlib"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    bench.succeed(&arguments, &["kept as published/imported/dlib.csv"]);
    StudyDirectory::open(&bench.path("published")).unwrap()
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/published_runs")
}

/// Count, mean and deviation of a number over the rows of a method on a data set.
fn mean(table: &Table, data: &str, method: &str, key: &str) -> (usize, f64, f64) {
    let rows = table.select(|row| row.data == data && row.method == method);
    let found = distributions(table, &groups(table, &rows, &[Part::Method]), key).remove(0).mean.unwrap();
    (found.count, found.mean, found.deviation)
}

#[test]
fn published_tables_are_read_as_they_are() {
    let bench = Bench::new();
    let study = study_of(&bench, &fixture());
    let results = Results::read(&study).unwrap();
    assert!(results.warnings.is_empty(), "{:?}", results.warnings);
    let table = results.table;
    assert_eq!((table.rows.len(), table.sources()), (144, vec!["dlib"]));
    assert!(table.is_imported_only() && table.own_runs().is_empty());
    assert_eq!(table.shown_runs().len(), 144);
    let names = ["dsprites", "colour-dsprites", "noisy-dsprites", "scream-dsprites", "smallnorb", "cars3d"];
    assert_eq!(table.data_sets(), names);
    // The first line of the first file.
    let first = &table.rows[0];
    assert_eq!((first.name.as_str(), first.method.as_str(), first.seed), ("model 0", "beta-vae", Some(0)));
    assert_eq!(table.number(0, "mig"), 0.105_900_753_4);
    assert_eq!((table.number(0, "beta_vae_score"), table.number(0, "factor_vae_score")), (0.8606, 0.6502));
    assert_eq!((table.number(0, "sap"), table.number(0, "modularity")), (0.06432, 0.855_435_048_600_000_1));
    assert_eq!(
        (table.number(0, "train/reconstruction"), table.number(0, "train/kl"), table.number(0, "elbo")),
        (18.339_197_158_8, 27.664_794_921_9, -46.003_967_285_2)
    );
    for (key, expected, deviation) in [
        ("mig", 0.177_054_269_15, 0.132_932_646_402_800_97),
        ("sap", 0.043_04, 0.027_531_373_618_716_038),
        ("beta_vae_score", 0.822_000_000_000_000_1, 0.065_709_461_520_646_59),
        ("factor_vae_score", 0.643_8, 0.086_451_990_530_390_13),
        ("dci_disentanglement", 0.268_021_596_375, 0.173_646_262_287_004_03),
        ("modularity", 0.835_353_270_875, 0.036_561_523_913_639_45),
        ("explicitness", 0.781_752_140_325_000_1, 0.014_449_887_444_290_956),
        ("train/reconstruction", 66.492_993_831_625, 55.431_740_331_230_93),
        ("train/kl", 17.183_559_060_100_002, 12.352_754_106_540_681),
    ] {
        let found = mean(&table, "dsprites", "beta-vae", key);
        assert_eq!(found.0, 4, "{key}");
        assert!((found.1 - expected).abs() < 1e-12 * expected, "{key}: {found:?}");
        assert!((found.2 - deviation).abs() < 1e-11 * deviation, "{key}: {found:?}");
    }
    let keys: Vec<(String, Vec<String>)> = hyper_parameters(&table, &table.shown_runs())
        .into_iter()
        .map(|found| (found.method, found.keys))
        .collect();
    let expected = [
        ("beta-vae", "objective.beta"),
        ("factor-vae", "objective.gamma"),
        ("dip-vae-i", "objective.lambda_od"),
        ("dip-vae-ii", "objective.lambda_od"),
        ("beta-tcvae", "objective.beta"),
        ("annealed-vae", "objective.capacity"),
    ];
    assert_eq!(keys, expected.map(|(method, key)| (method.to_owned(), vec![key.to_owned()])));
    // lambda_d = 10 lambda_od for DIP-VAE-I, and 1 lambda_od for DIP-VAE-II.
    let weights = |method: &str| {
        let row = table.select(|row| row.method == method && row.seed == Some(0))[1];
        ["objective.lambda_d", "objective.lambda_od"].map(|key| {
            table.rows[row].settings[table.setting_column(key).unwrap()].as_ref().unwrap().as_f64().unwrap()
        })
    };
    assert_eq!((weights("dip-vae-i"), weights("dip-vae-ii")), ([500.0, 50.0], [50.0, 50.0]));
    let rows = table.select(|row| row.data == "cars3d" && row.method == "dip-vae-i");
    let found = groups(&table, &rows, &[Part::Setting]);
    assert_eq!(found[1].labels, ["lambda_od=50"]);
    let found = distributions(&table, &found, "mig").remove(1).mean.unwrap();
    assert!(found.count == 2 && (found.mean - 0.056_689_357_15).abs() < 1e-14, "{found:?}");
}

#[test]
fn a_study_may_consist_of_imported_tables_only() {
    let bench = Bench::new();
    let study = study_of(&bench, &fixture());
    bench.succeed(&["study", "report", "published", "--quiet"], &[]);
    let page = std::fs::read_to_string(study.report()).unwrap();
    assert!(page.contains(
        "the runs that were imported from dlib; this study (a hyper-parameter sweep) has trained none"
    ));
    assert!(page.contains("<dt>runs</dt><dd>144</dd>") && page.contains("<dt>methods</dt><dd>6</dd>"));
    for heading in ["Scores by method", "Scores by data set", "Effect of the hyper-parameters"] {
        assert!(page.contains(&format!("-heading\">{heading}</h2>")), "{heading}");
    }
    assert!(!page.contains("Comparison with published results"), "there is nothing to compare with");
    // The verbs that train have nothing to do, and say so.
    bench.succeed(&["study", "plan", "published"], &[]);
    bench.succeed(&["study", "report", "published", "--quiet"], &[]);
    bench.succeed(&["study", "run", "published"], &[]);
    assert_eq!(page, std::fs::read_to_string(study.report()).unwrap());
    // Without tables there is nothing to show, which is wrong input.
    bench.succeed(&["study", "new", "imported", "bare"], &[]);
    bench.refuse(
        &["study", "report", "bare"],
        "error: bare: the study has no manifest.jsonl yet\nhint: unbraid study plan bare writes it",
    );
}

#[test]
fn files_with_the_same_names_of_rows_are_told_apart() {
    let bench = Bench::new();
    bench.succeed(&["study", "new", "imported", "two"], &[]);
    std::fs::write(bench.path("a.csv"), "method,mig\nvae,0.5\n").unwrap();
    std::fs::write(bench.path("b.csv"), "method,sap,mig\nvae,0.1,0.2\n").unwrap();
    bench.succeed(
        &["study", "import", "two", "a.csv", "b.csv"],
        &["2 rows with 2 numbers", "two/imported/a.csv"],
    );
    let table = Results::read(&StudyDirectory::open(&bench.path("two")).unwrap()).unwrap().table;
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a line 2", "b line 2"]);
    assert_eq!((table.number(1, "sap"), table.number(1, "mig")), (0.1, 0.2));
    assert!(table.number(0, "sap").is_nan());
    // Files of the same name in different directories.
    for directory in ["one", "other"] {
        std::fs::create_dir(bench.path(directory)).unwrap();
        std::fs::copy(bench.path("a.csv"), bench.path(directory).join("a.csv")).unwrap();
    }
    bench.succeed(&["study", "new", "imported", "same"], &[]);
    bench.succeed(&["study", "import", "same", "one/a.csv", "other/a.csv"], &["2 rows with 1 number kept"]);
    let table = Results::read(&StudyDirectory::open(&bench.path("same")).unwrap()).unwrap().table;
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["one/a.csv line 2", "other/a.csv line 2"]);
}

/// DIP-VAE's settings are called by `lambda_od` on both sides, and `shapes` meets `dsprites`.
#[test]
fn our_runs_stand_beside_the_published_ones() {
    let bench = Bench::new();
    let published = study_of(&bench, &fixture());
    let mut table = Table {
        setting_keys: ["objective.lambda_d", "objective.lambda_od"].map(str::to_owned).to_vec(),
        number_keys: vec!["mig".to_owned()],
        rows: Vec::new(),
    };
    for (number, weight) in [1.0, 50.0].into_iter().enumerate() {
        table.rows.push(Row {
            number: Some(number),
            seed: Some(0),
            settings: vec![Some((10.0 * weight).into()), Some(weight.into())],
            numbers: vec![0.25],
            ..Row::named(format!("run {number}"), "dip-vae-i", "shapes(positions=16)")
        });
    }
    table.append(Results::read(&published).unwrap().table);
    let html = unbraid_report::study_page("beside", table, &[]).unwrap();
    assert!(html.contains("The same settings on shapes(positions=16) and published ones on dsprites"));
    // statistics.fmean and stdev of mig_discrete_mig of the two lines of dip_vae_i with lambda_od = 50 on
    // dsprites_full.
    assert!(html.contains("0.250 <span class=\"faint\">0.031 ± 0.011</span>"));
}

/// Data set, method and setting of each group of rows, as they meet in a page.
fn settings(table: &Table, rows: &[usize]) -> BTreeSet<[String; 3]> {
    groups(table, rows, &[Part::Data, Part::Method, Part::Setting])
        .into_iter()
        .map(|group| {
            let [data, method, setting] = group.labels.try_into().unwrap();
            [published_name(&data), method, setting]
        })
        .collect()
}

/// The first seed of every setting of the full study, as its table would have it.
fn ours(bench: &Bench) -> Table {
    bench.succeed(&["study", "new", "dlib", "ours"], &[]);
    let study = StudyDirectory::open(&bench.path("ours")).unwrap();
    let entries = Plan::of(&study).unwrap().manifest.entries;
    let first: Vec<_> = entries.iter().filter(|entry| entry.settings["seed"] == 0).collect();
    let keys: BTreeSet<&String> = first
        .iter()
        .flat_map(|entry| entry.settings.keys())
        .filter(|key| key.starts_with("objective."))
        .collect();
    let setting_keys: Vec<String> = keys.into_iter().cloned().collect();
    let row = |(number, entry): (usize, &&Entry)| Row {
        number: Some(number),
        seed: Some(0),
        settings: setting_keys.iter().map(|key| entry.settings.get(key).cloned()).collect(),
        numbers: vec![0.25],
        ..Row::named(&entry.name, entry.method(), entry.settings["data"].as_str().unwrap())
    };
    let rows = first.iter().enumerate().map(row).collect();
    Table { setting_keys, number_keys: vec!["mig".to_owned()], rows }
}

/// Every published setting is one of `unbraid study new dlib`, by the names of data sets, methods and
/// hyper-parameters: 6 x 6 x 2 in the part of the tables that lies in the repository, 6 x 6 x 6 in all of
/// them.
#[test]
fn every_published_setting_meets_one_of_ours() {
    for (directory, expected) in [(Some(fixture()), 72), (shared("data/published_runs"), 216)] {
        let Some(directory) = directory else { continue };
        let bench = Bench::new();
        let published = Results::read(&study_of(&bench, &directory)).unwrap().table;
        let theirs = settings(&published, &published.shown_runs());
        let table = ours(&bench);
        assert_eq!(table.rows.len(), 216);
        let ours = settings(&table, &(0..216).collect::<Vec<_>>());
        assert_eq!((ours.len(), theirs.len()), (216, expected));
        assert!(theirs.is_subset(&ours), "{:?}", theirs.difference(&ours).collect::<Vec<_>>());
    }
}

/// Means of all 10,800 runs by Python's `statistics`, as in the published table of means.
#[test]
fn all_published_runs_are_read() {
    let Some(directory) = shared("data/published_runs") else { return };
    let bench = Bench::new();
    let study = study_of(&bench, &directory);
    let table = Results::read(&study).unwrap().table;
    assert_eq!(table.shown_runs().len(), 10_800);
    for (method, mig, factor) in [
        ("beta-vae", 0.1200, 0.6262),
        ("annealed-vae", 0.0731, 0.4996),
        ("factor-vae", 0.1285, 0.6750),
        ("beta-tcvae", 0.1338, 0.6531),
        ("dip-vae-i", 0.0669, 0.6184),
        ("dip-vae-ii", 0.0821, 0.5771),
    ] {
        let rows = table.select(|row| row.method == method);
        assert_eq!(rows.len(), 1800);
        let all = groups(&table, &rows, &[Part::Method]);
        for (key, expected) in [("mig", mig), ("factor_vae_score", factor)] {
            let found = distributions(&table, &all, key).remove(0).mean.unwrap().mean;
            assert!((found - expected).abs() < 5e-5, "{method} {key}: {found}");
        }
    }
}
