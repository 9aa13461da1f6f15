//! Options of every metric of the registry: listed, set by name, checked and recorded.

use crate::synthetic::nearly_perfect;
use serde_json::{Map, Value, json};
use unbraid_metrics::{Codes, FactorKind, Options, Registry, registry};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn refused(metric: &str, options: Value) -> String {
    Registry::builtin().configure(metric, &object(options)).unwrap_err().to_string()
}

#[test]
fn every_listed_option_can_be_set_to_its_default_and_not_to_nonsense() {
    let builtin = Registry::builtin();
    for metric in builtin.iter() {
        for option in builtin.options(&metric.name).unwrap() {
            let mut options = Map::from_iter([(option.name.clone(), option.default.clone())]);
            if let Some((choice, word)) = &option.only_with {
                // `balanced` and `loss` belong to `svm`, which has to be chosen first.
                options.insert(choice.clone(), word.clone().into());
            }
            let mut registry = Registry::builtin();
            registry.configure(&metric.name, &options).unwrap();
            assert_eq!(registry.values(&metric.name).unwrap()[&option.name], option.default);
            assert!(!option.meaning.is_empty() && !option.expected.is_empty());
            options.insert(option.name.clone(), json!({ "nonsense": -1 }));
            let error = registry.configure(&metric.name, &options).unwrap_err().to_string();
            let expected = format!(
                "{}.{}: found {{\"nonsense\":-1}}, expected {}",
                metric.name, option.name, option.expected
            );
            assert_eq!(error, expected);
        }
    }
}

#[test]
fn values_are_typed_and_ranged() {
    for (metric, options, message) in [
        ("mig", json!({ "bins": 1 }), "mig.bins: found 1, expected a whole number, 2 to 65536"),
        ("mig", json!({ "bins": 2.5 }), "mig.bins: found 2.5, expected a whole number, 2 to 65536"),
        (
            "factor_vae_score",
            json!({ "prune": -0.1 }),
            "factor_vae_score.prune: found -0.1, expected a number, 0 or more",
        ),
        ("hoyer", json!({ "normalize": "no" }), "hoyer.normalize: found \"no\", expected true or false"),
        ("sap", json!({ "c": 0 }), "sap.c: found 0, expected a number above 0"),
        (
            "dci",
            json!({ "learning_rate": 1.5 }),
            "dci.learning_rate: found 1.5, expected a number above 0, at most 1",
        ),
        (
            "downstream",
            json!({ "labels": [10, 0] }),
            "downstream.labels: found [10,0], expected a list of whole numbers, 1 or more",
        ),
        (
            "sap",
            json!({ "group_above": 2 }),
            "sap.group_above: found 2, expected a number, 0 to 1, or \"none\"",
        ),
        (
            "sap",
            json!({ "predictor": "treshold" }),
            "sap.predictor: found \"treshold\", expected \"svm\" or \"threshold\"\nhint: did you mean `threshold`?",
        ),
        (
            "sap",
            json!({ "predictr": "svm" }),
            "sap.predictr: unknown option of the metric `sap`\nhint: did you mean `predictor`?",
        ),
        (
            "factor_vae_score",
            json!({ "prune_below": 0.0 }),
            "factor_vae_score.prune_below: unknown option of the metric `factor_vae_score`\n\
             hint: did you mean `prune`?",
        ),
        ("kl", json!({ "bins": 3 }), "kl.bins: unknown option of the metric `kl`\nhint: it has no options"),
        (
            "dci",
            json!({ "alpha": 0.5 }),
            "dci.alpha: found with learner = \"boosting\", expected only with learner = \"lasso\"",
        ),
        (
            "dci",
            json!({ "learner": "lasso", "max_depth": 3 }),
            "dci.max_depth: found with learner = \"lasso\", expected only with learner = \"boosting\" or \"forest\"",
        ),
        (
            "dci",
            json!({ "learner": "trees" }),
            "dci.learner: found \"trees\", expected \"boosting\", \"forest\" or \"lasso\"",
        ),
        ("sapp", json!({}), "unknown metric `sapp`\nhint: did you mean `sap`?"),
    ] {
        assert_eq!(refused(metric, options), message);
    }
}

#[test]
fn a_choice_brings_its_own_options_and_keeps_them() {
    let mut registry = Registry::builtin();
    registry.configure("beta_vae_score", &object(json!({ "classifier": "svm" }))).unwrap();
    let values = registry.values("z-diff").unwrap();
    assert_eq!(
        (&values["loss"], &values["c"], &values["balanced"]),
        (&json!("hinge"), &json!(0.01), &json!(false))
    );
    registry.configure("beta_vae_score", &object(json!({ "c": 2 }))).unwrap();
    // The same word again leaves what belongs to it alone; another one does not.
    registry.configure("beta_vae_score", &object(json!({ "classifier": "svm" }))).unwrap();
    assert_eq!(registry.values("beta_vae_score").unwrap()["c"], 2.0);
    registry.configure("beta_vae_score", &object(json!({ "classifier": "logistic" }))).unwrap();
    let values = registry.values("beta_vae_score").unwrap();
    assert_eq!((&values["c"], values.get("loss")), (&json!(1.0), None));
    registry.configure("sap", &object(json!({ "group_above": 0.5 }))).unwrap();
    registry.configure("sap", &object(json!({ "group_above": "none" }))).unwrap();
    assert_eq!(registry.values("sap").unwrap()["group_above"], Value::Null);
}

