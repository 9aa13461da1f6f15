//! Every metric of the registry on input that is constant, small, odd, incomplete or wrong.

use crate::synthetic::{Arrays, codes, nearly_perfect, noise, run};
use ndarray::{Array2, Axis};
use unbraid_metrics::{Codes, Direction, Options, registry};

#[test]
fn constant_units_are_harmless() {
    let codes = codes(|factors, _| Array2::from_elem((factors.nrows(), 3), 1.7));
    let report = run(&codes);
    for key in [
        "mig",
        "sap",
        "sap_continuous",
        "sap_kumar",
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
    // A constant unit beside good ones: the others are scored as before.
    let mut mixed = nearly_perfect();
    mixed.codes_train.column_mut(3).fill(-0.3);
    mixed.codes_test.column_mut(3).fill(-0.3);
    assert!(run(&mixed).get("mig").unwrap() > 0.9);
}

#[test]
fn small_and_odd_inputs_give_sound_numbers() {
    let all = nearly_perfect();
    // Two points that differ in some factor.
    let other = (1..1200).find(|&row| all.factors_train.row(row) != all.factors_train.row(0)).unwrap();
    run(&all.select_rows(&[0, other], &[0, 1]));
    // Fewer points than bins, and classes that the test rows lack or have alone.
    run(&all.select_rows(&(0..11).collect::<Vec<_>>(), &(0..3).collect::<Vec<_>>()));
    run(&all.select_rows(&(0..3).collect::<Vec<_>>(), &(0..200).collect::<Vec<_>>()));
    let one_class: Vec<usize> = (0..600).filter(|&row| all.factors_test[[row, 1]] == 2).collect();
    run(&all.select_rows(&(0..1200).collect::<Vec<_>>(), &one_class));
    // A single factor, a single unit, both; a factor with one value beside others.
    for (units, factors) in [(vec![0, 1, 2, 3], vec![1]), (vec![1], vec![0, 1, 2]), (vec![1], vec![1])] {
        let mut small = all.select_rows(&(0..300).collect::<Vec<_>>(), &(0..100).collect::<Vec<_>>());
        small.codes_train = small.codes_train.select(Axis(1), &units);
        small.codes_test = small.codes_test.select(Axis(1), &units);
        small.log_variance_train = small.log_variance_train.select(Axis(1), &units);
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
fn bad_arrays_are_refused_before_any_metric_runs() {
    let message = |change: &dyn Fn(&mut Arrays)| {
        let mut bad = nearly_perfect();
        change(&mut bad);
        bad.check().unwrap_err().to_string()
    };
    for (value, found) in [
        (f64::NAN, "NaN".to_owned()),
        (f64::INFINITY, "inf".to_owned()),
        (f64::NEG_INFINITY, "-inf".to_owned()),
        (1e300, format!("1{}", "0".repeat(300))),
    ] {
        let expected = "expected finite numbers of magnitude at most 1e60";
        assert_eq!(
            message(&|bad| bad.codes_train[[7, 1]] = value),
            format!("codes_train: found {found} in row 7, column 1, {expected}")
        );
        assert_eq!(
            message(&|bad| bad.codes_test[[7, 1]] = value),
            format!("codes_test: found {found} in row 7, column 1, {expected}")
        );
    }
    assert_eq!(
        message(&|bad| bad.codes_train = bad.codes_train.select(Axis(0), &[0])),
        "codes_train: found 1 row, expected at least 2"
    );
    assert_eq!(
        message(&|bad| bad.factors_train = bad.factors_train.select(Axis(0), &[0, 1, 2])),
        "factors_train: found 3 rows, expected 1200, the number of rows of codes_train"
    );
}

#[test]
fn factors_that_do_not_vary_are_refused_by_every_metric_that_needs_them() {
    let mut still = nearly_perfect();
    still.factors_train.fill(3);
    let still = still.check().unwrap();
    let mut none = nearly_perfect();
    none.factors_train = Array2::zeros((1200, 0));
    let none = none.check().unwrap();
    for metric in registry::metrics().filter(|metric| metric.needs.factors) {
        let message =
            |codes| registry::run(&[&metric.name], codes, &Options::default()).unwrap_err().to_string();
        assert_eq!(
            message(&still),
            "factors_train: every factor takes a single value, expected at least one factor that varies"
        );
        assert_eq!(
            message(&none),
            format!("metric `{}` needs factors, which the codes do not have", metric.name)
        );
    }
}

#[test]
fn missing_arrays_are_named() {
    let codes = Codes::unlabelled(noise(50, 3, 0)).unwrap();
    let error = registry::run(&["mig"], &codes, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "metric `mig` needs factors, which the codes do not have");
    let names: Vec<&str> = registry::applicable(&codes).iter().map(|metric| metric.name.as_str()).collect();
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
        assert_eq!(registry::find(&metric.name).unwrap().name, metric.name);
        assert_eq!(registry::find(&metric.name.replace('_', "-")).unwrap().name, metric.name);
        assert!(metric.direction != Direction::Lower || metric.range.0 == 0.0);
        assert!(!metric.meaning.is_empty() && metric.keys().len() > 0);
    }
    assert_eq!(registry::find("beta_vae").unwrap().name, "beta_vae_score");
    assert_eq!(
        registry::find("mgi").unwrap_err().to_string(),
        "unknown metric `mgi`\nhint: did you mean `mig`?"
    );
    assert!(!registry::find("").unwrap_err().to_string().contains("did you mean"));
    assert_eq!(
        registry::find("zzzz").unwrap_err().to_string(),
        "unknown metric `zzzz`\nhint: there are beta_vae_score, factor_vae_score, mig, mig_full_data, rmig, jemmig, \
         mig_sup, aam, dcimig, sap, sap_continuous, sap_kumar, dci, modularity, explicitness, irs, mcc, med, infomec, dci_es, snc, nk, \
         gaussian_total_correlation, gaussian_wasserstein_correlation, mutual_info_score, hoyer, kl, \
         reconstruction_error, attribute_accuracy, cluster_accuracy, \
         downstream, downstream_logistic"
    );
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
