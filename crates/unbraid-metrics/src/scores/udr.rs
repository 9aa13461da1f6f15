//! Unsupervised disentanglement ranking.

use super::kl::kl_per_unit;
use crate::checks::check_length;
use crate::correlation::{pearson_columns, ranks};
use crate::error::{MetricsError, Result};
use crate::learners::{Lasso, LassoParameters};
use crate::numeric::{columns, standardise};
use crate::views::Posteriors;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How the units of two models are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "similarity", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Similarity {
    /// Magnitudes of the weights of a lasso regression of one model's units on those of the other.
    Lasso(LassoParameters),
    /// Magnitudes of Spearman's rank correlation.
    Spearman,
}

impl Default for Similarity {
    fn default() -> Self {
        Self::Lasso(LassoParameters::default())
    }
}

/// Parameters of [`udr`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UdrParameters {
    /// How units are compared.
    pub similarity: Similarity,
    /// Units whose KL divergence from the prior is at most this many nats are not informative and do not count.
    pub informative_above: f64,
}

impl Default for UdrParameters {
    fn default() -> Self {
        Self { similarity: Similarity::default(), informative_above: 0.01 }
    }
}

/// What [`udr`] computes.
#[derive(Clone, Debug)]
pub struct UdrValues {
    /// The score of each model.
    pub values: Vec<f64>,
    /// The score of each ordered pair, \[models, models\]; 0 on the diagonal.
    pub pairs: Array2<f64>,
}

/// UDR, unsupervised disentanglement ranking: do models trained with different seeds agree on their units, up to order and
/// sign?
///
/// With R the similarity between the informative units of models i (rows) and j (columns):
/// ```text
/// pair(i, j) = 1/2 [mean over columns of max^2 / sum + mean over rows of max^2 / sum]
/// UDR(i)     = median over j of pair(j, i)
/// ```
/// Codes are standardised first. Rows and columns of zeros count as 0, and so does a pair in which a model has no informative
/// unit.
///
/// * Input: the posteriors of at least two models for the same points in the same order.
/// * Range: 0 to 1 for Spearman, and approximately for lasso; higher is better. Needs no factors.
/// * Reference: Duan et al. 2020, Unsupervised model selection for variational disentangled representation learning. As in
///   disentanglement_lib, rows and columns are averaged separately; the paper divides the sum over both by the total number of
///   informative units, which is the same if the models have equally many.
/// * See also: [`kl_per_unit`](super::kl_per_unit), which decides which units are informative. UDR is not a
///   [`Metric`](crate::Metric), because it compares several models.
///
/// # Errors
/// If there are fewer than two models, or they have different numbers of points.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::{Posteriors, scores::{Similarity, UdrParameters, udr}};
///
/// let first = array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
/// let mut swapped = first.clone();
/// swapped.invert_axis(ndarray::Axis(1));
/// let log_variances = ndarray::Array2::from_elem((4, 2), -4.0);
/// let models = [
///     Posteriors::new(first.view(), log_variances.view())?,
///     Posteriors::new(swapped.view(), log_variances.view())?,
/// ];
/// let parameters = UdrParameters { similarity: Similarity::Spearman, ..Default::default() };
/// assert_eq!(udr(&models, &parameters)?.values, [1.0, 1.0]);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn udr(models: &[Posteriors<'_>], parameters: &UdrParameters) -> Result<UdrValues> {
    if models.len() < 2 {
        return Err(MetricsError::TooFew { array: "models", what: "model", found: models.len(), least: 2 });
    }
    let rows = models[0].means().nrows();
    let mut codes = Vec::with_capacity(models.len());
    let mut informative: Vec<Vec<bool>> = Vec::with_capacity(models.len());
    for model in models {
        check_length("means", "row", model.means().nrows(), rows, "rows of the first model")?;
        let divergences = kl_per_unit(model);
        let kept: Vec<bool> =
            divergences.iter().map(|divergence| *divergence > parameters.informative_above).collect();
        let (mut standard, _) = standardise(model.means(), model.means());
        for (mut column, kept) in standard.columns_mut().into_iter().zip(&kept) {
            if !kept {
                column.fill(0.0);
            }
        }
        codes.push(standard);
        informative.push(kept);
    }
    let order: Vec<(usize, usize)> = (0..models.len())
        .flat_map(|i| (0..models.len()).filter(move |&j| j != i).map(move |j| (i, j)))
        .collect();
    let scores: Vec<f64> = order
        .par_iter()
        .map(|&(i, j)| {
            let matrix = similarity(codes[i].view(), codes[j].view(), &parameters.similarity)?;
            Ok(agreement(&matrix, &informative[i], &informative[j]))
        })
        .collect::<Result<_>>()?;
    let mut pairs = Array2::zeros((models.len(), models.len()));
    for (&place, score) in order.iter().zip(scores) {
        pairs[place] = score;
    }
    let values = (0..models.len())
        .map(|model| {
            median((0..models.len()).filter(|&other| other != model).map(|other| pairs[[other, model]]))
        })
        .collect();
    Ok(UdrValues { values, pairs })
}

