//! `docs/papers.md`: its files are there, and its commands do what they can without data and training.

use crate::support::Bench;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use unbraid::metrics::registry;
use unbraid_study::{Plan, Results, StudyDirectory};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What stands between backticks.
fn quoted(page: &str) -> BTreeSet<&str> {
    page.split('`').skip(1).step_by(2).collect()
}

/// The words of a command line with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (place, part) in line.split('\'').enumerate() {
        if place % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
            continue;
        }
        let mut pieces = part.split(' ');
        words.last_mut().unwrap().push_str(pieces.next().unwrap_or_default());
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn no_row_is_empty_and_every_file_is_there() {
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    for file in quoted(&page).into_iter().filter(|text| text.starts_with("crates/")) {
        assert!(root().join(file).is_file(), "{file}");
    }
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| item")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        let command = cells[1];
        // What is not made says so, and why.
        assert!(command.starts_with("`unbraid ") || command.starts_with("not made: "), "{row}");
    }
}

/// The numbered items in a cell such as `Fig. 4.1, eq. 4.1 to 4.3: overlap`, as `Fig. 4.1`, `eq. 4.1`, `eq. 4.2`, ...
fn items(cell: &str) -> Vec<String> {
    let (mut kind, mut last, mut is_range) = ("", String::new(), false);
    let mut items = Vec::new();
    for text in cell.split(' ') {
        let word = text.trim_end_matches([',', ';', ':']);
        let number = word.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        if ["eq.", "Fig.", "Table"].contains(&word) {
            kind = word;
        } else if word == "to" {
            is_range = true;
        } else if !kind.is_empty() && number.starts_with(|letter: char| letter.is_ascii_digit()) {
            let split = |text: &str| {
                let (chapter, place) =
                    text.rsplit_once('.').map_or(("", text), |(chapter, place)| (chapter, place));
                (chapter.to_owned(), place.parse::<usize>().unwrap())
            };
            let (chapter, place) = split(number);
            let from = if is_range { split(&last).1 + 1 } else { place };
            let dot = if chapter.is_empty() { "" } else { "." };
            items.extend((from..=place).map(|place| format!("{kind} {chapter}{dot}{place}")));
            (last, is_range) = (number.to_owned(), false);
        } else {
            is_range = false;
        }
        if text.ends_with(':') {
            kind = "";
        }
    }
    items
}

/// A kind of item, the chapter before its number, and how many there are.
type Numbered = (&'static str, &'static str, usize);

/// How many equations, figures and tables each paper numbers, counted in the papers.
#[test]
fn every_numbered_item_of_the_papers_is_listed() {
    let cell = "Fig. 4.1a, eq. 4.2 to 4.4; Table 2: 3 things";
    assert_eq!(items(cell), ["Fig. 4.1", "eq. 4.2", "eq. 4.3", "eq. 4.4", "Table 2"]);
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let papers: [(&str, &[Numbered]); 5] = [
        ("## Kumar", &[("eq.", "", 9), ("Fig.", "", 6), ("Table", "", 2)]),
        ("## Dupont", &[("eq.", "", 8), ("Fig.", "", 10)]),
        ("## Hartmann", &[("eq.", "", 14), ("Fig.", "", 11), ("Table", "", 1)]),
        ("## Mathieu", &[("eq.", "", 10), ("Fig.", "", 6), ("Table", "", 1)]),
        (
            "## Mushom",
            &[
                ("eq.", "2.", 10),
                ("eq.", "3.", 6),
                ("eq.", "4.", 4),
                ("Fig.", "2.", 4),
                ("Fig.", "3.", 4),
                ("Fig.", "4.", 2),
                ("Fig.", "5.", 19),
                ("Table", "4.", 1),
                ("Table", "5.", 6),
            ],
        ),
    ];
    for (heading, kinds) in papers {
        let start = page.find(heading).unwrap();
        let section = page[start..].split("\n## ").next().unwrap();
        let cells = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let listed: BTreeSet<String> = cells.flat_map(items).collect();
        for (kind, chapter, count) in kinds {
            for number in 1..=*count {
                let item = format!("{kind} {chapter}{number}");
                assert!(listed.contains(&item), "{heading}: {item} is missing in {listed:?}");
            }
        }
    }
}

