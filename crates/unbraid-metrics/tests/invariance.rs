//! Properties that every metric of the registry must have, whatever it computes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ndarray::{Array2, Axis};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use unbraid_metrics::random::generator;
use unbraid_metrics::registry::{self, Direction, Metric, Options, Parameters, Report};
use unbraid_metrics::scores::DownstreamParameters;
use unbraid_metrics::{Codes, MetricsError};

/// Sizes of the factors; the last has fewer values than any metric has bins.
const SIZES: [usize; 3] = [3, 5, 8];

/// Independent uniform factors.
fn factors(rows: usize, seed: u64) -> Array2<i64> {
    let mut generator = generator(seed, "test factors", 0);
    Array2::from_shape_fn((rows, SIZES.len()), |(_, factor)| generator.random_range(0..SIZES[factor] as i64))
}

/// Standard normal numbers.
fn noise(rows: usize, units: usize, seed: u64) -> Array2<f64> {
    let mut generator = generator(seed, "test noise", 0);
    Array2::from_shape_fn((rows, units), |_| StandardNormal.sample(&mut generator))
}

/// Codes with all that any metric needs. Log-variances are small beside the codes.
fn codes(make: impl Fn(&Array2<i64>, u64) -> Array2<f64>) -> Codes {
    let (train, test) = (factors(1200, 1), factors(600, 2));
    let (codes_train, codes_test) = (make(&train, 3), make(&test, 4));
    let log_variances = Array2::from_elem(codes_train.dim(), -6.0);
    let clusters = |factors: &Array2<i64>| factors.select(Axis(1), &[0]).mapv(|value| (value + 1) % 3);
    let (clusters_train, clusters_test) = (clusters(&train), clusters(&test));
    Codes::new(codes_train, train, codes_test, test)
        .unwrap()
        .with_log_variances(log_variances)
        .unwrap()
        .with_clusters(clusters_train, clusters_test)
        .unwrap()
}

/// One unit for each factor, with a little noise, and a useless one: scaled so that all units have about the deviation 1.
fn nearly_perfect() -> Codes {
    codes(|factors, seed| {
        let noise = noise(factors.nrows(), SIZES.len() + 1, seed);
        Array2::from_shape_fn(noise.dim(), |(row, unit)| match SIZES.get(unit) {
            Some(&size) => 3.0 * factors[[row, unit]] as f64 / size as f64 + 0.02 * noise[[row, unit]],
            None => noise[[row, unit]],
        })
    })
}

/// Fewer points than in publications, so that the whole registry runs in seconds.
fn parameters() -> Parameters {
    let mut parameters = Parameters::default();
    parameters.beta_vae_score.train_points = 1000;
    parameters.beta_vae_score.test_points = 500;
    parameters.factor_vae_score.train_points = 1000;
    parameters.factor_vae_score.test_points = 500;
    parameters.mig_full_data.samples = 300;
    parameters.downstream = DownstreamParameters { labels: vec![10, 100], ..Default::default() };
    parameters
}

fn run(codes: &Codes) -> Report {
    let parameters = parameters();
    let options = Options { parameters: Some(&parameters), ..Default::default() };
    let names: Vec<&str> = registry::metrics().iter().map(|metric| metric.name).collect();
    let report = registry::run(&names, codes, &options).unwrap();
    assert_all_sound(&report);
    report
}

/// Never NaN, never infinite, never outside the range that the table promises.
fn assert_all_sound(report: &Report) {
    for score in &report.scores {
        let metric = registry::find(score.name).unwrap();
        for (key, value) in &score.outcome.values {
            assert!(value.is_finite(), "{key} is {value}");
            assert!(*value >= metric.range.0 - 1e-12, "{key} is {value}, below {}", metric.range.0);
            // Efficiency is a ratio of accuracies and may exceed 1.
            assert!(*value <= metric.range.1 + 1e-9 || key.contains("efficiency"), "{key} is {value}");
        }
        for (key, matrix) in &score.outcome.matrices {
            assert!(matrix.iter().all(|value| value.is_finite()), "{key}");
        }
        for (key, list) in &score.outcome.lists {
            assert!(list.iter().all(|value| value.is_finite()), "{key}");
        }
    }
}

fn assert_same(first: &Report, second: &Report, tolerance: impl Fn(&Metric) -> f64) {
    for (a, b) in first.scores.iter().zip(&second.scores) {
        let allowed = tolerance(registry::find(a.name).unwrap());
        for ((key, a), (_, b)) in a.outcome.values.iter().zip(&b.outcome.values) {
            assert!((a - b).abs() <= allowed, "{key}: {a} and {b}, allowed {allowed}");
        }
    }
}

