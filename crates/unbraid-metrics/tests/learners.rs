//! Learners against scikit-learn on small problems; `fixtures/make_learners.py` wrote the expectations.

use crate::common::{self, assert_matrix_close};
use ndarray::{Array1, Array2};
use serde_json::Value;
use unbraid_metrics::Classes;
use unbraid_metrics::correlation::spearman;
use unbraid_metrics::learners::{
    BoostingParameters, ForestParameters, GradientBoosting, Lasso, LassoParameters, LinearSvm,
    LogisticCvParameters, LogisticParameters, LogisticRegression, LogisticRegressionCv, RandomForest,
    SvmParameters,
};

struct Problem(Value);

fn fixture() -> Value {
    serde_json::from_str(include_str!("fixtures/learners.json")).unwrap()
}

fn problems() -> Vec<(String, Problem)> {
    let fixture = fixture();
    let problems = fixture["problems"].as_object().unwrap();
    problems.iter().map(|(name, problem)| (name.clone(), Problem(problem.clone()))).collect()
}

impl Problem {
    fn matrix(&self, key: &str) -> Array2<f64> {
        common::matrix(&self.0[key])
    }

    fn numbers(&self, key: &str) -> Vec<f64> {
        common::numbers(&self.0[key])
    }

    fn classes(&self) -> Classes {
        let labels: Vec<i64> = serde_json::from_value(self.0["labels"].clone()).unwrap();
        Classes::new(Array1::from(labels).view())
    }

    /// Labels are 0, 1, ..., so that classes are labels.
    fn predictions(&self, key: &str) -> Vec<u32> {
        serde_json::from_value(self.0[key].clone()).unwrap()
    }
}

fn disagreements(found: &[u32], expected: &[u32]) -> usize {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).filter(|(a, b)| a != b).count()
}

#[test]
fn logistic_regression() {
    for (name, problem) in problems() {
        let (features, classes) = (problem.matrix("features"), problem.classes());
        let exact = LogisticParameters { tolerance: 1e-10, max_iterations: 10_000, ..Default::default() };
        let model = LogisticRegression::fit(features.view(), &classes, &exact).unwrap();
        // The objective is flat: where L-BFGS sees no more decrease, weights (of up to 20) are still 4e-4 off, in
        // scikit-learn as here. Predictions are not.
        assert_matrix_close(&format!("{name} weights"), model.weights(), &problem.matrix("logistic"), 1e-3);
        let probabilities = model.probabilities(problem.matrix("test_features").view());
        let expected = problem.matrix("logistic_probabilities");
        assert_matrix_close(&format!("{name} probabilities"), probabilities.view(), &expected, 1e-5);
        // With the default tolerance both stop near the minimum, not at the same point. Where scikit-learn runs out of
        // its 100 iterations, it is still far away (0.38 in the probabilities of `many_classes`): nothing to compare.
        if problem.0["logistic_default_iterations"].as_u64() == Some(100) {
            continue;
        }
        let model =
            LogisticRegression::fit(features.view(), &classes, &LogisticParameters::default()).unwrap();
        let probabilities = model.probabilities(problem.matrix("test_features").view());
        let expected = problem.matrix("logistic_default_probabilities");
        assert_matrix_close(&format!("{name} default probabilities"), probabilities.view(), &expected, 2e-3);
    }
}

#[test]
fn cross_validated_logistic_regression() {
    for (name, problem) in problems() {
        let (features, classes) = (problem.matrix("features"), problem.classes());
        // Left to converge: after 100 iterations a weak penalty leaves both solvers at different points.
        let parameters = LogisticCvParameters { max_iterations: 10_000, ..Default::default() };
        let fitted = LogisticRegressionCv::fit(features.view(), &classes, &parameters).unwrap();
        let expected = problem.0["logistic_cv_c"].as_f64().unwrap();
        assert!(
            (fitted.c / expected - 1.0).abs() < 1e-9,
            "{name}: chose {}, scikit-learn {expected}",
            fitted.c
        );
        let found = fitted.model.predict(problem.matrix("test_features").view());
        assert!(disagreements(&found, &problem.predictions("logistic_cv_predictions")) <= 1, "{name}");
    }
}

#[test]
fn linear_support_vector_machine() {
    for (name, problem) in problems() {
        let (features, classes) = (problem.matrix("features"), problem.classes());
        let balanced = SvmParameters { tolerance: 1e-10, max_iterations: 100_000, ..Default::default() };
        let model = LinearSvm::fit(features.view(), &classes, &balanced).unwrap();
        assert_matrix_close(
            &format!("{name} balanced"),
            model.weights(),
            &problem.matrix("svm_balanced"),
            1e-7,
        );
        let found = model.predict(problem.matrix("test_features").view());
        assert_eq!(found, problem.predictions("svm_balanced_predictions"), "{name}");
        let plain = SvmParameters { c: 1.0, balanced: false, ..balanced.clone() };
        let model = LinearSvm::fit(features.view(), &classes, &plain).unwrap();
        assert_matrix_close(&format!("{name} plain"), model.weights(), &problem.matrix("svm_plain"), 1e-6);
        let model = LinearSvm::fit_single(features.column(0), &classes, &balanced).unwrap();
        assert_matrix_close(&format!("{name} single"), model.weights(), &problem.matrix("svm_single"), 1e-7);
    }
}

