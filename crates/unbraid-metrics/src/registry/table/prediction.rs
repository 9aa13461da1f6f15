//! Metrics that predict factors from units.

use super::{BASE, TEST, json};
use crate::error::Result;
use crate::registry::parameters::Parameters;
use crate::registry::report::Outcome;
use crate::registry::{Input, Metric, Needs, Requirement};
use crate::scores;

pub(super) const SAP: Metric = Metric {
    name: "sap",
    keys: &["sap"],
    details: &["sap_matrix"],
    meaning: "each factor is predictable from one unit only (gap in accuracy)",
    needs: TEST,
    parameters: |parameters| json(&parameters.sap),
    run: |input| {
        let found = scores::sap(&input.codes.train_test()?, &input.parameters.sap)?;
        Ok(Outcome::of("sap", found.value).matrix("sap_matrix", found.matrix))
    },
    ..BASE
};

pub(super) const SAP_CONTINUOUS: Metric = Metric {
    name: "sap_continuous",
    keys: &["sap_continuous"],
    details: &["sap_continuous_matrix"],
    meaning: "as sap for factors that are numbers (gap in squared correlation)",
    factor_values_are_numbers: true,
    parameters: |parameters| json(&parameters.sap_continuous),
    run: |input| {
        let found =
            scores::sap_continuous(&input.codes.labelled()?, input.parameters.sap_continuous.group_above)?;
        Ok(Outcome::of("sap_continuous", found.value).matrix("sap_continuous_matrix", found.matrix))
    },
    ..BASE
};

pub(super) const DCI: Metric = Metric {
    name: "dci",
    keys: &[
        "dci_disentanglement",
        "dci_completeness",
        "dci_informativeness_train",
        "dci_informativeness_test",
    ],
    details: &["dci_importance"],
    meaning: "units serve one factor each, factors are served by one unit each, factors are predictable",
    needs: TEST,
    parameters: |parameters| json(&parameters.dci),
    run: |input| {
        let found = scores::dci(&input.codes.train_test()?, &input.parameters.dci)?;
        Ok(Outcome::of("dci_disentanglement", found.disentanglement)
            .value("dci_completeness", found.completeness)
            .value("dci_informativeness_train", found.informativeness_train)
            .value("dci_informativeness_test", found.informativeness_test)
            .matrix("dci_importance", found.importance))
    },
    ..BASE
};

pub(super) const EXPLICITNESS: Metric = Metric {
    name: "explicitness",
    keys: &["explicitness"],
    meaning: "a linear classifier tells the values of each factor from all units",
    needs: TEST,
    parameters: |parameters| json(&parameters.explicitness),
    run: |input| {
        let found = scores::explicitness(&input.codes.train_test()?, &input.parameters.explicitness)?;
        Ok(Outcome::of("explicitness", found.value)
            .list("explicitness_train_per_factor", found.per_factor_train)
            .list("explicitness_test_per_factor", found.per_factor_test))
    },
    ..BASE
};

pub(super) const ATTRIBUTE_ACCURACY: Metric = Metric {
    name: "attribute_accuracy",
    keys: &["attribute_accuracy"],
    meaning: "values of factors are recognised along the difference of two means",
    needs: TEST,
    run: |input| {
        let found = scores::attribute_accuracy(&input.codes.train_test()?);
        Ok(Outcome::of("attribute_accuracy", found.value)
            .list("attribute_accuracy_per_factor", found.per_factor))
    },
    ..BASE
};

pub(super) const CLUSTER_ACCURACY: Metric = Metric {
    name: "cluster_accuracy",
    keys: &["cluster_accuracy"],
    meaning: "a categorical unit sorts points by a factor (best pair of both)",
    needs: Needs { clusters: true, ..TEST },
    parameters: |parameters| json(&parameters.cluster_accuracy),
    run: run_cluster_accuracy,
    ..BASE
};

pub(super) const DOWNSTREAM: Metric = Metric {
    name: "downstream",
    keys: &["downstream_accuracy", "downstream_sample_efficiency"],
    meaning: "factors are predictable from codes with few and with many labels",
    needs: TEST,
    by_default: false,
    parameters: |parameters| json(&parameters.downstream),
    run: |input| {
        let found = scores::downstream(&input.codes.train_test()?, &input.parameters.downstream)?;
        let mut outcome = Outcome::of("downstream_accuracy", found.value);
        for (labels, accuracy, _) in &found.accuracies {
            outcome = outcome.value(&format!("downstream_accuracy_{labels}"), *accuracy);
        }
        Ok(match found.sample_efficiency {
            Some(efficiency) => outcome.value("downstream_sample_efficiency", efficiency),
            None => outcome,
        })
    },
    ..BASE
};

pub(super) const DOWNSTREAM_LOGISTIC: Metric = Metric {
    name: "downstream_logistic",
    keys: &["downstream_logistic_accuracy", "downstream_logistic_sample_efficiency"],
    meaning: "as downstream, by logistic regression with a cross-validated penalty",
    needs: TEST,
    by_default: false,
    parameters: |parameters| json(&logistic(parameters)),
    run: |input| {
        let found = scores::downstream(&input.codes.train_test()?, &logistic(&input.parameters))?;
        let mut outcome = Outcome::of("downstream_logistic_accuracy", found.value);
        for (labels, accuracy, _) in &found.accuracies {
            outcome = outcome.value(&format!("downstream_logistic_accuracy_{labels}"), *accuracy);
        }
        Ok(match found.sample_efficiency {
            Some(efficiency) => outcome.value("downstream_logistic_sample_efficiency", efficiency),
            None => outcome,
        })
    },
    ..BASE
};

/// The downstream task with the other learner.
fn logistic(parameters: &Parameters) -> scores::DownstreamParameters {
    scores::DownstreamParameters {
        learner: scores::DownstreamLearner::Logistic(Default::default()),
        ..parameters.downstream.clone()
    }
}

fn run_cluster_accuracy(input: &Input<'_>) -> Result<Outcome> {
    let data = input.codes.train_test()?;
    let missing = crate::MetricsError::Missing { missing: Requirement::Clusters };
    let (train, test) = input.codes.clusters().ok_or(missing)?;
    let classes = data.train().classes();
    let mut matrix = ndarray::Array2::zeros((train.ncols(), classes.len()));
    for ((unit, factor), entry) in matrix.indexed_iter_mut() {
        *entry = scores::cluster_accuracy(
            (train.column(unit), data.factors_train().column(factor)),
            (test.column(unit), data.factors_test().column(factor)),
            &input.parameters.cluster_accuracy,
        )?;
    }
    // A factor with one value is recognised by any unit.
    let best =
        matrix.indexed_iter().filter(|((_, factor), _)| classes[*factor].varies()).map(|(_, value)| *value);
    Ok(Outcome::of("cluster_accuracy", best.fold(0.0, f64::max)).matrix("cluster_accuracy_matrix", matrix))
}