/// Rounding. Draws are made by row, and trees break ties by what a unit holds, so that no order of units and no names of
/// values lead to other draws.
fn rounding(metric: &Metric) -> f64 {
    match metric.name {
        // Areas under curves jump where rounding swaps two neighbours: by 1 / (75 * 525) for a class of 75 of 600 points.
        "explicitness" => 1e-4,
        _ => 1e-9,
    }
}

/// Permuted factors are held in another order. Of two accuracies of about 0.99 on 500 points the difference has a standard
/// error of sqrt(2 * 0.99 * 0.01 / 500) = 0.0063; four of them.
fn other_interventions(metric: &Metric) -> f64 {
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
        assert!(value <= 0.1, "{key}: {value}, though two units know each factor");
    }
    for key in [
        "modularity",
        "beta_vae_score",
        "factor_vae_score",
        "dci_disentanglement",
        "dci_informativeness_test",
    ] {
        let value = duplicated.get(key).unwrap();
        assert!(value >= 0.9, "{key}: {value}, though each unit knows one factor");
    }
    // Importance is shared by both copies: 1 - ln 2 / ln 6 where it is even.
    let completeness = duplicated.get("dci_completeness").unwrap();
    assert!((completeness - (1.0 - 2_f64.ln() / 6_f64.ln())).abs() < 0.05, "{completeness}");
    // Infinite by the formula; the floor of the eigenvalues is 36 nats for each pair, halved.
    let correlation = duplicated.get("gaussian_total_correlation").unwrap();
    assert!(correlation > 45.0 && correlation < 60.0, "{correlation}");
}

#[test]
fn constant_units_are_harmless() {
    let codes = codes(|factors, _| Array2::from_elem((factors.nrows(), 3), 1.7));
    let report = run(&codes);
    for key in [
        "mig",
        "sap",
        "sap_continuous",
        "modularity",
        "irs",
        "factor_vae_score",
        "dci_disentanglement",
        "aam",
    ] {
        assert_eq!(report.get(key), Some(0.0), "{key}");
    }
    for key in ["gaussian_total_correlation", "gaussian_wasserstein_correlation", "mutual_info_score"] {
        assert_eq!(report.get(key), Some(0.0), "{key}");
    }
    assert_eq!(report.get("explicitness"), Some(0.5));
    // A constant unit beside good ones: the rest is judged as before.
    let mut mixed = nearly_perfect();
    mixed.codes_train.column_mut(3).fill(-0.3);
    mixed.codes_test.column_mut(3).fill(-0.3);
    assert!(run(&mixed).get("mig").unwrap() > 0.9);
}

#[test]
fn small_and_odd_inputs_give_sound_numbers() {
    let all = nearly_perfect();
    let rows = |codes: &Codes, train: &[usize], test: &[usize]| Codes {
        codes_train: codes.codes_train.select(Axis(0), train),
        factors_train: codes.factors_train.select(Axis(0), train),
        codes_test: codes.codes_test.select(Axis(0), test),
        factors_test: codes.factors_test.select(Axis(0), test),
        log_variance_train: codes.log_variance_train.as_ref().map(|array| array.select(Axis(0), train)),
        clusters: codes.clusters.as_ref().map(|(a, b)| (a.select(Axis(0), train), b.select(Axis(0), test))),
        factor_names: Vec::new(),
    };
    // Two points that differ in some factor.
    let other = (1..1200).find(|&row| all.factors_train.row(row) != all.factors_train.row(0)).unwrap();
    run(&rows(&all, &[0, other], &[0, 1]));
    // Fewer points than bins, and classes that the test rows lack or have alone.
    run(&rows(&all, &(0..11).collect::<Vec<_>>(), &(0..3).collect::<Vec<_>>()));
    run(&rows(&all, &(0..3).collect::<Vec<_>>(), &(0..200).collect::<Vec<_>>()));
    let one_class: Vec<usize> = (0..600).filter(|&row| all.factors_test[[row, 1]] == 2).collect();
    run(&rows(&all, &(0..1200).collect::<Vec<_>>(), &one_class));
    // A single factor, a single unit, both; a factor with one value beside others.
    for (units, factors) in [(vec![0, 1, 2, 3], vec![1]), (vec![1], vec![0, 1, 2]), (vec![1], vec![1])] {
        let mut small = rows(&all, &(0..300).collect::<Vec<_>>(), &(0..100).collect::<Vec<_>>());
        small.codes_train = small.codes_train.select(Axis(1), &units);
        small.codes_test = small.codes_test.select(Axis(1), &units);
        small.log_variance_train = small.log_variance_train.map(|array| array.select(Axis(1), &units));
        small.factors_train = small.factors_train.select(Axis(1), &factors);
        small.factors_test = small.factors_test.select(Axis(1), &factors);
        run(&small);
    }
    let mut still = all.clone();
    still.factors_train.column_mut(0).fill(4);
    still.factors_test.column_mut(0).fill(4);
    assert!(run(&still).get("mig").unwrap() > 0.9);
    // Huge and tiny scales.
    for scale in [1e50, 1e-50, 1e-200] {
        let mut scaled = all.clone();
        scaled.codes_train.mapv_inplace(|value| value * scale);
        scaled.codes_test.mapv_inplace(|value| value * scale);
        run(&scaled);
    }
}

