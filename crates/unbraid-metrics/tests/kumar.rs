//! Kumar's scores against `fixtures/kumar.json`, which `fixtures/make_kumar.py` computes in another way.

use crate::common::{MODELS, assert_close, assert_matrix_close, load, matrix, numbers};
use ndarray::array;
use serde_json::Value;
use unbraid_metrics::learners::{LinearSvm, SvmLoss, SvmParameters};
use unbraid_metrics::scores::{
    BetaVaeParameters, DifferenceClassifier, GroupedRows, SapKumarParameters, beta_vae_score, sap_kumar,
};
use unbraid_metrics::{Classes, FactorKind, TrainTest};

/// Shape, scale, orientation, x and y.
const KINDS: [FactorKind; 5] = [
    FactorKind::Categorical,
    FactorKind::Ordered,
    FactorKind::Angle,
    FactorKind::Ordered,
    FactorKind::Ordered,
];

fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Both sides are sums over 5,000 points in double precision: 1e-9 is rounding.
#[test]
fn separated_attribute_predictability() {
    let expected = fixture("kumar");
    for model in MODELS {
        let (golden, expected) = (load(model), &expected["sap_kumar"][model]);
        let found = sap_kumar(&golden.train_test(), &KINDS, &SapKumarParameters::default()).unwrap();
        let what = format!("{model} sap_kumar");
        assert_matrix_close(&what, found.matrix.view(), &matrix(&expected["matrix"]), 1e-9);
        for (found, expected) in found.per_factor.iter().zip(numbers(&expected["per_factor"])) {
            assert_close(&what, *found, expected, 1e-9);
        }
        assert_close(&what, found.value, expected["sap_kumar"].as_f64().unwrap(), 1e-9);
    }
}

/// By hand: the test points decide, whatever the training points are.
#[test]
fn only_test_points_count_and_inactive_units_score_nothing() {
    let train = array![[5.0, 1.0], [5.0, 2.0], [4.0, 3.0], [4.0, 4.0]];
    // The second unit is a perfect copy of the factor, but its variance is 5/3 * 0.01 = 0.0167.
    let test = array![[0.0, 0.0], [1.0, 0.1], [2.0, 0.2], [2.0, 0.3]];
    let factors = array![[0], [1], [2], [3]];
    let data = TrainTest::new(train.view(), factors.view(), test.view(), factors.view()).unwrap();
    let with = |kind: FactorKind, inactive: f64| {
        let parameters = SapKumarParameters { inactive, ..Default::default() };
        sap_kumar(&data, &[kind], &parameters).unwrap()
    };
    // z = 0, 1, 2, 2 and v = 0, 1, 2, 3: deviations from 5/4 and 3/2 give Cov = 3.5/3, Var z = 2.75/3, Var v = 5/3.
    let r_squared = 3.5 * 3.5 / (2.75 * 5.0);
    for kind in [FactorKind::Ordered, FactorKind::Angle] {
        assert!((with(kind, 0.01).value - (1.0 - r_squared)).abs() < 1e-12);
        assert!((with(kind, 0.02).value - r_squared).abs() < 1e-12);
        assert_eq!(with(kind, 1.0).value, 0.0);
    }
    // Four classes: the first unit cannot part the last two points.
    assert!((with(FactorKind::Categorical, 0.01).value - 0.25).abs() < 1e-12);
    assert!((with(FactorKind::Categorical, 0.02).value - 0.75).abs() < 1e-12);
    let error = sap_kumar(&data, &[], &SapKumarParameters::default()).unwrap_err().to_string();
    assert_eq!(error, "factor_kinds: found 0 kinds, expected 1, the number of factors");
}

/// The fixture's weights have a duality gap below 1e-13, so that they are within sqrt(2e-13) = 4.5e-7 of the minimum; ours
/// stop at a projected gradient of 1e-10.
#[test]
fn support_vector_machine_with_the_hinge_loss() {
    let (problems, expected) = (fixture("learners"), fixture("kumar"));
    for name in ["two_classes", "five_classes"] {
        let (problem, expected) = (&problems["problems"][name], &expected["svm_hinge"][name]);
        let features = matrix(&problem["features"]);
        let labels: Vec<i64> = serde_json::from_value(problem["labels"].clone()).unwrap();
        let classes = Classes::new(ndarray::ArrayView1::from(&labels));
        let DifferenceClassifier::Svm(kumar) = DifferenceClassifier::kumar() else {
            panic!("Kumar's classifier is a support vector machine")
        };
        assert_eq!((kumar.c, kumar.loss, kumar.balanced), (0.01, SvmLoss::Hinge, false));
        let exact = SvmParameters { tolerance: 1e-10, max_iterations: 1_000_000, ..kumar };
        let model = LinearSvm::fit(features.view(), &classes, &exact).unwrap();
        assert_matrix_close(name, model.weights(), &matrix(&expected["weights"]), 1e-6);
        let predicted = model.predict(matrix(&problem["test_features"]).view());
        let expected: Vec<u32> = serde_json::from_value(expected["predictions"].clone()).unwrap();
        assert_eq!(predicted, expected, "{name}");
    }
}

/// Of the golden codes, the Z-diff score by either classifier is far above chance, 1/5, and they do not agree: Kumar's
/// classifier is regularised so strongly that it only sees large differences.
#[test]
fn the_z_diff_score_depends_on_the_classifier() {
    let golden = load("btcvae");
    let sampler = GroupedRows::new(&golden.labelled());
    let with = |classifier| {
        let parameters =
            BetaVaeParameters { train_points: 2000, test_points: 1000, classifier, ..Default::default() };
        beta_vae_score(&sampler, &parameters).unwrap().value
    };
    let (logistic, svm) = (with(DifferenceClassifier::default()), with(DifferenceClassifier::kumar()));
    assert!(logistic > 0.5 && svm > 0.3 && logistic != svm, "{logistic} {svm}");
}
