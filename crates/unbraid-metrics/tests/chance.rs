//! Scores that would mislead: random labels, a single factor, values that hardly ever repeat.

use crate::synthetic::{noise, quick_registry};
use ndarray::{Array2, Axis, concatenate};
use unbraid_metrics::{Codes, FactorKind, Options, Report, random, registry};

const POINTS: usize = 900;

/// Labels that have nothing to do with anything: three classes, five classes, and a real number.
fn random_labels(rows: usize, seed: u64) -> Array2<f64> {
    use rand::RngExt;
    let mut generator = random::generator(seed, "labels", 0);
    let mut labels = Array2::zeros((rows, 3));
    for mut row in labels.rows_mut() {
        row[0] = f64::from(generator.random_range(0..3));
        row[1] = f64::from(generator.random_range(0..5));
        row[2] = generator.random_range(0.0..100.0);
    }
    labels
}

fn scored(codes: &Codes, names: &[&str], resamples: usize) -> Report {
    let options = Options { chance: true, resamples, ..Options::default() };
    quick_registry(1000, 500).run(names, codes, &options).unwrap()
}

/// Codes of normal noise.
fn unrelated(kinds: [FactorKind; 3]) -> Codes {
    Codes::from_numbers(
        noise(POINTS, 4, 1),
        random_labels(POINTS, 1),
        noise(POINTS / 2, 4, 2),
        random_labels(POINTS / 2, 2),
    )
    .and_then(|codes| codes.with_factor_kinds(kinds))
    .unwrap()
}

/// What is random is exchangeable: the score itself is one more shuffle. Of accuracies on 450 points the standard deviation
/// is at most 0.024, that of a difference of two 0.034; scores of fits and interventions vary somewhat more.
#[test]
fn random_labels_score_at_chance() {
    let codes = unrelated([FactorKind::Categorical, FactorKind::Categorical, FactorKind::Ordered]);
    let report = scored(&codes, &[], 0);
    assert_eq!(
        report.notes,
        [format!(
            "factor `2` takes {POINTS} values on {POINTS} points: a number; where a score needs classes, twenty of equal \
             size stand for them"
        )]
    );
    let (mut levels, mut at_chance) = (0, 0);
    for score in &report.scores {
        let metric = registry::find(&score.name).unwrap();
        assert_eq!(score.chance.is_some(), metric.needs.factors, "{}", score.name);
        for (key, value) in score.values.numbers() {
            let Some(level) = report.chance(key) else { continue };
            levels += 1;
            assert!((value - level.mean).abs() < 0.1, "{key}: {value}, {level:?}");
            at_chance += usize::from(level.includes(*value));
            // What takes long is shuffled again where one shuffle leaves it open: 3 sqrt(0.5 / 450) = 0.1 is not far away.
            let is_open = metric.shuffles == 1 && !level.includes(*value);
            assert!(!is_open || level.deviation.is_some(), "{key}: {value}, {level:?}");
            assert!([metric.shuffles, 5].contains(&level.shuffles), "{key}: {level:?}");
        }
    }
    assert!(levels >= 15, "{levels} levels");
    // Each is within its interval with a probability of 99 %; three of twenty outside would be one case in a thousand.
    assert!(levels - at_chance <= 2, "{at_chance} of {levels}");
    for key in ["mig", "sap_continuous", "dci_informativeness_test", "explicitness"] {
        let (value, chance) = (report.get(key).unwrap(), report.chance(key).unwrap().mean);
        assert!((value - chance).abs() < 0.04, "{key}: {value} {chance}");
    }
    // The classes have shares of 1/3 and 1/5; a number has no majority.
    let majority = report.majority("dci_informativeness_test").unwrap();
    assert!((majority - (1.0 / 3.0 + 1.0 / 5.0) / 3.0).abs() < 0.03, "{majority}");
}

