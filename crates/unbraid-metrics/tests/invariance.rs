//! Properties that every metric of the registry must have, whatever it computes.

use crate::synthetic::{SIZES, codes, nearly_perfect, noise, run};
use ndarray::{Array2, Axis};
use unbraid_metrics::{Description, Report, registry};

fn assert_same(first: &Report, second: &Report, tolerance: impl Fn(&Description) -> f64) {
    for (a, b) in first.scores.iter().zip(&second.scores) {
        let allowed = tolerance(registry::find(&a.name).unwrap());
        for ((key, a), (_, b)) in a.values.numbers().iter().zip(b.values.numbers()) {
            assert!((a - b).abs() <= allowed, "{key}: {a} and {b}, allowed {allowed}");
        }
    }
}

/// Rounding. Draws are made by row, and trees break ties by what a unit holds, so that no order of units and no names of
/// values lead to other draws.
fn rounding(metric: &Description) -> f64 {
    match metric.name.as_str() {
        // Areas under curves jump where rounding swaps two neighbours: by 1 / (75 * 525) for a class of 75 of 600 points.
        "explicitness" => 1e-4,
        _ => 1e-9,
    }
}

/// Permuted factors are held in another order. Of two accuracies of about 0.99 on 500 points the difference has a standard
/// error of sqrt(2 * 0.99 * 0.01 / 500) = 0.0063; four of them.
fn other_interventions(metric: &Description) -> f64 {
    if metric.interventional { 0.025 } else { rounding(metric) }
}

#[test]
fn permuting_units_changes_nothing() {
    let codes = nearly_perfect();
    let order = [2, 0, 3, 1];
    let mut permuted = codes.clone();
    permuted.codes_train = codes.codes_train.select(Axis(1), &order);
    permuted.codes_test = codes.codes_test.select(Axis(1), &order);
    assert_same(&run(&codes), &run(&permuted), rounding);
}

#[test]
fn renaming_factor_values_changes_nothing() {
    let codes = nearly_perfect();
    let mut renamed = codes.clone();
    for factors in [&mut renamed.factors_train, &mut renamed.factors_test] {
        for (mut column, size) in factors.columns_mut().into_iter().zip(SIZES) {
            // A permutation of 0..size (2 is coprime to 3 and 5, 3 to 8), then names that are not neighbours.
            let step = if size == 8 { 3 } else { 2 };
            column.mapv_inplace(|value| 100 - 7 * ((step * value + 1) % size as i64));
        }
    }
    let (first, second) = (run(&codes), run(&renamed));
    assert_same(&first, &second, |metric| {
        if metric.factor_values_are_numbers { f64::INFINITY } else { rounding(metric) }
    });
    // IRS sorts values into bins, which only merges them where there are more values than bins.
    assert!((first.get("irs").unwrap() - second.get("irs").unwrap()).abs() < 1e-9);
}

