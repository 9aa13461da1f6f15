//! Separated attribute predictability of factors that are numbers.

use super::sap::{GROUPING, SapValues, groups_of};
use super::sap_groups::multiple_r_squared;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::correlation::pearson_columns;
use crate::error::Result;
use crate::metric::{Description, Metric, Options};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::Labelled;
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

/// Parameters of [`sap_continuous`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SapContinuousParameters {
    /// Units whose correlation exceeds this magnitude count as one; 0 to 1.
    pub group_above: Option<f64>,
}

impl SapContinuousParameters {
    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { group_above } = self;
        declare.optional_number("group_above", group_above, 0.0..=1.0, GROUPING);
    }
}

/// SAP for factors that are numbers: the gap of SAP in squared correlations.
///
/// ```text
/// S_ik = Cov(z_i, v_k)^2 / (Var(z_i) Var(v_k))
/// ```
/// on the training points; 0 for a unit whose variance is at most 1e-12. With grouping, S is the R^2 of the linear
/// regression of the factor on all units of a group.
///
/// * Range: 0 to 1, higher is better. Factor values are read as numbers, so relabelling them changes the score.
/// * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, section 3.
/// * See also: [`sap`](super::sap), for factors that are classes.
///
/// # Errors
/// If `group_above` is not in 0 to 1.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Labelled, scores::{SapContinuousParameters, sap_continuous}};
///
/// let codes = array![[0.0, 1.0], [2.0, -1.0], [4.0, -1.0], [6.0, 1.0]];
/// let factors = array![[0], [1], [2], [3]];
/// let score = sap_continuous(&Labelled::new(codes.view(), factors.view())?, &SapContinuousParameters::default())?;
/// assert!((score.value - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn sap_continuous(data: &Labelled<'_>, parameters: &SapContinuousParameters) -> Result<SapValues> {
    const DEAD: f64 = 1e-12;
    let codes = data.codes();
    let groups = groups_of(codes, parameters.group_above)?;
    let targets = data.numbers();
    let alive: Vec<bool> = codes.columns().into_iter().map(|column| column.var(1.0) > DEAD).collect();
    let matrix = if groups.len() == codes.ncols() {
        let mut matrix = pearson_columns(codes, targets.view()).mapv(|correlation| correlation * correlation);
        for (mut row, alive) in matrix.rows_mut().into_iter().zip(&alive) {
            if !alive {
                row.fill(0.0);
            }
        }
        matrix
    } else {
        let living: Vec<Vec<usize>> =
            groups.iter().map(|group| group.iter().copied().filter(|&unit| alive[unit]).collect()).collect();
        Array2::from_shape_fn((groups.len(), targets.ncols()), |(group, factor)| {
            multiple_r_squared(codes.select(Axis(1), &living[group]).view(), targets.column(factor))
        })
    };
    let varies: Vec<bool> = data.classes().iter().map(Classes::varies).collect();
    Ok(SapValues::new(matrix, groups, &varies))
}

/// The metric `sap_continuous`; see [`sap_continuous`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SapContinuous {
    /// Its parameters.
    pub parameters: SapContinuousParameters,
}

impl Metric for SapContinuous {
    fn description(&self) -> Description {
        Description::new("sap_continuous", "as sap for factors that are numbers (gap in squared correlation)")
            .number("sap_continuous", "SAP, continuous")
            .detail("sap_continuous_matrix")
            .factor_values_are_numbers()
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = sap_continuous(&codes.labelled()?, &self.parameters)?;
        Ok(ScoreValues::new("sap_continuous", found.value).with_matrix("sap_continuous_matrix", found.matrix))
    }
}