#[test]
fn bad_input_is_refused_by_every_metric() {
    let good = nearly_perfect();
    let spoil = |change: &dyn Fn(&mut Codes)| {
        let mut bad = good.clone();
        change(&mut bad);
        for metric in registry::metrics() {
            let error = registry::run(&[metric.name], &bad, &Options::default());
            let message = error.err().map(|error| error.to_string());
            assert!(message.is_some(), "{} accepts bad input", metric.name);
        }
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        spoil(&|bad| bad.codes_train[[7, 1]] = value);
    }
    spoil(&|bad| bad.codes_train = bad.codes_train.select(Axis(0), &[0]));
    let needs_labels = |change: &dyn Fn(&mut Codes)| {
        let mut bad = good.clone();
        change(&mut bad);
        for metric in registry::metrics().iter().filter(|metric| metric.needs.factors) {
            assert!(registry::run(&[metric.name], &bad, &Options::default()).is_err(), "{}", metric.name);
        }
    };
    needs_labels(&|bad| bad.factors_train = bad.factors_train.select(Axis(0), &[0, 1, 2]));
    needs_labels(&|bad| bad.factors_train.fill(3));
    needs_labels(&|bad| bad.factors_train = Array2::zeros((1200, 0)));
}

#[test]
fn missing_arrays_are_named() {
    let codes = Codes::unlabelled(noise(50, 3, 0)).unwrap();
    let error = registry::run(&["mig"], &codes, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "metric `mig` needs factors, which the codes do not have");
    let names: Vec<&str> = registry::applicable(&codes).iter().map(|metric| metric.name).collect();
    assert_eq!(
        names,
        ["gaussian_total_correlation", "gaussian_wasserstein_correlation", "mutual_info_score", "hoyer"]
    );
    let none: [&str; 0] = [];
    assert_eq!(registry::run(&none, &codes, &Options::default()).unwrap().scores.len(), 4);
}

#[test]
fn names_are_unique_and_forgiving() {
    for metric in registry::metrics() {
        assert_eq!(registry::find(metric.name).unwrap().name, metric.name);
        assert_eq!(registry::find(&metric.name.replace('_', "-")).unwrap().name, metric.name);
        assert!(metric.direction != Direction::Lower || metric.range.0 == 0.0);
        assert!(!metric.meaning.is_empty() && !metric.keys.is_empty());
    }
    assert_eq!(registry::find("beta_vae").unwrap().name, "beta_vae_score");
    let Err(MetricsError::UnknownMetric { suggestion: Some(hint), .. }) = registry::find("mgi") else {
        panic!("an unknown metric");
    };
    assert!(hint.contains("mig"), "{hint}");
    assert!(registry::find("zzzz").unwrap_err().to_string().contains("there are beta_vae_score, "));
}

/// The keys that the evaluation command promises.
#[test]
fn json_has_the_promised_keys() {
    let json = serde_json::to_value(run(&nearly_perfect())).unwrap();
    for key in [
        "beta_vae_score",
        "factor_vae_score",
        "mig",
        "sap",
        "sap_continuous",
        "dci_disentanglement",
        "dci_completeness",
        "dci_informativeness_train",
        "dci_informativeness_test",
        "modularity",
        "explicitness",
        "irs",
        "gaussian_total_correlation",
        "gaussian_wasserstein_correlation",
        "gaussian_wasserstein_correlation_norm",
        "mutual_info_score",
        "hoyer",
    ] {
        assert!(json[key].is_number(), "{key}");
    }
    for key in ["mutual_information", "sap_matrix", "dci_importance", "irs_matrix"] {
        let rows = json["details"][key].as_array().unwrap();
        assert_eq!((rows.len(), rows[0].as_array().unwrap().len()), (4, 3), "{key}");
    }
}
