//! `docs/papers.md`: its files are there, and its commands do what they can without data and training.

use crate::support::Bench;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use unbraid::metrics::registry;
use unbraid_study::{Plan, StudyDirectory};

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

/// Configurations are resolved, studies are made, presets and priors are shown. What needs a run, a study or files is parsed
/// only, by a test of the command itself.
#[test]
fn commands_that_need_nothing_are_run() {
    let bench = Bench::new();
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let mut run = 0;
    for line in quoted(&page).into_iter().filter(|text| text.starts_with("unbraid ")) {
        let mut arguments = words(line).split_off(1);
        match arguments[0].as_str() {
            "train" => arguments.push("--print-config".to_owned()),
            "presets" | "prior" | "data" => {}
            "study" if matches!(arguments[1].as_str(), "new" | "presets") => {}
            _ => continue,
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        bench.succeed(&arguments, &[]);
        run += 1;
    }
    assert!(run > 40, "{run}");
    for picture in ["student-t.png", "mixture.png", "dsprites.png"] {
        assert!(bench.path(picture).is_file(), "{picture}");
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
