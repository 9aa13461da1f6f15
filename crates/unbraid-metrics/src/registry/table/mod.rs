//! The table of all metrics: one entry each, with what a person must know to read the number.
//!
//! Entries stand in the file of their kind; a new one is also listed in [`METRICS`].

mod distribution;
mod information;
mod interventional;
mod prediction;

use super::report::Outcome;
use super::{Direction, Metric, Needs};
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
    interventional::BETA_VAE_SCORE,
    interventional::FACTOR_VAE_SCORE,
    information::MIG,
    information::MIG_FULL_DATA,
    information::RMIG,
    information::JEMMIG,
    information::MIG_SUP,
    information::AAM,
    information::DCIMIG,
    prediction::SAP,
    prediction::SAP_CONTINUOUS,
    prediction::DCI,
    information::MODULARITY,
    prediction::EXPLICITNESS,
    interventional::IRS,
    distribution::GAUSSIAN_TOTAL_CORRELATION,
    distribution::GAUSSIAN_WASSERSTEIN_CORRELATION,
    information::MUTUAL_INFO_SCORE,
    distribution::HOYER,
    distribution::KL,
    prediction::ATTRIBUTE_ACCURACY,
    prediction::CLUSTER_ACCURACY,
    prediction::DOWNSTREAM,
    prediction::DOWNSTREAM_LOGISTIC,
];

fn json(parameters: &impl serde::Serialize) -> Value {
    // Parameter structs are plain numbers and words, which always have a JSON form.
    serde_json::to_value(parameters).unwrap_or(Value::Null)
}