#[test]
fn boosted_trees() {
    for (name, problem) in problems() {
        let (features, classes) = (problem.matrix("features"), problem.classes());
        let test = problem.matrix("test_features");
        // Where no ties between splits of tiny nodes make a difference, scores agree to rounding.
        let short = BoostingParameters { stages: 10, max_depth: 2, ..Default::default() };
        let model = GradientBoosting::fit(features.view(), &classes, &short).unwrap();
        let mut expected = problem.matrix("boosting_short_decision");
        let mut found = model.decision(test.view());
        // Scores of several classes are known up to a constant for each row.
        if found.ncols() > 1 {
            for array in [&mut found, &mut expected] {
                for mut row in array.rows_mut() {
                    let mean = row.sum() / row.len() as f64;
                    row.mapv_inplace(|value| value - mean);
                }
            }
        }
        assert_matrix_close(&format!("{name} scores"), found.view(), &expected, 1e-7);
        let model = GradientBoosting::fit(features.view(), &classes, &BoostingParameters::default()).unwrap();
        // Two of 24 seeds of scikit-learn differ by up to 0.014 here.
        for (found, expected) in model.importances().iter().zip(problem.numbers("boosting_importances")) {
            assert!((found - expected).abs() < 0.02, "{name}: importance {found}, scikit-learn {expected}");
        }
        let wrong = disagreements(&model.predict(test.view()), &problem.predictions("boosting_predictions"));
        // No further than the seeds of scikit-learn are from each other.
        let allowed = problem.0["boosting_seeds_disagree"].as_u64().unwrap() as usize;
        assert!(wrong <= allowed, "{name}: {wrong} of 60 predictions differ, {allowed} between seeds");
        assert_eq!(model.predict(features.view()), model.fitted_classes(), "{name}");
    }
}

#[test]
fn boosted_trees_on_repeated_values() {
    let problem = Problem(fixture()["ties"].clone());
    let (features, classes) = (problem.matrix("features"), problem.classes());
    let parameters = BoostingParameters { stages: 20, ..Default::default() };
    let model = GradientBoosting::fit(features.view(), &classes, &parameters).unwrap();
    for (found, expected) in model.importances().iter().zip(problem.numbers("importances")) {
        assert!((found - expected).abs() < 0.01, "importance {found}, scikit-learn {expected}");
    }
    assert!(disagreements(&model.predict(features.view()), &problem.predictions("predictions")) <= 2);
}

#[test]
fn forest() {
    for (name, problem) in problems() {
        let parameters = ForestParameters { trees: 2000, ..Default::default() };
        let model =
            RandomForest::fit(problem.matrix("features").view(), &problem.classes(), &parameters).unwrap();
        // 2,000 random trees on either side: importances differ by their sampling error.
        for (found, expected) in model.importances().iter().zip(problem.numbers("forest_importances")) {
            assert!((found - expected).abs() < 0.01, "{name}: importance {found}, scikit-learn {expected}");
        }
        let found = model.predict(problem.matrix("test_features").view());
        let wrong = disagreements(&found, &problem.predictions("forest_predictions"));
        assert!(wrong <= 4, "{name}: {wrong} of 60 predictions differ");
    }
}

#[test]
fn lasso() {
    for (name, problem) in problems() {
        let features = problem.matrix("features");
        let target: Array1<f64> = problem.classes().labels().iter().map(|&label| f64::from(label)).collect();
        let parameters = LassoParameters { tolerance: 1e-12, max_iterations: 100_000, ..Default::default() };
        let model = Lasso::fit(features.view(), target.view(), &parameters).unwrap();
        for (found, expected) in model.weights.iter().zip(problem.numbers("lasso")) {
            assert!((found - expected).abs() < 1e-8, "{name}: weight {found}, scikit-learn {expected}");
        }
        let expected = problem.0["lasso_intercept"].as_f64().unwrap();
        assert!((model.intercept - expected).abs() < 1e-8, "{name}");
    }
}

#[test]
fn rank_correlation_with_ties() {
    let problem = Problem(fixture()["ties"].clone());
    let features = problem.matrix("features");
    let first = features.column(0).to_vec();
    let second: Vec<f64> = features.rows().into_iter().map(|row| row[0] * row[1]).collect();
    let expected = problem.0["spearman"].as_f64().unwrap();
    assert!((spearman(&first, &second).unwrap() - expected).abs() < 1e-12);
}

/// The dual coordinate descent and the exact solver of one feature minimise the same function.
#[test]
fn both_support_vector_machines_agree() {
    for (name, problem) in problems() {
        let (features, classes) = (problem.matrix("features"), problem.classes());
        let parameters =
            SvmParameters { c: 0.3, tolerance: 1e-11, max_iterations: 100_000, ..Default::default() };
        for column in features.columns() {
            let exact = LinearSvm::fit_single(column, &classes, &parameters).unwrap();
            let descent =
                LinearSvm::fit(column.insert_axis(ndarray::Axis(1)), &classes, &parameters).unwrap();
            assert_matrix_close(&name, exact.weights(), &descent.weights().to_owned(), 1e-7);
        }
    }
}

#[test]
fn a_single_class_is_always_predicted() {
    let features = Array2::from_shape_fn((5, 2), |(i, j)| (i * 3 + j) as f64);
    let classes = Classes::new(Array1::from(vec![7; 5]).view());
    let boosted = GradientBoosting::fit(features.view(), &classes, &BoostingParameters::default()).unwrap();
    assert_eq!(boosted.predict(features.view()), [0; 5]);
    let logistic =
        LogisticRegression::fit(features.view(), &classes, &LogisticParameters::default()).unwrap();
    assert_eq!(logistic.predict(features.view()), [0; 5]);
    let svm = LinearSvm::fit(features.view(), &classes, &SvmParameters::default()).unwrap();
    assert_eq!(svm.predict(features.view()), [0; 5]);
    let forest = RandomForest::fit(features.view(), &classes, &ForestParameters::default()).unwrap();
    assert_eq!(forest.predict(features.view()), [0; 5]);
}
