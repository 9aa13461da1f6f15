//! Scores and learners against `tools/golden_scores.py`, which computes them from their definitions.

use crate::common::{MODELS, assert_close, assert_matrix_close, golden_file, load, matrix, numbers};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde_json::Value;
use unbraid_metrics::information::Information;
use unbraid_metrics::learners::{BoostingParameters, GradientBoostingRegression, LogisticParameters};
use unbraid_metrics::scores::{
    DciEsParameters, HistogramParameters, InfomecParameters, MedParameters, NkParameters, dci_es, infomec,
    mcc, med, mig_of, nk, snc,
};
use unbraid_metrics::{Codes, TrainTest};

fn golden(file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(golden_file(file)).unwrap()).unwrap()
}

/// The first rows.
fn first<T>(array: &Array2<T>, rows: usize) -> ArrayView2<'_, T> {
    array.slice_axis(Axis(0), (..rows).into())
}

/// Rounding apart, both compute the same: 1e-9. Regressions are minimised to 1e-8 here, and InfoE is flat at a minimum.
#[test]
fn scores_by_definition() {
    let all = golden("by_definition.json");
    let (train, test) =
        (all["train_points"].as_u64().unwrap() as usize, all["test_points"].as_u64().unwrap() as usize);
    for model in MODELS {
        let (arrays, expected) = (load(model), &all[model]);
        let (codes, factors) = (first(&arrays.codes_train, train), first(&arrays.factors_train, train));
        let (codes_test, factors_test) = (first(&arrays.codes_test, test), first(&arrays.factors_test, test));
        let data = TrainTest::new(codes, factors, codes_test, factors_test).unwrap();
        let close = |key: &str, found: f64, tolerance: f64| {
            assert_close(&format!("{model} {key}"), found, expected[key].as_f64().unwrap(), tolerance);
        };
        let found = mcc(data.train());
        close("mcc_pearson", found.pearson, 1e-9);
        close("mcc_spearman", found.spearman, 1e-9);
        let with_k = |k| med(data.train(), &MedParameters { k, ..Default::default() }).unwrap();
        close("med", with_k(1).value, 1e-9);
        close("med_top_1", with_k(1).top_k, 1e-9);
        close("med_top_2", with_k(2).top_k, 1e-9);
        let information = Information::by_neighbours(data.train(), 10, 20).unwrap();
        let neighbours = matrix(&expected["information_by_neighbours"]);
        assert_matrix_close(&format!("{model} neighbours"), information.matrix.view(), &neighbours, 1e-9);
        close("mig_by_neighbours", mig_of(&information).value, 1e-9);
        let logistic = LogisticParameters { tolerance: 1e-8, max_iterations: 5000, ..Default::default() };
        let found = infomec(&data, &InfomecParameters { logistic, ..Default::default() }).unwrap();
        close("infom", found.modularity, 1e-9);
        close("infoc", found.compactness, 1e-9);
        close("infoe", found.explicitness, 1e-6);
        // Where several matchings are best for the training points, the test points may tell them apart.
        let found = snc(&data, &HistogramParameters::default()).unwrap();
        for (factor, (found, expected)) in
            found.per_factor.iter().zip(numbers(&expected["snc_per_factor"])).enumerate()
        {
            assert_close(&format!("{model} snc of factor {factor}"), *found, expected, 0.02);
        }
        for entry in expected["kraskov"].as_array().unwrap() {
            let column = |place: usize| codes.column(entry[place].as_u64().unwrap() as usize).to_owned();
            let (first, second) = (column(0).insert_axis(Axis(1)), column(1).insert_axis(Axis(1)));
            let pair = Codes::from_numbers(first.clone(), second.clone(), first, second).unwrap();
            // A factor that never repeats is a number.
            let mut registry = unbraid_metrics::Registry::builtin();
            registry.configure("mig", serde_json::json!({ "neighbours": 3 }).as_object().unwrap()).unwrap();
            let report = registry.run(&["mig"], &pair, &unbraid_metrics::Options::default()).unwrap();
            let found = report.matrix("mutual_information").unwrap()[[0, 0]];
            assert_close(&format!("{model} kraskov"), found, entry[2].as_f64().unwrap(), 1e-9);
        }
    }
}

/// Scores of boosted trees against scikit-learn's (`tools/golden_learners.py`), which breaks ties at random: with three seeds,
/// single accuracies on these 700 points have a standard deviation of up to 0.005, and the mean explicitness one of 0.02.
/// Four of them are allowed.
#[test]
fn scores_of_boosted_trees() {
    let all = golden("learners.json");
    let (train, test) =
        (all["train_points"].as_u64().unwrap() as usize, all["test_points"].as_u64().unwrap() as usize);
    for model in MODELS {
        let (arrays, expected) = (load(model), &all[model]);
        let (codes, factors) = (first(&arrays.codes_train, train), first(&arrays.factors_train, train));
        let (codes_test, factors_test) = (first(&arrays.codes_test, test), first(&arrays.factors_test, test));
        let data = TrainTest::new(codes, factors, codes_test, factors_test).unwrap();
        let found = nk(&data, &NkParameters::default()).unwrap();
        let units: Vec<usize> = found.units.iter().map(|unit| unit.unwrap()).collect();
        assert_eq!(units, serde_json::from_value::<Vec<usize>>(expected["nk_units"].clone()).unwrap());
        let mut lost = Vec::new();
        for (factor, seeds) in expected["nk_accuracies"].as_array().unwrap().iter().enumerate() {
            let seeds = matrix(seeds);
            let (whole, without) = (seeds.column(0).mean().unwrap(), seeds.column(1).mean().unwrap());
            let name = format!("{model} nk of factor {factor}");
            assert_close(&name, found.whole[factor], whole, 0.02);
            assert_close(&name, found.per_factor[factor], whole - without, 0.03);
            lost.push(whole - without);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert_close(&format!("{model} nk"), found.value, mean(&lost), 0.015);
        let found = dci_es(&data, &DciEsParameters::default()).unwrap();
        let seeds = matrix(&expected["dci_explicitness"]);
        assert_close(&format!("{model} explicitness"), found.explicitness, seeds.mean().unwrap(), 0.08);
        assert_eq!(found.size, 0.5, "five factors, ten units");
    }
}

/// Sums are of fixed-point gradients of 40 bits or so: 1e-6.
#[test]
fn boosted_regression() {
    let all = golden("by_definition.json");
    let expected = &all["regression"];
    let (x, points) = (matrix(&expected["x"]), matrix(&expected["points"]));
    let parameters = BoostingParameters {
        stages: expected["stages"].as_u64().unwrap() as usize,
        learning_rate: expected["learning_rate"].as_f64().unwrap(),
        max_depth: expected["max_depth"].as_u64().unwrap() as usize,
        ..Default::default()
    };
    let target = Array1::from_vec(numbers(&expected["y"]));
    let model = GradientBoostingRegression::fit(x.view(), target.view(), &parameters).unwrap();
    for (unit, (found, expected)) in
        model.importances().iter().zip(numbers(&expected["importances"])).enumerate()
    {
        assert_close(&format!("importance of {unit}"), *found, expected, 1e-6);
    }
    for (found, expected) in model.predict(points.view()).iter().zip(numbers(&expected["predicted"])) {
        assert_close("prediction", *found, expected, 1e-6);
    }
    for (fitted, predicted) in model.fitted().iter().zip(model.predict(x.view())) {
        assert!((fitted - predicted).abs() < 1e-12);
    }
}
