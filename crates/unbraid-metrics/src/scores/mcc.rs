//! The mean correlation coefficient.

use crate::codes::Codes;
use crate::correlation::{pearson_columns, ranks};
use crate::error::Result;
use crate::matching::best_matching;
use crate::metric::{Description, FactorKind, Metric, Options};
use crate::report::ScoreValues;
use crate::views::Labelled;
use ndarray::{Array2, ArrayView2, Axis};

/// What [`mcc`] computes.
#[derive(Clone, Debug)]
pub struct MccValues {
    /// With Pearson's correlation.
    pub pearson: f64,
    /// With Spearman's rank correlation.
    pub spearman: f64,
    /// The magnitude of Pearson's correlation of each unit with each factor, \[units, factors\].
    pub matrix: Array2<f64>,
}

/// MCC, the mean correlation coefficient: if each factor is matched with a unit of its own, how correlated are they?
///
/// ```text
/// MCC = 1/K max over one-to-one matchings a of sum over factors k of |corr(z_a(k), v_k)|
/// ```
/// with K the number of factors that vary. The matching is found by the Hungarian method, separately for Pearson's and for
/// Spearman's correlation. Factor values are read as numbers.
///
/// * Range: 0 to 1, higher is better. With fewer units than factors, a factor without a unit counts as 0. The correlation with
///   a constant unit is 0.
/// * Reference: Hyvärinen and Morioka 2016, Unsupervised feature extraction by time-contrastive learning and nonlinear ICA;
///   commonly reported in work on identifiability (Khemakhem et al. 2020, Variational autoencoders and nonlinear ICA).
/// * See also: [`sap_continuous`](super::sap_continuous), the gap between the two most correlated units.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::mcc;
///
/// let codes = array![[5.0, 0.0], [5.5, -2.0], [7.0, -4.0], [3.0, -6.0]];
/// let factors = array![[0], [1], [2], [3]];
/// let found = mcc(&Labelled::new(codes.view(), factors.view())?);
/// assert!((found.pearson - 1.0).abs() < 1e-12 && (found.spearman - 1.0).abs() < 1e-12);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn mcc(data: &Labelled<'_>) -> MccValues {
    let numbers = data.numbers();
    let varying: Vec<usize> =
        (0..numbers.ncols()).filter(|&factor| data.classes()[factor].varies()).collect();
    let matrix = pearson_columns(data.codes(), numbers.view()).mapv(f64::abs);
    let by_rank = pearson_columns(ranked(data.codes()).view(), ranked(numbers.view()).view()).mapv(f64::abs);
    MccValues {
        pearson: matched_mean(matrix.select(Axis(1), &varying).view()),
        spearman: matched_mean(by_rank.select(Axis(1), &varying).view()),
        matrix,
    }
}

/// The ranks of each column.
fn ranked(array: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut ranked = Array2::zeros(array.dim());
    for (mut target, column) in ranked.columns_mut().into_iter().zip(array.columns()) {
        target.iter_mut().zip(ranks(&column.to_vec())).for_each(|(target, rank)| *target = rank);
    }
    ranked
}

/// The largest sum of entries, no row and no column twice, divided by the number of columns.
fn matched_mean(matrix: ArrayView2<'_, f64>) -> f64 {
    let gains: Vec<Vec<f64>> = matrix.rows().into_iter().map(|row| row.to_vec()).collect();
    let matched = best_matching(&gains).into_iter().enumerate();
    let sum: f64 = matched.filter_map(|(row, column)| Some(gains[row][column?])).sum();
    if matrix.ncols() > 0 { sum / matrix.ncols() as f64 } else { 0.0 }
}

/// The metric `mcc`; see [`mcc`]. Factors of more than two classes without an order are left out; their
/// column of the matrix is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mcc;

impl Metric for Mcc {
    fn description(&self) -> Description {
        let meaning = "each factor is correlated with a unit of its own (best one-to-one matching)";
        Description::new("mcc", meaning)
            .number("mcc_pearson", "MCC, Pearson")
            .number("mcc_spearman", "MCC, Spearman")
            .detail("correlation")
            .factor_values_are_numbers()
            .on_request_only()
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let data = codes.labelled()?;
        let has_order = |factor: &usize| {
            let classes = &data.classes()[*factor];
            classes.count() <= 2 || codes.factor_kinds().get(*factor) != Some(&FactorKind::Categorical)
        };
        let ordered: Vec<usize> = (0..codes.factor_count()).filter(has_order).collect();
        if !ordered.iter().any(|&factor| data.classes()[factor].varies()) {
            let why = "no factor that varies has an order";
            return Ok(ScoreValues::default()
                .with_undefined("mcc_pearson", why)
                .with_undefined("mcc_spearman", why));
        }
        let found = mcc(&codes.only_factors(&ordered).labelled()?);
        // A column for each factor, as in the matrices of other scores.
        let mut matrix = Array2::zeros((codes.unit_count(), codes.factor_count()));
        for (&factor, column) in ordered.iter().zip(found.matrix.columns()) {
            matrix.column_mut(factor).assign(&column);
        }
        Ok(ScoreValues::new("mcc_pearson", found.pearson)
            .with_number("mcc_spearman", found.spearman)
            .with_matrix("correlation", matrix))
    }
}
