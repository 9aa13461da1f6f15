//! Scores that read the same table of mutual information as MIG in other ways: JEMMIG, MIG-sup, AAM and DCIMIG.

use crate::error::Result;
use crate::information::Information;
use crate::numeric::{argmax, mean, top_two};
use crate::scores::mig::HistogramParameters;
use crate::views::Labelled;
use serde::{Deserialize, Serialize};

/// JEMMIG: a gap that also pays for what the best unit knows beyond its factor.
///
/// ```text
/// JEMMIG = mean over factors k of 1 - (H(z_a, v_k) - I(z_a; v_k) + I(z_b; v_k)) / (H(v_k) + ln bins)
/// ```
/// where a and b are the units with the largest and second largest mutual information with factor k, so that a unit
/// that mixes two factors is charged for the entropy of the second.
///
/// * Range: 0 to 1, higher is better. A perfect code reaches 1 only if its units have no more values than the factor:
///   bins are what the unit's entropy is measured against.
/// * Reference: Do and Tran 2020, Theory and evaluation metrics for learning disentangled representations.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, jemmig};
///
/// let (codes, factors) = (array![[0.0], [1.0], [0.0], [1.0]], array![[0], [1], [0], [1]]);
/// // H(z, v) = I = H(v), so nothing is lost.
/// assert_eq!(jemmig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters { bins: 2 })?, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn jemmig(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(jemmig_of(&Information::new(data, parameters.bins)?))
}

/// [`jemmig`] from mutual information that is known already.
pub fn jemmig_of(information: &Information) -> f64 {
    let parts: Vec<f64> = information
        .varying_factors()
        .map(|factor| {
            let column = information.matrix.column(factor).to_vec();
            let best = argmax(&column);
            let (first, second) = top_two(column);
            let factor_entropy = information.factor_entropies[factor];
            let joint = information.unit_entropies[best] + factor_entropy - first;
            1.0 - (joint - first + second) / (factor_entropy + (information.bins as f64).ln())
        })
        .collect();
    mean(&parts)
}

/// What the mutual information is divided by in [`mig_sup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalizer {
    /// The entropy of the binned unit.
    #[default]
    UnitEntropy,
    /// The entropy of the factor, as Li et al. write it.
    FactorEntropy,
}

/// Parameters of [`mig_sup`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MigSupParameters {
    /// Bins of equal width for each unit.
    pub bins: usize,
    /// What the mutual information is divided by.
    pub normalizer: Normalizer,
}

impl Default for MigSupParameters {
    fn default() -> Self {
        Self { bins: 20, normalizer: Normalizer::default() }
    }
}

/// MIG-sup: does each unit know one factor only? The gap of MIG, taken along the rows of the table.
///
/// ```text
/// MIG-sup = mean over units i of (I(z_i; v_a) - I(z_i; v_b)) / H(z_i)
/// ```
/// where a and b are the factors that unit i shares most and second most information with (after the division).
///
/// * Range: 0 to 1, higher is better. A constant unit scores 0; with a single factor the second largest is 0.
/// * Reference: Li et al. 2020, Progressive learning and disentanglement of hierarchical representations.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{MigSupParameters, mig_sup};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// assert!((mig_sup(&Labelled::new(codes.view(), factors.view())?, &MigSupParameters::default())? - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mig_sup(data: &Labelled<'_>, parameters: &MigSupParameters) -> Result<f64> {
    Ok(mig_sup_of(&Information::new(data, parameters.bins)?, parameters.normalizer))
}

/// [`mig_sup`] from mutual information that is known already.
pub fn mig_sup_of(information: &Information, normalizer: Normalizer) -> f64 {
    let gaps: Vec<f64> = (0..information.matrix.nrows())
        .map(|unit| {
            let (first, second) = top_two(information.varying_factors().map(|factor| {
                let entropy = match normalizer {
                    Normalizer::UnitEntropy => information.unit_entropies[unit],
                    Normalizer::FactorEntropy => information.factor_entropies[factor],
                };
                if entropy > 0.0 { information.matrix[[unit, factor]] / entropy } else { 0.0 }
            }));
            first - second
        })
        .collect();
    mean(&gaps)
}

/// AAM, the axis-alignment metric: does the best unit know more of a factor than all others together?
///
/// ```text
/// AAM = mean over factors k of max(0, I(z_a; v_k) - sum over i != a of I(z_i; v_k)) / I(z_a; v_k)
/// ```
///
/// * Range: 0 to 1, higher is better. A factor that no unit knows scores 0. The plug-in estimate is biased upwards, so
///   that many useless units lower the score on few points.
/// * Reference: as computed by the disentangling-vae project, there from full-data entropies.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, aam};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0], [0], [1], [1]];
/// assert_eq!(aam(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())?, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn aam(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(aam_of(&Information::new(data, parameters.bins)?))
}

/// [`aam`] from mutual information that is known already.
pub fn aam_of(information: &Information) -> f64 {
    let parts: Vec<f64> = information
        .varying_factors()
        .map(|factor| {
            let column = information.matrix.column(factor);
            let (first, _) = top_two(column.iter().copied());
            let others = column.sum() - first;
            if first > 0.0 { ((first - others) / first).max(0.0) } else { 0.0 }
        })
        .collect();
    mean(&parts)
}

/// DCIMIG: the share of all factor entropy that sits in units of which each knows one factor.
///
/// ```text
/// gap_i = I(z_i; v_a) - I(z_i; v_b)          a, b: the factors unit i knows best and second best
/// DCIMIG = sum over factors k of max { gap_i : unit i knows k best } / sum over k of H(v_k)
/// ```
///
/// * Range: 0 to 1, higher is better. With a single factor the second largest is 0.
/// * Reference: Sepliarskaia et al. 2019, How to not measure disentanglement (as 3CharM).
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, dcimig};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// assert!((dcimig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())? - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn dcimig(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(dcimig_of(&Information::new(data, parameters.bins)?))
}

/// [`dcimig`] from mutual information that is known already.
pub fn dcimig_of(information: &Information) -> f64 {
    let mut best_gaps = vec![0.0_f64; information.factor_entropies.len()];
    for row in information.matrix.rows() {
        let row = row.to_vec();
        let factor = argmax(&row);
        let (first, second) = top_two(row);
        best_gaps[factor] = best_gaps[factor].max(first - second);
    }
    best_gaps.iter().sum::<f64>() / information.factor_entropies.iter().sum::<f64>()
}
