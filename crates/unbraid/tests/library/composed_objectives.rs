//! A composed objective is the named method that has the same terms, to the bit; and what is wrong with a
//! composition is said by its key.

use crate::objective_training::Rows;
use std::collections::BTreeSet;
use toml::{Table, Value};
use unbraid::config::{METHODS, ObjectiveConfig, Source, TERMS};
use unbraid::data::progress::Silent;
use unbraid::model::write_state;
use unbraid::train::{Row, Trainer};

const CONFIGURATION: &str = r#"
seed = 3
[data]
name = "shapes"
scales = 2
orientations = 1
positions = 4
[model]
architecture = { name = "mlp", encoder = [12], decoder = [12] }
latents = { continuous = 3 }
[training]
batch_size = 8
steps = 6
log_every = 1
"#;

/// Weights, state and logged losses after six steps.
fn trained(objective: &str, categorical: bool) -> (Vec<u8>, Vec<Row>) {
    let mut source = format!("{CONFIGURATION}\n[objective]\n{objective}\n");
    if categorical {
        source = source.replace("continuous = 3", "continuous = 3, categorical = [3]");
    }
    let config = Source::parse(&source, "test").unwrap_or_else(|error| panic!("{objective}: {error}"));
    let data = unbraid::data::open(&config.data, &Silent).unwrap();
    let mut trainer = Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
    let mut rows = Rows::default();
    unbraid::train::train(&mut trainer, &config, 6, &mut rows).unwrap();
    (write_state(&trainer.weights(), "").unwrap(), rows.0)
}