/// Magnitudes of the similarity between units of the first model (rows) and of the second (columns).
fn similarity(
    first: ArrayView2<'_, f64>,
    second: ArrayView2<'_, f64>,
    kind: &Similarity,
) -> Result<Array2<f64>> {
    match kind {
        Similarity::Spearman => {
            let ranked = |codes: ArrayView2<'_, f64>| {
                let columns: Vec<Vec<f64>> = columns(codes).iter().map(|column| ranks(column)).collect();
                Array2::from_shape_fn(codes.dim(), |(row, column)| columns[column][row])
            };
            Ok(pearson_columns(ranked(first).view(), ranked(second).view()).mapv(f64::abs))
        }
        Similarity::Lasso(parameters) => {
            let mut matrix = Array2::zeros((first.ncols(), second.ncols()));
            for (mut target, column) in matrix.columns_mut().into_iter().zip(second.columns()) {
                let fitted = Lasso::fit(first, column, parameters)?;
                target.iter_mut().zip(fitted.weights).for_each(|(entry, weight)| *entry = weight.abs());
            }
            Ok(matrix)
        }
    }
}

/// How close the informative part of a matrix is to a permutation.
fn agreement(matrix: &Array2<f64>, rows: &[bool], columns: &[bool]) -> f64 {
    let kept = |flags: &[bool]| (0..flags.len()).filter(|&i| flags[i]).collect::<Vec<usize>>();
    let (rows, columns) = (kept(rows), kept(columns));
    if rows.is_empty() || columns.is_empty() {
        return 0.0;
    }
    let peak = |line: &mut dyn Iterator<Item = f64>| {
        let (largest, sum) =
            line.fold((0.0_f64, 0.0), |(largest, sum), value| (largest.max(value), sum + value));
        if sum > 0.0 { largest * largest / sum } else { 0.0 }
    };
    let over_columns: f64 =
        columns.iter().map(|&column| peak(&mut rows.iter().map(|&row| matrix[[row, column]]))).sum();
    let over_rows: f64 =
        rows.iter().map(|&row| peak(&mut columns.iter().map(|&column| matrix[[row, column]]))).sum();
    0.5 * (over_columns / columns.len() as f64 + over_rows / rows.len() as f64)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    crate::numeric::quantile_of_sorted(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Columns: 0.8^2/1.0 and 0.5^2/0.6; rows: 0.8^2/0.9 and 0.5^2/0.7.
    #[test]
    fn agreement_by_hand() {
        let matrix = array![[0.8, 0.1], [0.2, 0.5]];
        let expected = 0.5 * ((0.64 + 0.25 / 0.6) / 2.0 + (0.64 / 0.9 + 0.25 / 0.7) / 2.0);
        assert!((agreement(&matrix, &[true, true], &[true, true]) - expected).abs() < 1e-15);
        assert!((agreement(&matrix, &[true, false], &[true, false]) - 0.8).abs() < 1e-15);
        assert_eq!(agreement(&matrix, &[false, false], &[true, true]), 0.0);
    }
}
