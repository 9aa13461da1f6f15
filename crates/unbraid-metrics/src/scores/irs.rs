//! Interventional robustness.

use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::information::{BINS, check_bins, discretise};
use crate::metric::{Description, Metric, Options};
use crate::numeric::{is_constant, quantile_of_sorted};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::Labelled;
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`irs`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IrsParameters {
    /// Bins for the values of each factor; neighbouring values are merged if there are more values than bins.
    pub bins: usize,
    /// The quantile of the deviations that is used in place of their maximum; 1.0 in the paper.
    pub quantile: f64,
}

impl Default for IrsParameters {
    fn default() -> Self {
        Self { bins: 20, quantile: 0.99 }
    }
}

impl IrsParameters {
    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { bins, quantile } = self;
        declare.count("bins", bins, BINS, "bins of equal width for each factor");
        declare.number(
            "quantile",
            quantile,
            0.0..=1.0,
            "quantile of the deviations within a group; 1 is the largest",
        );
    }
}

/// What [`irs`] computes.
#[derive(Clone, Debug)]
pub struct IrsValues {
    /// The score.
    pub value: f64,
    /// Robustness of each unit while a factor is fixed, -1 to 1, \[units, factors\]; 0 for a constant unit.
    pub matrix: Array2<f64>,
}

/// IRS, the interventional robustness score: does each unit stay constant while its factor is fixed and the others change?
///
/// ```text
/// d_i   = max |z_i - mean z_i|
/// c_ik  = mean over values v of factor k of the q-quantile of |z_i - m_ikv| among points with v_k = v
/// IRS   = sum_i d_i max_k (1 - c_ik / d_i) / sum_i d_i
/// ```
/// where m_ikv is the mean of z_i among these points. The values of a factor are first put into bins of equal width, so that
/// their order matters for factors with more values than bins.
///
/// * Range: -1 to 1, higher is better. It is below 0 where points lie farther from the mean of their group than any lies from
///   the mean of all, which can be up to twice as far; this takes small or very uneven groups. Constant units are left out; if
///   all are constant, the score is 0.
/// * Reference: Suter et al. 2019, Robustly disentangled causal mechanisms: Validating deep representations for interventional
///   robustness.
/// * See also: [`factor_vae_score`](super::factor_vae_score), which also fixes factors.
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{IrsParameters, irs};
///
/// let (codes, factors) = (array![[-1.0], [-1.0], [1.0], [1.0]], array![[0], [0], [1], [1]]);
/// let data = Labelled::new(codes.view(), factors.view())?;
/// assert_eq!(irs(&data, &IrsParameters::default())?.value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn irs(data: &Labelled<'_>, parameters: &IrsParameters) -> Result<IrsValues> {
    check_bins(parameters.bins)?;
    if !(0.0..=1.0).contains(&parameters.quantile) {
        return Err(MetricsError::parameter("quantile", parameters.quantile, "0 to 1"));
    }
    let (codes, numbers) = (data.codes(), data.numbers());
    let groups: Vec<Vec<Vec<usize>>> = numbers
        .columns()
        .into_iter()
        .map(|column| {
            let mut groups = vec![Vec::new(); parameters.bins];
            for (row, bin) in discretise(&column.to_vec(), parameters.bins).into_iter().enumerate() {
                groups[bin as usize].push(row);
            }
            groups.retain(|group| !group.is_empty());
            groups
        })
        .collect();
    let units: Vec<(f64, Vec<f64>)> = (0..codes.ncols())
        .into_par_iter()
        .map(|unit| robustness_of_unit(&codes.column(unit).to_vec(), &groups, parameters.quantile))
        .collect();
    let total: f64 = units.iter().map(|(deviation, _)| deviation).sum();
    let best: f64 = units
        .iter()
        .map(|(deviation, row)| deviation * row.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        .sum();
    Ok(IrsValues {
        value: if total > 0.0 { best / total } else { 0.0 },
        matrix: Array2::from_shape_fn((units.len(), groups.len()), |(unit, factor)| units[unit].1[factor]),
    })
}

/// The largest deviation of a unit, and its robustness for each factor.
fn robustness_of_unit(values: &[f64], groups: &[Vec<Vec<usize>>], quantile: f64) -> (f64, Vec<f64>) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let largest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    if is_constant(values.iter().copied()) || largest == 0.0 {
        return (0.0, vec![0.0; groups.len()]);
    }
    let mut deviations = Vec::with_capacity(values.len());
    let row = groups
        .iter()
        .map(|groups| {
            let sum: f64 = groups
                .iter()
                .map(|rows| {
                    let centre = rows.iter().map(|&row| values[row]).sum::<f64>() / rows.len() as f64;
                    deviations.clear();
                    deviations.extend(rows.iter().map(|&row| (values[row] - centre).abs()));
                    deviations.sort_unstable_by(f64::total_cmp);
                    quantile_of_sorted(&deviations, quantile)
                })
                .sum();
            1.0 - sum / groups.len() as f64 / largest
        })
        .collect();
    (largest, row)
}

/// The metric `irs`; see [`irs`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Irs {
    /// Its parameters.
    pub parameters: IrsParameters,
}

impl Metric for Irs {
    fn description(&self) -> Description {
        Description::new("irs", "units stay constant while their factor is fixed and the others change")
            .number("irs", "IRS")
            .detail("irs_matrix")
            // |z - m_kv| <= max z - min z <= 2 d.
            .range(-1.0, 1.0)
            // Factors with more values than bins have neighbouring values merged.
            .factor_values_are_numbers()
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = irs(&codes.labelled()?, &self.parameters)?;
        Ok(ScoreValues::new("irs", found.value).with_matrix("irs_matrix", found.matrix))
    }
}