/// What some numbers stand for, typed from the papers: an item in the wrong row would be found by its count alone.
#[test]
fn items_are_called_what_the_papers_call_them() {
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    for (heading, item, word) in [
        ("## Kumar", "eq. 5", "covariance"),
        ("## Kumar", "eq. 7", "DIP-VAE-II"),
        ("## Kumar", "Table 2", "attribute"),
        ("## Dupont", "eq. 3", "capacity"),
        ("## Dupont", "eq. 8", "Gumbel"),
        ("## Dupont", "Fig. 9", "azimuth"),
        ("## Hartmann", "eq. 1", "MIG"),
        ("## Hartmann", "eq. 5", "autoencoder"),
        ("## Hartmann", "eq. 10", "FactorVAE"),
        ("## Hartmann", "eq. 14", "DIP-VAE"),
        ("## Mathieu", "eq. 6", "rotation"),
        ("## Mathieu", "eq. 7", "alpha and beta"),
        ("## Mathieu", "eq. 8", "corollaries"),
        ("## Mathieu", "eq. 9", "mixture"),
        ("## Mathieu", "eq. 10", "entropy"),
        ("## Mushom", "eq. 2.2", "f-divergences"),
        ("## Mushom", "eq. 2.5", "Wasserstein"),
        ("## Mushom", "eq. 2.6", "MMD"),
        ("## Mushom", "eq. 2.8", "GAN"),
        ("## Mushom", "eq. 2.10", "bottleneck"),
        ("## Mushom", "eq. 3.4", "reparameterisation"),
        ("## Mushom", "eq. 3.5", "KL divergence"),
        ("## Mushom", "eq. 3.6", "flows"),
        ("## Mushom", "eq. 4.1", "aggregate posterior"),
        ("## Mushom", "eq. 4.4", "total correlation"),
        ("## Mushom", "Table 5.5", "discriminator"),
    ] {
        let start = page.find(heading).unwrap();
        let section = page[start..].split("\n## ").next().unwrap();
        let mut cells = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let found = cells.any(|cell| items(cell).contains(&item.to_owned()) && cell.contains(word));
        assert!(found, "{heading}: {item}: {word}");
    }
}

/// Configurations are resolved, studies are made, presets, objectives and priors are shown. What trains for
/// hours is parsed only, by a test of the command itself; the commands of a run are below.
#[test]
fn commands_that_need_nothing_are_run() {
    let bench = Bench::new();
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let mut run = 0;
    for line in quoted(&page).into_iter().filter(|text| text.starts_with("unbraid ")) {
        let mut arguments = words(line).split_off(1);
        match arguments[0].as_str() {
            "train" => arguments.push("--print-config".to_owned()),
            "presets" | "prior" | "data" | "objectives" => {}
            "study" if matches!(arguments[1].as_str(), "new" | "presets") => {}
            _ => continue,
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        bench.succeed(&arguments, &[]);
        run += 1;
    }
    assert!(run > 40, "{run}");
    for picture in ["student-t.png", "mixture.png", "dsprites.png", "mean.png"] {
        assert!(bench.path(picture).is_file(), "{picture}");
    }
}

/// A small data set with a test split.
const FEW: &str = "shapes(scales=2, orientations=2, positions=4)";

/// Every command of the page that looks at a run, on one that has learned nothing in a few steps: a JointVAE,
/// since some ask for its categorical unit, with two continuous units, and a part of its data held out.
#[test]
fn commands_of_a_run_are_run() {
    let bench = Bench::new();
    let latents = "model.latents={ continuous = 2, categorical = [3] }";
    let objective = "objective={ name = \"joint-vae\", gamma_continuous = 3, capacity_continuous = 1, \
                     gamma_categorical = 3, capacity_categorical = 1 }";
    for run in ["run", "run2"] {
        let set =
            ["--set", "data.split=train", "--set", "training.steps=8", "--set", latents, "--set", objective];
        bench.train(run, &set).assert().success();
    }
    bench.succeed(&["sample", "run", "-n", "1", "-o", "chair.png", "--quiet"], &[]);
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let mut commands = BTreeSet::new();
    for line in quoted(&page).into_iter().filter(|text| text.starts_with("unbraid ")) {
        let mut arguments = words(line).split_off(1);
        let of_a_run = arguments.get(1).is_some_and(|word| word == "RUN" || word.starts_with("runs/"));
        if !of_a_run || arguments[0] == "train" {
            continue;
        }
        arguments[1] = "run".to_owned();
        for word in &mut arguments[2..] {
            match word.as_str() {
                "RUN2" => "run2".clone_into(word),
                "celeba" => FEW.clone_into(word),
                // An image of the smaller data set of this test.
                "1000" => "100".clone_into(word),
                _ => {}
            }
        }
        commands.insert(arguments);
    }
    let verbs: BTreeSet<&str> = commands.iter().map(|arguments| arguments[0].as_str()).collect();
    assert_eq!(
        verbs.into_iter().collect::<Vec<_>>(),
        ["compare", "evaluate", "infer", "measure", "reconstruct", "report", "sample", "traverse"]
    );
    for arguments in &commands {
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = arguments.iter().position(|word| *word == "-o").map(|place| arguments[place + 1]);
        if output.is_some() {
            arguments.push("--overwrite");
        }
        // A run of eight steps may have no active unit, which is said; every unit is traversed then.
        arguments.iter_mut().filter(|word| **word == "--active").for_each(|word| *word = "--by-kl");
        bench.succeed(&arguments, &[]);
        assert!(output.is_none_or(|file| bench.path(file).is_file()), "{arguments:?}");
    }
}

/// The commands of Hartmann's figures, with a part of the published runs.
#[test]
fn commands_of_the_published_runs_are_run() {
    let bench = Bench::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/published_runs");
    for file in fs::read_dir(fixture).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), bench.path(file.file_name().to_str().unwrap())).unwrap();
    }
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    for verb in ["new", "import", "report"] {
        let commands = quoted(&page);
        let line = commands
            .iter()
            .find(|text| text.starts_with(&format!("unbraid study {verb} ")) && text.contains("published"));
        let arguments = words(line.unwrap()).split_off(1);
        bench.succeed(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    }
    assert!(bench.path("published/report.html").is_file());
}

