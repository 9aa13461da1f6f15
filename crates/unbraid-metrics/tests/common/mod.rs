//! Golden arrays and numbers, found through `UNBRAID_SHARED`, by default `../shared` beside the workspace.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, unreachable_pub, reason = "every test binary uses its own part")]

use ndarray::Array2;
use serde_json::Value;
use std::path::PathBuf;
use unbraid_data::formats::npz::Npz;

/// The two published models.
pub const MODELS: [&str; 2] = ["VAE", "btcvae"];

/// The arrays of one model.
pub struct Golden {
    pub codes_train: Array2<f64>,
    pub codes_test: Array2<f64>,
    pub log_variance_train: Array2<f64>,
    pub factors_train: Array2<i64>,
    pub factors_test: Array2<i64>,
    pub expected: Value,
}

/// The folder that holds golden numbers and the scripts of the other side.
pub fn shared_folder() -> PathBuf {
    std::env::var_os("UNBRAID_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from)
}

/// The folder of golden numbers, or `None` with a clear word where it is absent.
pub fn golden_folder() -> Option<PathBuf> {
    let folder = shared_folder().join("golden");
    if folder.is_dir() {
        Some(folder)
    } else {
        eprintln!(
            "SKIPPED: no golden numbers at {} (set UNBRAID_SHARED to the folder that holds `golden`)",
            folder.display()
        );
        None
    }
}

pub fn load(model: &str) -> Option<Golden> {
    let folder = golden_folder()?;
    let path = folder.join(format!("{model}.npz"));
    let array = |name: &str| {
        let mut archive = Npz::open(&path).unwrap();
        let reader = archive.array(name).unwrap();
        let shape = (reader.header().shape[0], reader.header().shape[1]);
        Array2::from_shape_vec(shape, reader.floats().unwrap()).unwrap()
    };
    let integers = |name: &str| array(name).mapv(|value| value as i64);
    Some(Golden {
        codes_train: array("codes_train"),
        codes_test: array("codes_test"),
        log_variance_train: array("log_variance_train"),
        factors_train: integers("factors_train"),
        factors_test: integers("factors_test"),
        expected: serde_json::from_str(
            &std::fs::read_to_string(folder.join(format!("{model}.json"))).unwrap(),
        )
        .unwrap(),
    })
}

impl Golden {
    pub fn train_test(&self) -> unbraid_metrics::TrainTest<'_> {
        unbraid_metrics::TrainTest {
            codes_train: self.codes_train.view(),
            factors_train: self.factors_train.view(),
            codes_test: self.codes_test.view(),
            factors_test: self.factors_test.view(),
        }
    }

    pub fn number(&self, key: &str) -> f64 {
        self.expected[key].as_f64().unwrap_or_else(|| panic!("golden number {key}"))
    }

    pub fn numbers(&self, key: &str) -> Vec<f64> {
        serde_json::from_value(self.expected[key].clone()).unwrap()
    }

    pub fn matrix(&self, key: &str) -> Array2<f64> {
        let rows: Vec<Vec<f64>> = serde_json::from_value(self.expected[key].clone()).unwrap();
        Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
    }
}

/// Asserts that `found` is within `tolerance` of `expected`, relative or absolute, whichever is larger; reports the gap.
pub fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let gap = (found - expected).abs();
    eprintln!("{what}: found {found:.9}, golden {expected:.9}, gap {gap:.2e}");
    assert!(
        gap <= tolerance * expected.abs().max(1.0),
        "{what}: found {found}, expected {expected} within {tolerance}"
    );
}

/// The same for all entries of a matrix.
pub fn assert_matrix_close(what: &str, found: &Array2<f64>, expected: &Array2<f64>, tolerance: f64) {
    assert_eq!(found.dim(), expected.dim(), "{what}");
    let mut largest: f64 = 0.0;
    for ((place, &a), &b) in found.indexed_iter().zip(expected) {
        largest = largest.max((a - b).abs());
        assert!(
            (a - b).abs() <= tolerance * b.abs().max(1.0),
            "{what} at {place:?}: found {a}, expected {b}"
        );
    }
    eprintln!("{what}: largest gap {largest:.2e}");
}
