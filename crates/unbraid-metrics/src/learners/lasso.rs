//! Least squares with an L1 penalty (Tibshirani 1996), by coordinate descent, like scikit-learn's `Lasso`.

use crate::checks::check_length;
use crate::error::{MetricsError, Result};
use crate::interruption;
use crate::options::{Declare, POSITIVE};
use ndarray::{ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// Parameters of [`Lasso`]; apart from alpha, the defaults are scikit-learn's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LassoParameters {
    /// The strength of the penalty.
    pub alpha: f64,
    /// Stops when the duality gap is at most this share of the squared norm of the centred target.
    pub tolerance: f64,
    /// The maximum number of passes over the features.
    pub max_iterations: usize,
}

impl Default for LassoParameters {
    fn default() -> Self {
        Self { alpha: 0.1, tolerance: 1e-4, max_iterations: 1000 }
    }
}

impl LassoParameters {
    pub(crate) fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { alpha, tolerance, max_iterations } = self;
        declare.number("alpha", alpha, 0.0.., "strength of the penalty");
        declare.number(
            "tolerance",
            tolerance,
            POSITIVE,
            "duality gap at which to stop, as a share of the squared target",
        );
        declare.count("max_iterations", max_iterations, 1.., "passes over the features at most");
    }
}

/// A fitted regression.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// The weight of each feature.
    pub weights: Vec<f64>,
    /// The prediction if all features are 0.
    pub intercept: f64,
}

impl Lasso {
    /// Minimises `|y - X w - b|^2 / (2 n) + alpha |w|_1` over weights and an unpenalised intercept.
    ///
    /// # Errors
    /// If there are no rows, the target has another length, or alpha is negative.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::learners::{Lasso, LassoParameters};
    ///
    /// // One standardised feature: least squares gives 2, from which the penalty subtracts alpha.
    /// let fitted = Lasso::fit(
    ///     array![[-1.0], [1.0]].view(),
    ///     array![-2.0, 2.0].view(),
    ///     &LassoParameters { alpha: 0.5, ..Default::default() },
    /// )?;
    /// assert!((fitted.weights[0] - 1.5).abs() < 1e-12);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(
        features: ArrayView2<'_, f64>,
        target: ArrayView1<'_, f64>,
        parameters: &LassoParameters,
    ) -> Result<Self> {
        let rows = features.nrows();
        if rows == 0 {
            return Err(MetricsError::TooFew { array: "features", what: "row", found: 0, least: 1 });
        }
        check_length("target", "value", target.len(), rows, "rows of features")?;
        if !(parameters.alpha >= 0.0 && parameters.alpha.is_finite()) {
            return Err(MetricsError::parameter("alpha", parameters.alpha, "0 or a positive number"));
        }
        let columns: Vec<Centred> = features.columns().into_iter().map(Centred::new).collect();
        let target = Centred::new(target);
        let mut residual = target.values.clone();
        let penalty = parameters.alpha * rows as f64;
        let mut weights = vec![0.0; columns.len()];
        for _ in 0..parameters.max_iterations {
            interruption::check();
            let (mut largest_step, mut largest_weight) = (0.0_f64, 0.0_f64);
            for (weight, column) in weights.iter_mut().zip(&columns) {
                if column.square == 0.0 {
                    continue;
                }
                let old: f64 = *weight;
                let pull = dot(&column.values, &residual) + old * column.square;
                *weight = pull.signum() * (pull.abs() - penalty).max(0.0) / column.square;
                let step = *weight - old;
                if step != 0.0 {
                    for (residual, value) in residual.iter_mut().zip(&column.values) {
                        *residual -= step * value;
                    }
                }
                largest_step = largest_step.max(step.abs());
                largest_weight = largest_weight.max(weight.abs());
            }
            let settled = largest_weight == 0.0 || largest_step / largest_weight < parameters.tolerance;
            if settled
                && gap(&columns, &target, &residual, &weights, penalty)
                    <= parameters.tolerance * target.square
            {
                break;
            }
        }
        let intercept = target.mean
            - weights.iter().zip(&columns).map(|(weight, column)| weight * column.mean).sum::<f64>();
        Ok(Self { weights, intercept })
    }

    /// The prediction for each row.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Vec<f64> {
        let product =
            |row: ArrayView1<'_, f64>| row.iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>();
        features.rows().into_iter().map(|row| self.intercept + product(row)).collect()
    }
}

/// A column minus its mean; all 0 if it is constant.
struct Centred {
    values: Vec<f64>,
    mean: f64,
    square: f64,
}

impl Centred {
    fn new(column: ArrayView1<'_, f64>) -> Self {
        let mean = column.sum() / column.len() as f64;
        let constant = crate::numeric::is_constant(column.iter().copied());
        let values: Vec<f64> = column.iter().map(|value| if constant { 0.0 } else { value - mean }).collect();
        let square = dot(&values, &values);
        Self { values, mean, square }
    }
}

/// The duality gap: an upper bound on how far the objective (times n) is from its minimum.
fn gap(columns: &[Centred], target: &Centred, residual: &[f64], weights: &[f64], penalty: f64) -> f64 {
    let steepest = columns.iter().map(|column| dot(&column.values, residual).abs()).fold(0.0, f64::max);
    let squares = dot(residual, residual);
    // The residual is scaled down until it is feasible for the dual problem.
    let share = if steepest > penalty { penalty / steepest } else { 1.0 };
    let weight_norm: f64 = weights.iter().map(|weight| weight.abs()).sum();
    0.5 * squares * (1.0 + share * share) + penalty * weight_norm - share * dot(residual, &target.values)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