/// Every method that gradient descent trains, and its terms by hand. Weights are sums of powers of two where a method
/// computes them, so that 1 - alpha and the like are exact.
const PAIRS: [(&str, &str); 24] = [
    ("name = \"autoencoder\"", "terms = []\nencoder = \"deterministic\""),
    ("name = \"vae\"", "terms = [\"kl\"]"),
    ("name = \"vae\"\nsamples = 3", "terms = [\"kl\"]\nsamples = 3"),
    ("name = \"beta-vae\"\nbeta = 4", "terms = [{ name = \"kl\", weight = 4 }]"),
    (
        "name = \"beta-vae\"\nbeta = { from = 0, to = 4, end = 5 }",
        "terms = [{ name = \"kl\", weight = { from = 0, to = 4, end = 5 } }]",
    ),
    (
        "name = \"annealed-vae\"\ngamma = 100\ncapacity = { from = 0, to = 5, end = 9 }",
        "terms = [{ name = \"kl-from-capacity\", weight = 100, capacity = { from = 0, to = 5, end = 9 } }]",
    ),
    (
        "name = \"joint-vae\"\ngamma_continuous = 10\ncapacity_continuous = 2\ngamma_categorical = 20\n\
         capacity_categorical = 1",
        "terms = [{ name = \"continuous-kl-from-capacity\", weight = 10, capacity = 2 }, { name = \
         \"categorical-kl-from-capacity\", weight = 20, capacity = 1 }]",
    ),
    (
        "name = \"beta-tcvae\"\nbeta = 6",
        "terms = [\"mutual-information\", { name = \"total-correlation\", weight = 6 }, \"dimension-wise-kl\"]",
    ),
    (
        "name = \"beta-tcvae\"\nalpha = 0.5\nbeta = 5\nestimator = \"mws\"\nkl = \"analytic\"",
        "terms = [\"kl\", { name = \"mutual-information\", weight = -0.5, estimator = \"mws\" }, { name = \
         \"total-correlation\", weight = 4, estimator = \"mws\" }, { name = \"dimension-wise-kl\", weight = 0, estimator = \
         \"mws\" }]",
    ),
    (
        "name = \"factor-vae\"\ngamma = 10\ndiscriminator = { width = 20 }",
        "terms = [\"kl\", { name = \"discriminated-total-correlation\", weight = 10, discriminator = { width = 20 } }]",
    ),
    (
        "name = \"dip-vae-i\"\nlambda_od = 10\nlambda_d = 100\nrunning_decay = 0.5",
        "terms = [\"kl\", { name = \"covariance-off-diagonal\", weight = 10, of = \"means\", running_decay = 0.5 }, { name = \
         \"covariance-diagonal\", weight = 100, of = \"means\", running_decay = 0.5 }]",
    ),
    (
        "name = \"dip-vae-ii\"\nlambda_od = 10\nlambda_d = 20\nlambda_3 = 5",
        "terms = [\"kl\", { name = \"covariance-off-diagonal\", weight = 10 }, { name = \"covariance-diagonal\", weight = 20 \
         }, { name = \"third-moment\", weight = 5 }]",
    ),
    (
        "name = \"decomposition\"\nalpha = 10\nbeta = 2",
        "terms = [{ name = \"kl\", weight = 2 }, { name = \"mmd\", weight = 10 }]",
    ),
    (
        "name = \"decomposition\"\nalpha = 10\nbeta = 2\ndivergence = \"inclusive-kl\"",
        "terms = [{ name = \"kl\", weight = 2 }, { name = \"inclusive-kl\", weight = 10 }]",
    ),
    (
        "name = \"decomposition\"\nalpha = 10\nbeta = 2\ndivergence = \"exclusive-kl\"",
        "terms = [{ name = \"kl\", weight = 2 }, { name = \"exclusive-kl\", weight = 10 }]",
    ),
    (
        "name = \"decomposition\"\nalpha = 10\nbeta = 2\ndivergence = \"moments\"",
        "terms = [{ name = \"kl\", weight = 2 }, { name = \"moments\", weight = 10 }]",
    ),
    (
        "name = \"decomposition\"\nalpha = 10\nbeta = 2\ndivergence = \"sliced-wasserstein\"",
        "terms = [{ name = \"kl\", weight = 2 }, { name = \"sliced-wasserstein\", weight = 10 }]",
    ),
    (
        "name = \"info-vae\"\nalpha = 0.25\nlambda = 10\nmmd = { kernel = \"rbf\" }",
        "terms = [{ name = \"kl\", weight = 0.75 }, { name = \"mmd\", weight = 9.25, kernel = \"rbf\" }]",
    ),
    (
        "name = \"wae-mmd\"\nlambda = 10",
        "terms = [{ name = \"mmd\", weight = 10 }]\nencoder = \"deterministic\"",
    ),
    (
        "name = \"wae-gan\"\nlambda = 10\ndiscriminator = { width = 20 }",
        "terms = [{ name = \"adversarial\", weight = 10, discriminator = { width = 20 } }]\nencoder = \"deterministic\"",
    ),
    (
        "name = \"aae\"\nkl = 1\ngenerator_loss = \"minimax\"\ndiscriminator = { width = 20 }",
        "terms = [\"kl\", { name = \"adversarial\", generator_loss = \"minimax\", discriminator = { width = 20 } }]",
    ),
    ("name = \"iwae\"\nsamples = 3", "terms = [\"iwae-kl\"]\nsamples = 3"),
    ("name = \"max-entropy\"\nbeta = 4", "terms = [\"kl\", { name = \"negative-entropy\", weight = 3 }]"),
    (
        "name = \"avb\"\nbeta = 2\ndiscriminator = { width = 20, features = 8 }",
        "terms = [{ name = \"adversarial-kl\", weight = 2, discriminator = { width = 20, features = 8 } }]",
    ),
];

#[test]
fn every_named_method_is_its_composition_to_the_bit() {
    for (named, terms) in PAIRS {
        let categorical = named.contains("joint-vae");
        let (weights, rows) = trained(named, categorical);
        let (composed_weights, composed_rows) =
            trained(&format!("name = \"composed\"\n{terms}"), categorical);
        assert!(weights == composed_weights, "{named}");
        for (row, composed) in rows.iter().zip(&composed_rows) {
            // Schedules have the key of their term.
            let losses = |row: &Row| {
                row.values.iter().filter(|(key, _)| !key.contains("schedule/")).cloned().collect::<Vec<_>>()
            };
            assert_eq!(losses(row), losses(composed), "{named}");
        }
        assert_eq!(rows.len(), 6);
    }
    // None is left out.
    for method in METHODS.iter().filter(|method| !["composed", "pca", "ica"].contains(&method.name)) {
        let name = format!("name = \"{}\"", method.name);
        assert!(PAIRS.iter().any(|(named, _)| named.starts_with(&name)), "{name}");
    }
}

