//! Golden arrays and numbers of this repository, and comparisons with a tolerance.

use ndarray::{Array2, ArrayView2};
use serde_json::Value;
use std::path::PathBuf;
use unbraid_data::formats::npz::Npz;
use unbraid_metrics::{Labelled, TrainTest};

/// The two published models.
pub(crate) const MODELS: [&str; 2] = ["VAE", "btcvae"];

/// The arrays of one model, and the scores that another implementation computed from them.
pub(crate) struct Golden {
    pub(crate) codes_train: Array2<f64>,
    pub(crate) codes_test: Array2<f64>,
    pub(crate) log_variance_train: Array2<f64>,
    pub(crate) factors_train: Array2<i64>,
    pub(crate) factors_test: Array2<i64>,
    pub(crate) expected: Value,
}

/// A file under `tests/golden`.
pub(crate) fn golden_file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

pub(crate) fn load(model: &str) -> Golden {
    let path = golden_file(&format!("{model}.npz"));
    let array = |name: &str| {
        let mut archive = Npz::open(&path).unwrap();
        let reader = archive.array(name).unwrap();
        let shape = (reader.header().shape[0], reader.header().shape[1]);
        Array2::from_shape_vec(shape, reader.floats().unwrap()).unwrap()
    };
    let integers = |name: &str| array(name).mapv(|value| value as i64);
    let expected = std::fs::read_to_string(golden_file(&format!("{model}.json"))).unwrap();
    Golden {
        codes_train: array("codes_train"),
        codes_test: array("codes_test"),
        log_variance_train: array("log_variance_train"),
        factors_train: integers("factors_train"),
        factors_test: integers("factors_test"),
        expected: serde_json::from_str(&expected).unwrap(),
    }
}

impl Golden {
    pub(crate) fn train_test(&self) -> TrainTest<'_> {
        let test = (self.codes_test.view(), self.factors_test.view());
        TrainTest::new(self.codes_train.view(), self.factors_train.view(), test.0, test.1).unwrap()
    }

    pub(crate) fn labelled(&self) -> Labelled<'_> {
        Labelled::new(self.codes_train.view(), self.factors_train.view()).unwrap()
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        self.expected[key].as_f64().unwrap_or_else(|| panic!("golden number {key}"))
    }

    pub(crate) fn numbers(&self, key: &str) -> Vec<f64> {
        numbers(&self.expected[key])
    }

    pub(crate) fn matrix(&self, key: &str) -> Array2<f64> {
        matrix(&self.expected[key])
    }
}

/// A list of numbers.
pub(crate) fn numbers(json: &Value) -> Vec<f64> {
    serde_json::from_value(json.clone()).unwrap()
}

/// A list of rows.
pub(crate) fn matrix(json: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(json.clone()).unwrap();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

/// Asserts that `found` is within `tolerance` of `expected`, relative or absolute, whichever is larger; prints the gap.
pub(crate) fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let gap = (found - expected).abs();
    eprintln!("{what}: found {found:.9}, golden {expected:.9}, gap {gap:.2e}");
    assert!(
        gap <= tolerance * expected.abs().max(1.0),
        "{what}: found {found}, expected {expected} within {tolerance}"
    );
}

/// Asserts that every entry is within `tolerance` of the expected one; prints the largest gap.
pub(crate) fn assert_matrix_close(
    what: &str,
    found: ArrayView2<'_, f64>,
    expected: &Array2<f64>,
    tolerance: f64,
) {
    assert_eq!(found.dim(), expected.dim(), "{what}");
    let mut largest: f64 = 0.0;
    for ((place, &a), &b) in found.indexed_iter().zip(expected) {
        largest = largest.max((a - b).abs());
        assert!((a - b).abs() <= tolerance, "{what} at {place:?}: found {a}, expected {b}");
    }
    eprintln!("{what}: largest gap {largest:.2e}");
}