/// The classifier is set before its wrong option is found.
#[test]
fn a_wrong_option_leaves_all_others_as_they_were() {
    let mut registry = Registry::builtin();
    let before = registry.values("beta_vae_score").unwrap().clone();
    registry.configure("beta_vae_score", &object(json!({ "classifier": "svm", "c": -1 }))).unwrap_err();
    assert_eq!(registry.values("beta_vae_score").unwrap(), &before);
    // The metric itself is back at its classifier, which has no such option.
    registry.configure("beta_vae_score", &object(json!({ "loss": "hinge" }))).unwrap_err();
}

#[test]
fn options_are_obeyed_and_recorded() {
    let codes = nearly_perfect().check().unwrap();
    let mut registry = Registry::builtin();
    registry.configure("mig", &object(json!({ "bins": 3 }))).unwrap();
    let report = registry.run(&["mig"], &codes, &Options::default()).unwrap();
    assert_eq!(report.scores[0].parameters, json!({ "bins": 3, "neighbours": null }));
    assert_ne!(report.get("mig"), registry::run(&["mig"], &codes, &Options::default()).unwrap().get("mig"));
}

#[test]
fn the_default_can_be_added_to() {
    let codes = nearly_perfect().check().unwrap();
    let names = |asked: &[&str]| -> Vec<&str> {
        registry::shared().choose(asked, &codes).unwrap().iter().map(|metric| metric.name.as_str()).collect()
    };
    let default = names(&[]);
    assert!(default.contains(&"mig") && !default.contains(&"sap_kumar"));
    assert_eq!(names(&["default"]), default);
    assert_eq!(names(&["default", "sap_kumar", "mig"]), [default.clone(), vec!["sap_kumar"]].concat());
    assert_eq!(names(&["dci"]), ["dci"]);
}

#[test]
fn unseen_points_take_the_place_of_training_points_where_nothing_is_fitted() {
    let arrays = nearly_perfect();
    let codes = arrays.check().unwrap();
    let unseen = Codes::new(
        arrays.codes_test.clone(),
        arrays.factors_test.clone(),
        arrays.codes_test.clone(),
        arrays.factors_test.clone(),
    )
    .unwrap();
    let run = |names: &[&str], codes: &Codes| registry::run(names, codes, &Options::default()).unwrap();
    let both = codes.clone().with_unseen(unseen.clone()).unwrap();
    let alone = ["mig", "hoyer", "irs"];
    let found = run(&alone, &both);
    for key in alone {
        assert_eq!(found.get(key), run(&[key], &unseen).get(key), "{key}");
        assert_ne!(found.get(key), run(&[key], &codes).get(key), "{key}");
    }
    // Fitted to training points and judged on test points, as without it.
    assert_eq!(
        run(&["explicitness"], &both).get("explicitness"),
        run(&["explicitness"], &codes).get("explicitness")
    );
    // The log-variances of the unseen points are not known.
    let error = registry::run(&["kl"], &both, &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "metric `kl` needs log-variances of the posteriors, which the codes do not have");
}

#[test]
fn attributes_have_names() {
    let arrays = nearly_perfect();
    let mut still = arrays.clone();
    still.factors_train.column_mut(1).fill(0);
    let codes = still.check().unwrap().with_factor_names(["Smiling", "Bald", "Hat"]).unwrap();
    let report = registry::run(&["attribute_accuracy"], &codes, &Options::default()).unwrap();
    let list = report.list("attribute_accuracy_per_factor").unwrap();
    assert_eq!(report.get("attribute_accuracy/Smiling"), Some(list[0]));
    assert_eq!(
        (report.get("attribute_accuracy/Bald"), report.get("attribute_accuracy/Hat")),
        (None, Some(list[2]))
    );
    assert_eq!(registry::find_by_key("attribute_accuracy/Hat").unwrap().name, "attribute_accuracy");
    assert_eq!(registry::shared().label("attribute_accuracy/Hat").unwrap(), "attribute accuracy, Hat");
    assert!(registry::find_by_key("train/kl").is_none());
}

/// Divergences that are given take the place of those from a standard normal; 1 + 3 and 2 - 2 nats by hand.
#[test]
fn kl_is_that_of_the_prior_that_was_used() {
    let codes = Codes::unlabelled(ndarray::array![[0.0, 1.0], [1.0, 0.0]])
        .and_then(|codes| codes.with_log_variances(ndarray::Array2::zeros((2, 2))))
        .unwrap();
    let kl = |codes: &Codes| registry::run(&["kl"], codes, &Options::default()).unwrap().get("kl").unwrap();
    assert_eq!(kl(&codes), 0.5);
    assert_eq!(kl(&codes.with_divergences(ndarray::array![[1.0, 2.0], [3.0, -2.0]]).unwrap()), 2.0);
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let bare = Codes::split(
        ndarray::Array2::zeros((6, 1)).view(),
        ndarray::array![[0], [1], [0], [1], [0], [1]].view(),
    );
    let bare = bare.unwrap();
    let message = |name: &str| registry::run(&[name], &bare, &Options::default()).unwrap_err().to_string();
    assert_eq!(
        message("sap_kumar"),
        "metric `sap_kumar` needs kinds of the factors (categorical, ordered or angle), which the codes do not have"
    );
    assert_eq!(
        message("reconstruction_error"),
        "metric `reconstruction_error` needs reconstruction errors, which the codes do not have"
    );
    let kinds = [FactorKind::Ordered, FactorKind::Angle];
    assert_eq!(
        bare.clone().with_factor_kinds(kinds).unwrap_err().to_string(),
        "factor_kinds: found 2 kinds, expected 1, the number of factors"
    );
    assert_eq!(
        bare.with_reconstruction_errors(vec![0.0, 1.0, f64::NAN, 0.0]).unwrap_err().to_string(),
        "reconstruction_error_train: found NaN in row 2, column 0, expected finite numbers, 0 or more"
    );
}
