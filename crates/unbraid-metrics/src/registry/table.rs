//! The table of all metrics: one entry each, with what a person must know to read the number.

use super::parameters::Parameters;
use super::report::Outcome;
use super::{Direction, Input, Metric, Needs};
use crate::error::Result;
use crate::scores;
use serde_json::Value;

const CODES: Needs = Needs { factors: false, test: false, log_variances: false, clusters: false };
const FACTORS: Needs = Needs { factors: true, ..CODES };
const TEST: Needs = Needs { factors: true, test: true, ..CODES };
const POSTERIORS: Needs = Needs { factors: true, log_variances: true, ..CODES };

/// What most entries share; every entry overrides what it must.
const BASE: Metric = Metric {
    name: "",
    keys: &[],
    details: &[],
    meaning: "",
    direction: Direction::Higher,
    range: (0.0, 1.0),
    needs: FACTORS,
    factor_values_are_numbers: false,
    interventional: false,
    by_default: true,
    parameters: |_| Value::Object(serde_json::Map::new()),
    run: |_| Ok(Outcome::default()),
};

/// All metrics, in the order in which they are shown.
pub(super) static METRICS: [Metric; 24] = [
    Metric {
        name: "beta_vae_score",
        keys: &["beta_vae_score"],
        meaning: "which factor two points share can be told from how far apart their units are",
        interventional: true,
        parameters: |parameters| json(&parameters.beta_vae_score),
        run: |input| {
            let found = scores::beta_vae_score(&*input.sampler()?, &input.parameters.beta_vae_score)?;
            Ok(Outcome::of("beta_vae_score", found.value).list("beta_vae_train_accuracy", vec![found.train]))
        },
        ..BASE
    },
    Metric {
        name: "factor_vae_score",
        keys: &["factor_vae_score"],
        meaning: "the unit that varies least tells which factor was held",
        interventional: true,
        parameters: |parameters| json(&parameters.factor_vae_score),
        run: |input| {
            let found = scores::factor_vae_score(&*input.sampler()?, &input.parameters.factor_vae_score)?;
            Ok(Outcome::of("factor_vae_score", found.value)
                .list("factor_vae_train_accuracy", vec![found.train]))
        },
        ..BASE
    },
    Metric {
        name: "mig",
        keys: &["mig"],
        details: &["mutual_information"],
        meaning: "each factor is known to one unit only (gap in mutual information, binned)",
        parameters: |parameters| json(&parameters.mig),
        run: |input| {
            let (codes, factors) = input.train();
            let found = scores::mig(codes, factors, &input.parameters.mig)?;
            Ok(Outcome::of("mig", found.value)
                .list("mig_per_factor", found.per_factor)
                .matrix("mutual_information", found.mutual_information))
        },
        ..BASE
    },
    Metric {
        name: "mig_full_data",
        keys: &["mig_full_data"],
        details: &["mutual_information_full_data"],
        meaning: "as mig, from entropies of the aggregate posterior instead of bins (Chen)",
        needs: POSTERIORS,
        parameters: |parameters| json(&parameters.mig_full_data),
        run: |input| {
            let (codes, factors) = input.train();
            let found = scores::mig_full_data(
                codes,
                input.log_variances()?,
                factors,
                &input.parameters.mig_full_data,
            )?;
            Ok(Outcome::of("mig_full_data", found.value)
                .matrix("mutual_information_full_data", found.mutual_information))
        },
        ..BASE
    },
    Metric {
        name: "rmig",
        keys: &["rmig"],
        details: &["mutual_information_quantised"],
        meaning: "as mig, with each point spread over the bins as its posterior is",
        needs: POSTERIORS,
        parameters: |parameters| json(&parameters.rmig),
        run: |input| {
            let (codes, factors) = input.train();
            let found = scores::rmig(codes, input.log_variances()?, factors, &input.parameters.rmig)?;
            Ok(Outcome::of("rmig", found.value)
                .matrix("mutual_information_quantised", found.mutual_information))
        },
        ..BASE
    },
    Metric {
        name: "jemmig",
        keys: &["jemmig"],
        meaning: "as mig, and the best unit knows nothing beyond its factor",
        parameters: |parameters| json(&parameters.jemmig),
        run: |input| {
            let (codes, factors) = input.train();
            Ok(Outcome::of("jemmig", scores::jemmig(codes, factors, &input.parameters.jemmig)?))
        },
        ..BASE
    },
    Metric {
        name: "mig_sup",
        keys: &["mig_sup"],
        meaning: "each unit knows one factor only (gap along the other axis)",
        parameters: |parameters| json(&parameters.mig_sup),
        run: |input| {
            let (codes, factors) = input.train();
            Ok(Outcome::of("mig_sup", scores::mig_sup(codes, factors, &input.parameters.mig_sup)?))
        },
        ..BASE
    },
    Metric {
        name: "aam",
        keys: &["aam"],
        meaning: "the best unit knows more of a factor than all others together",
        parameters: |parameters| json(&parameters.aam),
        run: |input| {
            let (codes, factors) = input.train();
            Ok(Outcome::of("aam", scores::aam(codes, factors, &input.parameters.aam)?))
        },
        ..BASE
    },
    Metric {
        name: "dcimig",
        keys: &["dcimig"],
        meaning: "share of all factor entropy that sits in units which know one factor",
        parameters: |parameters| json(&parameters.dcimig),
        run: |input| {
            let (codes, factors) = input.train();
            Ok(Outcome::of("dcimig", scores::dcimig(codes, factors, &input.parameters.dcimig)?))
        },
        ..BASE
    },
    Metric {
        name: "sap",
        keys: &["sap"],
        details: &["sap_matrix"],
        meaning: "each factor is predictable from one unit only (gap in accuracy)",
        needs: TEST,
        parameters: |parameters| json(&parameters.sap),
        run: |input| {
            let found = scores::sap(&input.codes.train_test(), &input.parameters.sap)?;
            Ok(Outcome::of("sap", found.value).matrix("sap_matrix", found.matrix))
        },
        ..BASE
    },
    Metric {
        name: "sap_continuous",
        keys: &["sap_continuous"],
        details: &["sap_continuous_matrix"],
        meaning: "as sap for factors that are numbers (gap in squared correlation)",
        factor_values_are_numbers: true,
        parameters: |parameters| json(&parameters.sap_continuous),
        run: |input| {
            let (codes, factors) = input.train();
            let found = scores::sap_continuous(codes, factors, input.parameters.sap_continuous.group_above)?;
            Ok(Outcome::of("sap_continuous", found.value).matrix("sap_continuous_matrix", found.matrix))
        },
        ..BASE
    },
    Metric {
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
            let found = scores::dci(&input.codes.train_test(), &input.parameters.dci)?;
            Ok(Outcome::of("dci_disentanglement", found.disentanglement)
                .value("dci_completeness", found.completeness)
                .value("dci_informativeness_train", found.informativeness_train)
                .value("dci_informativeness_test", found.informativeness_test)
                .matrix("dci_importance", found.importance))
        },
        ..BASE
    },
    Metric {
        name: "modularity",
        keys: &["modularity"],
        meaning: "each unit knows at most one factor",
        parameters: |parameters| json(&parameters.modularity),
        run: |input| {
            let (codes, factors) = input.train();
            Ok(Outcome::of("modularity", scores::modularity(codes, factors, &input.parameters.modularity)?))
        },
        ..BASE
    },
    Metric {
        name: "explicitness",
        keys: &["explicitness"],
        meaning: "a linear classifier tells the values of each factor from all units",
        needs: TEST,
        parameters: |parameters| json(&parameters.explicitness),
        run: |input| {
            let found = scores::explicitness(&input.codes.train_test(), &input.parameters.explicitness)?;
            Ok(Outcome::of("explicitness", found.value)
                .list("explicitness_train_per_factor", found.per_factor_train)
                .list("explicitness_test_per_factor", found.per_factor_test))
        },
        ..BASE
    },
    Metric {
        name: "irs",
        keys: &["irs"],
        details: &["irs_matrix"],
        meaning: "units stay put when the factor they follow is held and the others change",
        // Factors with more values than bins have neighbouring values merged.
        factor_values_are_numbers: true,
        parameters: |parameters| json(&parameters.irs),
        run: |input| {
            let (codes, factors) = input.train();
            let found = scores::irs(codes, factors, &input.parameters.irs)?;
            Ok(Outcome::of("irs", found.value).matrix("irs_matrix", found.matrix))
        },
        ..BASE
    },
    Metric {
        name: "gaussian_total_correlation",
        keys: &["gaussian_total_correlation"],
        meaning: "information that units share, as if codes were Gaussian",
        direction: Direction::Lower,
        range: (0.0, f64::INFINITY),
        needs: CODES,
        run: |input| {
            let value = scores::gaussian_total_correlation(input.codes.codes_train.view())?;
            Ok(Outcome::of("gaussian_total_correlation", value))
        },
        ..BASE
    },
    Metric {
        name: "gaussian_wasserstein_correlation",
        keys: &["gaussian_wasserstein_correlation", "gaussian_wasserstein_correlation_norm"],
        meaning: "distance of the codes from uncorrelated ones, as if Gaussian",
        direction: Direction::Lower,
        range: (0.0, f64::INFINITY),
        needs: CODES,
        run: |input| {
            let found = scores::gaussian_wasserstein_correlation(input.codes.codes_train.view())?;
            Ok(Outcome::of("gaussian_wasserstein_correlation", found.value)
                .value("gaussian_wasserstein_correlation_norm", found.normalised))
        },
        ..BASE
    },
    Metric {
        name: "mutual_info_score",
        keys: &["mutual_info_score"],
        meaning: "mean mutual information between two units",
        direction: Direction::Lower,
        range: (0.0, f64::INFINITY),
        needs: CODES,
        parameters: |parameters| json(&parameters.mutual_info_score),
        run: |input| {
            let codes = input.codes.codes_train.view();
            let value = scores::mutual_info_score(codes, &input.parameters.mutual_info_score)?;
            Ok(Outcome::of("mutual_info_score", value))
        },
        ..BASE
    },
    Metric {
        name: "hoyer",
        keys: &["hoyer"],
        meaning: "each point uses few of the units",
        direction: Direction::Neither,
        needs: CODES,
        run: |input| Ok(Outcome::of("hoyer", scores::hoyer(input.codes.codes_train.view())?)),
        ..BASE
    },
    Metric {
        name: "kl",
        keys: &["kl"],
        meaning: "divergence of the posteriors from the prior in nats, summed over units",
        direction: Direction::Neither,
        range: (0.0, f64::INFINITY),
        needs: Needs { log_variances: true, ..CODES },
        run: |input| {
            let per_unit = scores::kl_per_unit(input.codes.codes_train.view(), input.log_variances()?)?;
            Ok(Outcome::of("kl", per_unit.iter().sum()).list("kl_per_unit", per_unit))
        },
        ..BASE
    },
    Metric {
        name: "attribute_accuracy",
        keys: &["attribute_accuracy"],
        meaning: "values of factors are recognised along the difference of two means",
        needs: TEST,
        run: |input| {
            let found = scores::attribute_accuracy(&input.codes.train_test())?;
            Ok(Outcome::of("attribute_accuracy", found.value)
                .list("attribute_accuracy_per_factor", found.per_factor))
        },
        ..BASE
    },
    Metric {
        name: "cluster_accuracy",
        keys: &["cluster_accuracy"],
        meaning: "a categorical unit sorts points by a factor (best pair of both)",
        needs: Needs { clusters: true, ..TEST },
        parameters: |parameters| json(&parameters.cluster_accuracy),
        run: run_cluster_accuracy,
        ..BASE
    },
    Metric {
        name: "downstream",
        keys: &["downstream_accuracy", "downstream_sample_efficiency"],
        meaning: "factors are predictable from codes with few and with many labels",
        needs: TEST,
        by_default: false,
        parameters: |parameters| json(&parameters.downstream),
        run: |input| {
            let found = scores::downstream(&input.codes.train_test(), &input.parameters.downstream)?;
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
    },
    Metric {
        name: "downstream_logistic",
        keys: &["downstream_logistic_accuracy", "downstream_logistic_sample_efficiency"],
        meaning: "as downstream, by logistic regression with a cross-validated penalty",
        needs: TEST,
        by_default: false,
        parameters: |parameters| json(&logistic(parameters)),
        run: |input| {
            let found = scores::downstream(&input.codes.train_test(), &logistic(&input.parameters))?;
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
    },
];

/// The downstream task with the other learner.
fn logistic(parameters: &Parameters) -> scores::DownstreamParameters {
    scores::DownstreamParameters {
        learner: scores::DownstreamLearner::Logistic(Default::default()),
        ..parameters.downstream.clone()
    }
}

fn run_cluster_accuracy(input: &Input<'_>) -> Result<Outcome> {
    let (train, test) = input.clusters()?;
    let codes = input.codes;
    let classes = crate::Classes::of_factors(codes.factors_train.view());
    crate::input::check_varies("factors_train", &classes)?;
    let mut matrix = ndarray::Array2::zeros((train.ncols(), codes.factors()));
    for ((unit, factor), entry) in matrix.indexed_iter_mut() {
        *entry = scores::cluster_accuracy(
            (train.column(unit), codes.factors_train.column(factor)),
            (test.column(unit), codes.factors_test.column(factor)),
            &input.parameters.cluster_accuracy,
        )?;
    }
    // A factor with one value is recognised by any unit.
    let best =
        matrix.indexed_iter().filter(|((_, factor), _)| classes[*factor].varies()).map(|(_, value)| *value);
    Ok(Outcome::of("cluster_accuracy", best.fold(0.0, f64::max)).matrix("cluster_accuracy_matrix", matrix))
}

fn json(parameters: &impl serde::Serialize) -> Value {
    // Parameter structs are plain numbers and words, which always have a JSON form.
    serde_json::to_value(parameters).unwrap_or(Value::Null)
}