/// Kumar et al. 2018, Table 1 and Figure 1, by the commands of the page, with a network and a data set of seconds.
#[test]
fn the_figures_of_kumar_are_of_images_that_were_not_trained_on() {
    let bench = Bench::new();
    let set = [
        "seeds=1",
        "data=shapes(scales=2, orientations=2, positions=4, split=train, train_fraction=0.9)",
        "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }",
        "training.steps=3",
        "training.batch_size=16",
        "evaluation.metrics=[\"beta_vae_score\", \"sap_kumar\", \"reconstruction_error\"]",
        "evaluation.beta_vae_score.train_points=100",
        "evaluation.beta_vae_score.test_points=50",
        "evaluation.chance=false",
        "evaluation.report=false",
    ];
    let mut new = vec!["study", "new", "kumar", "kumar", "--scale", "small"];
    new.extend(set.iter().flat_map(|assignment| ["--set", assignment]));
    bench.succeed(&new, &[]);
    bench.succeed(&["study", "plan", "kumar"], &[]);
    bench.succeed(&["study", "run", "kumar"], &[]);
    bench.succeed(&["study", "report", "kumar", "--quiet"], &[]);
    let study = StudyDirectory::open(&bench.path("kumar")).unwrap();
    let table = Results::read(&study).unwrap().table;
    // 4 values of beta and 3 of lambda for each DIP-VAE.
    assert_eq!(table.rows.len(), 4 + 3 + 3);
    for (place, row) in table.rows.iter().enumerate() {
        for key in ["beta_vae_score", "sap_kumar", "reconstruction_error"] {
            assert!(table.number(place, key).is_finite(), "{}: {key}", row.name);
        }
        let scores = fs::read_to_string(study.runs().join(&row.name).join("scores.json")).unwrap();
        let scores: serde_json::Value = serde_json::from_str(&scores).unwrap();
        assert_eq!(scores["evaluation"]["test_split"], true);
        assert_eq!(scores["scores"]["beta_vae_score"]["parameters"]["loss"], "hinge");
    }
    let html = fs::read_to_string(study.report()).unwrap();
    // The figure has both scores over the error, the table a column for each.
    assert!(html.contains("<h3>Against the error per pixel</h3>"), "{html}");
    assert_eq!(html.matches("against squared error of a pixel: beta-vae with 4 points").count(), 2, "{html}");
    let columns = html.split_once("<h3>All settings</h3>").unwrap().1.split_once("</thead>").unwrap().0;
    for column in ["BetaVAE", "SAP", "reconstruction error"] {
        assert!(columns.contains(column), "{column}: {columns}");
    }
}

/// The file of the six-methods study makes all of its runs, and asks for all of its scores.
#[test]
fn the_six_methods_study_is_what_its_file_makes() {
    let bench = Bench::new();
    let text = fs::read_to_string(root().join("docs/six-methods/study.toml")).unwrap();
    let study = StudyDirectory::create(&bench.path("six"), &text).unwrap();
    let entries = Plan::of(&study).unwrap().manifest.entries;
    let mut reader = csv::Reader::from_path(root().join("docs/six-methods/results.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let results: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((entries.len(), results.len()), (36, 36));
    for (entry, row) in entries.iter().zip(&results) {
        assert_eq!(entry.method(), &row[column("method")]);
        assert_eq!(entry.configuration.seed.to_string(), row[column("seed")]);
        for (key, value) in entry.settings.iter().filter(|(key, _)| key.starts_with("objective.")) {
            assert_eq!(value.as_f64(), row[column(key)].parse().ok(), "{key}");
        }
        let asked = &entry.configuration.evaluation.metrics;
        for metric in header.iter().filter_map(registry::find_by_key) {
            assert!(asked.contains(&metric.name), "{}", metric.name);
        }
    }
}