/// The examples that `unbraid objectives` prints are configurations, of what they say.
#[test]
fn every_example_of_the_list_can_be_read() {
    let resolve = |objective: &str| {
        let mut source = Source::preset(if objective.contains("\"pca\"") || objective.contains("\"ica\"") {
            "pca"
        } else {
            "default"
        });
        source.assignments = vec![format!("objective={objective}")];
        if objective.contains("categorical") {
            source.assignments.push("model.latents={ categorical = [10] }".to_owned());
        }
        source.resolve().unwrap_or_else(|error| panic!("{objective}: {error}")).objective
    };
    for method in METHODS {
        assert_eq!(resolve(method.example).name(), method.name);
    }
    for term in TERMS {
        let objective = resolve(&format!("{{ name = \"composed\", terms = [{}] }}", term.example));
        let ObjectiveConfig::Composed { terms, .. } = &objective else { panic!("{objective:?}") };
        assert_eq!(terms.0[0].term.name(), term.name);
    }
}

/// The keys of a table of an objective, other than its name, by the message on a key that it does not have.
fn possible_keys(objective: &Value) -> BTreeSet<String> {
    let source = Source::default().set(format!("objective={objective}"));
    let error = source.resolve().expect_err("an unknown key").to_string();
    let (_, hint) = error.split_once("unknown key `zzzzzzzz`\nhint: ").unwrap_or_else(|| panic!("{error}"));
    match hint.lines().next().unwrap().strip_prefix("expected one of ") {
        Some(keys) => keys.split(", ").map(str::to_owned).collect(),
        None => BTreeSet::new(),
    }
}

/// Every table inside a value, as a path of keys and places.
fn tables(value: &Value, path: &[String], found: &mut Vec<Vec<String>>) {
    let mut inside = |key: &str, value: &Value| tables(value, &[path, &[key.to_owned()][..]].concat(), found);
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| inside(key, value));
            found.push(path.to_owned());
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(place, value)| inside(&place.to_string(), value));
        }
        _ => {}
    }
}

fn table_at<'a>(value: &'a mut Value, path: &[String]) -> &'a mut Table {
    let inner = path.iter().fold(value, |value, key| match value {
        Value::Array(values) => &mut values[key.parse::<usize>().unwrap()],
        other => &mut other[key.as_str()],
    });
    inner.as_table_mut().unwrap()
}

#[test]
fn every_example_of_the_list_has_all_options() {
    let methods = METHODS.map(|method| method.example.to_owned());
    let terms = TERMS.map(|term| {
        format!("{{ name = \"composed\", terms = [{}], encoder = \"gaussian\", samples = 1 }}", term.example)
    });
    for example in methods.iter().chain(&terms) {
        let example = format!("example = {example}").parse::<Table>().unwrap().remove("example").unwrap();
        let mut paths = Vec::new();
        tables(&example, &[], &mut paths);
        for path in paths {
            let mut with_another = example.clone();
            let table = table_at(&mut with_another, &path);
            let is_term = path.first().is_some_and(|key| key == "terms") && path.len() == 2;
            let apart = |key: &&String| *key != "name" && !(is_term && *key == "weight");
            let found: BTreeSet<String> = table.keys().filter(apart).cloned().collect();
            assert!(!is_term || table.contains_key("weight"), "{example}");
            table.insert("zzzzzzzz".to_owned(), 1.into());
            assert_eq!(found, possible_keys(&with_another), "{path:?} of {example}");
        }
    }
}

#[test]
fn a_composition_survives_being_written_and_logs_its_schedules() {
    let objective = "{ name = \"composed\", samples = 2, terms = [{ name = \"kl\", weight = { from = 0, to = 2, end = 4 } }, { \
                     name = \"mmd\", weight = 3, kernel = \"rbf\" }] }";
    let config = Source::default().set(format!("objective={objective}")).resolve().unwrap();
    assert_eq!(Source::parse(&config.to_toml(), "text").unwrap(), config);
    let (_, rows) = trained(
        "name = \"composed\"\nterms = [{ name = \"kl\", weight = { from = 0, to = 2, end = 4 } }]",
        false,
    );
    let weight = |row: usize| rows[row].get("train/schedule/terms.kl.weight");
    assert_eq!([weight(0), weight(1), weight(5)], [Some(0.0), Some(0.5), Some(2.0)]);
}

