//! Gradient-boosted trees for regression, like scikit-learn's `GradientBoostingRegressor`.

use super::columns::{Columns, mix};
use super::tree::{self, Tree, Workspace};
use super::{BoostingParameters, check_parameters};
use crate::checks::check_length;
use crate::error::Result;
use crate::interruption;
use ndarray::{ArrayView1, ArrayView2};

/// A fitted regression: the mean, and trees that are grown one after the other on the residuals, by squared error.
#[derive(Clone, Debug)]
pub struct GradientBoostingRegression {
    mean: f64,
    trees: Vec<Tree>,
    learning_rate: f64,
    importances: Vec<f64>,
    fitted: Vec<f64>,
}

impl GradientBoostingRegression {
    /// Fits trees that predict `target` from `features` \[n, features\].
    ///
    /// # Errors
    /// If there are no rows or more than 16.7 million, the number of targets differs, or a parameter is out of range.
    ///
    /// ```
    /// use ndarray::array;
    /// use unbraid_metrics::learners::{BoostingParameters, GradientBoostingRegression};
    ///
    /// let features = array![[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [3.0, 3.0]];
    /// let target = array![1.0, 1.0, 5.0, 5.0];
    /// let model = GradientBoostingRegression::fit(features.view(), target.view(), &BoostingParameters::default())?;
    /// // A split between 1 and 2 leaves 0.9 of the residuals at each of the 100 stages.
    /// assert!((model.predict(array![[0.4, 0.0]].view())[0] - (1.0 + 2.0 * 0.9_f64.powi(100))).abs() < 1e-9);
    /// assert_eq!(model.importances(), [1.0, 0.0]);
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn fit(
        features: ArrayView2<'_, f64>,
        target: ArrayView1<'_, f64>,
        parameters: &BoostingParameters,
    ) -> Result<Self> {
        crate::learners::check_features(features)?;
        check_length("target", "value", target.len(), features.nrows(), "rows of features")?;
        check_parameters(features, parameters)?;
        let mean = target.sum() / target.len() as f64;
        let columns = Columns::new(features);
        let (mut workspace, mut importances) = (Workspace::default(), vec![0.0; features.ncols()]);
        let (mut fitted, mut trees) = (vec![mean; target.len()], Vec::with_capacity(parameters.stages));
        let mut residuals = vec![0.0; target.len()];
        for stage in 0..parameters.stages {
            interruption::check();
            for (residual, (value, found)) in residuals.iter_mut().zip(target.iter().zip(&fitted)) {
                *residual = value - found;
            }
            let tree = tree::grow(
                &columns,
                &residuals,
                parameters.max_depth,
                mix(parameters.seed ^ (stage as u64) << 32),
                &mut workspace,
                &mut importances,
                // The sum of these is the number of rows of a leaf.
                |_| 1.0,
                |residual, rows| if rows > 0.0 { residual / rows } else { 0.0 },
            );
            tree.add_to(&mut fitted, &workspace.node_of_row, parameters.learning_rate);
            trees.push(tree);
        }
        let total: f64 = importances.iter().sum();
        if total > 0.0 {
            importances.iter_mut().for_each(|importance| *importance /= total);
        }
        Ok(Self { mean, trees, learning_rate: parameters.learning_rate, importances, fitted })
    }

    /// The share of each feature in the total improvement: non-negative, with sum 1, or all 0 if there is no split.
    pub fn importances(&self) -> &[f64] {
        &self.importances
    }

    /// The prediction for each training row, which is known from fitting.
    pub fn fitted(&self) -> &[f64] {
        &self.fitted
    }

    /// The prediction for each row.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Vec<f64> {
        let predict = |row: ArrayView1<'_, f64>| {
            let row = row.to_vec();
            let steps = self.trees.iter().map(|tree| self.learning_rate * tree.predict(&row));
            steps.fold(self.mean, |sum, step| sum + step)
        };
        features.rows().into_iter().map(predict).collect()
    }
}
