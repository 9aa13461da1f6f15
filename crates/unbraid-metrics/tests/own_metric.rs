//! The example of a metric from outside the crate, and what a registry refuses.

#[path = "../examples/own_metric.rs"]
#[allow(dead_code, reason = "its main function only prints")]
mod example;

use unbraid_metrics::scores::{HistogramParameters, Mig};
use unbraid_metrics::{
    Codes, Description, Metric, MetricsError, Needs, Options, Registry, Result, ScoreValues, registry,
};

/// Two units encode the first factor, so its gap is 0; one unit alone encodes the second, so its gap is 1. The training
/// points are a full grid, on which the factors are independent.
#[test]
fn the_example_runs_beside_mig() {
    let report = example::run().unwrap();
    let names: Vec<&str> = report.scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names, ["rank_gap", "mig"]);
    for key in ["rank_gap", "mig"] {
        let value = report.get(key).unwrap();
        assert!((value - 0.5).abs() < 1e-12, "{key}: {value}");
    }
    let gaps = report.list("rank_gap_per_factor").unwrap();
    assert!(gaps[0].abs() < 1e-12 && (gaps[1] - 1.0).abs() < 1e-12, "{gaps:?}");
    assert_eq!(report.matrix("rank_correlation").unwrap().dim(), (3, 2));
    assert_eq!(serde_json::to_value(&report.scores[0]).unwrap()["parameters"]["threshold"], 0.1);
}

/// A metric that is all description.
struct Described(Description);

impl Metric for Described {
    fn description(&self) -> Description {
        self.0.clone()
    }

    fn run(&self, _codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        Err(MetricsError::failed(&self.0.name, "nothing to compute"))
    }
}

fn described(name: &str, key: &str) -> Described {
    Described(Description::new(name, "nothing").number(key, key).needs(Needs::CODES))
}

fn refused(metric: Described) -> String {
    Registry::builtin().register(Box::new(metric)).unwrap_err().to_string()
}

#[test]
fn names_and_keys_that_are_taken_are_refused() {
    assert_eq!(refused(described("mig", "own")), "metric `mig`: `mig` already belongs to the metric `mig`");
    assert_eq!(
        refused(described("own", "dci_completeness")),
        "metric `own`: `dci_completeness` already belongs to the metric `dci`"
    );
    assert_eq!(
        refused(described("Z-Diff", "own")),
        "metric `Z-Diff`: `Z-Diff` already belongs to the metric `beta_vae_score`"
    );
    // What `beta_vae` has meant so far must not change.
    assert_eq!(
        refused(described("beta_vae", "own")),
        "metric `beta_vae`: `beta_vae` already belongs to the metric `beta_vae_score`"
    );
    let aliased = Described(Description::new("own", "nothing").number("own", "own").alias("sap"));
    assert_eq!(refused(aliased), "metric `own`: `sap` already belongs to the metric `sap`");
    let silent = Described(Description::new("own", "nothing"));
    assert_eq!(refused(silent), "metric `own`: found no number in its description, expected at least one");
}

#[test]
fn a_metric_is_replaced_in_its_place() {
    let mut registry = Registry::builtin();
    registry
        .replace(Box::new(Mig { parameters: HistogramParameters { bins: 5 }, ..Mig::default() }))
        .unwrap();
    let names = |registry: &Registry| registry.iter().map(|metric| metric.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&registry), names(&Registry::builtin()));
    assert_eq!(registry.values("mig").unwrap()["bins"], 5);
    assert_eq!(
        registry.replace(Box::new(described("migg", "own"))).unwrap_err().to_string(),
        "unknown metric `migg`\nhint: did you mean `mig`?"
    );
    assert_eq!(
        registry.replace(Box::new(described("mig", "sap"))).unwrap_err().to_string(),
        "metric `mig`: `sap` already belongs to the metric `sap`"
    );
}

#[test]
fn a_failure_of_its_own_keeps_its_cause() {
    let registry = Registry::empty().with(described("own", "own")).unwrap();
    let codes = Codes::unlabelled(ndarray::array![[0.0], [1.0]]).unwrap();
    let error = registry.run(&["own"], &codes, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "metric `own` failed");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "nothing to compute");
}

#[test]
fn numbers_are_found_and_labelled_by_their_keys() {
    for (key, name, label) in [
        ("mig", "mig", "MIG"),
        ("dci_completeness", "dci", "DCI completeness"),
        ("gaussian_total_correlation", "gaussian_total_correlation", "Gaussian total correlation"),
        ("downstream_accuracy_100", "downstream", "downstream accuracy 100"),
        ("downstream_logistic_accuracy_10", "downstream_logistic", "downstream logistic accuracy 10"),
    ] {
        assert_eq!(registry::find_by_key(key).unwrap().name, name);
        assert_eq!(registry::shared().label(key).unwrap(), label);
    }
    assert!(registry::find_by_key("fid").is_none() && registry::shared().label("fid_100").is_none());
    // An alias is a way to ask for a metric, not the key of a number.
    assert_eq!(registry::find("z-min-variance").unwrap().name, "factor_vae_score");
    assert!(registry::find_by_key("z_min_variance").is_none());
}