/// Names that are different for every image are no factor, and where nothing else is there, there is no score.
#[test]
fn names_that_never_repeat_are_left_out() {
    let kinds = [FactorKind::Categorical, FactorKind::Categorical, FactorKind::Categorical];
    let report = scored(&unrelated(kinds), &["mig", "modularity"], 0);
    assert_eq!(
        report.notes[0],
        format!(
            "factor `2` takes {POINTS} values on {POINTS} points: left out, since names that hardly ever repeat are no classes"
        )
    );
    assert_eq!(report.matrix("mutual_information").unwrap().dim(), (4, 2));

    let names = Array2::from_shape_fn((POINTS, 1), |(row, _)| row as i64);
    let codes = Codes::new(noise(POINTS, 2, 1), names.clone(), noise(POINTS, 2, 1), names)
        .and_then(|codes| codes.with_factor_kinds([FactorKind::Categorical]))
        .unwrap();
    let report = scored(&codes, &[], 0);
    let why = "every factor has nearly as many values as there are points";
    for key in ["beta_vae_score", "mig", "dci_informativeness_test", "explicitness", "attribute_accuracy"] {
        assert!(report.get(key).unwrap().is_nan(), "{key}");
        assert_eq!(report.why_undefined(key), Some(why), "{key}");
        assert!(report.chance(key).is_none());
    }
    assert!(report.get("hoyer").unwrap().is_finite());
}

/// Names that never repeat, beside a factor of one value: as if there were nothing but the names.
#[test]
fn a_constant_factor_beside_names_is_no_factor_either() {
    let factors =
        Array2::from_shape_fn((POINTS, 2), |(row, factor)| if factor == 0 { row as i64 } else { 3 });
    let codes = Codes::new(noise(POINTS, 2, 1), factors.clone(), noise(POINTS, 2, 2), factors)
        .and_then(|codes| codes.with_factor_kinds([FactorKind::Categorical, FactorKind::Categorical]))
        .unwrap();
    let report = scored(&codes, &[], 0);
    let why = "no factor varies but those that have nearly as many values as there are points";
    assert_eq!(report.why_undefined("mig"), Some(why));
    assert!(report.get("hoyer").unwrap().is_finite());
}

/// A grid of 3 x 30 x 10 in its order: the first two thirds have the first two values of the slowest factor.
#[test]
fn rows_in_the_order_of_a_grid_are_noticed() {
    let factors = Array2::from_shape_fn((POINTS, 3), |(row, factor)| match factor {
        0 => row as i64 / 300,
        1 => row as i64 / 10 % 30,
        _ => row as i64 % 10,
    });
    let codes = noise(POINTS, 2, 1);
    // A multiple of 7 below 900 for each row, once each, since 7 does not divide 900.
    let order: Vec<usize> = (0..POINTS).map(|row| row * 7 % POINTS).collect();
    let in_order = Codes::split(codes.view(), factors.view()).unwrap();
    assert_eq!(
        scored(&in_order, &["mig"], 0).notes,
        [
            "factor `0`: 300 of 300 test points have a value that no training point has; if the rows are in order, shuffle \
          them first"
        ]
    );
    let shuffled = Codes::split(codes.view(), factors.select(Axis(0), &order).view()).unwrap();
    assert!(scored(&shuffled, &["mig"], 0).notes.is_empty());
}

/// What compares factors says nothing of one.
#[test]
fn a_single_factor_leaves_much_undefined() {
    let classes = random_labels(POINTS, 1).mapv(|value| value as i64).select(Axis(1), &[1]);
    let codes = concatenate![Axis(1), classes.mapv(|value| value as f64), noise(POINTS, 2, 3)];
    let codes = Codes::new(codes.clone(), classes.clone(), codes, classes).unwrap();
    let report = scored(&codes, &["default", "med", "infomec"], 0);
    let one = "compares factors, and only one varies";
    for key in [
        "beta_vae_score",
        "factor_vae_score",
        "dci_disentanglement",
        "modularity",
        "mig_sup",
        "dcimig",
        "med",
        "infom",
    ] {
        assert!(report.get(key).unwrap().is_nan(), "{key}");
        assert_eq!(report.why_undefined(key), Some(one), "{key}");
    }
    assert!(report.get("mig").unwrap() > 0.8 && report.get("dci_completeness").unwrap() > 0.8);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["modularity"], serde_json::Value::Null);
    assert_eq!(json["undefined"]["modularity"], one);
    assert!(json["chance"]["mig"].as_f64().unwrap() < 0.05);
}

