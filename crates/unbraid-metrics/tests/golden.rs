//! Scores on the codes of two published models against the reference implementation's own numbers.

use crate::common::{MODELS, assert_close, assert_matrix_close, load};
use unbraid_metrics::learners::LogisticParameters;
use unbraid_metrics::scores::{
    DciParameters, HistogramParameters, IrsParameters, SapContinuousParameters, SapParameters, dci,
    explicitness, gaussian_total_correlation, gaussian_wasserstein_correlation, irs, kl_per_unit, mig,
    modularity, mutual_info_score, sap, sap_continuous,
};
use unbraid_metrics::{Posteriors, Unlabelled};

#[test]
fn histogram_scores() {
    for model in MODELS {
        let golden = load(model);
        let data = golden.labelled();
        let parameters = HistogramParameters::default();
        let found = mig(&data, &parameters).unwrap();
        assert_matrix_close(
            &format!("{model} mi_matrix"),
            found.mutual_information.view(),
            &golden.matrix("mi_matrix"),
            1e-6,
        );
        assert_close(&format!("{model} mig"), found.value, golden.number("mig"), 1e-6);
        let found = modularity(&data, &parameters).unwrap();
        assert_close(&format!("{model} modularity"), found, golden.number("modularity"), 1e-6);
        let found = mutual_info_score(&data.unlabelled(), &parameters).unwrap();
        assert_close(&format!("{model} mutual_info_score"), found, golden.number("mutual_info_score"), 1e-6);
    }
}

#[test]
fn interventional_robustness() {
    for model in MODELS {
        let golden = load(model);
        let found = irs(&golden.labelled(), &IrsParameters::default()).unwrap();
        assert_matrix_close(
            &format!("{model} irs_matrix"),
            found.matrix.view(),
            &golden.matrix("irs_matrix"),
            1e-6,
        );
        assert_close(&format!("{model} irs"), found.value, golden.number("irs"), 1e-6);
    }
}

#[test]
fn gaussian_scores() {
    for model in MODELS {
        let golden = load(model);
        let data = Unlabelled::new(golden.codes_train.view()).unwrap();
        let found = gaussian_total_correlation(&data);
        let key = "gaussian_total_correlation";
        assert_close(&format!("{model} {key}"), found, golden.number(key), 1e-6);
        let found = gaussian_wasserstein_correlation(&data);
        let key = "gaussian_wasserstein_correlation";
        assert_close(&format!("{model} {key}"), found.value, golden.number(key), 1e-6);
        let key = "gaussian_wasserstein_correlation_norm";
        assert_close(&format!("{model} {key}"), found.normalised, golden.number(key), 1e-6);
    }
}

#[test]
fn disentanglement_completeness_informativeness() {
    for model in MODELS {
        let golden = load(model);
        let started = std::time::Instant::now();
        let found = dci(&golden.train_test(), &DciParameters::default()).unwrap();
        eprintln!("{model} dci: {:.2} s", started.elapsed().as_secs_f64());
        assert_matrix_close(
            &format!("{model} dci_importance"),
            found.importance.view(),
            &golden.matrix("dci_importance"),
            0.01,
        );
        for (key, found) in [
            ("dci_disentanglement", found.disentanglement),
            ("dci_completeness", found.completeness),
            ("dci_informativeness_train", found.informativeness_train),
            ("dci_informativeness_test", found.informativeness_test),
        ] {
            assert_close(&format!("{model} {key}"), found, golden.number(key), 0.005);
        }
    }
}

#[test]
fn separated_attribute_predictability() {
    for model in MODELS {
        let golden = load(model);
        let found = sap_continuous(&golden.labelled(), &SapContinuousParameters::default()).unwrap();
        let key = "sap_continuous_matrix";
        assert_matrix_close(&format!("{model} {key}"), found.matrix.view(), &golden.matrix(key), 1e-6);
        assert_close(&format!("{model} sap_continuous"), found.value, golden.number("sap_continuous"), 1e-6);
        let started = std::time::Instant::now();
        let found = sap(&golden.train_test(), &SapParameters::default()).unwrap();
        eprintln!("{model} sap: {:.3} s", started.elapsed().as_secs_f64());
        assert_matrix_close(
            &format!("{model} sap_matrix"),
            found.matrix.view(),
            &golden.matrix("sap_matrix"),
            0.005,
        );
        assert_close(&format!("{model} sap"), found.value, golden.number("sap"), 0.003);
    }
}

#[test]
fn explicitness_of_factors() {
    for model in MODELS {
        let golden = load(model);
        let started = std::time::Instant::now();
        let found = explicitness(&golden.train_test(), &LogisticParameters::default()).unwrap();
        eprintln!("{model} explicitness: {:.3} s", started.elapsed().as_secs_f64());
        for (key, found) in [
            ("explicitness_train_per_factor", &found.per_factor_train),
            ("explicitness_test_per_factor", &found.per_factor_test),
        ] {
            for (factor, (found, expected)) in found.iter().zip(golden.numbers(key)).enumerate() {
                assert_close(&format!("{model} {key} {factor}"), *found, expected, 0.005);
            }
        }
        assert_close(&format!("{model} explicitness"), found.value, golden.number("explicitness"), 0.005);
    }
}

#[test]
fn divergence_of_units() {
    for model in MODELS {
        let golden = load(model);
        let data = Posteriors::new(golden.codes_train.view(), golden.log_variance_train.view()).unwrap();
        let found = kl_per_unit(&data);
        for (unit, (found, expected)) in found.iter().zip(golden.numbers("kl_per_unit_train")).enumerate() {
            assert_close(&format!("{model} kl_per_unit_train {unit}"), *found, expected, 1e-6);
        }
    }
}