#[test]
fn permuting_factors_changes_nothing() {
    let codes = nearly_perfect();
    let order = [1, 2, 0];
    let mut permuted = codes.clone();
    permuted.factors_train = codes.factors_train.select(Axis(1), &order);
    permuted.factors_test = codes.factors_test.select(Axis(1), &order);
    permuted.kinds = order.iter().map(|&factor| codes.kinds[factor]).collect();
    assert_same(&run(&codes), &run(&permuted), other_interventions);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let codes = nearly_perfect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = pool.install(|| run(&codes));
        serde_json::to_string(&report).unwrap()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn a_perfect_code_scores_at_the_top_and_noise_at_the_bottom() {
    let perfect = run(&nearly_perfect());
    let noise = run(&codes(|factors, seed| noise(factors.nrows(), SIZES.len() + 1, seed)));
    // (metric, least for the perfect code, most for noise). Chance is 1/3 for interventional scores (three factors), the
    // mean of 1/3, 1/5 and 1/8 for accuracies, 1/2 for areas; binned information is biased upwards on 1,200 points.
    for (key, least, most) in [
        ("beta_vae_score", 0.99, 0.45),
        ("factor_vae_score", 0.99, 0.45),
        ("mig", 0.9, 0.05),
        ("mig_full_data", 0.9, 0.2),
        ("rmig", 0.9, 0.05),
        ("jemmig", 0.55, 0.45),
        ("mig_sup", 0.6, 0.05),
        ("aam", 0.9, 0.1),
        ("dcimig", 0.9, 0.1),
        ("sap", 0.2, 0.05),
        ("sap_continuous", 0.9, 0.05),
        ("sap_kumar", 0.7, 0.1),
        ("dci_disentanglement", 0.9, 0.3),
        ("dci_completeness", 0.9, 0.3),
        ("dci_informativeness_test", 0.99, 0.3),
        ("modularity", 0.7, 0.9),
        ("explicitness", 0.8, 0.55),
        ("attribute_accuracy", 0.7, 1.0),
        ("downstream_accuracy", 0.9, 0.3),
        ("downstream_logistic_accuracy", 0.5, 0.3),
    ] {
        let (top, bottom) = (perfect.get(key).unwrap(), noise.get(key).unwrap());
        assert!(top >= least, "{key}: {top} for a perfect code");
        assert!(bottom <= most, "{key}: {bottom} for noise");
    }
    // Factors are independent, so units are uncorrelated in both.
    assert!(perfect.get("gaussian_total_correlation").unwrap() < 0.05);
    // The categorical unit is a permutation of factor 0 in both.
    assert_eq!(perfect.get("cluster_accuracy"), Some(1.0));
}

/// IRS is 1 - sum_i c_i / sum_i m_i, with m_i the largest deviation of unit i and c_i the 0.99-quantile of its deviations
/// while the factor it follows is held. A unit of deviation s around its group's mean has c_i = 2.576 s.
#[test]
fn irs_of_a_perfect_code_and_of_noise_is_that_of_its_formula() {
    for (codes, deviations) in [
        (nearly_perfect(), [0.02, 0.02, 0.02, 1.0]),
        (codes(|factors, seed| noise(factors.nrows(), SIZES.len() + 1, seed)), [1.0; 4]),
    ] {
        let largest: f64 = codes
            .codes_train
            .columns()
            .into_iter()
            .map(|unit| {
                let mean = unit.mean().unwrap();
                unit.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max)
            })
            .sum();
        let quantiles: f64 = deviations.iter().map(|deviation| 2.576 * deviation).sum();
        // A quantile of n points has the variance 0.99 * 0.01 / (n f^2), f = 2 * 0.0145 the density of |N(0, 1)| there;
        // the mean over the v groups of a factor, 1,200 = n v, always 0.099 squared. Five of those, and 0.85 of
        // one for the least of three factors (the mean of the least of three normal numbers); units are independent.
        let error =
            0.099 * deviations.iter().map(|deviation| deviation * deviation).sum::<f64>().sqrt() * 5.0
                + 0.099 * 0.85 * deviations.iter().sum::<f64>();
        let found = run(&codes).get("irs").unwrap();
        let expected = 1.0 - quantiles / largest;
        assert!(
            (found - expected).abs() < error / largest,
            "{found}, expected {expected} +- {}",
            error / largest
        );
    }
}

#[test]
fn a_duplicated_code_loses_compactness_but_not_modularity() {
    let duplicated = run(&codes(|factors, seed| {
        let noise = noise(factors.nrows(), SIZES.len(), seed);
        let unit = |row: usize, factor: usize| {
            3.0 * factors[[row, factor]] as f64 / SIZES[factor] as f64 + 0.02 * noise[[row, factor]]
        };
        Array2::from_shape_fn((factors.nrows(), 2 * SIZES.len()), |(row, column)| {
            unit(row, column % SIZES.len())
        })
    }));
    for key in ["mig", "sap", "sap_continuous", "mig_full_data", "rmig", "aam"] {
        let value = duplicated.get(key).unwrap();
        assert!(value <= 0.1, "{key}: {value}, though two units encode each factor");
    }
    for key in [
        "modularity",
        "beta_vae_score",
        "factor_vae_score",
        "dci_disentanglement",
        "dci_informativeness_test",
    ] {
        let value = duplicated.get(key).unwrap();
        assert!(value >= 0.9, "{key}: {value}, though each unit encodes one factor");
    }
    // Importance is shared by both copies: 1 - ln 2 / ln 6 where it is even.
    let completeness = duplicated.get("dci_completeness").unwrap();
    assert!((completeness - (1.0 - 2_f64.ln() / 6_f64.ln())).abs() < 0.05, "{completeness}");
    // Infinite by the formula; the floor of the eigenvalues is 36 nats for each pair, halved.
    let correlation = duplicated.get("gaussian_total_correlation").unwrap();
    assert!(correlation > 45.0 && correlation < 60.0, "{correlation}");
}
