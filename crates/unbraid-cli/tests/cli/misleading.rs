//! Numbers that would mislead, as a user meets them: an untrained model of a folder of pictures with labels that mean
//! nothing, few images, and a single factor.

use crate::support::{Bench, check};
use image::{GrayImage, Luma};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use unbraid::data::random::Stream;
use unbraid::evaluate::codes_file;

const PICTURES: usize = 600;

/// Pictures of grey noise; a table with three moods, a weight and a name for each, none of which the pictures
/// show; and the configuration of a model that is trained for one step.
fn unrelated(bench: &Bench, columns: &[&str]) {
    use rand::RngExt;
    let mut random = Stream::new(1, "pictures").at(0).generator();
    fs::create_dir(bench.path("photos")).unwrap();
    let mut table = format!("file,{}\n", columns.join(","));
    for number in 0..PICTURES {
        let picture = GrayImage::from_fn(8, 8, |_, _| Luma([random.random()]));
        picture.save(bench.path(&format!("photos/{number}.png"))).unwrap();
        let mood = ["glad", "odd", "sad"][random.random_range(0..3)];
        let weight: f64 = random.random_range(50.0..70.0);
        let cells = columns.iter().map(|column| match *column {
            "mood" => mood.to_owned(),
            "weight" => weight.to_string(),
            _ => format!("subject {number}"),
        });
        writeln!(table, "{number}.png,{}", cells.collect::<Vec<_>>().join(",")).unwrap();
    }
    fs::write(bench.path("table.csv"), table).unwrap();
    let kinds = if columns.contains(&"weight") { "attributes.kinds = { weight = \"number\" }\n" } else { "" };
    let config = format!(
        "[data]\nname = \"folder\"\npath = \"photos\"\nsize = 8\nchannels = 1\nattributes.path = \"table.csv\"\n{kinds}\
         [model]\narchitecture = {{ name = \"mlp\", encoder = [8], decoder = [8] }}\nlatents = {{ continuous = 4 }}\n\
         [training]\nbatch_size = 16\nsteps = 1\n"
    );
    fs::write(bench.path("own.toml"), config).unwrap();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// What is random is exchangeable: the score itself is one more shuffle. An accuracy on 200 test points has a standard
/// deviation of at most 0.035, a difference of two 0.05; three of them are 0.15.
#[test]
fn an_untrained_model_of_random_labels_is_at_chance_and_says_so() {
    let bench = Bench::new();
    unrelated(&bench, &["mood", "weight", "name"]);
    bench.succeed(&["train", "--config", "own.toml", "--quiet", "--out", "run"], &[]);
    // The kinds that the configuration states are in the configuration of the run, which alone repeats it.
    let stored = fs::read_to_string(bench.path("run/config.toml")).unwrap();
    assert!(stored.contains("kinds = { weight = \"number\" }"), "{stored}");

    let scores = json(&bench.expect_output(&["evaluate", "run", "--format", "json", "--quiet"]));
    let notes: Vec<&str> =
        scores["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert_eq!(
        notes,
        [
            "factor `weight` takes 400 values on 400 points: a number; where a score needs classes, twenty of equal size \
             stand for them",
            "factor `name` takes 400 values on 400 points: left out, since names that hardly ever repeat are no classes",
        ]
    );
    let levels = scores["chance"].as_object().unwrap();
    assert!(levels.len() > 15, "{levels:?}");
    for (key, level) in levels {
        let (value, level) = (scores[key].as_f64().unwrap(), level.as_f64().unwrap());
        assert!((value - level).abs() < 0.15, "{key}: {value}, by chance {level}");
    }
    // Two factors, one of which is fixed.
    assert!(scores["beta_vae_score"].as_f64().unwrap() < 0.8, "{}", scores["beta_vae_score"]);
    // One value against the others, three moods and twenty classes of weights: two thirds and 19 of 20 are the others.
    let accuracy = scores["attribute_accuracy"].as_f64().unwrap();
    assert!((accuracy - f64::midpoint(2.0 / 3.0, 19.0 / 20.0)).abs() < 0.05, "{accuracy}");
    let table = bench.expect_output(&["evaluate", "run", "--quiet"]);
    // Each is within its interval with a probability of 99 %; three of twenty outside would be one case in a thousand.
    let at_chance = table.lines().filter(|line| line.ends_with(" at chance")).count();
    assert!(at_chance + 2 >= levels.len(), "{table}");

    // No point is tested on a picture that it was fitted to: all codes differ, and so do the pictures.
    let about = &json(&fs::read_to_string(bench.path("run/scores.json")).unwrap())["evaluation"];
    assert_eq!((&about["train_images"], &about["test_images"]), (&400.into(), &200.into()));
    let codes = codes_file::read(&bench.path("run/codes.npz")).unwrap();
    let (train, test) = (codes.codes_train(), codes.codes_test());
    let rows = train.rows().into_iter().chain(test.rows());
    let distinct: BTreeSet<Vec<u64>> =
        rows.map(|row| row.iter().map(|code| code.to_bits()).collect()).collect();
    assert_eq!(distinct.len(), PICTURES);
}

#[test]
fn a_single_factor_has_no_tile_for_what_compares_factors() {
    let bench = Bench::new();
    unrelated(&bench, &["mood"]);
    let output = bench.unbraid(&["train", "--config", "own.toml", "--out", "run"]).output().unwrap();
    let notes = check(&output, &[]);
    let printed = format!("{}{notes}", String::from_utf8_lossy(&output.stdout));
    assert!(!printed.contains("factor_vae_score        1"), "{printed}");
    let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
    let tiles = page.split("<dl class=\"facts\">").nth(1).unwrap().split("</dl>").next().unwrap();
    assert!(tiles.contains("<dt>MIG</dt>") && tiles.contains("<dd class=\"beside\">"), "{tiles}");
    assert!(!tiles.contains("DCI") && !tiles.contains("FactorVAE"), "{tiles}");
    let why = "<td class=\"number\">n/a</td><td colspan=\"2\">compares factors, and only one varies</td>";
    assert!(page.contains(why));
    assert!(
        page.contains("<th scope=\"row\">mood</th><td class=\"word\">unit "),
        "the best unit has its name"
    );
}