/// Two discriminators in one objective: each has a loss of its own in the log.
#[test]
fn losses_of_two_discriminators_are_told_apart() {
    let terms = "name = \"composed\"\nterms = [{ name = \"adversarial\", discriminator = { width = 8 } }, { name = \
                 \"discriminated-total-correlation\", discriminator = { width = 8 } }]";
    let (_, rows) = trained(terms, false);
    for key in ["train/adversarial_discriminator_loss", "train/total_correlation_discriminator_loss"] {
        let loss = rows[0].get(key).unwrap();
        assert!((loss - std::f64::consts::LN_2).abs() < 0.1, "{key}: {loss}");
    }
}

#[test]
fn what_is_wrong_with_a_composition_is_said_by_its_key() {
    for (terms, message) in [
        ("4", "objective.terms: found 4, expected a list such as [{ name = \"kl\", weight = 4.0 }]"),
        ("[3]", "objective.terms: found 3, expected { name = \"kl\", weight = 4.0 }"),
        (
            "[{ weight = 4 }]",
            "objective.terms: a term without a name, expected { name = \"kl\", weight = 4.0 }",
        ),
        ("[\"kll\"]", "objective.terms: unknown term `kll`\nhint: did you mean `kl`?"),
        (
            "[{ name = \"total-correlation\", estimater = \"mws\" }]",
            "objective.terms: `total-correlation`: unknown key `estimater`\nhint: did you mean `estimator`?",
        ),
        (
            "[{ name = \"kl\", weight = \"much\" }]",
            "objective.terms: `kl`: weight: found \"much\", expected a number or { from = 0.0, to = 1.0, start = 0, end = \
             10000 }",
        ),
        ("[{ name = \"kl-from-capacity\" }]", "objective.terms: `kl-from-capacity`: missing key `capacity`"),
        (
            "[{ name = \"kl\", weight = -1 }]",
            "objective.terms.kl.weight: found -1, expected a finite number, 0 or more",
        ),
        (
            "[{ name = \"total-correlation\", weight = nan }]",
            "objective.terms.total-correlation.weight: found NaN, expected a finite number",
        ),
        (
            "[{ name = \"kl-from-capacity\", capacity = -2 }]",
            "objective.terms.kl-from-capacity.capacity: found -2, expected a finite number, 0 or more",
        ),
        ("[\"kl\", \"kl\"]", "objective.terms: found `kl` twice, expected each term once"),
        (
            "[\"total-correlation\", \"discriminated-total-correlation\"]",
            "objective.terms: found `total-correlation` twice, expected each term once",
        ),
        (
            "[{ name = \"mmd\", scales = [] }]",
            "objective.terms.mmd.scales: found [], expected one scale or more",
        ),
        (
            "[{ name = \"sliced-wasserstein\", projections = 0 }]",
            "objective.terms.sliced-wasserstein.projections: found 0, expected at least 1",
        ),
        (
            "[{ name = \"adversarial-kl\", discriminator = { samples = 1 } }]",
            "objective.terms.adversarial-kl.discriminator.samples: found 1, expected at least 2, since a variance is \
             computed",
        ),
        (
            "[{ name = \"f-divergence\", divergence = \"js\" }]",
            "objective.terms: `f-divergence`: unknown value `js`\nhint: expected one of kl, reverse-kl, jensen-shannon, \
             pearson, squared-hellinger",
        ),
    ] {
        let source = Source::default().set(format!("objective={{ name = \"composed\", terms = {terms} }}"));
        let error = source.resolve().expect_err(terms).to_string();
        assert_eq!(error, format!("configuration: {message}"), "{terms}");
    }
    let samples = "objective={ name = \"composed\", terms = [], encoder = \"deterministic\", samples = 2 }";
    assert_eq!(
        Source::default().set(samples).resolve().unwrap_err().to_string(),
        "configuration: objective.samples: found 2, expected 1, since the mean is decoded; objective.encoder=gaussian \
         decodes samples"
    );
}