/// A weight that one unit encodes, and an angle that none does: predicted as numbers, R^2 near 1 and near 0.
#[test]
fn real_numbers_are_predicted_as_numbers() {
    let (labels, units) = (random_labels(POINTS, 5), noise(POINTS, 3, 6));
    let mut codes = units.clone();
    codes.column_mut(1).assign(&labels.column(2).mapv(|weight| (weight - 50.0) / 20.0));
    let factors =
        concatenate![Axis(1), labels.select(Axis(1), &[2]), random_labels(POINTS, 7).select(Axis(1), &[2])];
    let (train, test): (Vec<usize>, Vec<usize>) = ((0..600).collect(), (600..POINTS).collect());
    let part = |array: &Array2<f64>, rows: &[usize]| array.select(Axis(0), rows);
    let codes = Codes::from_numbers(
        part(&codes, &train),
        part(&factors, &train),
        part(&codes, &test),
        part(&factors, &test),
    )
    .unwrap();
    let report = scored(&codes, &["dci", "sap_continuous", "mig", "mcc"], 0);
    let importance = report.matrix("dci_importance").unwrap();
    assert!(importance[[1, 0]] > 0.99, "{importance}");
    // Half of a prediction that is nearly perfect and of one that explains nothing.
    let explained = report.get("dci_informativeness_test").unwrap();
    assert!((explained - 0.5).abs() < 0.03, "{explained}");
    assert!((report.matrix("sap_continuous_matrix").unwrap()[[1, 0]] - 1.0).abs() < 1e-9);
    assert!(report.chance("dci_informativeness_test").unwrap().mean < 0.05);
    let mut registry = registry::Registry::builtin();
    registry.configure("mig", serde_json::json!({ "neighbours": 3 }).as_object().unwrap()).unwrap();
    let found = registry.run(&["mig"], &codes, &Options::default()).unwrap();
    let matrix = found.matrix("mutual_information").unwrap();
    assert!((matrix[[1, 0]] - 20_f64.ln()).abs() < 1e-9, "at most the entropy of twenty classes: {matrix}");
    assert!(matrix[[0, 1]] < 0.1, "{matrix}");
}

/// Intervals hold the score of a sample that is as large, and narrow with its size.
#[test]
fn bootstrap_intervals_hold_the_score() {
    let classes = |rows: usize| random_labels(rows, 1).mapv(|value| value as i64).select(Axis(1), &[0, 1]);
    let width = |rows: usize| {
        let factors = classes(rows);
        let codes = factors.mapv(|value| value as f64) + 0.3 * noise(rows, 2, 4);
        let codes = Codes::new(codes.clone(), factors.clone(), codes, factors).unwrap();
        let report = scored(&codes, &["sap_continuous", "hoyer"], 60);
        let [low, high] = report.interval("sap_continuous").unwrap();
        let value = report.get("sap_continuous").unwrap();
        assert!(low < value && value < high, "{low} {value} {high}");
        assert!(report.interval("hoyer").is_some());
        assert_eq!(report.scores[0].bootstrap.as_ref().unwrap().resamples, 60);
        high - low
    };
    // Four times the points, half the width; 60 resamples know it within a third.
    let ratio = width(400) / width(1600);
    assert!((1.3..3.0).contains(&ratio), "{ratio}");
}
