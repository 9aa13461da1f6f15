//! Mutual-information-based entropy disentanglement.

use super::dci::{concentration, disentanglement_of};
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::information::{BINS, Information, NEIGHBOURS};
use crate::metric::{Description, Metric, Options};
use crate::numeric::argmax;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::Labelled;
use ndarray::{ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// Parameters of [`med`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MedParameters {
    /// Bins of equal width for each unit; 2 to 65536.
    pub bins: usize,
    /// The number of nearest neighbours to estimate mutual information from ([`Information::by_neighbours`]); bins if `None`.
    pub neighbours: Option<usize>,
    /// The number of units that top-k MED keeps for each factor, at most.
    pub k: usize,
}

impl Default for MedParameters {
    fn default() -> Self {
        Self { bins: 20, neighbours: None, k: 2 }
    }
}

/// What [`med`] computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedValues {
    /// MED of all units.
    pub value: f64,
    /// MED of the units that top-k MED keeps.
    pub top_k: f64,
}

/// MED, mutual-information-based entropy disentanglement: does each unit share information with one factor only?
///
/// ```text
/// R_ik = I(z_i; v_k) / sum_i I(z_i; v_k)
/// MED  = sum_i (sum_k R_ik / sum R) (1 - H_K(R_i. / sum_k R_ik))
/// ```
/// This is the disentanglement of [`dci`](super::dci) with mutual information in place of a learner's importances. Top-k MED
/// is meant for representations with many units: each unit is assigned to the factor that it is most important for, and only
/// the k most disentangled units of each factor enter the sum.
///
/// * Range: 0 to 1, higher is better; 0 if no unit shares information with any factor.
/// * Reference: Cao et al. 2022, An empirical study on disentanglement of negative-free contrastive learning.
/// * See also: [`modularity`](super::modularity) and [`mig_sup`](super::mig_sup), which measure the same.
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{MedParameters, med};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// let found = med(&Labelled::new(codes.view(), factors.view())?, &MedParameters::default())?;
/// assert!((found.value - 1.0).abs() < 1e-9 && (found.top_k - 1.0).abs() < 1e-9);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn med(data: &Labelled<'_>, parameters: &MedParameters) -> Result<MedValues> {
    if parameters.k == 0 {
        return Err(MetricsError::parameter("k", 0, "at least 1"));
    }
    let information = Information::by(data, parameters.bins, parameters.neighbours)?;
    let varying: Vec<usize> = information.varying_factors().collect();
    let mut importance = information.matrix.select(Axis(1), &varying);
    for mut column in importance.columns_mut() {
        let sum = column.sum();
        if sum > 0.0 {
            column /= sum;
        }
    }
    let kept = importance.select(Axis(0), &top_units(importance.view(), parameters.k));
    Ok(MedValues { value: disentanglement_of(importance.view()), top_k: disentanglement_of(kept.view()) })
}

/// The k most disentangled units of each factor; a unit belongs to the factor that it is most important for.
fn top_units(importance: ArrayView2<'_, f64>, k: usize) -> Vec<usize> {
    let scores: Vec<f64> = importance.rows().into_iter().map(concentration).collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut taken = vec![0; importance.ncols()];
    let mut kept: Vec<usize> = order
        .into_iter()
        .filter(|&unit| {
            let count = &mut taken[argmax(&importance.row(unit).to_vec())];
            *count += 1;
            *count <= k
        })
        .collect();
    kept.sort_unstable();
    kept
}

/// The metric `med`; see [`med`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Med {
    /// Its parameters.
    pub parameters: MedParameters,
}

impl Metric for Med {
    fn description(&self) -> Description {
        let meaning = "each unit shares mutual information with one factor only (entropy over factors); top k: of the k \
                       best units of each factor";
        Description::new("med", meaning)
            .number("med", "MED")
            .number("med_top_k", "MED, top k")
            .compares_factors("med")
            .compares_factors("med_top_k")
            .on_request_only()
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let MedParameters { bins, neighbours, k } = &mut self.parameters;
        declare.count("bins", bins, BINS, "bins of equal width for each unit");
        declare.optional_count("neighbours", neighbours, 1.., NEIGHBOURS);
        declare.count("k", k, 1.., "units that are kept for each factor at most");
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = med(&codes.labelled()?, &self.parameters)?;
        Ok(ScoreValues::new("med", found.value).with_number("med_top_k", found.top_k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Units 0, 1 and 3 belong to the first factor, in the order 3, 0, 1 of their concentration.
    #[test]
    fn the_most_disentangled_units_of_each_factor_are_kept() {
        let importance = array![[0.8, 0.2], [0.6, 0.4], [0.1, 0.5], [0.9, 0.0]];
        assert_eq!(top_units(importance.view(), 1), [2, 3]);
        assert_eq!(top_units(importance.view(), 2), [0, 2, 3]);
        assert_eq!(top_units(importance.view(), 9), [0, 1, 2, 3]);
    }
}
