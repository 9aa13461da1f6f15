//! Whatever small arrays a metric is given, it answers with finite numbers or an error.

use crate::synthetic::quick_registry;
use ndarray::Array2;
use proptest::prelude::*;
use unbraid_metrics::{Codes, FactorKind, Options};

/// Numbers that repeat, coincide nearly, or differ wildly.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(1.0 + 1e-9),
        Just(-3.5e58),
        Just(1e-300),
        -2.0..2.0,
        -1e6..1e6
    ]
}

fn arrays(rows: std::ops::Range<usize>) -> impl Strategy<Value = (usize, usize, usize, Vec<f64>, Vec<i64>)> {
    (rows, 1_usize..4, 1_usize..3).prop_flat_map(|(rows, units, factors)| {
        let codes = prop::collection::vec(entry(), rows * units);
        let values = prop::collection::vec(
            prop_oneof![0_i64..3, -1_i64..1, Just(i64::MAX), Just(i64::MIN)],
            rows * factors,
        );
        (Just(rows), Just(units), Just(factors), codes, values)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn finite_or_refused((rows, units, factors, codes, values) in arrays(2..14)) {
        let codes = Array2::from_shape_vec((rows, units), codes).unwrap();
        let values = Array2::from_shape_vec((rows, factors), values).unwrap();
        let log_variances = codes.mapv(|value| value.clamp(-20.0, 20.0));
        // The last rows serve as test points, so that classes are missing on either side.
        let kept = rows.div_ceil(2).max(2);
        let (first, last): (Vec<usize>, Vec<usize>) = ((0..kept).collect(), (rows - kept..rows).collect());
        let part = |array: &Array2<f64>, rows: &[usize]| array.select(ndarray::Axis(0), rows);
        let labels = |rows: &[usize]| values.select(ndarray::Axis(0), rows);
        let codes = Codes::new(part(&codes, &first), labels(&first), part(&codes, &last), labels(&last))
            .and_then(|codes| codes.with_log_variances(part(&log_variances, &first)))
            .and_then(|codes| codes.with_clusters(labels(&first), labels(&last)))
            .and_then(|codes| codes.with_factor_kinds([FactorKind::Ordered, FactorKind::Categorical].into_iter().take(factors)))
            .unwrap();
        let registry = quick_registry(30, 30);
        for metric in registry.iter() {
            if let Ok(report) = registry.run(&[&metric.name], &codes, &Options::default()) {
                for (key, value) in report.scores[0].values.numbers() {
                    let undefined = report.scores[0].values.why_undefined(key).is_some();
                    prop_assert!(value.is_finite() != undefined, "{key} is {value}");
                }
                for (key, matrix) in report.scores[0].values.matrices() {
                    prop_assert!(matrix.iter().all(|value| value.is_finite()), "{key} is {matrix}");
                }
            }
        }
    }
}
