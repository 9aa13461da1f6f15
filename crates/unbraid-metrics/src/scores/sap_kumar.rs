//! Separated attribute predictability as its authors define it.

use super::sap::{GROUPING, SapValues, groups_of};
use super::sap_groups::multiple_r_squared;
use super::sap_threshold::balanced_threshold_accuracy;
use crate::checks::check_length;
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::metric::{Description, FactorKind, Metric, Needs, Options};
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::views::TrainTest;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of [`sap_kumar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SapKumarParameters {
    /// Units whose variance over the points is at most this are inactive and score 0. The paper says "close to 0"; the
    /// default is the usual threshold for active units (Burda et al. 2016, Importance weighted autoencoders).
    pub inactive: f64,
    /// Units whose correlation exceeds this magnitude count as one; 0 to 1.
    pub group_above: Option<f64>,
}

impl Default for SapKumarParameters {
    fn default() -> Self {
        Self { inactive: 0.01, group_above: None }
    }
}

impl SapKumarParameters {
    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { inactive, group_above } = self;
        declare.number("inactive", inactive, 0.0.., "units whose variance is at most this score 0");
        declare.optional_number("group_above", group_above, 0.0..=1.0, GROUPING);
    }
}

/// SAP as Kumar et al. define it: one score matrix for ordered and categorical factors, on the test points.
///
/// ```text
/// S_ik = Cov(z_i, v_k)^2 / (Var(z_i) Var(v_k))                      for an ordered factor or an angle
///      = balanced accuracy of the best thresholds on z_i            for a categorical factor
///      = 0                                                          if Var(z_i) is close to 0
/// SAP  = mean over factors k of (S_ak - S_bk), a and b the best and second best unit
/// ```
/// The squared correlation is the R^2 of the linear regression of the factor on the unit. Lines and thresholds are fitted to
/// the test points, on which they are also evaluated; the training points are not used. A factor of c values has up to c - 1
/// thresholds, and their intervals may be assigned to the values in any order.
///
/// * Kinds: angles are read as numbers, too, since the paper has no other kind of regression. A unit that follows an angle all
///   the way round is penalised for the jump from the last value to the first.
/// * Range: 0 to 1, higher is better. With a single unit the second best is 0. Factors with one value are left out. Balanced
///   accuracy is at least 1/c by chance, which cancels in the gap unless fewer than two units are active.
/// * With grouping, R^2 is that of all active units of a group together, and accuracy that of its best unit.
/// * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, section 3.
/// * See also: [`sap`](super::sap), with support vector machines; [`sap_continuous`](super::sap_continuous), in which all
///   factors are numbers.
///
/// # Errors
/// If there are not as many kinds as factors, or a parameter is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::scores::{SapKumarParameters, sap_kumar};
/// use unbraid_metrics::{FactorKind, TrainTest};
///
/// // The first unit equals the first factor, the second unit separates the classes of the second; the third is inactive.
/// let codes = array![[0.0, -1.0, 1e-9], [1.0, 1.0, 2e-9], [2.0, 1.0, 3e-9], [3.0, -1.0, 4e-9]];
/// let factors = array![[0, 7], [1, 5], [2, 5], [3, 7]];
/// let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view())?;
/// let kinds = [FactorKind::Ordered, FactorKind::Categorical];
/// let found = sap_kumar(&data, &kinds, &SapKumarParameters::default())?;
/// let expected = array![[1.0, 0.75], [0.0, 1.0], [0.0, 0.0]];
/// assert!(found.matrix.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
/// assert!((found.value - (1.0 + 0.25) / 2.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn sap_kumar(
    data: &TrainTest<'_>,
    kinds: &[FactorKind],
    parameters: &SapKumarParameters,
) -> Result<SapValues> {
    let codes = data.codes_test();
    check_length("factor_kinds", "kind", kinds.len(), data.factors_test().ncols(), "factors")?;
    if !(parameters.inactive >= 0.0 && parameters.inactive.is_finite()) {
        return Err(MetricsError::parameter("inactive", parameters.inactive, "0 or a positive number"));
    }
    let active: Vec<bool> =
        codes.columns().into_iter().map(|column| column.var(1.0) > parameters.inactive).collect();
    let groups = groups_of(codes, parameters.group_above)?;
    let classes = Classes::of_factors(data.factors_test());
    let targets = data.numbers_test();
    let active_units: Vec<Vec<usize>> =
        groups.iter().map(|group| group.iter().copied().filter(|&unit| active[unit]).collect()).collect();
    let rows: Vec<Vec<f64>> = active_units
        .par_iter()
        .map(|group| {
            let together = codes.select(Axis(1), group);
            let score = |factor: usize| match kinds[factor] {
                FactorKind::Ordered | FactorKind::Angle => {
                    multiple_r_squared(together.view(), targets.column(factor))
                }
                FactorKind::Categorical => together
                    .columns()
                    .into_iter()
                    .map(|unit| balanced_threshold_accuracy(&unit.to_vec(), &classes[factor]))
                    .fold(0.0, f64::max),
            };
            (0..kinds.len()).map(score).collect()
        })
        .collect();
    let matrix = Array2::from_shape_fn((groups.len(), kinds.len()), |(group, factor)| rows[group][factor]);
    let varies: Vec<bool> = classes.iter().map(Classes::varies).collect();
    Ok(SapValues::new(matrix, groups, &varies))
}

/// The metric `sap_kumar`; see [`sap_kumar`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SapKumar {
    /// Its parameters.
    pub parameters: SapKumarParameters,
}

impl Metric for SapKumar {
    fn description(&self) -> Description {
        let meaning = "as sap in its authors' definition: gap in R^2 for ordered and in balanced accuracy for \
                       categorical factors, on test points";
        Description::new("sap_kumar", meaning)
            .number("sap_kumar", "SAP (Kumar)")
            .detail("sap_kumar_matrix")
            .needs(Needs { factor_kinds: true, ..Needs::TEST_POINTS })
            .factor_values_are_numbers()
            .on_request_only()
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let found = sap_kumar(&codes.train_test()?, codes.factor_kinds(), &self.parameters)?;
        Ok(ScoreValues::new("sap_kumar", found.value)
            .with_list("sap_kumar_per_factor", found.per_factor)
            .with_matrix("sap_kumar_matrix", found.matrix))
    }
}
