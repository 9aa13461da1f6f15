//! The mutual information gap.

use crate::error::Result;
use crate::information::Information;
use crate::numeric::{mean, top_two};
use crate::views::Labelled;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Parameters of [`mig`] and of the other scores that come from one histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistogramParameters {
    /// Bins of equal width for each unit, between its smallest and largest value.
    pub bins: usize,
}

impl Default for HistogramParameters {
    fn default() -> Self {
        Self { bins: 20 }
    }
}

/// What [`mig`] found.
#[derive(Clone, Debug)]
pub struct Mig {
    /// The score.
    pub value: f64,
    /// The gap of each factor, divided by its entropy; 0 for a factor that does not vary.
    pub per_factor: Vec<f64>,
    /// I(unit; factor) in nats, \[units, factors\].
    pub mutual_information: Array2<f64>,
}

/// MIG: is each factor known to one unit only?
///
/// ```text
/// MIG = mean over factors k of (I(z_a; v_k) - I(z_b; v_k)) / H(v_k)
/// ```
/// where a and b are the units with the largest and second largest mutual information with factor k.
///
/// * Range: 0 to 1, higher is better. With a single unit the second largest is 0. Factors with one value are left out.
/// * Estimator: plug-in mutual information of binned units. Few points per bin bias it upwards in all units alike.
/// * Reference: Chen et al. 2018, Isolating sources of disentanglement; binned as in Locatello et al. 2019.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, mig};
///
/// let codes = array![[0.0, 0.3], [0.0, 0.3], [1.0, 0.3], [1.0, 0.3]];
/// let factors = array![[0], [0], [1], [1]];
/// let score = mig(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())?;
/// assert!((score.value - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mig(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<Mig> {
    Ok(mig_of(&Information::new(data, parameters.bins)?))
}

/// [`mig`] from mutual information that is known already.
pub fn mig_of(information: &Information) -> Mig {
    let (value, per_factor) = gaps(&information.matrix, &information.factor_entropies);
    Mig { value, per_factor, mutual_information: information.matrix.clone() }
}

/// The gap between the best and the second best unit of each factor, divided by the factor's entropy, and the mean over
/// the factors that vary; those that do not have the gap 0.
pub(super) fn gaps(information: &Array2<f64>, entropies: &[f64]) -> (f64, Vec<f64>) {
    let columns = information.columns().into_iter().zip(entropies);
    let per_factor: Vec<f64> = columns
        .map(|(column, &entropy)| {
            let (first, second) = top_two(column.iter().copied());
            if entropy > 0.0 { (first - second) / entropy } else { 0.0 }
        })
        .collect();
    let varying: Vec<f64> = per_factor
        .iter()
        .zip(entropies)
        .filter(|(_, entropy)| **entropy > 0.0)
        .map(|(gap, _)| *gap)
        .collect();
    (mean(&varying), per_factor)
}
