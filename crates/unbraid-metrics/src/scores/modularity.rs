//! Modularity.

use crate::codes::Codes;
use crate::error::Result;
use crate::information::{Information, NEIGHBOURS};
use crate::metric::{Description, Metric, Options};
use crate::numeric::mean;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::mig::HistogramParameters;
use crate::views::Labelled;
use ndarray::{ArrayView1, ArrayView2, Axis};

/// Modularity: does each unit share information with at most one factor?
///
/// ```text
/// modularity = mean over units i of 1 - (sum_k m_ik^2 - max_k m_ik^2) / ((K - 1) max_k m_ik^2)
/// ```
/// with m the mutual information and K the number of factors. A unit without any mutual information scores 0. For a nearly
/// constant unit, m consists of estimation bias only, so that it contributes noise.
///
/// * Range: 0 to 1, higher is better. With a single factor, units that share information with it score 1. Factors with one
///   value are left out, also of K.
/// * Reference: Ridgeway and Mozer 2018, Learning deep disentangled embeddings with the f-statistic loss.
/// * See also: [`explicitness`](super::explicitness), its companion in the same paper; [`mig_sup`](super::mig_sup) and the
///   disentanglement of [`dci`](super::dci), which measure the same.
///
/// # Errors
/// If `bins` is out of range.
///
/// ```
/// use ndarray::array;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{HistogramParameters, modularity};
///
/// let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let factors = array![[0, 0], [0, 1], [1, 0], [1, 1]];
/// assert_eq!(modularity(&Labelled::new(codes.view(), factors.view())?, &HistogramParameters::default())?, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn modularity(data: &Labelled<'_>, parameters: &HistogramParameters) -> Result<f64> {
    Ok(modularity_of_varying(&Information::new(data, parameters.bins)?))
}

/// [`modularity_of`] the factors that vary: the others would count as some that no unit shares anything with.
fn modularity_of_varying(information: &Information) -> f64 {
    let varying: Vec<usize> = information.varying_factors().collect();
    modularity_of(information.matrix.select(Axis(1), &varying).view())
}

/// [`modularity`] from a matrix of mutual information, \[units, factors\].
pub fn modularity_of(mutual_information: ArrayView2<'_, f64>) -> f64 {
    let parts: Vec<f64> = mutual_information.rows().into_iter().map(modularity_of_unit).collect();
    mean(&parts)
}

fn modularity_of_unit(row: ArrayView1<'_, f64>) -> f64 {
    let largest = row.iter().copied().fold(0.0, f64::max);
    // Dividing first keeps the squares of tiny values from underflowing.
    let others: f64 = row.iter().map(|&value| (value / largest) * (value / largest)).sum::<f64>() - 1.0;
    if largest > 0.0 { 1.0 - others.max(0.0) / (row.len() - 1).max(1) as f64 } else { 0.0 }
}

/// The metric `modularity`; see [`modularity`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modularity {
    /// Its parameters.
    pub parameters: HistogramParameters,
    /// The number of nearest neighbours to estimate mutual information from ([`Information::by_neighbours`]); bins if `None`.
    pub neighbours: Option<usize>,
}

impl Metric for Modularity {
    fn description(&self) -> Description {
        Description::new("modularity", "each unit shares mutual information with at most one factor")
            .number("modularity", "modularity")
            .compares_factors("modularity")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
        declare.optional_count("neighbours", &mut self.neighbours, 1.., NEIGHBOURS);
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let information = Information::by(&codes.labelled()?, self.parameters.bins, self.neighbours)?;
        Ok(ScoreValues::new("modularity", modularity_of_varying(&information)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array, concatenate};

    /// Two units that both have all of two factors, which is no modularity; factors that do not vary are none.
    #[test]
    fn a_constant_factor_changes_nothing() {
        let rows = 4 * 20;
        let factors = Array2::from_shape_fn((rows, 2), |(row, factor)| (row >> factor & 1) as i64);
        let codes = Array2::from_shape_fn((rows, 2), |(row, unit)| {
            let (first, second) = (factors[[row, 0]] as f64, factors[[row, 1]] as f64);
            if unit == 0 { first + 2.0 * second } else { 2.0 * first + second }
        });
        let with_constants = concatenate![Axis(1), factors, Array2::from_elem((rows, 3), 7)];
        for factors in [factors, with_constants] {
            let data = Labelled::new(codes.view(), factors.view()).unwrap();
            assert!(modularity(&data, &HistogramParameters::default()).unwrap().abs() < 1e-12);
        }
    }

    /// The cases of the reference implementation's tests.
    #[test]
    fn known_matrices() {
        assert_eq!(modularity_of(Array2::eye(4).view()), 1.0);
        let one_dead = array![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        assert!((modularity_of(one_dead.view()) - 2.0 / 3.0).abs() < 1e-15);
        let twice = concatenate![ndarray::Axis(1), Array2::<f64>::eye(5), Array2::<f64>::eye(5)];
        assert!((modularity_of(twice.view()) - (1.0 - 1.0 / 9.0)).abs() < 1e-15);
        assert_eq!(modularity_of(Array2::zeros((3, 2)).view()), 0.0);
        assert_eq!(modularity_of(array![[0.4], [0.0]].view()), 0.5);
    }
}
